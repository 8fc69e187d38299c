"""Reading the ledger without changing it: the read-only connection, and the queries that commands ask.

How to open it was tried on SQLite 3.40, the oldest that a supported host links:

* ``mode=ro`` reads a ledger in use, and one that a killed process left with its log and index. Such a connection cannot
  write pages, and its last close neither checkpoints nor removes the log, which a writing connection's would. It takes
  only a shared lock, so no hook ever waits for it.
* Where log and index are absent (every process ended in order), ``mode=ro`` makes an empty log and an index beside the
  ledger, as every reader of a WAL database does. In a folder that this user cannot write it is refused instead; then
  ``immutable=1`` reads the file as it is. That skips all locks and ignores the log, so it is only right while there is
  no log: with one, the newest rows would silently be missing, and the caller is told instead.
* A foreign ``-shm`` that this user can read is no obstacle; one that cannot be read is, and is reported.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from ..errors import LedgerUnreadable, NewerLedger, NoLedger
from ..model import PENDING, UNKNOWN
from . import ledger, schema, sessions
from .ledger import OPEN

T = TypeVar("T")

WAIT_S = 2.0  # for a lock, which only a file in rollback mode or a recovery can make a reader meet
MAX_ID = 2**63 - 1
_RECENT = 1000
_MOST_NESTED = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One line of table ``ledger``; the names are the columns'. All of the first schema: a ledger that no newer plugin
    wrote to has no others."""

    id: int
    ts: str
    session_id: str
    task_id: str
    turn_id: str
    tool_call_id: str
    tool_name: str
    args_json: str
    args_sha256: str
    args_len: int
    summary: str
    status: str
    effect: str
    grace_s: int
    owner: str
    cwd: str
    platform: str
    backend: str
    reads: str
    probe_json: str
    settled_ts: str | None
    duration_ms: int | None
    result_digest: str
    error_message: str
    policy_decision: str
    policy_rule: str
    policy_sha256: str
    flags: str
    outer_id: int | None


_COLUMNS = ", ".join(field.name for field in dataclasses.fields(Row))


@dataclass(frozen=True, slots=True)
class Transition:
    """One unusual change of a row's status."""

    ts: str
    from_status: str
    to_status: str
    why: str


@dataclass(frozen=True, slots=True)
class Told:
    """A notice that named a call. ``state``: told, again (given twice) or read."""

    id: int
    ts: str
    session_id: str
    turn_id: str
    state: str


