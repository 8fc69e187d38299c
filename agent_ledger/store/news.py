"""The only statements over table ``news``: what a conversation is told besides ghosts, once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from .sql import marks

LATE = "late"
REPEAT = "repeat"


@dataclass(frozen=True, slots=True)
class Item:
    """One fact with the row it is about. ``before``: the status that the late outcome replaced; ``times``: how often
    the same call was confirmed in this conversation."""

    id: int
    kind: str
    ledger_id: int
    ts: str
    tool_name: str
    args_json: str
    args_sha256: str
    status: str
    before: str = ""
    times: int = 0


def add(connection: sqlite3.Connection, ts: str, session_id: str, ledger_id: int, kind: str) -> None:
    connection.execute(
        "INSERT INTO news (ts, session_id, ledger_id, kind) VALUES (?, ?, ?, ?)", (ts, session_id, ledger_id, kind)
    )


def add_repeat(
    connection: sqlite3.Connection, ts: str, session_id: str, ledger_id: int, tool_name: str, args_sha256: str
) -> None:
    """Note that a call was confirmed again. Said once for each distinct call of a session: an agent that runs its tests
    twenty times needs no twenty reminders."""
    known = connection.execute(
        "SELECT 1 FROM news JOIN ledger ON ledger.id = news.ledger_id WHERE news.session_id = ? AND kind = 'repeat'"
        " AND args_sha256 = ? AND tool_name = ? LIMIT 1",
        (session_id, args_sha256, tool_name),
    ).fetchone()
    if known is None:
        add(connection, ts, session_id, ledger_id, REPEAT)


def untold(connection: sqlite3.Connection, session_ids: Sequence[str]) -> list[int]:
    """The ids of what a conversation has not been told yet, oldest first."""
    rows = connection.execute(
        f"SELECT id FROM news INDEXED BY news_untold WHERE session_id IN ({marks(session_ids)}) AND told_ts IS NULL"
        " ORDER BY id",
        tuple(session_ids),
    )
    return [row[0] for row in rows]


def take(connection: sqlite3.Connection, ids: Sequence[int], ts: str) -> list[int]:
    """Claim news for one notice; returns the ids that this transaction got."""
    statement = "UPDATE news SET told_ts = ? WHERE id = ? AND told_ts IS NULL"
    return [news_id for news_id in ids if connection.execute(statement, (ts, news_id)).rowcount == 1]


def describe(connection: sqlite3.Connection, ids: Sequence[int], session_ids: Sequence[str]) -> list[Item]:
    """What these news say now. A call that turned out to be confirmed only once is no repeat."""
    found = []
    for news_id in ids:
        row = connection.execute(
            "SELECT news.id, kind, ledger.id, ledger.ts, tool_name, args_json, args_sha256, status,"
            " coalesce((SELECT from_status FROM transitions WHERE ledger_id = ledger.id ORDER BY transitions.id DESC"
            " LIMIT 1), ''),"
            " (SELECT count(*) FROM ledger AS same INDEXED BY ledger_session"
            f" WHERE same.session_id IN ({marks(session_ids)}) AND same.args_sha256 = ledger.args_sha256"
            " AND same.tool_name = ledger.tool_name AND same.status = 'CONFIRMED')"
            " FROM news JOIN ledger ON ledger.id = news.ledger_id WHERE news.id = ?",
            (*session_ids, news_id),
        ).fetchone()
        if row is not None:
            item = Item(*row)
            if item.kind != REPEAT or item.times > 1:
                found.append(item)
    return found
