"""The way of a write to disk: the database where it answers, else the spool, and back."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_ledger.home import ledger_path
from agent_ledger.store import ledger
from agent_ledger.store.keeper import Keeper
from agent_ledger.store.patience import LOCK_WAIT_S
from tests.calls import OK, call, post

Deadline = Callable[[], float]
LINK = ("s1", "s0", "rotation", "turn", "t")


@pytest.fixture
def keeper(home: Path) -> Keeper:
    """The keeper of an empty home."""
    return Keeper(ledger_path(str(home)), "me", "normal", lambda name: False)


@pytest.fixture
def locked(keeper: Keeper, soon: Deadline) -> Iterator[sqlite3.Connection]:
    """Somebody else holds the write lock until the connection is rolled back."""
    keeper.announce(call({"path": "/srv/first.txt"}, tool_call_id="first"), soon())
    holder = sqlite3.connect(keeper.database.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    yield holder
    holder.close()


def short() -> float:
    return time.monotonic() + LOCK_WAIT_S


def wait_until(true: Callable[[], bool], seconds: float = 10) -> None:
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    assert true()


def rows(keeper: Keeper) -> list[tuple[str, str, str]]:
    connection = sqlite3.connect(keeper.database.path)
    try:
        return connection.execute("SELECT tool_call_id, status, flags FROM ledger ORDER BY id").fetchall()
    finally:
        connection.close()


def test_call_is_committed_when_announce_returns(keeper: Keeper, soon: Deadline) -> None:
    """Another connection sees the row at once, under the id that was returned."""
    row_id = keeper.announce(call(), soon())
    assert row_id == 1 and rows(keeper) == [("c1", "PENDING", "")]


def test_locked_database_sends_calls_to_the_spool(keeper: Keeper, locked: sqlite3.Connection) -> None:
    """No row id, one line waiting, the state named, and what it waited was the deadline."""
    begin = time.monotonic()
    assert keeper.announce(call(), short()) == 0
    assert time.monotonic() - begin < 0.3
    assert (keeper.spool.backlog, keeper.state) == (1, "busy")


def test_breaker_saves_the_second_wait(keeper: Keeper, locked: sqlite3.Connection) -> None:
    """Soon after a wait that failed, writes do not try again: ten of them take less than one wait."""
    keeper.announce(call(), short())
    begin = time.monotonic()
    for number in range(10):
        keeper.announce(call(tool_call_id=f"d{number}"), short())
    assert time.monotonic() - begin < LOCK_WAIT_S
    assert keeper.spool.backlog == 11


def test_spool_is_emptied_without_a_hook(keeper: Keeper, locked: sqlite3.Connection) -> None:
    """Once the database answers, rows come in by themselves, marked, in order, with their outcomes."""
    keeper.announce(call(tool_call_id="a"), short())
    keeper.settle(post(tool_call_id="a"), short())
    keeper.announce(call({"path": "/srv/b.txt"}, tool_call_id="b"), short())
    locked.rollback()
    wait_until(lambda: keeper.spool.backlog == 0)
    assert rows(keeper)[1:] == [("a", "CONFIRMED", "spooled"), ("b", "PENDING", "spooled")]
    wait_until(lambda: keeper.state == "ok")


def test_later_writes_wait_behind_the_spool(keeper: Keeper, locked: sqlite3.Connection) -> None:
    """An outcome never overtakes its own call: while a line waits and cannot be replayed, nothing goes past it."""
    keeper.announce(call(tool_call_id="a"), short())
    keeper._closed_until = 0.0
    assert keeper.settle(post(tool_call_id="a"), short()) is None
    locked.rollback()
    keeper._closed_until = 0.0
    assert keeper.ready(time.monotonic() + 2) is True
    assert rows(keeper)[1:] == [("a", "CONFIRMED", "spooled")]


def test_edge_is_spooled_too(keeper: Keeper, locked: sqlite3.Connection) -> None:
    """Where a session came from is not lost under a lock; meanwhile both ids count as one conversation."""
    assert keeper.add_edge(*LINK, short()) == ("s1", "s0")
    locked.rollback()
    wait_until(lambda: keeper.spool.backlog == 0)
    found = sqlite3.connect(keeper.database.path).execute("SELECT session_id, parent_id FROM sessions").fetchall()
    assert found == [("s1", "s0")]


def test_reads_of_a_turn_are_none_where_nothing_answers(keeper: Keeper) -> None:
    """A folder in the ledger's place: a look and a transaction say None, and do not raise."""
    Path(keeper.database.path).mkdir(parents=True)
    assert keeper.look(ledger.counts, short()) is None
    assert keeper.transact(ledger.counts, short()) is None
    assert keeper.state != "ok" and keeper.last_error and keeper.last_error_ts


