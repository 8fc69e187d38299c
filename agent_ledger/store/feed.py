"""The calls of a ledger page by page and as counts over time, within a time that is given.

A ledger holds millions of calls, and no index leads to a tool, an outcome or a time: one more would make every hook
dearer. So both go backwards from the newest call in windows of ids, and stop where the time is over. What they answer
says how far they came.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ..model import APPLIED, CANCELLED, GHOST_REPORTED, NONE, PENDING, TIMEOUT, UNKNOWN
from .reader import MAX_ID
from .shapes import Row
from .sql import columns
from .wanted import Wanted

WINDOW = 20_000  # ids; some 20 MB of rows
_WIDEST = 64 * WINDOW
_QUICK_S = 0.02
_COLUMNS = columns(Row)

# What came of a call, in words for a chart. `unconfirmed`: nobody knows; `settled`: a ghost whose effect is known.
OUTCOMES = ("confirmed", "failed", "not_run", "unconfirmed", "settled")
_OUTCOME = (
    f"CASE WHEN status = 'CONFIRMED' THEN 'confirmed' WHEN status = '{PENDING}' THEN 'unconfirmed'"
    f" WHEN status = '{GHOST_REPORTED}' THEN iif(effect = '{UNKNOWN}', 'unconfirmed', 'settled')"
    f" WHEN effect = '{NONE}' THEN 'not_run' WHEN effect = '{APPLIED}' THEN 'settled'"
    f" WHEN status = '{TIMEOUT}' OR status = '{CANCELLED}' THEN 'unconfirmed'"
    " ELSE 'failed' END"
)


class Page(NamedTuple):
    """Calls, newest first. ``before``: the id to go on from, None at the end; ``whole``: False where the time was over
    before the page was full."""

    rows: list[Row]
    before: int | None
    whole: bool


class Activity(NamedTuple):
    """Calls over time. ``counts``: (bucket, tool, outcome) -> calls, a bucket being the first ``width`` characters of
    ``ts``; ``reached``: the time of the oldest call that was looked at; ``whole``: whether that is all since then."""

    counts: Counter[tuple[str, str, str]]
    reached: str
    whole: bool


def page(connection: sqlite3.Connection, wanted: Wanted, before: int | None, limit: int, deadline: float) -> Page:
    """Up to ``limit`` calls with an id below ``before`` (None for the newest). ``deadline`` is on the monotonic clock;
    one window is looked through whatever it says, so that every page goes on."""
    conditions, values = wanted.conditions()
    # Within one session the index holds ids in order, so that a window without a call of it costs one look.
    index = wanted.index or (" INDEXED BY ledger_session" if wanted.session_ids else "")
    where = " AND ".join(["id > ? AND id <= ?", *conditions])
    query = f"SELECT {_COLUMNS} FROM ledger{index} WHERE {where} ORDER BY id DESC LIMIT ?"
    found: list[Row] = []
    for low, high, last in _windows(connection, before, whole=wanted.few):
        left = limit - len(found)
        found += [Row(*row) for row in connection.execute(query, (low, high, *values, left))]
        if len(found) == limit:
            return Page(found, None if last and found[-1].id == low + 1 else found[-1].id, True)
        if last:
            break
        if time.monotonic() >= deadline:
            return Page(found, low + 1, False)
    return Page(found, None, True)


def since(connection: sqlite3.Connection, wanted: Wanted, after: int, limit: int) -> Page:
    """The newest ``limit`` calls behind id ``after``, of the newest window only."""
    conditions, values = wanted.conditions()
    newest = newest_id(connection)
    where = " AND ".join(["id > ?", *conditions])
    query = f"SELECT {_COLUMNS} FROM ledger{wanted.index} WHERE {where} ORDER BY id DESC LIMIT ?"
    start = max(after, newest - WINDOW)
    return Page([Row(*row) for row in connection.execute(query, (start, *values, limit))], newest, start == after)


def newest_id(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM ledger").fetchone()[0])


def activity(connection: sqlite3.Connection, start: str, width: int, deadline: float) -> Activity:
    """Count the calls issued at ``start`` or later. Ids ascend with time but where a clock was set back; a window that
    begins before ``start`` is the last one."""
    query = (
        f"SELECT substr(ts, 1, {width:d}), tool_name, {_OUTCOME}, count(*) FROM ledger"
        " WHERE id > ? AND id <= ? AND ts >= ? GROUP BY 1, 2, 3"
    )
    counts: Counter[tuple[str, str, str]] = Counter()
    reached = start
    for low, high, last in _windows(connection, None):
        for bucket, tool, outcome, many in connection.execute(query, (low, high, start)):
            counts[str(bucket), str(tool), outcome] += many
        edge = connection.execute("SELECT ts FROM ledger WHERE id > ? ORDER BY id LIMIT 1", (low,)).fetchone()
        if last or (edge is not None and str(edge[0]) < start):
            return Activity(counts, start, True)
        reached = str(edge[0]) if edge is not None else reached
        if time.monotonic() >= deadline:
            return Activity(counts, reached, False)
    return Activity(counts, start, True)


def _windows(
    connection: sqlite3.Connection, before: int | None, whole: bool = False
) -> Iterator[tuple[int, int, bool]]:
    """(low, high, whether it is the last) of windows of ids above ``low`` up to ``high``, from the newest to the
    oldest; one for all where ``whole``. They grow while looking through one takes no time: where pruning left gaps."""
    least = int(connection.execute("SELECT coalesce(min(id), 0) FROM ledger").fetchone()[0])
    most = newest_id(connection)  # one question each: both ends in one SELECT would read the whole table
    high = most if before is None else min(most, before - 1)
    size = MAX_ID if whole else WINDOW
    while high >= least and high > 0:
        low = max(high - size, least - 1)
        began = time.monotonic()
        yield low, high, low < least
        high = low
        if time.monotonic() - began < _QUICK_S:
            size = min(2 * size, _WIDEST)
