"""A verdict for GitHub Actions: annotations on standard output, and the job's summary page."""

from __future__ import annotations

from .summary import document, title
from .verdict import SUCCESS, Verdict

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
_MOST = 9  # GitHub shows 10 annotations of one level of a step
_MAX_MESSAGE = 4_000


def commands(verdict: Verdict) -> str:
    """Workflow commands, one a line. ``verdict``: cleaned (see report.clean)."""
    level = "notice" if verdict.outcome == SUCCESS else "error"
    reasons = verdict.reasons[:_MOST]
    lines = [_command(level, "Hermes run", title(verdict))]
    lines += [_command("warning", "Hermes run", text) for text in (reasons if level == "notice" else reasons[1:])]
    if verdict.unfinished_count:
        names = ", ".join(dict.fromkeys(verdict.unfinished[:20]))
        lines.append(_command("warning", "Calls without a result", f"{verdict.unfinished_count}: {names}"))
    if verdict.ledger is not None:
        for name, calls in (("Not confirmed", verdict.ledger.ghosts), ("Refused", verdict.ledger.blocked)):
            lines += [_command("warning", name, f"{one.id}: {one.summary or one.tool}") for one in calls[:_MOST]]
    return "".join(lines)


def summary(verdict: Verdict) -> str:
    """The job's page, to be added to the file that the variable names; far below the 1 MiB that GitHub takes."""
    return document(verdict) + "\n"


def _command(level: str, name: str, message: str) -> str:
    return f"::{level} title={_property(name)}::{_data(message[:_MAX_MESSAGE])}\n"


def _data(text: str) -> str:
    """A message that stays on its line, whatever is in it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
