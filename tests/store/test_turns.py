"""What stayed open is found, claimed once, and settled by what the conversation shows."""

from __future__ import annotations

import sqlite3

from agent_ledger.model import CONFIRMED, GHOST_REPORTED, Outcome
from agent_ledger.store import ledger, turns
from tests.calls import OK
from tests.store.statements import FAILED, LATE_TS, announce, settle, statuses

A, B = {"path": "/srv/a.txt"}, {"path": "/srv/b.txt"}


def test_pending_are_those_of_the_conversation(db: sqlite3.Connection) -> None:
    """Open rows of the given sessions, oldest first, without nested and settled ones."""
    first = announce(db, A)
    announce(db, B, session_id="s9")
    announce(db, A, tool_call_id="c3")
    settle(db, A, tool_call_id="c3")
    last = announce(db, tool_name="execute_code", session_id="s1", tool_call_id="x1")
    announce(db, A, tool_call_id="")
    assert [row.id for row in turns.pending(db, ("s0", "s1"))] == [first, last]


def test_claim_is_won_once(db: sqlite3.Connection) -> None:
    """Whoever comes second gets nothing; the reason stands in the transition, evidence in the effect."""
    row_id = announce(db)
    assert turns.claim(db, [(row_id, "because", "applied")], LATE_TS) == [row_id]
    assert turns.claim(db, [(row_id, "because", "none")], LATE_TS) == []
    assert db.execute("SELECT status, effect FROM ledger").fetchall() == [(GHOST_REPORTED, "applied")]
    assert db.execute("SELECT why FROM transitions").fetchall() == [("because",)]


def test_claim_takes_nested_calls_along(db: sqlite3.Connection) -> None:
    """They are told with the script, and count as reported."""
    outer = announce(db, tool_name="execute_code", tool_call_id="x1")
    announce(db, A, tool_call_id="")
    assert turns.claim(db, [(outer, "why", "unknown")], LATE_TS) == [outer]
    assert statuses(db) == [GHOST_REPORTED, GHOST_REPORTED]
    facts = turns.facts(db, outer)
    assert facts is not None and facts.nested == 1


def test_claim_of_a_settled_row_is_lost(db: sqlite3.Connection) -> None:
    """A post that came between looking and claiming wins."""
    row_id = announce(db)
    settle(db)
    assert turns.claim(db, [(row_id, "why", "unknown")], LATE_TS) == []
    assert statuses(db) == [CONFIRMED]


def test_history_never_overwrites_an_outcome(db: sqlite3.Connection) -> None:
    """A post that came between looking and settling wins."""
    row_id = announce(db)
    open_row = ledger.open_row(db, row_id)
    assert open_row is not None
    settle(db, outcome=FAILED)
    assert not turns.settle_from_history(db, open_row, OK, LATE_TS)
    assert statuses(db) == ["ERROR:tool_error"]


def test_ghost_that_an_operator_settled_is_not_told_again(db: sqlite3.Connection) -> None:
    """The status stays reported, the effect is the operator's word, and no notice repeats it."""
    row_id = announce(db)
    turns.claim(db, [(row_id, "why", "unknown")], LATE_TS)
    row = ledger.open_row(db, row_id)
    assert row is not None
    ledger.settle_by_hand(db, row, "applied", "looked", LATE_TS)
    assert db.execute("SELECT status, effect FROM ledger").fetchall() == [(GHOST_REPORTED, "applied")]
    assert turns.facts(db, row_id) is None


def test_deleted_row_has_no_facts(db: sqlite3.Connection) -> None:
    """A user pruned by hand."""
    assert turns.facts(db, 99) is None and ledger.open_row(db, 99) is None


def test_launch_is_marked_once(db: sqlite3.Connection) -> None:
    """Told or shown to have ended: whoever comes second does not tell."""
    row_id = announce(db, tool_name="terminal")
    settle(db, outcome=Outcome(CONFIRMED, "started", "proc_0a1b2c"), tool_name="terminal")
    assert [row.id for row in turns.launched(db, ("s0",))] == [row_id]
    assert turns.mark_launched(db, row_id, "end_unseen") and not turns.mark_launched(db, row_id, "end_seen")
    assert turns.launched(db, ("s0",)) == []


def test_unsettled_elsewhere(db: sqlite3.Connection) -> None:
    """Other sessions with open calls, each once, without those that have no session."""
    for session in ("s0", "s1", "s1", "s2", ""):
        announce(db, session_id=session)
    assert sorted(turns.unsettled_elsewhere(db, ("s0",))) == ["s1", "s2"]
