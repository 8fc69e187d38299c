"""Run the daily report with a score that the test chooses: what is tested there is the report, not the rules.

    python -m tests.posture.standin [arguments of posture_daily.py]

The environment: STANDIN_FINDINGS (how many), STANDIN_NOW (seconds since the epoch), STANDIN_DATA (no: a day without calls).
"""

from __future__ import annotations

import os
import sys
from datetime import datetime
from typing import Any

from agent_ledger.errors import NoData
from agent_ledger.posture import daily, telegram
from agent_ledger.posture.model import WEIGHTS, Finding, Report


def finding(number: int = 1, **changed: Any) -> Finding:
    """One finding, HIGH and new in every number."""
    values: dict[str, Any] = {
        "rule_id": "ASI08-03", "asi": "ASI08", "official": True, "severity": "HIGH", "confidence": "high",
        "status_seen": "PENDING", "message": "issued again without a look", "rows": (number, number + 1),
        "session_id": "s1", "ts_first": "2026-10-03T10:00:00.000Z", "ts_last": "2026-10-03T10:01:00.000Z",
        "fingerprint": f"{number:064x}", "remediation": "look first", "excerpt": "make <deploy> & more",
    }  # fmt: skip
    return Finding(**{**values, **changed})


def report(*findings: Finding, **changed: Any) -> Report:
    """A report of these findings over 100 calls."""
    penalty = sum(WEIGHTS[one.severity] for one in findings)
    values: dict[str, Any] = {
        "score": max(0, 100 - penalty), "score_effective": max(0, 100 - penalty), "penalty": penalty,
        "penalty_per_1000": penalty * 10.0, "findings": findings, "subtotals": {}, "assessed": ("ASI08",),
        "not_assessed": {"ASI07": "no row shows it", "ASI09": "no row shows it"},
        "coverage": {"rows": 100, "sessions": 2}, "rules_version": "1", "policy_sha256": "", "since": "", "until": "",
        "session": "",
    }  # fmt: skip
    return Report(**{**values, **changed})


class Clock(telegram.Clock):
    """The real clock, set to another date."""

    def now(self) -> float:
        chosen = os.environ.get("STANDIN_NOW")
        return float(chosen) if chosen else super().now()


def score(path: str, *, since: str, until: str, now: datetime) -> Report:
    if os.environ.get("STANDIN_DATA") == "no":
        raise NoData("no call in the window")
    return report(*(finding(number) for number in range(int(os.environ.get("STANDIN_FINDINGS", "1")))))


if __name__ == "__main__":
    sys.exit(daily.main(clock=Clock(), score=score))
