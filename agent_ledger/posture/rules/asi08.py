"""ASI08 Cascading Failures."""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque

from ...model import BLOCKED, DENIED, PENDING
from .. import toolsets
from .base import ERROR, OPEN, READS, Call, Context, Episode, Note, Recent, Rule, shown

_OWASP = "OWASP ASI08:2026"
_ATLAS = "AML.T0029"
_REFUSALS = (BLOCKED, DENIED)


class RetryStorm(Rule):
    id = "ASI08-01"
    title = "Retries of a failing tool"
    severity = "LOW"
    confidence = "medium"
    predicate = (
        "Four or more consecutive rows of one session in which the same tool failed. Refused calls are no failures. One"
        " flaky tool is not yet a cascade, hence LOW."
    )
    remediation = "Let the agent stop after a few failures and say so; mend what fails."
    refs = (_OWASP, _ATLAS)
    on = ERROR
    conditioned = False

    MANY = 4

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.watched = self._runs = Recent[list[Note]]()

    def see(self, call: Call) -> None:
        session = call.row.session_id
        run = self._runs.get(session)
        failed = call.marks & ERROR and call.row.status not in _REFUSALS
        if run is not None and (not failed or run[0].tool != call.row.tool_name):
            self._close(self._runs.pop(session))
            run = None
        if failed:
            run = run or []
            run.append(call.note())
            self._runs.put(session, run)

    def _close(self, run: list[Note]) -> None:
        if len(run) >= self.MANY:
            self.report(Episode.of(*run), f"{shown(run[0].tool)} failed {len(run)} times in a row")

    def end(self) -> None:
        for run in self._runs.values():
            self._close(run)


class Spread(Rule):
    id = "ASI08-02"
    title = "Several tools fail at once"
    severity = "MEDIUM"
    confidence = "medium"
    predicate = (
        "Three or more different tools failed in one session within 120 seconds. One finding for each such stretch,"
        " with every failed row in it. Refused calls are no failures."
    )
    remediation = "Look for what the tools share: network, disk, credentials; stop the agent until it is mended."
    refs = (_OWASP, _ATLAS)
    on = ERROR
    conditioned = False

    TOOLS, SECONDS = 3, 120.0

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._near: Recent[deque[Note]] = Recent()
        self._open: Recent[Episode] = Recent()

    def see(self, call: Call) -> None:
        if call.row.status in _REFUSALS:
            return
        session = call.row.session_id
        near = self._near.get(session)
        if near is None:
            near = deque(maxlen=100)
        self._near.put(session, near)
        while near and not call.within(near[0].at, self.SECONDS):
            near.popleft()
        near.append(call.note())
        episode = self._open.get(session)
        if len({note.tool for note in near}) >= self.TOOLS:
            if episode is None:
                self._open.put(session, Episode.of(*near))
            else:
                episode.add(call)
        elif episode is not None:
            self._close(self._open.pop(session))

    def _close(self, episode: Episode) -> None:
        self.report(episode, f"{len(episode.rows)} failures of different tools within two minutes")

    def end(self) -> None:
        for episode in self._open.values():
            self._close(episode)


class BlindRetry(Rule):
    id = "ASI08-03"
    title = "Issued again without looking whether it happened"
    severity = "HIGH"
    confidence = "high"
    predicate = (
        "A call that was never confirmed (PENDING or GHOST_REPORTED), then the same call again in the same session, and"
        " no read or check between the two: no read-only tool, no command that only looks. One finding for each pair."
    )
    remediation = (
        "Look whether the effect is there twice, and undo one; let the agent check a ghost before it repeats it."
        " "
    )
    refs = (_OWASP, _ATLAS)
    on = OPEN

    MOST = 200

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.watched = self._open = Recent[OrderedDict[tuple[str, str], Note]]()

    def see(self, call: Call) -> None:
        row, session = call.row, call.row.session_id
        waiting = self._open.get(session)
        if waiting is None and not call.marks & OPEN:
            return
        key = (row.tool_name, row.args_sha256 or row.args_json)
        if waiting is not None:
            if call.marks & READS:
                self._open.pop(session)
                waiting = None
            elif (before := waiting.pop(key, None)) is not None:
                self._pair(before, call)
            elif _looks(call):
                self._open.pop(session)
                waiting = None
        if call.marks & OPEN:
            if waiting is None:
                waiting = OrderedDict()
                self._open.put(session, waiting)
            waiting[key] = call.note()
            if len(waiting) > self.MOST:
                waiting.popitem(last=False)

    def _pair(self, before: Note, call: Call) -> None:
        # What counts is whether the second one happened: that the first is unknown is the rule's own condition.
        episode = Episode.of(before, call)
        episode.status = call.row.status
        self.report(episode, f"{shown(before.tool)} again, while nobody knew whether the first one had happened")


