"""Removing old rows: in small transactions beside running hooks, and the space they took goes back to the file
system."""

from __future__ import annotations

import functools
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass

from . import checkpoint
from .db import Database
from .sql import marks

BATCH = 100  # rows a transaction: two milliseconds under the write lock, for each touches a page of an index
VACUUM_PAGES = 200
PAUSE_S = 0.002  # between transactions, so that a waiting hook goes first
_LOCK_S = 5.0
_CHECKPOINT_EVERY = 10  # batches: the log stays short enough to start anew, for cutting it off stops every hook

# What is never removed: calls without an outcome. What is removed only when asked for: ghosts that nobody settled, and
# refusals, which are the evidence of what was tried.
GHOSTS = "(status = 'GHOST_REPORTED' AND effect = 'unknown')"
REFUSALS = "status IN ('ERROR:blocked', 'ERROR:denied')"


@dataclass(frozen=True, slots=True)
class Limits:
    """What may go: rows behind the newest ``keep``, rows issued before ``before`` (a ledger time), and the oldest ones
    until the ledger takes at most ``max_bytes``. None for no such limit."""

    keep: int | None = None
    before: str | None = None
    max_bytes: int | None = None
    ghosts: bool = False
    refusals: bool = False

    @property
    def condition(self) -> str:
        """The SQL condition of a row that may be removed at all."""
        parts = ["status <> 'PENDING'"]
        if not self.ghosts:
            parts.append(f"NOT {GHOSTS}")
        if not self.refusals:
            parts.append(f"NOT {REFUSALS}")
        return " AND ".join(parts)


@dataclass(slots=True)
class Pruned:
    """What was done, or would be: ``rows`` removed, bytes of the ledger before and after."""

    rows: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    stopped: bool = False
    newest: int = 0
    rows_before: int = 0


def used_bytes(connection: sqlite3.Connection) -> int:
    """Bytes that rows and indexes take, free pages left out."""
    pages, free, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _PAGES)
    return int((pages - free) * size)


_PAGES = ("page_count", "freelist_count", "page_size")


def file_bytes(connection: sqlite3.Connection) -> int:
    pages, _, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _PAGES)
    return int(pages * size)