def test_healing_is_noted_where_readers_see_it(keeper: Keeper, locked: sqlite3.Connection) -> None:
    """What the trouble was, since when, and when it ended stand in the ledger."""
    keeper.announce(call(), short())
    locked.rollback()
    wait_until(lambda: keeper.state == "ok")
    meta = dict(sqlite3.connect(keeper.database.path).execute("SELECT key, value FROM meta").fetchall())
    assert meta["last_error"].startswith("busy: ") and meta["last_error_ts"] <= meta["healed_ts"]
    assert meta["spool_replayed"] == "1" and "lost_writes" not in meta


def test_lost_writes_are_counted_once(keeper: Keeper, locked: sqlite3.Connection, soon: Deadline) -> None:
    """Where the spool takes nothing either, the number of lost records is in the ledger after healing, and is not added
    again by the next trouble."""
    Path(keeper.spool.folder).parent.joinpath("spool").write_text("in the way")
    for number in range(3):
        keeper.announce(call(tool_call_id=f"lost-{number}"), short())
    assert keeper.spool.lost == 3
    Path(keeper.spool.folder).unlink()
    locked.rollback()
    for _ in range(2):
        keeper._closed_until = 0.0
        keeper.announce(call(tool_call_id="after"), soon())
        locked.execute("BEGIN IMMEDIATE")
        keeper.announce(call(tool_call_id="spooled"), short())
        locked.rollback()
        wait_until(lambda: keeper.state == "ok")
    found = sqlite3.connect(keeper.database.path).execute("SELECT value FROM meta WHERE key = 'lost_writes'").fetchone()
    assert int(found[0]) == 3


def test_corrupt_ledger_is_replaced_at_once(keeper: Keeper, soon: Deadline) -> None:
    """The call that met it is spooled, the next one is in the fresh ledger, and so is the spooled one."""
    Path(keeper.database.path).parent.mkdir(parents=True)
    Path(keeper.database.path).write_bytes(b"garbage " * 1000)
    keeper.announce(call(tool_call_id="a"), soon())
    keeper.announce(call(tool_call_id="b"), soon())
    assert [row[0] for row in rows(keeper)] == ["a", "b"]
    assert len(list(Path(keeper.database.path).parent.glob("ledger.db.corrupt-*"))) == 1


def test_settle_open_says_whether_the_row_was_there(keeper: Keeper, soon: Deadline) -> None:
    """One statement settles the known row; a second time, or with another time of issue, it is not there."""
    announced = call()
    row_id = keeper.announce(announced, soon())
    wrong = ledger.outcome_values(OK, announced.ts, row_id, "another time", "c1")
    right = ledger.outcome_values(OK, announced.ts, row_id, announced.ts, "c1")
    assert [keeper.settle_open(values, soon()) for values in (wrong, right, right)] == [False, True, False]


def test_finish_takes_in_what_waits(keeper: Keeper, locked: sqlite3.Connection) -> None:
    """At the end of the process one more try is made, for as long as it is given."""
    keeper.announce(call(tool_call_id="a"), short())
    locked.rollback()
    keeper.finish(2)
    assert keeper.spool.backlog == 0 and [row[0] for row in rows(keeper)] == ["first", "a"]


def test_finish_gives_up_in_time(keeper: Keeper, locked: sqlite3.Connection) -> None:
    """The end of a process is not held up by a ledger that does not answer."""
    keeper.announce(call(tool_call_id="a"), short())
    begin = time.monotonic()
    keeper.finish(0.3)
    assert time.monotonic() - begin < 1.2 and keeper.spool.backlog == 1


def test_two_keepers_of_one_process_share_the_spool(keeper: Keeper, locked: sqlite3.Connection) -> None:
    """A reload makes a second keeper: the lines of both are one sequence, and all come in once."""
    second = Keeper(keeper.database.path, "me", "normal", lambda name: False)
    keeper.announce(call(tool_call_id="a"), short())
    second.announce(call(tool_call_id="b"), short())
    locked.rollback()
    wait_until(lambda: keeper.spool.backlog == 0 and second.spool.backlog == 0)
    assert sorted(row[0] for row in rows(keeper)) == ["a", "b", "first"]


def test_drainer_that_could_not_start_is_tried_again(
    keeper: Keeper, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A moment without free threads does not leave the spool to the hooks for ever."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    keeper.announce(call(tool_call_id="a"), short())
    monkeypatch.undo()
    keeper.announce(call(tool_call_id="b"), short())
    locked.rollback()
    wait_until(lambda: keeper.spool.backlog == 0, 5)
