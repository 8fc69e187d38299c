"""Posture for the dashboard: the history that the daily report keeps, and a score that is asked for now."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import time
from datetime import UTC, datetime
from typing import Any

from .. import spans
from ..errors import LedgerError
from ..home import data_folder, is_private_file, ledger_path
from ..model import now_iso

SCORE_S = 30.0
MOST_DAYS = 366
MOST_FINDINGS = 200
_MOST_BYTES = 8 * 1024 * 1024
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBERS = ("score", "score_effective", "penalty", "penalty_per_1000", "rows", "ghosts")


class _TooLong(Exception):
    """Scoring was stopped, since its time is over."""


def history(home: str) -> dict[str, Any]:
    """``scored``: whether any day has a score; ``days``: the newest of them, oldest first; ``can_score``: whether this
    version of the plugin has the rules."""
    days = _days(home)
    return {"scored": bool(days), "days": days, "can_score": _rules_are_here()}


def last(home: str) -> dict[str, Any] | None:
    """The newest day that has a score."""
    days = _days(home)
    return days[-1] if days else None


def score(home: str, since: str, now: float) -> dict[str, Any]:
    """The report of the posture rules over the time since ``since``. Where it cannot be had, ``report`` is None and
    ``why`` says so."""
    start = now_iso(spans.moment(since, now))
    if not _rules_are_here():
        return {"since": start, "report": None, "why": "this version of the plugin has no posture rules"}
    engine = importlib.import_module("..posture.score", __package__)
    output = importlib.import_module("..posture.output", __package__)
    deadline = time.monotonic() + SCORE_S

    def progress(done: int, about: int) -> None:
        if time.monotonic() > deadline:
            raise _TooLong(f"{done} of about {about} calls were looked at in {SCORE_S:.0f} s")

    try:
        found = engine.score_ledger(
            ledger_path(home), since=start, now=datetime.fromtimestamp(now, UTC), progress=progress
        )
    except _TooLong as late:
        return {"since": start, "report": None, "why": f"too much for the dashboard: {late}. Choose a shorter time"}
    except LedgerError as nothing:  # no ledger, or no call in that time
        return {"since": start, "report": None, "why": str(nothing)}
    said: dict[str, Any] = output.as_json(found)
    return {
        "since": start,
        "report": {**said, "findings": said["findings"][:MOST_FINDINGS], "found": len(said["findings"])},
        "why": None,
    }


def _rules_are_here() -> bool:
    package = f"{__package__.rpartition('.')[0]}.posture"
    return importlib.util.find_spec(package) is not None and importlib.util.find_spec(f"{package}.score") is not None


def _days(home: str) -> list[dict[str, Any]]:
    """The scored days of ``history.jsonl``; lines that are none are left out, as is a file that others can write."""
    path = os.path.join(data_folder(home), "posture", "history.jsonl")
    if not is_private_file(path):
        return []
    found: dict[str, dict[str, Any]] = {}
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST_BYTES))
            for raw in file:
                day = _day(raw)
                if day is not None:
                    found[day["day"]] = day
    except OSError:
        return []
    return [found[name] for name in sorted(found)][-MOST_DAYS:]


def _day(raw: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or not isinstance(line.get("day"), str) or not _DAY.fullmatch(line["day"]):
        return None
    if type(line.get("score")) is not int:  # a day without calls has no score
        return None
    by_rule = line.get("by_rule")
    return {
        "day": line["day"],
        **{name: line[name] for name in _NUMBERS if type(line.get(name)) in (int, float)},
        "rules_version": str(line.get("rules_version") or "")[:40],
        "new": _many(line.get("new")),
        "resolved": _many(line.get("resolved")),
        "by_rule": {
            str(name)[:80]: many for name, many in list(by_rule.items())[:50] if type(many) is int
        } if isinstance(by_rule, dict) else {},
    }  # fmt: skip


def _many(value: object) -> int:
    """How many fingerprints a line lists."""
    return len(value) if isinstance(value, list) else 0
