"""A call is announced, found again by its post, and settled."""

from __future__ import annotations

import sqlite3

import pytest

from agent_ledger.model import CANCELLED, CONFIRMED, GHOST_REPORTED, TIMEOUT, Outcome
from agent_ledger.store import ledger, sessions
from tests.calls import OK, TS, call
from tests.store.statements import FAILED, LATE_TS, announce, settle, statuses

A, B = {"path": "/srv/a.txt"}, {"path": "/srv/b.txt"}
GAVE_UP = Outcome(TIMEOUT, "unknown")


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
