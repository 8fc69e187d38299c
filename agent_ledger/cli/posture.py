"""``posture``: the recorded activity scored against the OWASP list, for people, programs, and CI."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from .. import spans
from ..errors import UsageError
from ..home import data_folder, ledger_path, make_private_folder
from ..model import now_iso
from ..policy import load
from ..policy.rules import Policy
from ..posture import days, files, gates, history, output, suppressions, text
from ..posture.model import SEVERITIES, Report
from ..posture.score import score_ledger
from ..store.lockfile import exclusive
from . import exits, progress, rows, where
from .answer import Answer
from .output import Screen

FOLDER = "posture"


def run(options: argparse.Namespace) -> Answer:
    """Score one ledger. Exit code 0: passed, 1: a gate tripped, 2: no data, or wrong use."""
    home, path = _place(options)
    folder = options.ledger_history or os.path.join(data_folder(home), FOLDER)
    limits = _gates(options)
    now = datetime.now(UTC)
    report = _scored(options, path, now)
    if limits.min_rows and report.coverage.get("rows", 0) < limits.min_rows:
        raise UsageError(
            f"{path} has {report.coverage.get('rows', 0)} calls in this window, fewer than --min-rows"
            f" {limits.min_rows}: too little to score. Is the plugin enabled? See `hermes ledger doctor`"
        )
    earlier = days.scored(folder)
    report = history.compare(report, earlier[-1] if earlier else None)
    reasons = gates.tripped(report, limits)
    if options.ledger_record:
        _record(folder, report, now)
    if options.ledger_html:
        _page(options.ledger_html, report, earlier, path, home)
    trend = history.trend(earlier, report)

    def show(screen: Screen) -> None:
        for line in text.lines(report, trend, reasons):
            screen.line(line)
        if options.ledger_html:
            screen.line(f"page      {options.ledger_html}")

    data: dict[str, Any] = {**output.as_json(report), "gates": reasons}
    return Answer(exits.PROBLEM if reasons else exits.OK, data, show)


def _place(options: argparse.Namespace) -> tuple[str, str]:
    """(home, ledger)."""
    given = options.ledger_path
    if not given:
        home = where.home_of(options.ledger_home)
        return home, ledger_path(home)
    path = os.path.abspath(os.path.expanduser(given))
    home = os.path.dirname(os.path.dirname(os.path.dirname(path)))
    return (home if ledger_path(home) == path else os.path.dirname(path)), path


def _gates(options: argparse.Namespace) -> gates.Gates:
    worst = (options.ledger_fail_on or "").upper()
    if worst and worst not in SEVERITIES:
        raise UsageError(f"--fail-on {options.ledger_fail_on!r} is no severity; give one of {', '.join(SEVERITIES)}")
    return gates.Gates(
        _whole("--fail-under", options.ledger_fail_under),
        worst,
        options.ledger_fail_on_new,
        _whole("--min-rows", options.ledger_min_rows) or 0,
    )


def _whole(name: str, value: str | None) -> int | None:
    if value is None:
        return None
    if not value.isascii() or not value.isdigit():
        raise UsageError(f"{name} {value!r} is no whole number; give one such as {name} 70")
    return int(value)


def _scored(options: argparse.Namespace, path: str, now: datetime) -> Report:
    since, until = (_moment(value) for value in (options.ledger_since, options.ledger_until))
    accepted = suppressions.load(options.ledger_suppressions) if options.ledger_suppressions else ()
    with ExitStack() as stack:
        about = [0]
        tell = progress.begin(stack, "scoring", lambda: about[0], lambda done: f"{done} calls looked at")

        def moved(done: int, whole: int) -> None:
            about[0] = whole
            tell(done)

        return score_ledger(
            path, since=since, until=until, session=options.ledger_session or "", now=now, suppressions=accepted,
            progress=moved, policy=_policy(path), budget=_whole("--budget", options.ledger_budget) or 0,
            declared=[name.strip() for name in (options.ledger_tools or "").split(",") if name.strip()],
        )  # fmt: skip


def _policy(path: str) -> Policy | None:
    """The policy beside the ledger, None where there is none that counts."""
    policy = os.path.join(os.path.dirname(path), "policy.json")
    try:
        return load.parse(load.read(policy), policy).policy
    except (OSError, load.Broken):
        return None


def _moment(value: str | None) -> str:
    return now_iso(spans.moment(value, rows.now())) if value else ""


def _record(folder: str, report: Report, now: datetime) -> None:
    make_private_folder(folder)
    with exclusive(os.path.join(folder, "daily.lock")):
        days.put(folder, history.line(report, f"{now:%Y-%m-%d}", now_iso(now.timestamp()), 0))


def _page(target: str, report: Report, earlier: list[dict[str, Any]], path: str, home: str) -> None:
    from ..posture import activity, html

    seen = activity.activity(path, home, report.since, report.until, report.session)
    page = html.render(output.as_json(report), earlier, seen, ledger=path)
    files.replace(os.path.abspath(os.path.expanduser(target)), page.encode())
