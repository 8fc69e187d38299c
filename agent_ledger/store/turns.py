"""What a turn asks of table ``ledger``, and what it claims and settles there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..model import GHOST_REPORTED, PENDING, OpenRow, Outcome, add_flag
from .ledger import follow_outer, record, transition
from .sql import OPEN, columns, marks


@dataclass(frozen=True, slots=True)
class Facts:
    """One row as a notice needs it. ``why``: of its transition to GHOST_REPORTED; ``nested``: calls inside it."""

    id: int
    ts: str
    tool_name: str
    args_json: str
    args_sha256: str
    status: str
    effect: str
    why: str
    nested: int


@dataclass(frozen=True, slots=True)
class Launched:
    """A call that only launched something: a background command or a delegation."""

    id: int
    owner: str
    tool_name: str
    result_digest: str
    probe_json: str
    flags: str


_OPEN_ROW, _LAUNCHED = columns(OpenRow), columns(Launched)


def pending(connection: sqlite3.Connection, session_ids: Sequence[str]) -> list[OpenRow]:
    """The unsettled calls of a conversation, oldest first, without those nested in another call."""
    rows = connection.execute(
        f"SELECT {_OPEN_ROW} FROM ledger INDEXED BY ledger_open WHERE {OPEN}"
        f" AND session_id IN ({marks(session_ids)}) AND status = 'PENDING' AND outer_id IS NULL ORDER BY id",
        tuple(session_ids),
    )
    return [OpenRow(*row) for row in rows]


def settled_with_same_id(connection: sqlite3.Connection, row: OpenRow, session_ids: Sequence[str]) -> int:
    """How many settled calls of the conversation share id, tool and arguments with ``row``: their results are not
    its."""
    found = connection.execute(
        f"SELECT count(*) FROM ledger WHERE session_id IN ({marks(session_ids)}) AND args_sha256 = ?"
        " AND tool_call_id = ? AND tool_name = ? AND status NOT IN ('PENDING', 'GHOST_REPORTED')",
        (*session_ids, row.args_sha256, row.tool_call_id, row.tool_name),
    ).fetchone()
    return int(found[0])


def is_alone(connection: sqlite3.Connection, row: OpenRow, session_ids: Sequence[str]) -> bool:
    """True where no other call of the conversation has this row's id and tool."""
    found = connection.execute(
        f"SELECT 1 FROM ledger INDEXED BY ledger_session WHERE session_id IN ({marks(session_ids)})"
        " AND tool_call_id = ? AND tool_name = ? AND id <> ? LIMIT 1",
        (*session_ids, row.tool_call_id, row.tool_name, row.id),
    ).fetchone()
    return found is None


def claim(connection: sqlite3.Connection, reasons: Iterable[tuple[int, str, str]], ts: str) -> list[int]:
    """Turn open rows into reported ghosts; returns the ids that this very transaction got.

    ``reasons``: (row id, why, effect as far as evidence tells). Whoever comes second, another process or another copy
    of the plugin, gets none.
    """
    won = []
    for row_id, why, effect in reasons:
        changed = connection.execute(
            "UPDATE ledger SET status = 'GHOST_REPORTED', effect = ? WHERE id = ? AND status = 'PENDING'",
            (effect, row_id),
        ).rowcount
        if changed != 1:
            continue
        won.append(row_id)
        transition(connection, row_id, ts, PENDING, GHOST_REPORTED, why)
        nested = connection.execute(
            "UPDATE ledger SET status = 'GHOST_REPORTED' WHERE outer_id = ? AND status = 'PENDING' RETURNING id",
            (row_id,),
        ).fetchall()
        for (nested_id,) in nested:
            transition(connection, nested_id, ts, PENDING, GHOST_REPORTED, f"follows the outer call {row_id}")
    return won


def launched(connection: sqlite3.Connection, session_ids: Sequence[str]) -> list[Launched]:
    """Background commands and delegations of a conversation whose end it was not told yet, oldest first."""
    rows = connection.execute(
        f"SELECT {_LAUNCHED} FROM ledger INDEXED BY ledger_started"
        f" WHERE session_id IN ({marks(session_ids)}) AND effect = 'started' AND status = 'CONFIRMED' ORDER BY id",
        tuple(session_ids),
    )
    return [Launched(*row) for row in rows if not {"end_unseen", "end_seen"} & set(row[5].split())]


