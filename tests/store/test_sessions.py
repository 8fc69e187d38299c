"""Which session ids are one conversation."""

from __future__ import annotations

import sqlite3

from agent_ledger.store import sessions

ROTATION, DELEGATION = sessions.ROTATION, sessions.DELEGATION


def rotate(connection: sqlite3.Connection, child: str, parent: str, turn: str = "") -> None:
    sessions.add_edge(connection, child, parent, ROTATION, "turn", turn, "2026-01-02T00:00:00.000Z")


def test_alone(db: sqlite3.Connection) -> None:
    """A session without edges is its whole conversation."""
    assert sessions.conversation(db, "s0") == ("s0",)


def test_ancestors_and_descendants(db: sqlite3.Connection) -> None:
    """Everything before and after a session in its line belongs to it, the session itself first."""
    for child, parent in (("s1", "s0"), ("s2", "s1"), ("s3", "s2")):
        rotate(db, child, parent)
    found = sessions.conversation(db, "s1")
    assert found[0] == "s1" and sorted(found) == ["s0", "s1", "s2", "s3"]


def test_siblings_are_strangers(db: sqlite3.Connection) -> None:
    """Two branches of one session share only what was before."""
    rotate(db, "left", "root")
    rotate(db, "right", "root")
    assert sorted(sessions.conversation(db, "left")) == ["left", "root"]
    assert sorted(sessions.conversation(db, "root")) == ["left", "right", "root"]


def test_delegated_child_is_not_the_conversation(db: sqlite3.Connection) -> None:
    """A delegation links, and joins nothing."""
    sessions.add_edge(db, "child", "s0", DELEGATION, "parent_session_id", "", "t")
    assert sessions.conversation(db, "s0") == ("s0",)
    assert sessions.children(db, "s0") == ["child"]


def test_second_time_changes_nothing(db: sqlite3.Connection) -> None:
    """The same edge twice is one edge."""
    rotate(db, "s1", "s0")
    rotate(db, "s1", "s0")
    assert db.execute("SELECT count(*) FROM sessions").fetchone() == (1,)


def test_way_back_is_no_news(db: sqlite3.Connection) -> None:
    """An id that goes forward and back makes no circle."""
    rotate(db, "s1", "s0")
    rotate(db, "s0", "s1")
    assert db.execute("SELECT session_id, parent_id FROM sessions").fetchall() == [("s1", "s0")]


def test_session_is_not_its_own_parent(db: sqlite3.Connection) -> None:
    """An edge to itself is none."""
    rotate(db, "s0", "s0")
    assert db.execute("SELECT count(*) FROM sessions").fetchone() == (0,)


def test_circle_ends(db: sqlite3.Connection) -> None:
    """Edges that another program wrote as a circle are walked once."""
    for child, parent in (("a", "b"), ("b", "c"), ("c", "a")):
        db.execute("INSERT INTO sessions VALUES (?, ?, 'rotation', 'host', '', 't')", (child, parent))
    assert sorted(sessions.conversation(db, "a")) == ["a", "b", "c"]


def test_turn_is_followed_to_its_last_session(db: sqlite3.Connection) -> None:
    """A turn that rotated several times hangs a new id on the newest one."""
    rotate(db, "s1", "s0", "s0:t:1")
    rotate(db, "s2", "s1", "s0:t:1")
    assert sessions.last_of_turn(db, "s0:t:1", "s0") == "s2"
    sessions.add_edge(db, "s3", "s0", ROTATION, "turn_id", "s0:t:1", "t")
    assert db.execute("SELECT parent_id FROM sessions WHERE session_id = 's3'").fetchall() == [("s2",)]


def test_has_edge(db: sqlite3.Connection) -> None:
    """An edge is known in its own direction only."""
    rotate(db, "s1", "s0")
    assert sessions.has_edge(db, "s1", "s0") and not sessions.has_edge(db, "s0", "s1")


def test_long_chain_is_walked(db: sqlite3.Connection) -> None:
    """A conversation that rotated five hundred times is one conversation."""
    for number in range(500):
        db.execute(
            "INSERT INTO sessions VALUES (?, ?, 'rotation', 'turn', '', 't')", (f"s{number + 1}", f"s{number}")
        )
    assert len(sessions.conversation(db, "s250")) == 501
