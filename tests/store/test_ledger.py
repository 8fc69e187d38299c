"""The statements over calls: announce, settle, find what stayed open, claim it once."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent_ledger.model import CANCELLED, CONFIRMED, GHOST_REPORTED, TIMEOUT, Outcome, Settlement
from agent_ledger.store import ledger, sessions
from agent_ledger.store.opening import create
from tests.calls import OK, TS, call, post

A, B = {"path": "/srv/a.txt"}, {"path": "/srv/b.txt"}
LATE_TS = "2026-01-02T04:00:00.000Z"
FAILED = Outcome("ERROR:tool_error", "unknown", "no", "no")
GAVE_UP = Outcome(TIMEOUT, "unknown")


@pytest.fixture
def db(tmp_path: Path) -> sqlite3.Connection:
    create(str(tmp_path / "ledger.db"))
    return sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)


def announce(db: sqlite3.Connection, args: Any = None, **fields: Any) -> int:
    return ledger.announce(db, call(args, **fields))


def settle(db: sqlite3.Connection, args: Any = None, outcome: Outcome = OK, **fields: Any) -> ledger.Settled:
    settlement: Settlement = post(args, outcome, **{"ts": LATE_TS, **fields})
    return ledger.settle(db, settlement)


def statuses(db: sqlite3.Connection) -> list[str]:
    return [row[0] for row in db.execute("SELECT status FROM ledger ORDER BY id")]


def rotate(db: sqlite3.Connection, child: str, parent: str) -> None:
    sessions.add_edge(db, child, parent, sessions.ROTATION, "turn", "", TS)


# --- announcing


def test_ids_ascend_and_are_not_used_again(db: sqlite3.Connection) -> None:
    """Also where the newest rows were deleted."""
    assert announce(db) < announce(db)
    db.execute("DELETE FROM ledger")
    assert announce(db) == 3


def test_call_without_an_id_is_nested_in_an_open_script(db: sqlite3.Connection) -> None:
    """Of its own task only."""
    outer = announce(db, tool_name="execute_code", tool_call_id="x1")
    inner, stranger = announce(db, tool_call_id=""), announce(db, tool_call_id="", task_id="t9")
    found = dict(db.execute("SELECT id, outer_id FROM ledger"))
    assert found == {outer: None, inner: outer, stranger: None}


def test_script_that_ended_takes_no_more_calls(db: sqlite3.Connection) -> None:
    """A call without an id that comes later stands for itself."""
    announce(db, tool_name="execute_code", tool_call_id="x1")
    settle(db, tool_name="execute_code", tool_call_id="x1")
    announce(db, tool_call_id="")
    assert db.execute("SELECT count(*) FROM ledger WHERE outer_id IS NOT NULL").fetchone() == (0,)


def test_calls_of_a_conversation_that_make_the_same_call_a_repeat(db: sqlite3.Connection) -> None:
    """What was confirmed or is open under any id of the conversation counts; failures and other conversations do not."""
    announce(db, A, tool_call_id="a")
    announce(db, B, session_id="s1", tool_call_id="b")
    announce(db, {"path": "/srv/c.txt"}, session_id="s9", tool_call_id="c")
    failed = announce(db, {"path": "/srv/d.txt"}, tool_call_id="d")
    db.execute("UPDATE ledger SET status = 'ERROR:tool_error' WHERE id = ?", (failed,))
    newest, known = ledger.known_calls(db, ["s0", "s1"], 0)
    assert newest == 4 and sorted(known) == sorted(("write_file", call(args).args_sha256) for args in (A, B))
    assert ledger.known_calls(db, ["s0", "s1"], newest) == (4, [])


# --- settling


def test_outcome_is_recorded(db: sqlite3.Connection) -> None:
    """Status, effect, time, duration and digest; no transition for the first outcome."""
    row_id = announce(db)
    assert settle(db).how == "settled"
    row = db.execute("SELECT id, status, effect, settled_ts, duration_ms, result_digest FROM ledger").fetchall()
    assert row == [(row_id, CONFIRMED, "applied", LATE_TS, 12, "done")]
    assert db.execute("SELECT count(*) FROM transitions").fetchone() == (0,)


@pytest.mark.parametrize("before", [GHOST_REPORTED, TIMEOUT, CANCELLED])
def test_late_success_upgrades(db: sqlite3.Connection, before: str) -> None:
    """The same row, marked, with a transition and news."""
    row_id = announce(db)
    db.execute("UPDATE ledger SET status = ?", (before,))
    assert settle(db) == ledger.Settled("late", row_id, "write_file")
    assert db.execute("SELECT status, flags FROM ledger").fetchall() == [(CONFIRMED, "late")]
    assert db.execute("SELECT from_status, to_status FROM transitions").fetchall() == [(before, CONFIRMED)]
    assert db.execute("SELECT kind, ledger_id FROM news").fetchall() == [("late", row_id)]


@pytest.mark.parametrize(
    ("before", "after"), [(GHOST_REPORTED, "ERROR:tool_error"), (TIMEOUT, TIMEOUT), (CANCELLED, CANCELLED)]
)
def test_late_failure_settles_only_a_ghost(db: sqlite3.Connection, before: str, after: str) -> None:
    """A timeout that fails in the end stays what the host called it."""
    announce(db)
    db.execute("UPDATE ledger SET status = ?", (before,))
    settle(db, outcome=FAILED)
    assert statuses(db) == [after]


@pytest.mark.parametrize("second", [OK, FAILED, GAVE_UP])
@pytest.mark.parametrize("first", [OK, FAILED])
def test_second_post_changes_nothing(db: sqlite3.Connection, first: Outcome, second: Outcome) -> None:
    """Nothing downgrades a confirmed call, and nobody invents a second one."""
    announce(db)
    settle(db, outcome=first)
    assert settle(db, outcome=second).how == "duplicate"
    assert statuses(db) == [first.status]


@pytest.mark.parametrize(
    ("announced", "reported"),
    [
        ({"tool_call_id": "call_9|fc_9"}, {"tool_call_id": "call_9"}),
        ({"tool_call_id": "call_9"}, {"tool_call_id": "call_9|fc_9"}),
        ({}, {"session_id": "s1"}),
        ({"tool_call_id": "", "session_id": "", "turn_id": ""}, {"tool_call_id": "real", "turn_id": ""}),
    ],
)  # fmt: skip
def test_second_post_of_a_call_under_other_ids_is_no_new_call(
    db: sqlite3.Connection, announced: dict[str, str], reported: dict[str, str]
) -> None:
    """A variant of the id, a session that rotated, an id that only the post has: the first post settles, the second is
    a duplicate."""
    rotate(db, "s1", "s0")
    announce(db, **announced)
    assert settle(db, **reported).how == "settled"
    assert settle(db, **reported).how == "duplicate"
    assert statuses(db) == [CONFIRMED]


def test_post_of_an_unknown_call_is_an_orphan(db: sqlite3.Connection) -> None:
    """The plugin came in the middle of a session: one row, marked, with what the post knows."""
    settle(db, A, tool_call_id="c9")
    assert db.execute("SELECT status, effect, tool_call_id, flags FROM ledger").fetchall() == [
        (CONFIRMED, "applied", "c9", "orphan")
    ]


def test_orphan_twice_is_one_row(db: sqlite3.Connection) -> None:
    """The second post of a call without a pre finds the first."""
    settle(db, A, tool_call_id="c9")
    settle(db, A, tool_call_id="c9")
    assert len(statuses(db)) == 1


def test_post_never_settles_a_sibling(db: sqlite3.Connection) -> None:
    """The same id, tool and arguments in another branch of the conversation are another call."""
    rotate(db, "k1", "p")
    rotate(db, "k2", "p")
    announce(db, session_id="k1", turn_id="k1:t:1")
    assert settle(db, session_id="k2", turn_id="k2:t:1").how == "orphan"


def test_post_finds_its_row_among_many(db: sqlite3.Connection) -> None:
    """More open rows of the tool than are ever looked at do not hide the one with the id."""
    rotate(db, "s1", "s0")
    db.execute("BEGIN")
    for number in range(1100):
        announce(db, A, tool_call_id=f"n{number}")
    db.execute("COMMIT")
    assert settle(db, A, tool_call_id="n1099", session_id="s1").id == 1100


@pytest.mark.parametrize("status", ["PENDING", GHOST_REPORTED])
def test_nested_calls_follow_the_script(db: sqlite3.Connection, status: str) -> None:
    """With effect unknown; one that had its own outcome keeps it."""
    announce(db, tool_name="execute_code", tool_call_id="x1")
    announce(db, A, tool_call_id="")
    announce(db, B, tool_call_id="")
    settle(db, B, FAILED, tool_call_id="")
    db.execute("UPDATE ledger SET status = ? WHERE status = 'PENDING'", (status,))
    settle(db, tool_name="execute_code", tool_call_id="x1")
    assert db.execute("SELECT status, effect FROM ledger ORDER BY id").fetchall() == [
        (CONFIRMED, "applied"), (CONFIRMED, "unknown"), ("ERROR:tool_error", "unknown"),
    ]  # fmt: skip


def test_late_script_takes_its_calls_along(db: sqlite3.Connection) -> None:
    """Nested calls that had followed a timeout follow the completion that came late."""
    announce(db, tool_name="execute_code", tool_call_id="x1")
    announce(db, A, tool_call_id="")
    settle(db, outcome=GAVE_UP, tool_name="execute_code", tool_call_id="x1")
    assert statuses(db) == [TIMEOUT, TIMEOUT]
    settle(db, tool_name="execute_code", tool_call_id="x1")
    assert statuses(db) == [CONFIRMED, CONFIRMED]


# --- what stayed open


def test_pending_are_those_of_the_conversation(db: sqlite3.Connection) -> None:
    """Open rows of the given sessions, oldest first, without nested and settled ones."""
    first = announce(db, A)
    announce(db, B, session_id="s9")
    announce(db, A, tool_call_id="c3")
    settle(db, A, tool_call_id="c3")
    last = announce(db, tool_name="execute_code", session_id="s1", tool_call_id="x1")
    announce(db, A, tool_call_id="")
    assert [row.id for row in ledger.pending(db, ("s0", "s1"))] == [first, last]


def test_claim_is_won_once(db: sqlite3.Connection) -> None:
    """Whoever comes second gets nothing; the reason stands in the transition, evidence in the effect."""
    row_id = announce(db)
    assert ledger.claim(db, [(row_id, "because", "applied")], LATE_TS) == [row_id]
    assert ledger.claim(db, [(row_id, "because", "none")], LATE_TS) == []
    assert db.execute("SELECT status, effect FROM ledger").fetchall() == [(GHOST_REPORTED, "applied")]
    assert db.execute("SELECT why FROM transitions").fetchall() == [("because",)]


def test_claim_takes_nested_calls_along(db: sqlite3.Connection) -> None:
    """They are told with the script, and count as reported."""
    outer = announce(db, tool_name="execute_code", tool_call_id="x1")
    announce(db, A, tool_call_id="")
    assert ledger.claim(db, [(outer, "why", "unknown")], LATE_TS) == [outer]
    assert statuses(db) == [GHOST_REPORTED, GHOST_REPORTED]
    facts = ledger.facts(db, outer)
    assert facts is not None and facts.nested == 1


def test_claim_of_a_settled_row_is_lost(db: sqlite3.Connection) -> None:
    """A post that came between looking and claiming wins."""
    row_id = announce(db)
    settle(db)
    assert ledger.claim(db, [(row_id, "why", "unknown")], LATE_TS) == []
    assert statuses(db) == [CONFIRMED]


def test_history_never_overwrites_an_outcome(db: sqlite3.Connection) -> None:
    """A post that came between looking and settling wins."""
    row_id = announce(db)
    open_row = ledger.open_row(db, row_id)
    assert open_row is not None
    settle(db, outcome=FAILED)
    assert not ledger.settle_from_history(db, open_row, OK, LATE_TS)
    assert statuses(db) == ["ERROR:tool_error"]


def test_ghost_that_an_operator_settled_is_not_told_again(db: sqlite3.Connection) -> None:
    """The status stays reported, the effect is the operator's word, and no notice repeats it."""
    row_id = announce(db)
    ledger.claim(db, [(row_id, "why", "unknown")], LATE_TS)
    row = ledger.open_row(db, row_id)
    assert row is not None
    ledger.settle_by_hand(db, row, "applied", "looked", LATE_TS)
    assert db.execute("SELECT status, effect FROM ledger").fetchall() == [(GHOST_REPORTED, "applied")]
    assert ledger.facts(db, row_id) is None


def test_deleted_row_has_no_facts(db: sqlite3.Connection) -> None:
    """A user pruned by hand."""
    assert ledger.facts(db, 99) is None and ledger.open_row(db, 99) is None


def test_launch_is_marked_once(db: sqlite3.Connection) -> None:
    """Told or shown to have ended: whoever comes second does not tell."""
    row_id = announce(db, tool_name="terminal")
    settle(db, outcome=Outcome(CONFIRMED, "started", "proc_0a1b2c"), tool_name="terminal")
    assert [row.id for row in ledger.launched(db, ("s0",))] == [row_id]
    assert ledger.mark_launched(db, row_id, "end_unseen") and not ledger.mark_launched(db, row_id, "end_seen")
    assert ledger.launched(db, ("s0",)) == []


def test_unsettled_elsewhere(db: sqlite3.Connection) -> None:
    """Other sessions with open calls, each once, without those that have no session."""
    for session in ("s0", "s1", "s1", "s2", ""):
        announce(db, session_id=session)
    assert sorted(ledger.unsettled_elsewhere(db, ("s0",))) == ["s1", "s2"]
