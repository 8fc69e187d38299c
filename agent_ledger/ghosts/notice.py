"""The text that the next user message carries: facts about calls, one piece of advice, nothing that others wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .. import redact, tools
from ..model import CONFIRMED
from ..store import news
from ..store.turns import Facts

MAX_CHARS = 2000
MAX_CALLS = 10
_SAFE = re.compile(r"[A-Za-z0-9_./:@-]{1,60}")
_SAFE_NAME = re.compile(r"[A-Za-z0-9_./:@-]{1,64}")

_HEAD = (
    "[agent-ledger] Note from the agent-ledger plugin of this Hermes, added to this message automatically; the user did"
    " not write it."
)


@dataclass(frozen=True, slots=True)
class Launch:
    """A background command or delegation whose process is gone: ``running`` as far as it can be known, and what its
    child sessions confirmed and left open."""

    facts: Facts
    running: bool | None
    children: int = 0
    confirmed: int = 0
    unsettled: int = 0


@dataclass(slots=True)
class Content:
    """What one notice tells. ``recalled`` are the newest of ``recalled_in_all``; ``policy``: one sentence of the policy
    room's own."""

    ghosts: list[Facts] = field(default_factory=list)
    launched: list[Launch] = field(default_factory=list)
    news: list[news.Item] = field(default_factory=list)
    recalled: list[Facts] = field(default_factory=list)
    recalled_in_all: int = 0
    policy: str = ""

    def __bool__(self) -> bool:
        return bool(self.ghosts or self.launched or self.news or self.recalled or self.policy)


@dataclass(slots=True)
class _Section:
    """A heading (given the number of calls), its lines, and how many calls it is about in all."""

    heading: Callable[[int], str]
    lines: list[str]
    total: int
    ids: list[int]


def compose(content: Content) -> str:
    """The notice: at most 2000 characters and ten calls, the same bytes for the same facts.

    It speaks inside the user's message, so nothing that a model or a tool wrote may speak through it: a call is named
    by row id, tool and one typed identifier of safe characters; everything else is this module's own words.
    """
    sections = [section for section in _sections(content) if section.total]
    room = MAX_CALLS
    for section in sections:
        del section.lines[room:]
        room -= len(section.lines)
    first = next((row_id for section in sections for row_id in section.ids), 0)
    while True:
        text = _text(sections, first, content.policy)
        if len(text) <= MAX_CHARS:
            return text
        longest = max(sections, key=lambda section: len(section.lines), default=None)
        if longest is None or not longest.lines:
            return text[:MAX_CHARS]
        longest.lines.pop()


def _sections(content: Content) -> list[_Section]:
    late = [item for item in content.news if item.kind == news.LATE]
    repeats = [item for item in content.news if item.kind == news.REPEAT]
    return [
        _Section(_ghost_heading, [_ghost(fact) for fact in content.ghosts], len(content.ghosts),
                 [fact.id for fact in content.ghosts]),
        _Section(_launch_heading, [_launch(one) for one in content.launched], len(content.launched),
                 [one.facts.id for one in content.launched]),
        _Section(_late_heading, [_late(item) for item in late], len(late), [item.ledger_id for item in late]),
        _Section(_repeat_heading, [_repeat(item) for item in repeats], len(repeats),
                 [item.ledger_id for item in repeats]),
        _Section(_recall_heading, [_recalled(fact) for fact in content.recalled], content.recalled_in_all,
                 [fact.id for fact in content.recalled]),
    ]  # fmt: skip


def _text(sections: Sequence[_Section], first: int, policy: str) -> str:
    parts = [_HEAD]
    for section in sections:
        parts.append(section.heading(section.total))
        parts += section.lines
        if section.total > len(section.lines):
            parts.append(
                f"- {'and ' if section.lines else ''}{section.total - len(section.lines)} more, not listed here."
            )
    if policy:
        parts.append(f"{policy} The user can see why with: hermes ledger doctor")
    if first:
        parts.append(f"The user can see the record with: hermes ledger show {first}")
    return "\n".join(parts)


def _ghost_heading(total: int) -> str:
    calls = "1 call of this conversation was" if total == 1 else f"{total} calls of this conversation were"
    return (
        f"{calls} issued and never confirmed. Unless it says otherwise below, whether the effect happened is unknown."
        " Check before relying on it or issuing it again:"
    )


def _launch_heading(total: int) -> str:
    return "Launched in the background by a process that is gone; the end was not seen. Check before relying on it:"


def _late_heading(total: int) -> str:
    return "Reported earlier as unconfirmed, skipped or timed out; the outcome came later:"


def _repeat_heading(total: int) -> str:
    return "The same call with the same arguments was confirmed more than once in this conversation:"


def _recall_heading(total: int) -> str:
    return "Already done in this conversation and confirmed, no longer visible above (newest first):"


def _ghost(fact: Facts) -> str:
    inside = ""
    if fact.nested:
        inside = f" {fact.nested} call{' was' if fact.nested == 1 else 's were'} issued inside it."
    return (
        f"- {_call(fact)}, issued {_time(fact.ts)}: {fact.why}.{inside} To check: {tools.read_check(fact.tool_name)}."
    )


def _launch(one: Launch) -> str:
    state = ""
    if one.running is not None:
        state = " Its process still runs." if one.running else " Its process does not run any more."
    if one.children:
        state += (
            f" {one.children} child session{'' if one.children == 1 else 's'}: {one.confirmed} calls confirmed,"
            f" {one.unsettled} not."
        )
    check = tools.read_check(one.facts.tool_name)
    return f"- {_call(one.facts)}, launched {_time(one.facts.ts)}.{state} To check: {check}."


def _late(item: news.Item) -> str:
    became = "completed after all" if item.status == CONFIRMED else f"ended with {_word(item.status)}"
    return f"- {_named(item.ledger_id, item.tool_name, item.args_json, item.args_sha256)}: {became}."


def _repeat(item: news.Item) -> str:
    return (
        f"- {_named(item.ledger_id, item.tool_name, item.args_json, item.args_sha256)}: confirmed {item.times} times."
    )


def _recalled(fact: Facts) -> str:
    return f"- {_call(fact)}, {_time(fact.ts)}{', launched' if fact.effect == 'started' else ''}."


def _call(fact: Facts) -> str:
    return _named(fact.id, fact.tool_name, fact.args_json, fact.args_sha256)


def _named(row_id: int, tool_name: str, args_json: str, args_sha256: str) -> str:
    return f"#{row_id} {_name(tool_name)} {identifier(tool_name, args_json, args_sha256)}"


def _time(ts: str) -> str:
    """The time of issue to the second; anything but a ledger time is not repeated."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z", ts)
    return f"{found[1]} {found[2]} UTC" if found else "at an unknown time"


def _word(status: str) -> str:
    return status if _SAFE.fullmatch(status) else "an error"


def identifier(tool_name: str, args_json: str, args_sha256: str) -> str:
    """The one typed identifier of a call, or a short hash of its arguments where that is not made of safe
    characters."""
    try:
        found = tools.identifier(tool_name, json.loads(args_json))
    except (ValueError, RecursionError):
        found = ""
    if found and _SAFE.fullmatch(found) and redact.redact_text(found) == found:
        return found
    return f"args:{args_sha256[:8]}" if re.fullmatch(r"[0-9a-f]{8,64}", args_sha256) else "args:none"


def _name(tool_name: str) -> str:
    if _SAFE_NAME.fullmatch(tool_name) and redact.redact_text(tool_name) == tool_name:
        return tool_name
    return "(tool with an unusual name)"
