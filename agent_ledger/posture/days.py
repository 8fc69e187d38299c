"""The history of daily reports: ``history.jsonl``, one JSON object a line and one line a day.

A line is never removed. A day that is scored again replaces its own line; what is no line of ours stays as it is.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from . import files

FILE = "history.jsonl"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def put(folder: str, line: dict[str, Any]) -> None:
    """Write the line of ``line["day"]``; the caller holds the folder's lock. Raises OSError."""
    path = os.path.join(folder, FILE)
    new = json.dumps(line, ensure_ascii=True, sort_keys=True).encode("ascii")
    before = files.read(path).splitlines()
    kept = [old for old in before if _parsed(old).get("day") != line["day"]]
    at = next((at for at, old in enumerate(before) if _parsed(old).get("day") == line["day"]), len(kept))
    if before[at : at + 1] != [new] or len(kept) + 1 != len(before):
        files.replace(path, b"".join(old + b"\n" for old in [*kept[:at], new, *kept[at:]]))


def scored(folder: str) -> list[dict[str, Any]]:
    """The lines of the days that have a score, oldest first; a damaged one is left out. Raises OSError."""
    lines = map(_parsed, files.read(os.path.join(folder, FILE)).splitlines())
    found = {line["day"]: line for line in lines if type(line.get("score")) is int}
    return [found[day] for day in sorted(found)]


def before(folder: str, day: str) -> dict[str, Any] | None:
    """The line of the last scored day before ``day``, None where there is none."""
    earlier = [line for line in scored(folder) if line["day"] < day]
    return earlier[-1] if earlier else None


def _parsed(raw: bytes) -> dict[str, Any]:
    """The line as an object, {} for what is none of ours."""
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    day = line.get("day") if isinstance(line, dict) else None
    return line if isinstance(day, str) and _DAY.fullmatch(day) else {}
