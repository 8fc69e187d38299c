"""ASI02 Tool Misuse and Exploitation."""

from __future__ import annotations

import difflib
from collections import OrderedDict, deque

from ...model import CONFIRMED
from .. import toolsets
from .base import EVERY, FOREIGN, MARKED, ONCE, TOLD, Call, Context, Episode, Note, Rule, shown

_OWASP = "OWASP ASI02:2026"
_GRAVE = ("recursive_delete", "disk", "database_destruction", "cloud_destruction", "git_destruction")
_LESS = ("overwrite", "container_destruction", "fork_bomb")


class Destruction(Rule):
    id = "ASI02-01"
    title = "Destructive command"
    severity = "CRITICAL"
    confidence = "high"
    predicate = (
        "The resolved commands, code or tool arguments delete a protected tree, write to a disk, drop or empty a"
        " database, destroy cloud resources, or push with force (not --force-with-lease). HIGH where a system file, a"
        " container's data, the machine's processes or only local git changes are lost. A command that is merely quoted"
        " or searched for does not count."
    )
    remediation = "Restore from a backup, and let the policy deny this effect; keep such credentials from the agent."
    refs = (_OWASP, "AML.T0101")
    on = TOLD

    def see(self, call: Call) -> None:
        found = call.facts.of_kind(*_GRAVE, *_LESS)
        if not found:
            return
        worst = next((effect for effect in found if _is_grave(effect.kind, effect.what)), None)
        effect = worst or found[0]
        self.report(
            Episode.of(call), f"{effect.kind.replace('_', ' ')} by {shown(call.row.tool_name)}", effect.what,
            call.row.args_json, severity="" if worst else "HIGH",
        )  # fmt: skip


def _is_grave(kind: str, what: str) -> bool:
    return kind in _GRAVE and (kind != "git_destruction" or "push" in what or "api" in what or "filter" in what)


_Raw = tuple[int, str, str, str, str, float, int]  # a Note, which takes four times as long to make


class Loop(Rule):
    id = "ASI02-02"
    title = "The same call again and again"
    severity = "MEDIUM"
    confidence = "high"
    predicate = (
        "Five or more calls of one session with the same tool and the same arguments within 600 seconds. One finding"
        " for each maximal run, with all of its rows."
    )
    remediation = "Give the agent a limit of retries, and a way to wait for a change instead of asking again."
    refs = (_OWASP, "AML.T0034.002")
    on = EVERY

    MANY, SECONDS, MOST = 5, 600.0, 20_000

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        # By the hash of session, tool and arguments: a million of these keys would fill the memory.
        self._newer: dict[int, _Raw] = {}
        self._older: dict[int, _Raw] = {}
        self._runs: OrderedDict[int, _Run] = OrderedDict()

    def see(self, call: Call) -> None:
        row = call.row
        key = hash((row.session_id, row.args_sha256 or row.args_json, row.tool_name))
        before = self._newer.get(key) or self._older.get(key)
        self._newer[key] = (row.id, row.ts, row.status, row.session_id, row.tool_name, call.at, call.place)
        if before is not None and call.within(before[5], self.SECONDS):
            note = call.note()
            run = self._runs.get(key)
            if run is None:
                run = self._runs[key] = _Run(Note._make(before), self.MANY)
                self._forget()
            else:
                self._runs.move_to_end(key)
            self._take(run, note)
        if len(self._newer) >= self.MOST:  # calls that long ago are no part of a loop any more
            self._older, self._newer = self._newer, {}

    def _take(self, run: _Run, note: Note) -> None:
        run.newest.append(note)
        if len(run.newest) == self.MANY and abs(note.at - run.newest[0].at) <= self.SECONDS:
            if run.episode is None:
                run.episode = Episode.of(*run.newest)
            else:
                run.episode.add(note)
        else:
            self._close(run)

    def _forget(self) -> None:
        if len(self._runs) > self.MOST:
            self._close(self._runs.popitem(last=False)[1])

    def _close(self, run: _Run) -> None:
        if run.episode is not None:
            self.report(run.episode, f"{len(run.episode.rows)} equal calls of {shown(run.newest[0].tool)}")
        run.episode = None

    def end(self) -> None:
        for run in self._runs.values():
            self._close(run)


