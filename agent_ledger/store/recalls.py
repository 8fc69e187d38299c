"""The statements that recall needs: confirmed calls of a conversation, and up to where it was decided what is
visible."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from .sql import columns, marks

# Below this distance the rows since the mark are found by id; a session's index entries can be many more.
_NEAR = 5000


@dataclass(frozen=True, slots=True)
class Mark:
    """Rows up to ``upto`` were told, or were visible at the time and are listed in ``visible``."""

    upto: int = 0
    visible: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """A confirmed call, as far as its visibility hangs on it."""

    id: int
    tool_call_id: str
    tool_name: str
    args_sha256: str
    session_id: str
    turn_id: str
    flags: str


_DONE = columns(Done)


def mark(connection: sqlite3.Connection, session_ids: Sequence[str]) -> Mark:
    """The furthest mark of a conversation."""
    row = connection.execute(
        f"SELECT upto, visible FROM recalls WHERE session_id IN ({marks(session_ids)}) ORDER BY upto DESC LIMIT 1",
        tuple(session_ids),
    ).fetchone()
    if row is None:
        return Mark()
    try:
        visible = tuple(number for number in json.loads(row[1]) if type(number) is int)
    except (ValueError, TypeError):
        visible = ()
    return Mark(row[0], visible)


def move(connection: sqlite3.Connection, session_id: str, to: Mark, ts: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO recalls (session_id, upto, visible, ts) VALUES (?, ?, ?, ?)",
        (session_id, to.upto, json.dumps(to.visible), ts),
    )


def confirmed_since(connection: sqlite3.Connection, session_ids: Sequence[str], since: Mark) -> list[Done]:
    """Confirmed calls of a conversation behind the mark, and those that were still visible at it; oldest first."""
    newest = connection.execute("SELECT max(id) FROM ledger").fetchone()[0] or 0
    by = "NOT INDEXED" if newest - since.upto < _NEAR else "INDEXED BY ledger_session"
    rows = connection.execute(
        f"SELECT {_DONE} FROM ledger {by} WHERE session_id IN ({marks(session_ids)}) AND id > ?"
        " AND status = 'CONFIRMED' AND outer_id IS NULL",
        (*session_ids, since.upto),
    ).fetchall()
    for row_id in since.visible:
        row = connection.execute(
            f"SELECT {_DONE} FROM ledger WHERE id = ? AND status = 'CONFIRMED'",
            (row_id,),
        ).fetchone()
        if row is not None:
            rows.append(row)
    return [Done(*row) for row in sorted(rows)]
