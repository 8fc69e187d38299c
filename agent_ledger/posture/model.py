"""Findings and reports: what the rules give, what is printed, sent and kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# Points that one finding takes, by its severity.
WEIGHTS = {"CRITICAL": 25, "HIGH": 15, "MEDIUM": 8, "LOW": 3}
SEVERITIES = tuple(WEIGHTS)
CONFIDENCES = ("low", "medium", "high")

# The ledger is written by the agent that is graded, so the number says little by itself.
SELF_WRITTEN = (
    "The ledger is written by the agent that is graded: 100 means nothing suspicious in what was recorded, not that the"
    " agent behaved well. A self-assessment against the OWASP list; not a certification."
)


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a finding is accepted: who said so, until which UTC day (``YYYY-MM-DD``)."""

    reason: str
    by: str
    expires: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One episode that a rule found. ``rows``: the id of every row of it; ``excerpt``: redacted, at most 80 characters.

    ``asi``: ``ASI01`` ... ``ASI11``; ``official``: False for what is not on OWASP's list; ``fingerprint``: SHA-256 in
    hex over rule, session and rows, the same in every run.
    """

    rule_id: str
    asi: str
    official: bool
    severity: str
    confidence: str
    status_seen: str
    message: str
    rows: tuple[int, ...]
    session_id: str
    ts_first: str
    ts_last: str
    fingerprint: str
    remediation: str
    refs: tuple[str, ...] = ()
    excerpt: str = ""
    suppressed: Suppression | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What one look at a ledger gave. ``score``: 100 minus the penalty, not below 0; ``score_effective``: the same
    without suppressed findings; ``subtotals``: points by ASI; ``not_assessed``: id to reason; ``rule_errors``: rule id
    to what went wrong; ``changes``: fingerprints that are ``new``, ``open`` or ``resolved`` since the report before;
    ``notices``: what a reader should know besides, such as suppressions that are over."""

    score: int
    score_effective: int
    penalty: int
    penalty_per_1000: float
    findings: tuple[Finding, ...]
    subtotals: dict[str, int]
    assessed: tuple[str, ...]
    not_assessed: dict[str, str]
    coverage: dict[str, Any]
    rules_version: str
    policy_sha256: str
    since: str
    until: str
    session: str
    rule_errors: dict[str, str] = field(default_factory=dict)
    changes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    note: str = SELF_WRITTEN
