"""What the HTML page shows beside the score: calls over time by tool and outcome, and the open ghosts."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from ..cli import ghosts as open_ghosts
from ..model import parse_iso
from ..store.reader import Reader

_SHORT_S = 3 * 86_400  # windows up to this are shown by the hour
_MOST_BUCKETS = 400
_MOST_GHOSTS = 200
_WORDS = {"PENDING": "pending", "CONFIRMED": "confirmed", "GHOST_REPORTED": "ghost", "ERROR:blocked": "blocked"}


def activity(path: str, home: str, since: str = "", until: str = "", session: str = "") -> dict[str, Any]:
    """``unit`` ('day' or 'hour'), ``buckets`` of ``start`` (UTC), ``tools`` and ``outcomes`` (name to number), and the
    open ``ghosts`` of the home. Times as the ledger writes them. Raises LedgerError."""
    with Reader(path) as reader:
        totals = reader.totals()
        first, last = since or totals.first_ts, until or totals.last_ts
        unit = "hour" if _seconds(first, last) <= _SHORT_S else "day"
        size = 13 if unit == "hour" else 10
        counted = reader.ask(lambda connection: _counted(connection, size, since, until, session))
        found, _ = open_ghosts.find(reader, home, time.time())
    return {
        "unit": unit,
        "buckets": counted[-_MOST_BUCKETS:],
        "ghosts": [
            {
                "id": ghost.row.id,
                "ts": ghost.row.ts,
                "tool": ghost.row.tool_name,
                "summary": ghost.row.summary,
                "session_id": ghost.row.session_id,
            }
            for ghost in found[:_MOST_GHOSTS]
        ],
    }


def _counted(connection: sqlite3.Connection, size: int, since: str, until: str, session: str) -> list[dict[str, Any]]:
    where, values = ["1"], list[object]()
    for condition, value in (("ts >= ?", since), ("ts < ?", until), ("session_id = ?", session)):
        if value:
            where.append(condition)
            values.append(value)
    buckets: dict[str, dict[str, Any]] = {}
    statement = (
        f"SELECT substr(ts, 1, {size}), tool_name, status, count(*) FROM ledger WHERE {' AND '.join(where)}"  # noqa: S608
        " GROUP BY 1, 2, 3 ORDER BY 1"
    )
    for start, tool, status, many in connection.execute(statement, values):
        bucket = buckets.setdefault(start, {"start": start, "tools": {}, "outcomes": {}})
        bucket["tools"][tool] = bucket["tools"].get(tool, 0) + many
        outcome = _WORDS.get(status, "failed")
        bucket["outcomes"][outcome] = bucket["outcomes"].get(outcome, 0) + many
    return list(buckets.values())


def _seconds(first: str, last: str) -> float:
    begin, end = parse_iso(first), parse_iso(last)
    return end - begin if begin is not None and end is not None else 0.0