def count(connection: sqlite3.Connection, limits: Limits) -> int:
    """How many rows ``prune`` would remove; for ``max_bytes`` an estimate from the mean size of a row."""
    removable: int
    found: int
    # One pass for both, since it reads the whole file: 1 GB for 1,000,000 rows.
    removable, found = connection.execute(
        f"SELECT count(*), coalesce(sum({_AGED}), 0) FROM ledger WHERE {limits.condition}",
        (limits.before or "", _kept_from(connection, limits)),
    ).fetchone()
    if limits.max_bytes is not None:
        rows: int = connection.execute("SELECT count(*) FROM ledger").fetchone()[0]
        used = used_bytes(connection)
        excess = used - limits.max_bytes
        if rows and excess > 0:
            found = max(found, min(removable, -(-excess * rows // used)))
    return found


def prune(
    database: Database,
    limits: Limits,
    progress: Callable[[int], None],
    stop: Callable[[], bool] = lambda: False,
    done: Pruned | None = None,
) -> Pruned:
    """Remove what ``limits`` say, oldest first. Every transaction leaves the ledger whole, so it may be stopped at any
    moment, by ``stop`` or by a signal; ``done`` is kept current. Raises Unavailable where the database does not
    answer."""
    done = Pruned() if done is None else done
    run = _Run(database, limits, progress, stop, done)
    done.bytes_before = database.read(file_bytes, _soon())
    done.newest, done.rows_before = database.read(_size, _soon())
    kept_from = database.read(lambda connection: _kept_from(connection, limits), _soon())
    if limits.before is not None or limits.keep is not None:
        run.remove(_AGED, (limits.before or "", kept_from), lambda: True)
    if limits.max_bytes is not None:
        most = limits.max_bytes
        run.remove("1", (), lambda: database.read(used_bytes, _soon()) > most)
    done.stopped = stop()
    if done.rows and not done.stopped:
        # Outside of the transaction: it looks at every row that is left, and hooks would wait for that.
        first = database.read(_first_ts, _soon())
        database.write(functools.partial(_remove_told, before=first), _soon())
    _give_back(database, stop)
    done.bytes_after = database.read(file_bytes, _soon())
    return done


def recount(database: Database, done: Pruned) -> None:
    """After an interruption, which may fall between a commit and its count: count what is gone."""
    left = database.read(
        lambda connection: connection.execute("SELECT count(*) FROM ledger WHERE id <= ?", (done.newest,)).fetchone()[
            0
        ],
        _soon(),
    )
    done.rows = done.rows_before - left
    until = time.monotonic() + _LOCK_S
    _give_back(database, lambda: time.monotonic() > until)
    done.bytes_after = database.read(file_bytes, _soon())
    done.stopped = True


def _size(connection: sqlite3.Connection) -> tuple[int, int]:
    """(the newest id, how many rows there are)."""
    newest, rows = connection.execute("SELECT coalesce(max(id), 0), count(*) FROM ledger").fetchone()
    return newest, rows


class _Run:
    """One pruning: what was done so far, and the steps that do it."""

    def __init__(
        self,
        database: Database,
        limits: Limits,
        progress: Callable[[int], None],
        stop: Callable[[], bool],
        done: Pruned,
    ) -> None:
        self.done = done
        self._database = database
        self._limits = limits
        self._progress = progress
        self._stop = stop
        self._batches = 0

    def remove(self, which: str, values: tuple[object, ...], more: Callable[[], bool]) -> None:
        """Remove rows for which the condition ``which`` holds, oldest first, as long as ``more()``."""
        last = 0
        query = f"SELECT id FROM ledger WHERE id > ? AND {which} AND {self._limits.condition} ORDER BY id LIMIT {BATCH}"
        while not self._stop() and more():
            parameters = (last, *values)
            ids = self._database.read(functools.partial(_ids, query=query, parameters=parameters), _soon())
            if not ids:
                return
            last = ids[-1]
            self.done.rows += self._database.write(functools.partial(_remove, limits=self._limits, ids=ids), _soon())
            self._progress(self.done.rows)
            self._batches += 1
            if self._batches % _CHECKPOINT_EVERY == 0:
                _give_back(self._database, self._stop, shrink=False)
            time.sleep(PAUSE_S)


_AGED = "(ts < ? OR id <= ?)"


def _soon() -> float:
    return time.monotonic() + _LOCK_S


def _kept_from(connection: sqlite3.Connection, limits: Limits) -> int:
    """The newest id behind the rows that are kept; 0 for none."""
    if limits.keep is None:
        return 0
    row = connection.execute("SELECT id FROM ledger ORDER BY id DESC LIMIT 1 OFFSET ?", (limits.keep,)).fetchone()
    return int(row[0]) if row else 0


def _ids(connection: sqlite3.Connection, query: str, parameters: tuple[object, ...]) -> list[int]:
    return [row[0] for row in connection.execute(query, parameters)]


def _remove(connection: sqlite3.Connection, limits: Limits, ids: list[int]) -> int:
    """Remove rows that still may go, with their transitions and news; returns how many."""
    gone = [
        row[0]
        for row in connection.execute(
            f"DELETE FROM ledger WHERE id IN ({marks(ids)}) AND {limits.condition} RETURNING id", ids
        ).fetchall()
    ]
    for row_id in gone:
        connection.execute("DELETE FROM transitions WHERE ledger_id = ?", (row_id,))
        connection.execute("DELETE FROM news WHERE ledger_id = ?", (row_id,))
    return len(gone)


def _first_ts(connection: sqlite3.Connection) -> str:
    """When the oldest call was issued; '' where none is left."""
    ts: str = connection.execute("SELECT coalesce(min(ts), '') FROM ledger").fetchone()[0]
    return ts


def _remove_told(connection: sqlite3.Connection, before: str) -> None:
    """Notices that are older than every call: what they told is gone."""
    connection.execute("DELETE FROM notices WHERE ts < ?", (before,))


def _give_back(database: Database, stop: Callable[[], bool], shrink: bool = True) -> None:
    """Shrink the file by its free pages, a few at a time, and copy the log back; ``shrink``: and empty the log."""
    while not stop() and database.write(_vacuum_some, _soon()):
        time.sleep(PAUSE_S)
    checkpoint.checkpoint(database.path, shrink)


def _vacuum_some(connection: sqlite3.Connection) -> int:
    """Free pages left after this step, 0 where the file was made without incremental vacuum."""
    if connection.execute("PRAGMA auto_vacuum").fetchone()[0] != 2:
        return 0
    before = connection.execute("PRAGMA freelist_count").fetchone()[0]
    # One page a statement: each page is a row without columns, and fetchall() takes the first of those for the end.
    for _ in range(min(before, VACUUM_PAGES)):
        connection.execute("PRAGMA incremental_vacuum(1)")
    after = connection.execute("PRAGMA freelist_count").fetchone()[0]
    return int(after) if after < before else 0
