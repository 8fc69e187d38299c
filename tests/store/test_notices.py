"""What a conversation was told, and whether it was read."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent_ledger.store import notices
from agent_ledger.store.db import create

TS = "2026-01-02T00:00:00.000Z"


@pytest.fixture
def told(tmp_path: Path) -> sqlite3.Connection:
    create(str(tmp_path / "ledger.db"))
    return sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)


def test_nothing_told(told: sqlite3.Connection) -> None:
    """A conversation that was told nothing has no notice."""
    assert notices.newest(told, ["s0"]) is None


def test_newest_of_the_conversation(told: sqlite3.Connection) -> None:
    """The newest notice under any id of the conversation is found, with the calls that it told."""
    notices.add(told, TS, "s0", "turn 1", "me", "5:abc", [1])
    notices.add(told, TS, "s1", "turn 2", "me", "5:abc", [2, 3])
    notices.add(told, TS, "s9", "turn 3", "me", "5:abc", [4])
    found = notices.newest(told, ["s0", "s1"])
    assert found is not None and (found.turn_id, found.ghosts) == ("turn 2", [2, 3])


def test_finished_once(told: sqlite3.Connection) -> None:
    """Of two that decide what became of a notice, one wins."""
    notices.add(told, TS, "s0", "turn 1", "me", "5:abc", [1])
    found = notices.newest(told, ["s0"])
    assert found is not None
    assert [notices.finish(told, found.id, "again"), notices.finish(told, found.id, "read")] == [True, False]
    assert notices.newest(told, ["s0"]) is None


def test_ghosts_that_somebody_wrote_are_passed_over(told: sqlite3.Connection) -> None:
    """A list of calls that is no JSON tells none."""
    notices.add(told, TS, "s0", "turn 1", "me", "5:abc", [1])
    told.execute("UPDATE notices SET ghosts = 'all of them'")
    found = notices.newest(told, ["s0"])
    assert found is not None and found.ghosts == []
