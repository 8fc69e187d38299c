"""What commands ask the ledger, without changing it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ..model import PENDING, UNKNOWN
from . import sessions, turns
from .readonly import ReadOnly
from .shapes import Child, OpenCall, Row, RunRow, Told, Totals, Transition
from .sql import OPEN, columns, marks
from .wanted import Wanted

MAX_ID = 2**63 - 1
_RECENT = 1000
_MOST_NESTED = 200
_COLUMNS = columns(Row)
_RUN_COLUMNS = columns(RunRow)


class Reader(ReadOnly):
    """The queries over one ledger; a context manager. All methods raise LedgerUnreadable for what SQLite refuses."""

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

        return self.ask(work)

    def meta(self) -> dict[str, str]:
        """The counters and marks of table ``meta``."""
        return self.ask(
            lambda connection: dict(connection.execute("SELECT key, value FROM meta ORDER BY key").fetchall())
        )

    def applied(self) -> dict[str, int]:
        """Spool name -> number of the last line that is in the ledger."""
        return self.ask(lambda connection: dict(connection.execute("SELECT spool, seq FROM spooled").fetchall()))

    def conversation(self, session_id: str) -> tuple[str, ...]:
        """The session ids of the conversation that ``session_id`` belongs to, itself first."""
        return self.ask(lambda connection: sessions.conversation(connection, session_id))

    def knows_session(self, session_ids: Sequence[str]) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            found = connection.execute(
                f"SELECT 1 FROM ledger WHERE session_id IN ({marks(session_ids)}) LIMIT 1", tuple(session_ids)
            )
            return found.fetchone() is not None

        return self.ask(work)

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
        wanted = Wanted(tool, status, session_ids)
        conditions, values = wanted.conditions()
        where = " AND ".join(["id > ?", *conditions])
        order = "ASC" if after else "DESC"
        query = f"SELECT {_COLUMNS} FROM ledger{wanted.index} WHERE {where} ORDER BY id {order} LIMIT ?"
        rows = self.ask(lambda connection: [Row(*row) for row in connection.execute(query, (after, *values, limit))])
        return rows if after else rows[::-1]

    def since(self, after: int, ts: str, session_ids: Sequence[str], limit: int) -> list[Row]:
        """Up to ``limit`` rows behind id ``after``, oldest first, issued at ``ts`` or later ('' for all)."""
        of_session = f" AND session_id IN ({marks(session_ids)})" if session_ids else ""
        query = f"SELECT {_COLUMNS} FROM ledger WHERE id > ? AND ts >= ?{of_session} ORDER BY id LIMIT ?"
        values = (after, ts, *session_ids, limit)
        return self.ask(lambda connection: [Row(*row) for row in connection.execute(query, values)])

    def delegated(self, session_ids: Sequence[str]) -> tuple[str, ...]:
        """The sessions that these delegated to, and those that they delegated to in turn, at most 1000."""

        def work(connection: sqlite3.Connection) -> tuple[str, ...]:
            found: dict[str, None] = {}
            edge = list(session_ids)
            while edge and len(found) < _RECENT:
                children = [child for name in edge for child in sessions.children(connection, name)]
                edge = [name for name in dict.fromkeys(children) if name not in found and name not in session_ids]
                found.update(dict.fromkeys(edge))
            return tuple(found)

        return self.ask(work)

    def of_run(
        self, session_ids: Sequence[str], owners: Sequence[str], since: str, until: str, limit: int
    ) -> list[RunRow]:
        """Up to ``limit`` rows of these sessions, or of owners that begin with one of ``owners``, oldest first, issued
        from ``since`` to ``until`` ('' for no bound)."""
        of_owner = "".join(" OR substr(owner, 1, ?) = ?" for _ in owners)
        query = (
            f"SELECT {_RUN_COLUMNS} FROM ledger WHERE (session_id IN ({marks(session_ids)}){of_owner})"
            " AND ts >= ? AND (? = '' OR ts <= ?) ORDER BY id LIMIT ?"
        )
        begins = [value for owner in owners for value in (len(owner), owner)]
        values = (*session_ids, *begins, since, until, until, limit)
        return self.ask(lambda connection: [RunRow(*row) for row in connection.execute(query, values)])

    def rows(self, ids: Sequence[int]) -> list[Row]:
        """The rows with these ids that exist."""
        query = f"SELECT {_COLUMNS} FROM ledger WHERE id IN ({marks(ids)}) ORDER BY id"
        return self.ask(lambda connection: [Row(*row) for row in connection.execute(query, tuple(ids))])

    def row(self, row_id: int) -> Row | None:
        if not 0 < row_id <= MAX_ID:
            return None
        found = self.rows([row_id])
        return found[0] if found else None

    def last_id(self) -> int:
        return self.ask(lambda connection: connection.execute("SELECT max(id) FROM ledger").fetchone()[0] or 0)

    def transitions(self, row_id: int) -> list[Transition]:
        query = "SELECT ts, from_status, to_status, why FROM transitions WHERE ledger_id = ? ORDER BY id"
        return self.ask(lambda connection: [Transition(*row) for row in connection.execute(query, (row_id,))])

    def nested(self, row_id: int) -> list[Row]:
        """The calls that ran inside an execute_code call, the first 200."""
        query = f"SELECT {_COLUMNS} FROM ledger WHERE outer_id = ? ORDER BY id LIMIT {_MOST_NESTED}"
        return self.ask(lambda connection: [Row(*row) for row in connection.execute(query, (row_id,))])

    def told(self, row_id: int) -> list[Told]:
        """The notices that named a call."""
        query = (
            "SELECT id, ts, session_id, turn_id, state FROM notices WHERE json_valid(ghosts)"
            " AND EXISTS (SELECT 1 FROM json_each(ghosts) WHERE value = ?) ORDER BY id"
        )
        return self.ask(lambda connection: [Told(*row) for row in connection.execute(query, (row_id,))])

    def repeats(self, row: Row) -> list[tuple[int, str, str]]:
        """(id, ts, status) of the other calls of the conversation with the same tool and arguments, the first 200."""

        def work(connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
            names = sessions.conversation(connection, row.session_id)
            return connection.execute(
                f"SELECT id, ts, status FROM ledger INDEXED BY ledger_session WHERE session_id IN ({marks(names)})"
                f" AND args_sha256 = ? AND tool_name = ? AND id <> ? ORDER BY id LIMIT {_MOST_NESTED}",
                (*names, row.args_sha256, row.tool_name, row.id),
            ).fetchall()

        return self.ask(work)

    def children(self, row: Row) -> list[Child]:
        """The sessions that a delegating call launched, with what they did."""

        def work(connection: sqlite3.Connection) -> list[Child]:
            names = sessions.children(connection, *turns.span_of_launch(connection, row.id))
            return [Child(name, *turns.tally(connection, [name])) for name in names]

        return self.ask(work) if row.tool_name == "delegate_task" else []

    def open_calls(self, session_ids: Sequence[str] = ()) -> list[OpenCall]:
        """Every call that may be an open ghost, oldest first: still PENDING, or reported and of unknown effect.

        A call inside another one that is listed is counted there, since it follows its outcome.
        """
        listed = f"(status = '{PENDING}' OR (status = 'GHOST_REPORTED' AND effect = '{UNKNOWN}'))"
        of_session = f" AND session_id IN ({marks(session_ids)})" if session_ids else ""
        query = (
            f"SELECT {_COLUMNS}, coalesce((SELECT why FROM transitions WHERE ledger_id = ledger.id"
            " AND to_status = 'GHOST_REPORTED' ORDER BY transitions.id DESC LIMIT 1), ''),"
            " (SELECT count(*) FROM ledger AS inner_call WHERE inner_call.outer_id = ledger.id)"
            f" FROM ledger INDEXED BY ledger_open WHERE {OPEN} AND {listed}{of_session}"
            f" AND (outer_id IS NULL OR NOT EXISTS (SELECT 1 FROM ledger AS outer_call WHERE outer_call.id ="
            " ledger.outer_id AND outer_call.status IN ('PENDING', 'GHOST_REPORTED'))) ORDER BY id"
        )
        return self.ask(
            lambda connection: [
                OpenCall(Row(*row[:-2]), row[-2], row[-1]) for row in connection.execute(query, tuple(session_ids))
            ]
        )
