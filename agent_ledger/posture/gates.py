"""When a report stops a job: limits on the score, on severities, on what is new, and on how much was looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .model import SEVERITIES, Finding, Report


@dataclass(frozen=True, slots=True)
class Gates:
    """``fail_under``: the least ``score_effective``; ``fail_on``: the mildest severity that stops, '' for none;
    ``on_new``: only findings that the report before did not have; ``min_rows``: fewer are no data."""

    fail_under: int | None = None
    fail_on: str = ""
    on_new: bool = False
    min_rows: int = 0


def tripped(report: Report, gates: Gates) -> list[str]:
    """Why this report stops a job, [] where it does not. Suppressed findings and those of low confidence stop none."""
    reasons = []
    if gates.fail_under is not None and report.score_effective < gates.fail_under:
        reasons.append(f"the score is {report.score_effective}, below {gates.fail_under}")
    counted = [finding for finding in report.findings if finding.suppressed is None and finding.confidence != "low"]
    if gates.on_new:
        new = set(report.changes.get("new", ()))
        counted = [finding for finding in counted if finding.fingerprint in new]
    if gates.fail_on or gates.on_new:
        grave = list(_as_grave(counted, gates.fail_on or SEVERITIES[-1]))
        if grave:
            which = "new findings" if gates.on_new else "findings"
            names = ", ".join(sorted({finding.rule_id for finding in grave}))
            reasons.append(f"{len(grave)} {which} of {gates.fail_on or SEVERITIES[-1]} or worse ({names})")
    return reasons


def _as_grave(findings: Iterable[Finding], least: str) -> Iterable[Finding]:
    limit = SEVERITIES.index(least)
    return (finding for finding in findings if SEVERITIES.index(finding.severity) <= limit)
