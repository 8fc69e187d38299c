"""What the policy says about one call."""

from __future__ import annotations

import time
from typing import NamedTuple

from .. import log
from .linear import OutOfTime
from .model import SOME, UNKNOWN, Effect
from .rules import Called, Hit, Policy, Rule, Subject

NOT_JUDGED = ""
ALLOW = "allow"
WOULD_BLOCK = "would_block"
BLOCKED = "blocked"

REGEX_S = 0.02  # for all regular expressions of one decision
_MOST_WHAT = 200
_SHOWN = str.maketrans({UNKNOWN: "…", SOME: "…", "\n": " ", "\r": " ", "\t": " "})


class Decision(NamedTuple):
    """``decision``: '' (not judged), allow, would_block or blocked; ``rule``: the id of the rule that decided, ''
    where none did; ``what``: what was resolved; ``kind`` and ``target``: what a second try would have in common."""

    decision: str = NOT_JUDGED
    rule: str = ""
    severity: str = ""
    reason: str = ""
    instead: str = ""
    what: str = ""
    kind: str = ""
    target: str = ""

    @property
    def refuses(self) -> bool:
        """True where the policy says no, whether it may enforce that or not."""
        return self.decision in (BLOCKED, WOULD_BLOCK)

    @property
    def message(self) -> str:
        """What the agent reads: the rule, what was resolved, why, and the safer way."""
        parts = [f"Refused by policy rule {self.rule} ({self.severity}): {shown(self.what)}."]
        if self.reason:
            parts.append(f"Why: {self.reason}")
        if self.instead:
            parts.append(f"Instead: {self.instead}")
        return "\n".join(parts)


def decide(
    effects: tuple[Effect, ...],
    commands: tuple[tuple[str, ...], ...],
    call: Called,
    policy: Policy,
    enforce: bool = True,
) -> Decision:
    """Ask the rules. A rule that denies beats any that allows, and a graver one comes first. Pure but for the clock
    that bounds regular expressions."""
    named = [effect for effect in effects if effect.kind in policy.effects]
    rules = policy.rules if named else policy.signatures
    if not rules:
        return Decision(ALLOW)
    subject = Subject(call, tuple(named), commands, time.monotonic() + REGEX_S)
    for rule in rules:
        hit = _first(rule, subject)
        if hit is None:
            continue
        decision = ALLOW if not rule.denies else BLOCKED if enforce else WOULD_BLOCK
        kind = hit.kind or f"rule:{rule.id}"
        target = hit.target or hit.what
        return Decision(decision, rule.id, rule.severity, rule.reason, rule.instead, hit.what, kind, target)
    return Decision(ALLOW)


def _first(rule: Rule, subject: Subject) -> Hit | None:
    try:
        return next(rule.hits(subject), None)
    except OutOfTime:  # the other rules are still asked
        log.warn(f"policy:time:{rule.id}", "rule %s took over %s s to match; it was not asked", rule.id, REGEX_S)
        return None


def shown(text: str) -> str:
    """Resolved text for people: one line, what is not known as an ellipsis, at most 200 characters."""
    line = text.translate(_SHOWN)
    return line if len(line) <= _MOST_WHAT else line[: _MOST_WHAT - 1] + "…"
