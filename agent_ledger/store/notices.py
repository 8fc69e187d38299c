"""The only statements over table ``notices``: what a conversation was told, and whether it was read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice that was given once and is not known to have been read. ``ghosts``: the ids it told."""

    id: int
    turn_id: str
    owner: str
    asked: str
    ghosts: list[int]


def newest(connection: sqlite3.Connection, session_ids: Sequence[str]) -> Notice | None:
    """The newest notice of a conversation whose fate is open."""
    marks = ", ".join("?" * len(session_ids))
    row = connection.execute(
        "SELECT id, turn_id, owner, asked, ghosts FROM notices"
        f" WHERE session_id IN ({marks}) AND state = 'told' ORDER BY id DESC LIMIT 1",
        tuple(session_ids),
    ).fetchone()
    if row is None:
        return None
    try:
        ids = [number for number in json.loads(row[4]) if type(number) is int]
    except (ValueError, TypeError):
        ids = []
    return Notice(row[0], row[1], row[2], row[3], ids)


def add(
    connection: sqlite3.Connection, ts: str, session_id: str, turn_id: str, owner: str, asked: str, ghosts: list[int]
) -> None:
    connection.execute(
        "INSERT INTO notices (ts, session_id, turn_id, owner, asked, ghosts) VALUES (?, ?, ?, ?, ?, ?)",
        (ts, session_id, turn_id, owner, asked, json.dumps(ghosts)),
    )


def finish(connection: sqlite3.Connection, notice_id: int, again: bool) -> bool:
    """Decide the fate of a notice: given once more, or read. False where somebody else decided it."""
    changed = connection.execute(
        "UPDATE notices SET state = ? WHERE id = ? AND state = 'told'", ("again" if again else "read", notice_id)
    ).rowcount
    return changed == 1
