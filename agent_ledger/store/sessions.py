"""The only statements over table ``sessions``: which session ids are one conversation."""

from __future__ import annotations

import sqlite3

ROTATION = "rotation"
DELEGATION = "delegation"

# A conversation that rotated more often than this is cut off here; far beyond anything a host does in one session.
_MOST = 2000


def add_edge(
    connection: sqlite3.Connection, session_id: str, parent_id: str, kind: str, evidence: str, turn_id: str, ts: str
) -> None:
    """Note that ``session_id`` came out of ``parent_id``; a second time changes nothing.

    A rotation between two ids that are already one conversation is no news: an id that goes forward and back must not
    make the later id an ancestor of the earlier one, or siblings would become relatives.
    """
    if kind == ROTATION:
        if evidence == "turn_id" and turn_id:
            parent_id = last_of_turn(connection, turn_id, parent_id)
        if session_id == parent_id or parent_id in conversation(connection, session_id):
            return
    connection.execute(
        "INSERT OR IGNORE INTO sessions (session_id, parent_id, kind, evidence, turn_id, ts) VALUES (?, ?, ?, ?, ?, ?)",
        (session_id, parent_id, kind, evidence, turn_id, ts),
    )


def conversation(connection: sqlite3.Connection, session_id: str) -> tuple[str, ...]:
    """The session ids of one conversation: the id itself first, its ancestors and its descendants, never siblings."""
    found = {session_id: None}
    for here, there in (("session_id", "parent_id"), ("parent_id", "session_id")):
        statement = f"SELECT {there} FROM sessions WHERE {here} = ? AND kind = 'rotation'"
        edge, seen = [session_id], {session_id}
        while edge and len(seen) < _MOST:
            reached = [row[0] for at in edge for row in connection.execute(statement, (at,))]
            edge = [name for name in dict.fromkeys(reached) if name not in seen]
            seen.update(edge)
            found.update(dict.fromkeys(edge))
    return tuple(found)


def children(connection: sqlite3.Connection, session_id: str, since: str = "", before: str = "") -> list[str]:
    """Sessions that this one delegated to (conversations of their own), linked in a span of ledger times."""
    rows = connection.execute(
        "SELECT session_id FROM sessions WHERE parent_id = ? AND kind = 'delegation' AND ts >= ?"
        " AND (? = '' OR ts < ?) ORDER BY ts",
        (session_id, since, before, before),
    )
    return [row[0] for row in rows]


def has_edge(connection: sqlite3.Connection, session_id: str, parent_id: str) -> bool:
    row = connection.execute(
        "SELECT 1 FROM sessions WHERE session_id = ? AND parent_id = ?", (session_id, parent_id)
    ).fetchone()
    return row is not None


def last_of_turn(connection: sqlite3.Connection, turn_id: str, parent_id: str) -> str:
    """The newest session id that this turn is known to have rotated to, starting from ``parent_id``."""
    seen = {parent_id}
    while True:
        rows = connection.execute(
            "SELECT session_id, turn_id FROM sessions WHERE parent_id = ? AND kind = 'rotation' ORDER BY ts",
            (parent_id,),
        ).fetchall()
        following = [name for name, turn in rows if turn == turn_id and name not in seen]
        if not following:
            return parent_id
        parent_id = following[-1]
        seen.add(parent_id)
