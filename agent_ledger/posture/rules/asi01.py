"""ASI01 Agent Goal Hijack: its consequences, since prompts and goals are in no row."""

from __future__ import annotations

import re

from .base import EGRESS, PHRASE, TOLD, UNTRUSTED, Call, Context, Episode, Note, Recent, Rule

_OWASP = "OWASP ASI01:2026"
_ATLAS = ("AML.T0051.001", "AML.T0086")

# Words of results that speak to an agent. Looked for only where `may_order` found one of their stems.
ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|your|system)\b.{0,40}"
    r"\b(?:instruction|prompt|rule|direction|guideline|message|context)s?\b"
    r"|\byou (?:are|must) now\b.{0,60}\b(?:agent|assistant|mode|obey|act|send|run)\b"
    r"|\b(?:new|real|updated|system) (?:instruction|task|directive|prompt)s?\s*:"
    r"|<\s*/?\s*(?:system|assistant|im_start|im_end)\b|\bdo not (?:tell|inform|mention (?:this )?to) the user\b",
    re.IGNORECASE | re.DOTALL,
)


def may_order(text: str) -> bool:
    """A quick look whether ORDERS is worth a search."""
    return (
        "gnore" in text
        or "GNORE" in text
        or "isregard" in text
        or "orget" in text
        or "verride" in text
        or "nstruction" in text
        or "NSTRUCTION" in text
        or "ou are now" in text
        or "must now" in text
        or "directive" in text
        or "<" in text
        or "the user" in text
    )


class Trifecta(Rule):
    id = "ASI01-01"
    title = "Strangers' text, then a secret, then something sent"
    severity = "HIGH"
    confidence = "medium"
    predicate = (
        "In one session, in this order and within 600 seconds: untrusted content is read (a web page, a download, a"
        " message), a secret is read, and something is sent to somebody else. A secret that is sent counts as both."
    )
    remediation = "Change the secret, look at what was sent, and keep sessions that read the web away from secrets."
    refs = (_OWASP, *_ATLAS)
    on = UNTRUSTED | TOLD | EGRESS

    SECONDS = 600.0

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._untrusted: Recent[Note] = Recent()
        self._secret: Recent[tuple[Note, Note]] = Recent()

    def see(self, call: Call) -> None:
        session = call.row.session_id
        note = call.note()
        sends = bool(call.marks & EGRESS)
        # What this very call fetches comes after what it reads.
        before = self._untrusted.get(session)
        if call.marks & UNTRUSTED and (before is None or not call.facts.gets):
            before = note
        if call.marks & UNTRUSTED:
            self._untrusted.put(session, note)
        taken = self._secret.get(session)
        if sends and taken is not None and call.within(taken[0].at, self.SECONDS) and taken[1].id != note.id:
            del self._secret[session]
            self._tell(call, *taken)
            return
        if not call.marks & TOLD or before is None or not call.within(before.at, self.SECONDS):
            return
        facts = call.facts
        if facts.of_kind("exfiltration"):
            self._tell(call, before, note)
        elif facts.of_kind("credential_read"):
            self._secret.put(session, (before, note))

    def _tell(self, call: Call, source: Note, secret: Note) -> None:
        quoted = next((effect.what for effect in call.facts.of_kind("exfiltration")), "")
        episode = Episode.of(source, secret, call)
        episode.status = call.row.status  # whether it left is what the last step says
        self.report(episode, "untrusted content was read, then a secret, then something was sent", quoted,
                    call.row.args_json)  # fmt: skip


class InjectionThenEgress(Rule):
    id = "ASI01-02"
    title = "A result that gives orders, then something sent"
    severity = "MEDIUM"
    confidence = "low"
    predicate = (
        "The stored beginning of a result (300 characters) speaks like an injection (a call to drop its instructions),"
        " and within 300 seconds the session sends something to somebody else. The phrase alone never fires, and behind"
        " character 300 nothing is seen."
    )
    remediation = "Read the page or message that the result came from, and what was sent after it."
    refs = (_OWASP, *_ATLAS)
    on = PHRASE | EGRESS

    SECONDS = 300.0

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._orders: Recent[Note] = Recent()

    def see(self, call: Call) -> None:
        session = call.row.session_id
        if call.marks & EGRESS and (before := self._orders.get(session)) is not None:
            del self._orders[session]
            if call.within(before.at, self.SECONDS):
                episode = Episode.of(before, call)
                episode.status = call.row.status
                self.report(episode, "a result that gives orders, then something was sent")
        if call.marks & PHRASE:
            self._orders.put(session, call.note())


RULES: tuple[type[Rule], ...] = (Trifecta, InjectionThenEgress)
