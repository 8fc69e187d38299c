"""What earlier reports found, so that the next one can say what is new, still open, or resolved."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .model import Report


def line(report: Report | None, day: str, ts: str, ghosts: int) -> dict[str, Any]:
    """What is kept of a report: a line of ``history.jsonl``. ``day``: the UTC day; ``ts``: when it was made; without
    data (None) the numbers are null."""
    found = report.findings if report else ()
    return {
        "day": day,
        "ts": ts,
        "rows": report.coverage.get("rows") if report else 0,
        "score": report.score if report else None,
        "score_effective": report.score_effective if report else None,
        "penalty": report.penalty if report else None,
        "penalty_per_1000": report.penalty_per_1000 if report else None,
        "rules_version": report.rules_version if report else None,
        "policy_sha256": report.policy_sha256 if report else None,
        "by_severity": dict(sorted(Counter(finding.severity for finding in found).items())),
        "by_rule": dict(sorted(Counter(finding.rule_id for finding in found).items())),
        "fingerprints": sorted(finding.fingerprint for finding in found),
        "new": list(report.changes.get("new", ())) if report else [],
        "open": list(report.changes.get("open", ())) if report else [],
        "resolved": list(report.changes.get("resolved", ())) if report else [],
        "rule_errors": sorted(report.rule_errors) if report else [],
        "ghosts": ghosts,
    }


def compare(report: Report, before: Mapping[str, Any] | None) -> Report:
    """The report with what is new, open and resolved since the one before; all is new where there was none."""
    found = {finding.fingerprint for finding in report.findings}
    noted = before.get("fingerprints") if before else None
    earlier = {mark for mark in noted if isinstance(mark, str)} if isinstance(noted, list) else set()
    changes = {"new": found - earlier, "open": found & earlier, "resolved": earlier - found}
    return dataclasses.replace(report, changes={name: tuple(sorted(marks)) for name, marks in changes.items()})


def trend(lines: Sequence[Mapping[str, Any]], report: Report) -> str:
    """One sentence on how the score moved, '' where there is nothing to compare with."""
    if not lines:
        return ""
    last = lines[-1]
    score = last.get("score")
    if not isinstance(score, int):
        return ""
    moved = report.score - score
    text = f"{moved:+d} since {last.get('day', '?')}" if moved else f"the same as on {last.get('day', '?')}"
    if last.get("rules_version") != report.rules_version:
        text += f" (rules {last.get('rules_version', '?')} then, {report.rules_version} now: not comparable)"
    return text