class _Run:
    """Equal calls of one session. ``newest``: the last five; ``episode``: the run, once it counts as one."""

    __slots__ = ("episode", "newest")

    def __init__(self, first: Note, many: int) -> None:
        self.episode: Episode | None = None
        self.newest = deque([first], many)


class LookAlike(Rule):
    id = "ASI02-03"
    title = "A tool whose name looks like a known one"
    severity = "MEDIUM"
    confidence = "medium"
    predicate = (
        "A tool that the host does not bring, not of an MCP server, whose name is at least 0.88 alike (difflib) to that"
        " of a tool which the host brings. One finding for each session and name."
    )
    remediation = "Find out which plugin registers this tool, and remove it if you did not install it on purpose."
    refs = (_OWASP, "AML.T0110")
    on = FOREIGN

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._like: dict[str, str] = {}
        self._seen: dict[tuple[str, str], Episode] = {}

    def see(self, call: Call) -> None:
        tool = call.row.tool_name
        like = self._like.get(tool)
        if like is None:
            close = () if toolsets.is_remote(tool) else difflib.get_close_matches(
                tool[:100], toolsets.known_names(), 1, 0.88
            )  # fmt: skip
            like = self._like[tool] = close[0] if close else ""
        if like:
            self._seen.setdefault((call.row.session_id, tool), Episode(call.row.session_id)).add(call)

    def end(self) -> None:
        for (_, tool), episode in self._seen.items():
            self.report(episode, f"a tool that looks like {self._like[tool]}", tool)


class Repeated(Rule):
    id = "ASI02-04"
    title = "The same side effect twice"
    severity = "HIGH"
    confidence = "medium"
    predicate = (
        "Two or more CONFIRMED calls of one session with the same arguments of a tool that sends, posts or pays, where"
        " a second time is a second effect. Of a ledger's latest 200,000 such calls."
    )
    remediation = "Ask the receiver whether both arrived, and take one back; give the tool an idempotency key."
    refs = (_OWASP,)
    on = ONCE

    MOST = 200_000

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._first: dict[int, tuple[int, str]] = {}
        self._again: dict[tuple[str, str, str], Episode] = {}

    def see(self, call: Call) -> None:
        row = call.row
        if row.status != CONFIRMED or toolsets.is_read(row.tool_name, call.facts.args):
            return
        key = (row.session_id, row.tool_name, row.args_sha256 or row.args_json)
        if (episode := self._again.get(key)) is not None:
            episode.add(call)
            return
        before = self._first.get(hash(key))
        if before is None:
            if len(self._first) >= self.MOST:
                del self._first[next(iter(self._first))]
            self._first[hash(key)] = row.id, row.ts
        else:
            self._again[key] = Episode(row.session_id, [before[0], row.id], before[1], row.ts, CONFIRMED)

    def end(self) -> None:
        for (_, tool, _), episode in self._again.items():
            self.report(episode, f"{shown(tool)} with the same arguments was confirmed {len(episode.rows)} times")


class Changed(Rule):
    id = "ASI02-05"
    title = "Arguments changed between announcement and outcome"
    severity = "HIGH"
    confidence = "high"
    predicate = "The arguments that the host reported with the outcome differ from those that it had announced."
    remediation = "Find the plugin or hook that rewrites the arguments of this tool, and decide whether it may."
    refs = (_OWASP,)
    on = MARKED

    def see(self, call: Call) -> None:
        if "args_changed" in call.row.flags.split():
            self.report(Episode.of(call), f"{shown(call.row.tool_name)} ran with other arguments than were announced")


RULES: tuple[type[Rule], ...] = (Destruction, Loop, LookAlike, Repeated, Changed)
