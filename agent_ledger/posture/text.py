"""A report for people: the score first, then what to look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..cli.text import local, plural, safe
from . import taxonomy
from .model import SEVERITIES, Finding, Report

_MOST_ROWS = 8


def lines(report: Report, trend: str, reasons: list[str]) -> Iterator[str]:
    """The lines of a report. ``trend``: how the score moved, '' where that is not known; ``reasons``: the gates that it
    tripped."""
    same = report.score_effective == report.score
    effective = "" if same else f" ({report.score_effective} without what is accepted)"
    yield f"score     {report.score} of 100{effective}" + (f", {trend}" if trend else "")
    yield f"penalty   {report.penalty}, {report.penalty_per_1000:g} per 1,000 calls"
    yield f"looked at {_window(report)}"
    for asi, points in sorted(report.subtotals.items()):
        if points:
            yield f"{asi}     -{points}  {taxonomy.ENTRIES[asi].name}{_unofficial(taxonomy.ENTRIES[asi].official)}"
    new = set(report.changes.get("new", ()))
    for finding in sorted(report.findings, key=_rank):
        yield ""
        yield from _finding(finding, finding.fingerprint in new)
    if not report.findings:
        yield ""
        yield "no findings"
    yield ""
    yield f"assessed  {', '.join(report.assessed) or 'nothing'}"
    for asi, reason in sorted(report.not_assessed.items()):
        yield f"          {asi} not assessed: {safe(reason)}"
    for rule, error in sorted(report.rule_errors.items()):
        yield f"          rule {rule} failed and found nothing: {safe(error)}"
    for notice in report.notices:
        yield f"note      {safe(notice)}"
    yield f"coverage  {_coverage(report.coverage)}"
    policy = f", policy {report.policy_sha256[:12]}" if report.policy_sha256 else ""
    yield f"rules     {report.rules_version}{policy}"
    for reason in reasons:
        yield f"gate      {reason}"
    yield ""
    yield report.note


def _window(report: Report) -> str:
    rows, sessions = report.coverage.get("rows", 0), report.coverage.get("sessions", 0)
    span = f" from {local(report.since)}" if report.since else ""
    span += f" until {local(report.until)}" if report.until else ""
    of = f" of session {safe(report.session)}" if report.session else f" in {plural(sessions, 'session')}"
    return f"{plural(rows, 'call')}{of}{span}"


def _rank(finding: Finding) -> tuple[bool, int, str, int]:
    first = finding.rows[0] if finding.rows else 0
    return finding.suppressed is not None, SEVERITIES.index(finding.severity), finding.rule_id, first


def _finding(finding: Finding, new: bool) -> Iterator[str]:
    marks = ["new"] if new else []
    if finding.suppressed is not None:
        marks.append(f"accepted by {safe(finding.suppressed.by)} until {finding.suppressed.expires}")
    extra = f" [{', '.join(marks)}]" if marks else ""
    yield (
        f"{finding.severity:8}  {finding.rule_id}{_unofficial(finding.official)}, confidence {finding.confidence}:"
        f" {safe(finding.message)}{extra}"
    )
    if finding.excerpt:
        yield f"          {safe(finding.excerpt)}"
    rows = ", ".join(f"#{row}" for row in finding.rows[:_MOST_ROWS])
    more = f" and {len(finding.rows) - _MOST_ROWS} more" if len(finding.rows) > _MOST_ROWS else ""
    yield f"          {rows}{more}, session {safe(finding.session_id) or '-'}, {local(finding.ts_first)}"
    if finding.remediation:
        yield f"          {safe(finding.remediation)}"


def _unofficial(official: bool) -> str:
    return "" if official else " (not official)"


def _coverage(coverage: dict[str, Any]) -> str:
    plain = ((name, value) for name, value in coverage.items() if not isinstance(value, (dict, list)))
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in plain)
