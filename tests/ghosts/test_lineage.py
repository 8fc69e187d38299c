"""Which session came out of which, by the host's ids and by its own session store."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent_ledger.ghosts.lineage import HostStore, turn_session
from tests.simhost import SimHost, turn_id, user

A = {"path": "/srv/a.txt", "content": "a"}


def state_db(home: Path, *sessions: tuple[str, str | None, str, float, float | None, str | None]) -> None:
    """The host's own table: (id, parent, source, started, ended, end_reason)."""
    with sqlite3.connect(home / "state.db") as store:
        store.execute(
            "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, source TEXT,"
            " started_at REAL, ended_at REAL, end_reason TEXT)"
        )
        store.executemany("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?)", sessions)
    store.close()


def chain(home: Path, *names: str) -> None:
    """Sessions of which each continues the one before, compressed."""
    for number, name in enumerate(names):
        last = number == len(names) - 1
        state_db(home, (name, names[number - 1] if number else None, "cli", number * 10.0,
                        None if last else number * 10.0 + 10, None if last else "compression"))  # fmt: skip


@pytest.mark.parametrize(
    ("turn", "session", "before"),
    [
        ("s0:t0:0000000a", "s0", ""), ("s0:t0:0000000a", "s1", "s0"), ("agent:main:x:t0:0000000a", "agent:main:x", ""),
        ("agent:main:x:t0:0000000a", "s1", "agent:main:x"), ("", "s1", ""), ("s0:t0:0000000a", "", ""), ("odd", "s1", ""),
        ("s0:0000000a", "s1", ""), (":t0:0000000a", "s1", ""),
    ],
)  # fmt: skip
def test_session_at_the_start_of_a_turn(turn: str, session: str, before: str) -> None:
    """A turn keeps the id of the session under which it began."""
    assert turn_session(turn, session) == before


def test_chain_of_compressions(home: Path) -> None:
    """Every ancestor that compaction ended is an edge."""
    chain(home, "s0", "s1", "s2")
    assert HostStore(str(home)).continuations("s2", []) == [("s2", "s1"), ("s1", "s0")]


def test_way_down_is_found_through_the_others(home: Path) -> None:
    """Back at an older id, sessions with open rows are asked whether they continue it."""
    chain(home, "s0", "s1", "s2")
    assert set(HostStore(str(home)).continuations("s0", ["s2", "stranger"])) == {("s2", "s1"), ("s1", "s0")}


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (("kid", "s0", "subagent", 30.0, None, None), ("s0", None, "cli", 0.0, 20.0, "compression")),
        (("kid", "s0", "cli", 5.0, None, None), ("s0", None, "cli", 0.0, 20.0, "compression")),
        (("kid", "s0", "cli", 5.0, None, None), ("s0", None, "cli", 0.0, None, None)),
        (("kid", "s0", "cli", 30.0, None, None), ("s0", None, "cli", 0.0, 20.0, "branched")),
        (("kid", "gone", "cli", 30.0, None, None), ("s0", None, "cli", 0.0, 20.0, "compression")),
        (("kid", "s0", "cli", None, None, None), ("s0", None, "cli", 0.0, 20.0, "compression")),
    ],
)  # fmt: skip
def test_parent_that_is_not_continued(home: Path, child: Any, parent: Any) -> None:
    """Delegated children, also of a parent that was compressed later, and branches are no continuations."""
    state_db(home, parent, child)
    assert HostStore(str(home)).continuations("kid", ["s0"]) == []


def test_circle_in_the_store_ends(home: Path) -> None:
    """A store that says nonsense is walked once."""
    state_db(home, ("a", "b", "cli", 9.0, 9.0, "compression"), ("b", "a", "cli", 9.0, 9.0, "compression"))
    assert HostStore(str(home)).continuations("a", []) == [("a", "b")]


