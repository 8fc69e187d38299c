"""ASI06 Memory & Context Poisoning: writes with a memory tool."""

from __future__ import annotations

import re

from .. import toolsets
from .base import MEMORY, UNTRUSTED, Call, Context, Episode, Note, Recent, Rule

_OWASP = "OWASP ASI06:2026"
_ATLAS = "AML.T0080.000"
_STANDING = re.compile(
    r"\b(?:always|never|from now on|every time|each time|whenever|in (?:the |all )?future|by default|going forward|"
    r"in every (?:session|conversation|reply))\b",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(r"\bhttps?://(?!localhost\b|127\.)[^\s\"'\\]+|\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+\b")


def _writes(call: Call) -> bool:
    args = call.facts.args
    return not toolsets.is_read(call.row.tool_name, args) and args.get("action") not in ("remove", "delete")


class StandingOrder(Rule):
    id = "ASI06-01"
    title = "A standing order with an outside address is remembered"
    severity = "HIGH"
    confidence = "high"
    predicate = (
        "A memory tool stores an instruction for later (`always`, `from now on`) together with an e-mail address or the"
        " address of another machine. A plain fact with an address, or an order without one, does not count."
    )
    remediation = "Read the memory, remove the order unless the user gave it, and look what was sent there."
    refs = (_OWASP, _ATLAS)
    on = MEMORY

    def see(self, call: Call) -> None:
        text = call.row.args_json
        if _STANDING.search(text) and _OUTSIDE.search(text) and _writes(call):
            self.report(Episode.of(call), "remembers an order that names an outside address")


class RememberedAfterReading(Rule):
    id = "ASI06-02"
    title = "Remembered right after strangers' text"
    severity = "LOW"
    confidence = "low"
    predicate = "A memory tool writes within three rows of a call that brought untrusted content, in one session."
    remediation = "Read the memory and look where it came from."
    refs = (_OWASP, _ATLAS)
    on = MEMORY | UNTRUSTED

    ROWS = 3

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._untrusted: Recent[Note] = Recent()

    def see(self, call: Call) -> None:
        session = call.row.session_id
        if call.marks & UNTRUSTED:
            self._untrusted.put(session, call.note())
        if call.marks & MEMORY:
            source = self._untrusted.get(session)
            if source is not None and call.place - source.place <= self.ROWS and _writes(call):
                episode = Episode.of(source, call)
                episode.status = call.row.status
                self.report(episode, "writes memory right after reading untrusted content")


RULES: tuple[type[Rule], ...] = (StandingOrder, RememberedAfterReading)