@dataclass(frozen=True, slots=True)
class Child:
    """A delegated session: how many calls it confirmed, and how many are open or ghosts."""

    session_id: str
    confirmed: int
    unsettled: int


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call without an outcome: its row, why it was reported ('' while it was not), how many calls ran inside it."""

    row: Row
    why: str
    nested: int


@dataclass(frozen=True, slots=True)
class Totals:
    """How much there is. ``recent``: (status, effect) -> rows among the newest 1000; ``last_settled_ts`` of those."""

    rows: int
    first_ts: str
    last_ts: str
    pending: int
    recent: dict[tuple[str, str], int]


class Reader:
    """A read-only connection to one ledger; a context manager. All methods raise LedgerUnreadable for what SQLite
    refuses."""

    def __init__(self, path: str, wait_s: float = WAIT_S) -> None:
        """Open ``path``. Raises NoLedger where nothing is recorded yet, NewerLedger or LedgerUnreadable."""
        self.path = path
        self.immutable = False
        self.stamp = stamp(path)
        kind = _kind(path)
        if kind == "absent":
            raise NoLedger(
                f"no ledger yet at {path}: nothing was recorded in this Hermes home. The first state-changing call of"
                " an agent creates it; see `hermes ledger doctor` where you expected calls"
            )
        if kind != "file":
            raise LedgerUnreadable(
                f"{path} is {kind}, not a ledger. Move it away, so that the plugin can make a fresh one"
            )
        self._connection = self._connect(wait_s)
        try:
            self.version = self._ask(schema.version)
            self._check_tables()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def _connect(self, wait_s: float) -> sqlite3.Connection:
        try:
            return _connected(self.path, "mode=ro", wait_s)
        except (sqlite3.Error, OSError) as refused:
            code = getattr(refused, "sqlite_errorcode", 0) & 0xFF
            # 14 cannot open, 8 read-only: there is no index, and none can be made in this folder.
            if code not in (8, 14) or _has_log(self.path):
                raise self._unreadable(refused) from refused
            try:
                connection = _connected(self.path, "mode=ro&immutable=1", wait_s)
            except (sqlite3.Error, OSError):
                raise self._unreadable(refused) from refused
            self.immutable = True
            return connection

    def _check_tables(self) -> None:
        names = self._ask(lambda connection: {row[0] for row in connection.execute("SELECT name FROM sqlite_master")})
        if not names:
            raise NoLedger(f"the ledger at {self.path} is empty: nothing was recorded in this Hermes home yet")
        if "ledger" not in names:
            raise LedgerUnreadable(
                f"{self.path} is a database of another program (it has no table `ledger`). Move it away, so that the"
                " plugin can make a fresh ledger"
            )

    def _ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(self._connection)
        except (sqlite3.Error, OSError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: BaseException) -> LedgerUnreadable | NewerLedger:
        code = getattr(error, "sqlite_errorcode", None)
        primary = code & 0xFF if isinstance(code, int) else None
        if getattr(self, "version", 0) > schema.SCHEMA_VERSION:
            return NewerLedger(
                f"cannot read {self.path}: it was made by a later version of agent-ledger (schema {self.version},"
                f" this version knows {schema.SCHEMA_VERSION}; {error}). Update the plugin: hermes plugins"
                " update agent-ledger"
            )
        return LedgerUnreadable(f"cannot read {self.path}: {error}. {_NEXT.get(primary or 0, _NEXT[0])}")

    # --- what commands ask

    def totals(self) -> Totals:
        """Numbers for one screen; the breakdown looks at the newest rows only, so that it stays quick on any ledger."""

        def work(connection: sqlite3.Connection) -> Totals:
            rows = connection.execute("SELECT count(*) FROM ledger").fetchone()[0]
            edges = connection.execute(
                "SELECT (SELECT ts FROM ledger ORDER BY id LIMIT 1), (SELECT ts FROM ledger ORDER BY id DESC LIMIT 1)"
            ).fetchone()
            pending = connection.execute(
                f"SELECT count(*) FROM ledger INDEXED BY ledger_open WHERE {OPEN} AND status = 'PENDING'"
            ).fetchone()[0]
            recent = connection.execute(
                "SELECT status, effect, count(*) FROM (SELECT status, effect FROM ledger ORDER BY id DESC LIMIT ?)"
                " GROUP BY status, effect ORDER BY count(*) DESC, status, effect",
                (_RECENT,),
            ).fetchall()
            return Totals(
                rows,
                edges[0] or "",
                edges[1] or "",
                pending,
                {(status, effect): many for status, effect, many in recent},
            )

        return self._ask(work)

    def meta(self) -> dict[str, str]:
        """The counters and marks of table ``meta``."""
        return self._ask(
            lambda connection: dict(connection.execute("SELECT key, value FROM meta ORDER BY key").fetchall())
        )

    def applied(self) -> dict[str, int]:
        """Spool name -> number of the last line that is in the ledger."""
        return self._ask(lambda connection: dict(connection.execute("SELECT spool, seq FROM spooled").fetchall()))

    def conversation(self, session_id: str) -> tuple[str, ...]:
        """The session ids of the conversation that ``session_id`` belongs to, itself first."""
        return self._ask(lambda connection: sessions.conversation(connection, session_id))

    def knows_session(self, session_ids: Sequence[str]) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            found = connection.execute(
                f"SELECT 1 FROM ledger WHERE session_id IN ({_marks(session_ids)}) LIMIT 1", tuple(session_ids)
            )
            return found.fetchone() is not None

        return self._ask(work)

    def tail(
        self,
        limit: int,
        tool: str = "",
        status: str = "",
        session_ids: Sequence[str] = (),
        after: int = 0,
    ) -> list[Row]:
        """The newest ``limit`` rows, oldest of them first. ``tool`` and ``status`` are exact, or GLOB patterns where
        they hold ``*``; ``after``: only rows with a greater id, and then the oldest of them."""
        where, values = ["id > ?"], [after]  # type: list[str], list[Any]
        for column, wanted in (("tool_name", tool), ("status", status)):
            if wanted:
                where.append(f"{column} {'GLOB' if '*' in wanted else '='} ?")
                values.append(wanted)
        if session_ids:
            where.append(f"session_id IN ({_marks(session_ids)})")
            values.extend(session_ids)
        order = "ASC" if after else "DESC"
        query = f"SELECT {_COLUMNS} FROM ledger WHERE {' AND '.join(where)} ORDER BY id {order} LIMIT ?"
        rows = self._ask(lambda connection: [Row(*row) for row in connection.execute(query, (*values, limit))])
        return rows if after else rows[::-1]

    def since(self, after: int, ts: str, session_ids: Sequence[str], limit: int) -> list[Row]:
        """Up to ``limit`` rows behind id ``after``, oldest first, issued at ``ts`` or later ('' for all)."""
        of_session = f" AND session_id IN ({_marks(session_ids)})" if session_ids else ""
        query = f"SELECT {_COLUMNS} FROM ledger WHERE id > ? AND ts >= ?{of_session} ORDER BY id LIMIT ?"
        values = (after, ts, *session_ids, limit)
        return self._ask(lambda connection: [Row(*row) for row in connection.execute(query, values)])

    def ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a reading ``work`` of another room of the store."""
        return self._ask(work)

    def rows(self, ids: Sequence[int]) -> list[Row]:
        """The rows with these ids that exist."""
        query = f"SELECT {_COLUMNS} FROM ledger WHERE id IN ({_marks(ids)}) ORDER BY id"
        return self._ask(lambda connection: [Row(*row) for row in connection.execute(query, tuple(ids))])

    def row(self, row_id: int) -> Row | None:
        if not 0 < row_id <= MAX_ID:
            return None
        found = self.rows([row_id])
        return found[0] if found else None

    def last_id(self) -> int:
        return self._ask(lambda connection: connection.execute("SELECT max(id) FROM ledger").fetchone()[0] or 0)

    def transitions(self, row_id: int) -> list[Transition]:
        query = "SELECT ts, from_status, to_status, why FROM transitions WHERE ledger_id = ? ORDER BY id"
        return self._ask(lambda connection: [Transition(*row) for row in connection.execute(query, (row_id,))])

    def nested(self, row_id: int) -> list[Row]:
        """The calls that ran inside an execute_code call, the first 200."""
        query = f"SELECT {_COLUMNS} FROM ledger WHERE outer_id = ? ORDER BY id LIMIT {_MOST_NESTED}"
        return self._ask(lambda connection: [Row(*row) for row in connection.execute(query, (row_id,))])

    def told(self, row_id: int) -> list[Told]:
        """The notices that named a call."""
        query = (
            "SELECT id, ts, session_id, turn_id, state FROM notices WHERE json_valid(ghosts)"
            " AND EXISTS (SELECT 1 FROM json_each(ghosts) WHERE value = ?) ORDER BY id"
        )
        return self._ask(lambda connection: [Told(*row) for row in connection.execute(query, (row_id,))])

    def repeats(self, row: Row) -> list[tuple[int, str, str]]:
        """(id, ts, status) of the other calls of the conversation with the same tool and arguments, the first 200."""

        def work(connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
            names = sessions.conversation(connection, row.session_id)
            return connection.execute(
                f"SELECT id, ts, status FROM ledger INDEXED BY ledger_session WHERE session_id IN ({_marks(names)})"
                f" AND args_sha256 = ? AND tool_name = ? AND id <> ? ORDER BY id LIMIT {_MOST_NESTED}",
                (*names, row.args_sha256, row.tool_name, row.id),
            ).fetchall()

        return self._ask(work)

    def children(self, row: Row) -> list[Child]:
        """The sessions that a delegating call launched, with what they did."""

        def work(connection: sqlite3.Connection) -> list[Child]:
            names = sessions.children(connection, *ledger.span_of_launch(connection, row.id))
            return [Child(name, *ledger.tally(connection, [name])) for name in names]

        return self._ask(work) if row.tool_name == "delegate_task" else []

    def open_calls(self, session_ids: Sequence[str] = ()) -> list[OpenCall]:
        """Every call that may be an open ghost, oldest first: still PENDING, or reported and of unknown effect.

        A call inside another one that is listed is counted there, since it follows its outcome.
        """
        listed = f"(status = '{PENDING}' OR (status = 'GHOST_REPORTED' AND effect = '{UNKNOWN}'))"
        of_session = f" AND session_id IN ({_marks(session_ids)})" if session_ids else ""
        query = (
            f"SELECT {_COLUMNS}, coalesce((SELECT why FROM transitions WHERE ledger_id = ledger.id"
            " AND to_status = 'GHOST_REPORTED' ORDER BY transitions.id DESC LIMIT 1), ''),"
            " (SELECT count(*) FROM ledger AS inner_call WHERE inner_call.outer_id = ledger.id)"
            f" FROM ledger INDEXED BY ledger_open WHERE {OPEN} AND {listed}{of_session}"
            f" AND (outer_id IS NULL OR NOT EXISTS (SELECT 1 FROM ledger AS outer_call WHERE outer_call.id ="
            " ledger.outer_id AND outer_call.status IN ('PENDING', 'GHOST_REPORTED'))) ORDER BY id"
        )
        return self._ask(
            lambda connection: [
                OpenCall(Row(*row[:-2]), row[-2], row[-1]) for row in connection.execute(query, tuple(session_ids))
            ]
        )

    def pragma(self, name: str) -> Any:
        """The value of a reading pragma such as ``journal_mode``; ``name`` is one of ours."""
        return self._ask(lambda connection: connection.execute(f"PRAGMA {name}").fetchone()[0])

    def changes(self) -> int:
        """A number that moves when another connection commits: the cheap question of ``tail -f``."""
        return int(self.pragma("data_version"))

    def quick_check(self, seconds: float) -> tuple[bool, list[str]]:
        """(whether the whole file was looked at, what is wrong), within about ``seconds``."""
        until = time.monotonic() + seconds
        self._connection.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        try:
            found = [str(row[0]) for row in self._connection.execute("PRAGMA quick_check(5)")]
            return True, [] if found == ["ok"] else found
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == 9:  # SQLITE_INTERRUPT: the time is over
                return False, []
            return True, [str(error)]
        finally:
            self._connection.set_progress_handler(None, 0)


_NEXT = {
    5: "Another process holds it; try again in a moment",
    8: "This user can neither use nor make its index beside it; run the command as the user that owns the folder",
    10: "The disk reported an error; look at the system log and at the disk before anything else",
    11: "The file is damaged; copy it away with its -wal and -shm, then let the next agent call start a fresh one",
    14: "This user may not open it or the log beside it; run the command as the user that owns the folder",
    26: "It is no SQLite database; move it away, so that the plugin can make a fresh ledger",
    0: "See `hermes ledger doctor` for the state of the ledger",
}
_NEXT[6] = _NEXT[5]


def stamp(path: str) -> tuple[int, int] | None:
    """What tells one file at ``path`` from the next: device and inode; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _connected(path: str, query: str, wait_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(path))}?{query}", uri=True, timeout=wait_s, isolation_level=None
    )
    # Rows are for reading: bytes that are no UTF-8 must not hide the others.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _kind(path: str) -> str:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return "absent"
    except NotADirectoryError:
        return "absent"
    except OSError as error:
        raise LedgerUnreadable(
            f"cannot look at {path}: {error.strerror}. Run the command as the user that owns the folder"
        ) from error
    if stat.S_ISREG(status.st_mode):
        return "file"
    return "a folder" if stat.S_ISDIR(status.st_mode) else "no plain file"


def _has_log(path: str) -> bool:
    with contextlib.suppress(FileNotFoundError):
        try:
            return os.stat(path + "-wal").st_size > 0
        except PermissionError:
            return True
    return False


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