def test_store_that_cannot_be_read_says_nothing(home: Path) -> None:
    """No store, no database, and a database of another form: no edges, no exception."""
    store = HostStore(str(home))
    assert store.continuations("s1", ["s0"]) == []
    (home / "state.db").write_text("no database at all, but long enough to be looked at" * 40)
    assert store.continuations("s1", ["s0"]) == []
    (home / "state.db").unlink()
    sqlite3.connect(home / "state.db").execute("CREATE TABLE sessions (id TEXT)").connection.close()
    assert store.continuations("s1", ["s0"]) == []


def test_store_is_never_written(home: Path) -> None:
    """Looking changes no byte of the host's file."""
    chain(home, "s0", "s1")
    before = (home / "state.db").read_bytes()
    HostStore(str(home)).continuations("s1", ["s0"])
    assert (home / "state.db").read_bytes() == before


def test_missing_session_is_asked_for_again(home: Path) -> None:
    """A session that the store does not have yet may appear later."""
    chain(home, "s0")
    store = HostStore(str(home))
    assert store.continuations("s1", []) == [] and not store.knows("s1")
    chain(home, "s0", "s1")
    assert store.continuations("s1", []) == [("s1", "s0")] and store.knows("s1")


# --- with the plugin


def test_rotation_between_two_turns(host: SimHost) -> None:
    """Only the host's store knows that the id rotated: the new session hears of the lost call, and nobody else."""
    host.pre("write_file", A)
    host.age(500)
    chain(host.home, "s0", "s1", "s2")
    assert host.turn("s9", task="t9") is None
    assert host.turn("s2", task="t2") is not None
    assert host.turn("s0") is None


def test_branches_of_the_store_are_siblings(host: SimHost) -> None:
    """Two sessions that continue one parent do not hear each other."""
    state_db(host.home, ("p", None, "cli", 0.0, 9.0, "compression"), ("k1", "p", "cli", 9.0, None, None),
             ("k2", "p", "cli", 9.5, None, None))  # fmt: skip
    host.pre("write_file", A, session="k1")
    host.age(500)
    assert host.turn("k2", task="t2") is None
    assert host.turn("k1", task="t1") is not None


def test_older_id_hears_of_a_rotation_after_its_last_look(host: SimHost) -> None:
    """That a session was looked up once, and had no parent, says nothing about sessions that continue it later."""
    host.pre("patch", A, session="z", task="z")
    chain(host.home, "s0")
    assert host.turn("s0") is None
    chain(host.home, "s0", "s1")
    host.pre("write_file", A, session="s1", task="t1")
    host.age(500)
    assert host.turn("s0", task="t2") is not None


def test_late_outcome_finds_the_rotated_conversation(host: SimHost) -> None:
    """The outcome of a call that had timed out comes after the id rotated between turns: the new id is told."""
    host.run("write_file", A, status="timeout", error_type="tool_timeout")
    chain(host.home, "s0", "s1")
    host.run("write_file", {"path": "/srv/b.txt"}, call="c2", session="s1", task="t1")
    host.post("write_file", A)
    assert host.turn("s1", task="t2", history=[user("go")]) is not None


def test_child_and_parent_are_two_conversations(host: SimHost) -> None:
    """Neither hears of the other's lost call, and the child's own is told to the child."""
    host.pre("patch", A)
    assert host.turn("kid", parent="s0", task="k") is None
    host.pre("write_file", A, session="kid", task="k", turn=turn_id("kid", "k"))
    host.age(500)
    parent, child = host.turn("s0"), host.turn("kid", parent="s0", task="k2")
    assert parent is not None and "patch" in parent and "write_file" not in parent
    assert child is not None and "write_file" in child and "patch" not in child


def test_child_that_rotates_stays_one_conversation(host: SimHost) -> None:
    """A delegated child whose own id rotates hears of its calls under both ids; its parent does not."""
    host.turn("kid", parent="s0", task="k")
    host.pre("write_file", A, session="kid", task="k", turn=turn_id("kid", "k"))
    host.pre("patch", A, call="c2", session="kid2", task="k", turn=turn_id("kid", "k"))
    host.age(500)
    assert host.turn("s0") is None
    text = host.turn("kid2", parent="s0", task="k2")
    assert text is not None and "write_file" in text and "patch" in text
