"""The only statements over table ``notices``: what a conversation was told, and whether it was read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .sql import marks


@dataclass(frozen=True, slots=True)
class Told:
    """What a notice said: ledger ids of ghosts and launches, ids of news, the newest recalled of
    ``recalled_in_all``."""

    ghosts: list[int] = field(default_factory=list)
    launched: list[int] = field(default_factory=list)
    news: list[int] = field(default_factory=list)
    recalled: list[int] = field(default_factory=list)
    recalled_in_all: int = 0


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice that was given once and is not known to have been read."""

    id: int
    turn_id: str
    owner: str
    asked: str
    told: Told


def newest(connection: sqlite3.Connection, session_ids: Sequence[str]) -> Notice | None:
    """The newest notice of a conversation whose fate is open."""
    row = connection.execute(
        "SELECT id, turn_id, owner, asked, ghosts, also FROM notices"
        f" WHERE session_id IN ({marks(session_ids)}) AND state = 'told' ORDER BY id DESC LIMIT 1",
        tuple(session_ids),
    ).fetchone()
    if row is None:
        return None
    ghosts, also = _parsed(row[4]), _parsed(row[5])
    also = also if isinstance(also, dict) else {}
    in_all = also.get("recalled_in_all")
    told = Told(
        _ids(ghosts),
        _ids(also.get("launched")),
        _ids(also.get("news")),
        _ids(also.get("recalled")),
        in_all if type(in_all) is int else 0,
    )
    return Notice(row[0], row[1], row[2], row[3], told)


def add(
    connection: sqlite3.Connection, ts: str, session_id: str, turn_id: str, owner: str, asked: str, told: Told
) -> None:
    also = {
        "launched": told.launched,
        "news": told.news,
        "recalled": told.recalled,
        "recalled_in_all": told.recalled_in_all,
    }
    connection.execute(
        "INSERT INTO notices (ts, session_id, turn_id, owner, asked, ghosts, also) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (ts, session_id, turn_id, owner, asked, json.dumps(told.ghosts), json.dumps(also)),
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError):
        return None


def _ids(value: Any) -> list[int]:
    return [number for number in value if type(number) is int] if isinstance(value, list) else []


def finish(connection: sqlite3.Connection, notice_id: int, again: bool) -> bool:
    """Decide the fate of a notice: given once more, or read. False where somebody else decided it."""
    changed = connection.execute(
        "UPDATE notices SET state = ? WHERE id = ? AND state = 'told'", ("again" if again else "read", notice_id)
    ).rowcount
    return changed == 1
