"""Every row of a ledger in the order of ids, a batch at a time: flat memory, and no snapshot held for long, since an
open one keeps the log of a running host from being written back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from .readonly import ReadOnly
from .sql import marks

BATCH = 400  # few enough that their values stay in the processor's cache: a tenth faster than 4000


class Stream:
    """The rows of one ledger with the ``wanted`` columns: a name ends in ``:int`` for a number, all else is text. What
    is NULL, or lacks in an older schema, is '' or 0; what has another type is converted."""

    def __init__(self, ledger: ReadOnly, wanted: Sequence[str]) -> None:
        self._ledger = ledger
        there = self._ledger.ask(_columns)
        columns = [name.partition(":") for name in wanted]
        self._select = ", ".join(
            ("0" if kind else "''")
            if name not in there
            else name
            if name == "id"
            else f"coalesce(CAST({name} AS {'INTEGER' if kind else 'TEXT'}), {'0' if kind else chr(39) * 2})"
            for name, _, kind in columns
        )
        self.missing = tuple(name for name, _, _ in columns if name not in there)
        self._has_ts, self._has_session = "ts" in there, "session_id" in there

    def rows(
        self, since: str = "", until: str = "", session_ids: Sequence[str] = ()
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Batches of rows issued at ``since`` or later and before ``until`` ('' for no bound)."""
        where, values = self._window(since, until, session_ids)
        # The names are this module's own and the columns of the class that asks.
        query = f"SELECT {self._select} FROM ledger WHERE id > ?{where} ORDER BY id LIMIT {BATCH}"
        last = -(2**63)
        while True:
            at = last
            batch = self._ledger.ask(lambda connection: _fetched(connection, query, (at, *values)))  # noqa: B023
            yield batch
            if len(batch) < BATCH:
                return
            last = batch[-1][0]

    def sessions(self, first: int, last: int, since: str, until: str, session_ids: Sequence[str]) -> int:
        """How many sessions have rows in a window, between two ids."""
        if not self._has_session:
            return 0
        where, values = self._window(since, until, session_ids)
        query = f"SELECT count(DISTINCT session_id) FROM ledger WHERE id BETWEEN ? AND ?{where}"
        return int(self._ledger.ask(lambda connection: connection.execute(query, (first, last, *values)).fetchone()[0]))

    def spread(self, start: str, end: str) -> Iterator[tuple[str, int]]:
        """(minute as ``YYYY-MM-DDTHH:MM``, rows in it) of a window, in no order."""
        if not self._has_ts:
            return iter(())
        query = "SELECT substr(ts, 1, 16), count(*) FROM ledger WHERE ts >= ? AND ts < ? GROUP BY 1"
        return iter(self._ledger.ask(lambda connection: connection.execute(query, (start, end)).fetchall()))

    def first_time(self) -> str:
        """The time of the oldest row, '' where there is none."""
        if not self._has_ts:
            return ""
        query = "SELECT ts FROM ledger ORDER BY id LIMIT 1"
        found = self._ledger.ask(lambda connection: connection.execute(query).fetchone())
        return found[0] if found and isinstance(found[0], str) else ""

    def about(self) -> int:
        """About how many rows there are: no row is counted for it."""
        query = "SELECT coalesce(max(id) - min(id) + 1, 0) FROM ledger"
        return int(self._ledger.ask(lambda connection: connection.execute(query).fetchone()[0]))

    def _window(self, since: str, until: str, session_ids: Sequence[str]) -> tuple[str, list[object]]:
        where, values = "", list[object]()
        if since and self._has_ts:
            where += " AND ts >= ?"
            values.append(since)
        if until and self._has_ts:
            where += " AND ts < ?"
            values.append(until)
        if session_ids and self._has_session:
            where += f" AND session_id IN ({marks(session_ids)})"
            values.extend(session_ids)
        return where, values


def _columns(connection: sqlite3.Connection) -> frozenset[str]:
    return frozenset(row[1] for row in connection.execute("PRAGMA table_info(ledger)"))


def _fetched(connection: sqlite3.Connection, query: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
    kept = connection.text_factory
    connection.text_factory = str  # four times as fast, and refuses what is no UTF-8
    try:
        return connection.execute(query, values).fetchall()
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
    finally:
        connection.text_factory = kept
    return connection.execute(query, values).fetchall()
