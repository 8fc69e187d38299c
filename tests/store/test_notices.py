"""What a conversation was told, and whether it was read."""

from __future__ import annotations

import sqlite3

from agent_ledger.store import notices

TS = "2026-01-02T00:00:00.000Z"


def test_nothing_told(db: sqlite3.Connection) -> None:
    """A conversation that was told nothing has no notice."""
    assert notices.newest(db, ["s0"]) is None


def test_newest_of_the_conversation(db: sqlite3.Connection) -> None:
    """The newest notice under any id of the conversation is found, with the calls that it told."""
    notices.add(db, TS, "s0", "turn 1", "me", "5:abc", notices.Told(ghosts=[1]))
    notices.add(db, TS, "s1", "turn 2", "me", "5:abc", notices.Told(ghosts=[2, 3]))
    notices.add(db, TS, "s9", "turn 3", "me", "5:abc", notices.Told(ghosts=[4]))
    found = notices.newest(db, ["s0", "s1"])
    assert found is not None and (found.turn_id, found.told.ghosts) == ("turn 2", [2, 3])


def test_finished_once(db: sqlite3.Connection) -> None:
    """Of two that decide what became of a notice, one wins."""
    notices.add(db, TS, "s0", "turn 1", "me", "5:abc", notices.Told(ghosts=[1]))
    found = notices.newest(db, ["s0"])
    assert found is not None
    assert [notices.finish(db, found.id, True), notices.finish(db, found.id, False)] == [True, False]
    assert notices.newest(db, ["s0"]) is None


def test_ghosts_that_somebody_wrote_are_passed_over(db: sqlite3.Connection) -> None:
    """A list of calls that is no JSON tells none."""
    notices.add(db, TS, "s0", "turn 1", "me", "5:abc", notices.Told(ghosts=[1]))
    db.execute("UPDATE notices SET ghosts = 'all of them'")
    found = notices.newest(db, ["s0"])
    assert found is not None and found.told.ghosts == []


def test_what_else_was_told_comes_back(db: sqlite3.Connection) -> None:
    """Launches, news and recalled calls of a notice are kept for a second telling."""
    said = notices.Told(ghosts=[1], launched=[2], news=[3], recalled=[4, 5], recalled_in_all=9)
    notices.add(db, TS, "s0", "turn 1", "me", "5:abc", said)
    found = notices.newest(db, ["s0"])
    assert found is not None and found.told == said
