"""Which session ids are one conversation."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent_ledger.store import sessions
from agent_ledger.store.opening import create

ROTATION, DELEGATION = sessions.ROTATION, sessions.DELEGATION


@pytest.fixture
def known(tmp_path: Path) -> sqlite3.Connection:
    create(str(tmp_path / "ledger.db"))
    return sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)


def rotate(connection: sqlite3.Connection, child: str, parent: str, turn: str = "") -> None:
    sessions.add_edge(connection, child, parent, ROTATION, "turn", turn, "2026-01-02T00:00:00.000Z")


def test_alone(known: sqlite3.Connection) -> None:
    """A session without edges is its whole conversation."""
    assert sessions.conversation(known, "s0") == ("s0",)


def test_ancestors_and_descendants(known: sqlite3.Connection) -> None:
    """Everything before and after a session in its line belongs to it, the session itself first."""
    for child, parent in (("s1", "s0"), ("s2", "s1"), ("s3", "s2")):
        rotate(known, child, parent)
    found = sessions.conversation(known, "s1")
    assert found[0] == "s1" and sorted(found) == ["s0", "s1", "s2", "s3"]


def test_siblings_are_strangers(known: sqlite3.Connection) -> None:
    """Two branches of one session share only what was before."""
    rotate(known, "left", "root")
    rotate(known, "right", "root")
    assert sorted(sessions.conversation(known, "left")) == ["left", "root"]
    assert sorted(sessions.conversation(known, "root")) == ["left", "right", "root"]


def test_delegated_child_is_not_the_conversation(known: sqlite3.Connection) -> None:
    """A delegation links, and joins nothing."""
    sessions.add_edge(known, "child", "s0", DELEGATION, "parent_session_id", "", "t")
    assert sessions.conversation(known, "s0") == ("s0",)
    assert sessions.children(known, "s0") == ["child"]


def test_second_time_changes_nothing(known: sqlite3.Connection) -> None:
    """The same edge twice is one edge."""
    rotate(known, "s1", "s0")
    rotate(known, "s1", "s0")
    assert known.execute("SELECT count(*) FROM sessions").fetchone() == (1,)


def test_way_back_is_no_news(known: sqlite3.Connection) -> None:
    """An id that goes forward and back makes no circle."""
    rotate(known, "s1", "s0")
    rotate(known, "s0", "s1")
    assert known.execute("SELECT session_id, parent_id FROM sessions").fetchall() == [("s1", "s0")]


def test_session_is_not_its_own_parent(known: sqlite3.Connection) -> None:
    """An edge to itself is none."""
    rotate(known, "s0", "s0")
    assert known.execute("SELECT count(*) FROM sessions").fetchone() == (0,)


def test_circle_ends(known: sqlite3.Connection) -> None:
    """Edges that another program wrote as a circle are walked once."""
    for child, parent in (("a", "b"), ("b", "c"), ("c", "a")):
        known.execute("INSERT INTO sessions VALUES (?, ?, 'rotation', 'host', '', 't')", (child, parent))
    assert sorted(sessions.conversation(known, "a")) == ["a", "b", "c"]


def test_turn_is_followed_to_its_last_session(known: sqlite3.Connection) -> None:
    """A turn that rotated several times hangs a new id on the newest one."""
    rotate(known, "s1", "s0", "s0:t:1")
    rotate(known, "s2", "s1", "s0:t:1")
    assert sessions.last_of_turn(known, "s0:t:1", "s0") == "s2"
    sessions.add_edge(known, "s3", "s0", ROTATION, "turn_id", "s0:t:1", "t")
    assert known.execute("SELECT parent_id FROM sessions WHERE session_id = 's3'").fetchall() == [("s2",)]


def test_has_edge(known: sqlite3.Connection) -> None:
    """An edge is known in its own direction only."""
    rotate(known, "s1", "s0")
    assert sessions.has_edge(known, "s1", "s0") and not sessions.has_edge(known, "s0", "s1")


def test_long_chain_is_walked(known: sqlite3.Connection) -> None:
    """A conversation that rotated five hundred times is one conversation."""
    for number in range(500):
        known.execute(
            "INSERT INTO sessions VALUES (?, ?, 'rotation', 'turn', '', 't')", (f"s{number + 1}", f"s{number}")
        )
    assert len(sessions.conversation(known, "s250")) == 501
