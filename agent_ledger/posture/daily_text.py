"""The words of a daily report, for the screen and for the message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..cli.ghosts import OpenGhost
from ..cli.rows import what
from ..cli.text import plural
from ..redact import redact_text
from .message import Line, Span, line, shortened
from .model import SELF_WRITTEN, SEVERITIES, Finding, Report

MOST_FINDINGS, MOST_GHOSTS = 40, 100  # in a message; the printed report has all
_EXCERPT = 80  # characters of what a call said


@dataclass(frozen=True, slots=True)
class Day:
    """What is known about one UTC day. ``report`` is None where nothing was recorded on it; ``ghosts``: every open one
    of the home, of whatever day; ``waiting``: records beside the ledger; ``before``: the history's line of the last
    scored day before it."""

    day: str
    report: Report | None
    ghosts: Sequence[OpenGhost]
    running: int
    waiting: int
    before: Mapping[str, Any] | None


def title(day: str) -> str:
    return f"agent-ledger posture {day} (UTC)"


def compose(day: Day, short: bool) -> list[Line]:
    """The report as lines; ``short``: as a message, where long lists are cut and say so."""
    lines = [line(Span(title(day.day), "b"))]
    if day.report is None:
        lines.append(line("No data: no call was recorded on this day, so there is no score."))
        lines.append(line("Is the plugin on? hermes ledger doctor"))
    else:
        lines += _numbers(day.report, day.before)
        lines += _findings(day.report, short)
    lines += _ghosts(day, short)
    if day.waiting:
        lines.append(line(f"{plural(day.waiting, 'record')} beside the ledger wait for the next call and do not count"))
    return [*lines, (), line(Span(day.report.note if day.report else SELF_WRITTEN, "i"))]


def _numbers(report: Report, before: Mapping[str, Any] | None) -> list[Line]:
    rows, sessions = report.coverage.get("rows"), report.coverage.get("sessions")
    calls = plural(rows, "call") if isinstance(rows, int) else "calls"
    of = f" in {plural(sessions, 'session')}" if isinstance(sessions, int) else ""
    effective = f", {report.score_effective} without accepted findings" if _accepted(report) else ""
    lines = [
        line("Score ", Span(f"{report.score} of 100", "b"), f"{effective}; {calls}{of}"),
        line(f"Penalty {report.penalty}, {report.penalty_per_1000:.1f} per 1,000 calls"),
    ]
    if before is not None:
        lines.append(_trend(report, before))
    for rule_id, why in sorted(report.rule_errors.items()):
        lines.append(line(f"Rule {rule_id} failed and found nothing: ", Span(_clean(why), "code")))
    return lines


def _trend(report: Report, before: Mapping[str, Any]) -> Line:
    if before.get("rules_version") != report.rules_version:
        return line(f"The rules have changed since {before['day']}: its score of {before['score']} is no comparison")
    rules = {finding.rule_id for finding in report.findings}
    known = before.get("by_rule")
    earlier = set(known) if isinstance(known, dict) else set()
    changes = [
        f"{word} {', '.join(sorted(names))}"
        for word, names in (("new:", rules - earlier), ("no longer:", earlier - rules))
        if names
    ]
    return line("; ".join([f"Last scored day {before['day']}: {before['score']}", *changes]))


def _findings(report: Report, short: bool) -> list[Line]:
    by_severity = Counter(finding.severity for finding in report.findings)
    counts = ", ".join(f"{by_severity[severity]} {severity}" for severity in SEVERITIES if by_severity[severity])
    lines = [(), line(Span(f"Findings: {counts or 'none'}", "b"))]
    ranked = sorted(report.findings, key=_rank)
    shown = ranked[:MOST_FINDINGS] if short else ranked
    for finding in shown:
        lines += _finding(finding)
    if len(shown) < len(ranked):
        lines.append(line(f"and {len(ranked) - len(shown)} more, in the printed report and in posture.py"))
    if report.not_assessed:
        lines.append(line(f"Not assessed: {', '.join(sorted(report.not_assessed))}"))
    return lines


def _rank(finding: Finding) -> tuple[object, ...]:
    accepted = finding.suppressed is not None
    first = finding.rows[0] if finding.rows else 0
    return accepted, SEVERITIES.index(finding.severity), finding.asi, finding.rule_id, first


def _finding(finding: Finding) -> list[Line]:
    rows = ", ".join(map(str, finding.rows[:8])) + (f" and {len(finding.rows) - 8} more" if finding.rows[8:] else "")
    official = "" if finding.official else " (not on the official list)"
    lines = [
        line(
            "- ", Span(finding.severity, "b"), f" {finding.rule_id}{official}, confidence {finding.confidence}: ",
            Span(_clean(finding.message, 200), "code"), f" [rows {rows}; session ",
            Span(_clean(finding.session_id) or "-", "code"), "]",
        )
    ]  # fmt: skip
    if finding.excerpt:
        lines.append(line("  ", Span(_clean(finding.excerpt), "code")))
    if finding.suppressed is not None:
        by, until = finding.suppressed.by, finding.suppressed.expires
        lines.append(line("  accepted until ", Span(_clean(f"{until} by {by}: {finding.suppressed.reason}"), "code")))
    return lines


def _ghosts(day: Day, short: bool) -> list[Line]:
    lines = [(), line(Span(f"Open ghosts: {len(day.ghosts) or 'none'}", "b"))]
    if day.ghosts:
        lines[-1] = line(*lines[-1], ", calls of any session and day that nobody confirmed")
    shown = day.ghosts[-MOST_GHOSTS:] if short else day.ghosts
    for ghost in shown:
        row = ghost.row
        inside = f" (+{ghost.nested} inside)" if ghost.nested else ""
        lines.append(
            line(
                f"- #{row.id} ", Span(_clean(f"{row.tool_name} {what(row)}"), "code"), f"{inside} ",
                Span(_clean(row.ts, 24), "code"), ", session ", Span(_clean(row.session_id) or "-", "code"),
                f"{', told' if ghost.told else ''}: ", Span(_clean(ghost.why, 120), "code"),
            )
        )  # fmt: skip
    if len(shown) < len(day.ghosts):
        lines.append(line(f"and {len(day.ghosts) - len(shown)} older ones: hermes ledger ghosts"))
    if day.running:
        lines.append(line(f"{plural(day.running, 'call')} still running"))
    return lines


def _accepted(report: Report) -> bool:
    return any(finding.suppressed is not None for finding in report.findings)


def _clean(text: str, most: int = _EXCERPT) -> str:
    return shortened(redact_text(text if isinstance(text, str) else ""), most)
