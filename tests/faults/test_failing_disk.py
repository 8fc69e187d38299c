"""A disk that reports I/O errors and heals, that is slow, that cannot share memory; a clock that is set back."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from tests.cli.commands import as_json
from tests.faults.conftest import MOST_S, Faults, NewDriver, all_in, counted
from tests.simhost import SimHost


def aside(host: SimHost) -> list[str]:
    return [path.name for path in host.ledger.parent.glob("ledger.db.corrupt-*")]


@pytest.mark.parametrize("seconds", [1.5, pytest.param(120, marks=pytest.mark.slow)])
def test_io_errors_and_healing(home: Path, new_driver: NewDriver, faults: Faults, seconds: float) -> None:
    """While reads, writes and syncs of the ledger fail, hooks return in time and rows are spooled; the ledger is taken for
    what it is, not for corrupt; afterwards every call is one confirmed row, and status tells of it."""
    driver, host = new_driver(**faults.environment), SimHost(home)
    driver.run("first")
    faults.order("eio")
    until, made = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        driver.run(made)
        driver.turn()
        made += 1
        time.sleep(0.05)
    faults.order("")
    assert driver.slowest < MOST_S
    assert aside(host) == []
    all_in(host, driver.turn)
    driver.run("after")
    all_in(host, driver.turn)
    assert counted(host) == (made + 2,) * 3
    health = as_json(home, "status")["health"]
    assert (health["state"], health["lost_writes"]) == ("ok", 0)
    assert health["last_error"].startswith("i/o error") and health["healed_ts"]


def test_io_errors_of_everything(home: Path, new_driver: NewDriver, faults: Faults) -> None:
    """Where the spool fails too, calls run; what was recorded before is still there, and what was lost is counted."""
    driver, host = new_driver(**faults.environment), SimHost(home)
    driver.run("first")
    faults.order("eio-all")
    for number in range(10):
        driver.run(number)
        time.sleep(0.05)
    driver.turn()
    faults.order("")
    assert driver.slowest < MOST_S
    time.sleep(0.6)
    driver.turn()
    driver.run("after")
    all_in(host, driver.turn)
    driver.run("last")
    assert aside(host) == []
    ids = {row[0] for row in host.sql("SELECT tool_call_id FROM ledger")}
    assert {"cfirst", "cafter", "clast"} <= ids
    assert as_json(home, "status")["health"]["lost_writes"] >= 2 * (13 - len(ids)) > 0


def test_io_error_in_the_middle_of_a_transaction(home: Path, new_driver: NewDriver, faults: Faults) -> None:
    """Errors that come and go at any moment leave a whole ledger with every call once."""
    driver, host = new_driver(**faults.environment), SimHost(home)
    driver.run("first")
    for number in range(40):
        faults.order("eio" if number % 2 else "")
        driver.run(number)
        time.sleep(0.03)
    faults.order("")
    all_in(host, driver.turn)
    assert aside(host) == []
    assert counted(host) == (41,) * 3


def test_slow_disk_is_not_waited_for_again_and_again(home: Path, new_driver: NewDriver, faults: Faults) -> None:
    """Where each write takes 60 ms, no hook takes longer than the limit, and once that is known later ones are not
    held up as long; nothing is lost."""
    driver, host = new_driver(**faults.environment), SimHost(home)
    driver.run("first")
    faults.order("slow 60")
    for number in range(5):
        driver.run(number)
    faults.order("")
    assert driver.slowest < MOST_S
    all_in(host, driver.turn)
    assert counted(host) == (6,) * 3


def test_very_slow_disk_holds_up_few_calls(home: Path, new_driver: NewDriver, faults: Faults) -> None:
    """Where each write takes 250 ms, at most the first calls meet it at its full length."""
    driver, host = new_driver(**faults.environment), SimHost(home)
    driver.run("first")
    faults.order("slow 250")
    driver.took.clear()
    for number in range(5):
        driver.run(number)
    faults.order("")
    assert sum(took > MOST_S for took in driver.took) <= 1
    all_in(host, driver.turn)
    assert counted(host) == (6,) * 3


@pytest.mark.parametrize("there", [False, True], ids=["fresh", "existing"])
def test_write_ahead_log_is_refused(home: Path, new_driver: NewDriver, faults: Faults, there: bool) -> None:
    """On a file system where the log's index cannot be shared (many network ones) recording goes on without the log, said
    once, and nothing piles up in the spool."""
    if there:
        first = new_driver()
        first.run("first")
        connection = sqlite3.connect(SimHost(home).ledger)
        first.end()
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.close()
    faults.order("no-shm")
    driver, host = new_driver(**faults.environment), SimHost(home)
    for number in range(5):
        driver.run(number)
    assert driver.slowest < MOST_S
    all_in(host, driver.turn, 3)
    assert counted(host) == (5 + there,) * 3
    assert driver.end().count("write-ahead log") == 1


@pytest.mark.parametrize("seconds", [-86_400, -3, 7 * 86_400])
def test_clock_is_set(home: Path, new_driver: NewDriver, faults: Faults, seconds: int) -> None:
    """A clock that jumps between pre and post, back or ahead: each call is one confirmed row in the order of issue, and the
    running call of a living process is told only when its grace is over by that clock."""
    driver, host = new_driver(**faults.environment), SimHost(home)
    driver.run("first")
    driver.pre("across")
    faults.order(f"clock {seconds}")
    assert driver.ask("turn", session="other") is None
    if seconds < 0:
        assert driver.ask("turn", session="s0", turn="s0:t0:00000002") is None
    driver.post("across")
    driver.run("after")
    assert counted(host) == (3, 3, 3)
    assert [row[0] for row in host.sql("SELECT tool_call_id FROM ledger ORDER BY id")] == [
        "cfirst",
        "cacross",
        "cafter",
    ]
    assert as_json(home, "status")["calls"]["open_ghosts"] == 0


def test_clock_that_is_set_back_tells_a_dead_owners_call(home: Path, new_driver: NewDriver, faults: Faults) -> None:
    """Its owner's death makes a ghost at once, also where the call seems to come from the future."""
    first = new_driver()
    first.pre("lost")
    first.stop()
    faults.order("clock -86400")
    driver = new_driver(**faults.environment)
    assert "write_file" in driver.ask("turn", session="s0", turn="s0:t0:00000002")