_LOOKING = frozenset(
    """ls cat head tail less grep egrep rg find stat file wc diff test [ [[ ps pgrep ss netstat lsof df du jq ping host
    dig date pwd id which type tree readlink realpath md5sum sha256sum sort uniq cut awk echo cd true sleep
    journalctl""".split()
)
_LOOKING_VERBS = {
    "git": ("status", "log", "diff", "show", "branch", "ls-remote", "ls-files", "rev-parse", "remote"),
    "kubectl": ("get", "describe", "logs", "top"),
    "docker": ("ps", "logs", "inspect", "images"),
    "systemctl": ("status", "is-active", "list-units", "show"),
    "hermes": ("ledger",), "gh": ("run", "pr", "issue"), "helm": ("list", "status", "history"),
}  # fmt: skip


def _looks(call: Call) -> bool:
    """A call that only looks at how things are."""
    tool = call.row.tool_name
    if tool not in toolsets.SHELL:
        return toolsets.is_read(tool, call.facts.args)
    facts = call.facts
    if facts.effects or facts.written or facts.sends or not facts.commands:
        return False
    return all(
        words[0] in _LOOKING
        or (words[0] in _LOOKING_VERBS and len(words) > 1 and words[1] in _LOOKING_VERBS[words[0]])
        or facts.gets and words[0] in ("curl", "wget")
        for words in facts.commands
    )


class Backlog(Rule):
    id = "ASI08-04"
    title = "A backlog of open calls"
    severity = "MEDIUM"
    confidence = "high"
    predicate = "Five or more calls of the ledger are PENDING for more than an hour. One finding with all of them."
    remediation = "Look at each with `hermes ledger ghosts`, and write down what you saw with `hermes ledger settle`."
    refs = (_OWASP, _ATLAS)
    on = OPEN
    conditioned = False

    MANY, SECONDS = 5, 3600.0

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._ids = array("q")
        self._first = self._last = ""

    def see(self, call: Call) -> None:
        if call.row.status == PENDING and self.context.now - call.at > self.SECONDS:
            self._first, self._last = self._first or call.row.ts, call.row.ts
            self._ids.append(call.row.id)

    def end(self) -> None:
        if len(self._ids) >= self.MANY:
            episode = Episode("", list(self._ids), self._first, self._last, PENDING)
            self.report(episode, f"{len(self._ids)} calls are open for more than an hour")


class Outage(Rule):
    id = "ASI08-05"
    title = "The same failure in several sessions"
    severity = "HIGH"
    confidence = "medium"
    predicate = (
        "The same ERROR:<type> in three or more sessions within 600 seconds. One finding for each such stretch. Exit"
        " codes, refusals and cancellations are no shared failure: two programs that end with 1 have nothing in common."
    )
    remediation = "Find what the sessions share and stop it before more of them run into it."
    refs = (_OWASP, _ATLAS)
    on = ERROR
    conditioned = False

    SESSIONS, SECONDS, MOST = 3, 600.0, 100
    _OWN = ("ERROR:exit_", "ERROR:blocked", "ERROR:denied", "ERROR:cancelled", "ERROR:invalid_args", "ERROR:skipped")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._near: Recent[deque[Note]] = Recent()
        self._open: dict[str, Episode] = {}

    def see(self, call: Call) -> None:
        kind = call.row.status
        if kind.startswith(self._OWN):
            return
        near = self._near.get(kind)
        if near is None:
            near = deque(maxlen=self.MOST)
        self._near.put(kind, near)
        while near and not call.within(near[0].at, self.SECONDS):
            near.popleft()
        near.append(call.note())
        episode = self._open.get(kind)
        if len({note.session for note in near}) >= self.SESSIONS:
            if episode is None:
                self._open[kind] = episode = Episode.of(*near)
                episode.session = ""
            else:
                episode.add(call)
        elif episode is not None:
            self._close(self._open.pop(kind))

    def _close(self, episode: Episode) -> None:
        self.report(episode, f"{shown(episode.status)} in three or more sessions within ten minutes")

    def end(self) -> None:
        for episode in self._open.values():
            self._close(episode)


RULES: tuple[type[Rule], ...] = (RetryStorm, Spread, BlindRetry, Backlog, Outage)