def mark_launched(connection: sqlite3.Connection, row_id: int, mark: str) -> bool:
    """Note that the end of a launch was told (``end_unseen``) or shown (``end_seen``); False where that was done."""
    row = connection.execute("SELECT flags FROM ledger WHERE id = ?", (row_id,)).fetchone()
    if row is None or {"end_unseen", "end_seen"} & set(row[0].split()):
        return False
    connection.execute("UPDATE ledger SET flags = ? WHERE id = ?", (add_flag(row[0], mark), row_id))
    return True


def span_of_launch(connection: sqlite3.Connection, row_id: int) -> tuple[str, str, str]:
    """(session, time of issue, time of the session's next call of that tool or '') of a launching call."""
    row = connection.execute(
        "SELECT session_id, ts, coalesce((SELECT min(later.ts) FROM ledger AS later INDEXED BY ledger_started"
        " WHERE later.session_id = ledger.session_id AND later.effect = 'started'"
        " AND later.tool_name = ledger.tool_name AND later.id > ledger.id), '') FROM ledger WHERE id = ?",
        (row_id,),
    ).fetchone()
    return row or ("", "", "")


def tally(connection: sqlite3.Connection, session_ids: Sequence[str]) -> tuple[int, int]:
    """(confirmed calls, calls that are open or ghosts) of these sessions."""
    row = connection.execute(
        "SELECT sum(status = 'CONFIRMED'), sum(status IN ('PENDING', 'GHOST_REPORTED')) FROM ledger"
        f" INDEXED BY ledger_session WHERE session_id IN ({marks(session_ids)})",
        tuple(session_ids),
    ).fetchone()
    return row[0] or 0, row[1] or 0


def unsettled_elsewhere(connection: sqlite3.Connection, session_ids: Sequence[str]) -> list[str]:
    """Other sessions with open calls, at most 50: perhaps this conversation under an earlier id."""
    rows = connection.execute(
        f"SELECT DISTINCT session_id FROM ledger INDEXED BY ledger_open WHERE {OPEN} AND status = 'PENDING'"
        f" AND session_id <> '' AND session_id NOT IN ({marks(session_ids)}) LIMIT 50",
        tuple(session_ids),
    )
    return [row[0] for row in rows]


def has_rows(connection: sqlite3.Connection, session_ids: Sequence[str]) -> bool:
    row = connection.execute(
        f"SELECT 1 FROM ledger INDEXED BY ledger_session WHERE session_id IN ({marks(session_ids)}) LIMIT 1",
        tuple(session_ids),
    ).fetchone()
    return row is not None


def probe_of(connection: sqlite3.Connection, row_id: int) -> str:
    row = connection.execute("SELECT probe_json FROM ledger WHERE id = ?", (row_id,)).fetchone()
    return row[0] if row else ""


def subjects(connection: sqlite3.Connection, ids: Sequence[int]) -> list[tuple[int, str, str, str, str, str]]:
    """(id, ts, tool, args_json, probe_json, backend) of rows that a probe may look after."""
    return connection.execute(
        f"SELECT id, ts, tool_name, args_json, probe_json, backend FROM ledger WHERE id IN ({marks(ids)})",
        tuple(ids),
    ).fetchall()


def settle_from_history(connection: sqlite3.Connection, row: OpenRow, outcome: Outcome, ts: str) -> bool:
    """Record an outcome that the conversation shows; False where the row was settled meanwhile."""
    current = connection.execute(
        "SELECT flags FROM ledger WHERE id = ? AND status = ?", (row.id, row.status)
    ).fetchone()
    if current is None:
        return False
    flags = add_flag(current[0], "from_history")
    if row.status != PENDING:
        flags = add_flag(flags, "late")
        transition(connection, row.id, ts, row.status, outcome.status, "the conversation shows the outcome")
    record(connection, row.id, outcome, ts, flags)
    follow_outer(connection, row.id, row.tool_name, outcome, ts, row.status)
    return True


def facts(connection: sqlite3.Connection, row_id: int) -> Facts | None:
    """What a notice says of one row, None where it was deleted or an operator settled it since."""
    row = connection.execute(
        "SELECT id, ts, tool_name, args_json, args_sha256, status, effect,"
        " coalesce((SELECT why FROM transitions WHERE ledger_id = ledger.id AND from_status = 'PENDING'"
        " ORDER BY transitions.id LIMIT 1), ''),"
        " (SELECT count(*) FROM ledger AS nested WHERE nested.outer_id = ledger.id)"
        " FROM ledger WHERE id = ? AND NOT EXISTS (SELECT 1 FROM transitions WHERE ledger_id = ledger.id"
        " AND from_status = 'GHOST_REPORTED' AND to_status = 'GHOST_REPORTED')",
        (row_id,),
    ).fetchone()
    return Facts(*row) if row else None
