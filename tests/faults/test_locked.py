"""Another process holds the database: calls run, nobody waits long, nothing is lost."""

from __future__ import annotations

import sqlite3
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import MOST_S, NewDriver, all_in, counted
from tests.simhost import SimHost

HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN " + sys.argv[2])
print("held", flush=True)
time.sleep(float(sys.argv[3]))
connection.execute("ROLLBACK")
"""


def hold(child: Callable[..., subprocess.Popen[str]], host: SimHost, how: str, seconds: float) -> subprocess.Popen[str]:
    holder = child(HOLD, host.ledger, how, seconds)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    return holder


@pytest.mark.parametrize("how", ["IMMEDIATE", "EXCLUSIVE"])
@pytest.mark.parametrize("seconds", [2.5, pytest.param(35, marks=pytest.mark.slow)])
def test_lock_of_another_process(
    home: object, new_driver: NewDriver, child: Callable[..., subprocess.Popen[str]], seconds: float, how: str
) -> None:
    """While the lock is held every hook returns in time, most at once; after it every call is one confirmed row."""
    driver = new_driver()
    driver.run("first")
    host = SimHost(home)  # type: ignore[arg-type]
    holder = hold(child, host, how, seconds)
    calls: list[float] = []
    turns: list[float] = []
    while holder.poll() is None:
        driver.took.clear()
        driver.run(len(turns))
        calls += driver.took
        driver.turn()
        turns.append(driver.took[-1])
        time.sleep(0.02)
    made = len(turns)
    assert max(calls + turns) < MOST_S
    assert statistics.median(calls) < 0.02
    assert sum(took > 0.03 for took in calls) <= 4 + 4 * seconds  # a try each half second at most, and a busy machine
    assert statistics.median(turns) < 0.1
    all_in(host, driver.turn)
    assert counted(host) == (made + 1, made + 1, made + 1)


@pytest.mark.parametrize("mode", ["NORMAL", "EXCLUSIVE"])
def test_process_that_starts_under_a_lock(home: Path, new_driver: NewDriver, mode: str) -> None:
    """It has no open ledger yet, and not each of its calls waits for one: a try each half second at most. In locking mode
    EXCLUSIVE it cannot even read."""
    first, host = new_driver(), SimHost(home)
    first.run("first")
    first.stop()
    holder = sqlite3.connect(host.ledger, isolation_level=None)
    holder.execute(f"PRAGMA locking_mode = {mode}")
    holder.execute("BEGIN IMMEDIATE")
    driver = new_driver()
    begin = time.monotonic()
    for number in range(40):
        driver.run(number)
    tries = 1 + (time.monotonic() - begin) / 0.5
    assert sum(took > 0.03 for took in driver.took) <= 2 * tries + 2  # and a busy machine
    holder.rollback()
    holder.close()
    all_in(host, driver.turn)
    assert counted(host) == (41, 41, 41)


def test_waits_of_one_hook_share_one_budget(
    home: object, new_driver: NewDriver, child: Callable[..., subprocess.Popen[str]]
) -> None:
    """A turn that meets the lock in several places waits for it once, not once each."""
    driver = new_driver()
    driver.run("first")
    driver.pre("open")
    host = SimHost(home)  # type: ignore[arg-type]
    host.age(1000)
    holder = hold(child, host, "IMMEDIATE", 1.5)
    begin = time.monotonic()
    driver.ask("turn", session="s0", turn="s0:t0:00000002")
    assert time.monotonic() - begin < 0.4
    assert holder.poll() is None


def test_ghost_of_a_locked_moment_is_told_later(
    home: object, new_driver: NewDriver, child: Callable[..., subprocess.Popen[str]]
) -> None:
    """A notice that could not be claimed under the lock is not used up: the next turn gives it."""
    driver = new_driver()
    driver.pre("open")
    host = SimHost(home)  # type: ignore[arg-type]
    host.age(1000)
    holder = hold(child, host, "IMMEDIATE", 1)
    assert driver.ask("turn", session="s0", turn="s0:t0:00000002") is None
    holder.wait()
    time.sleep(0.6)
    assert "write_file" in driver.ask("turn", session="s0", turn="s0:t0:00000003")


def test_many_threads_under_a_lock(host: SimHost, child: Callable[..., subprocess.Popen[str]]) -> None:
    """Eight agents of one process that meet the lock together do not queue up their waits."""
    import threading

    host.run("write_file", {"path": "/srv/first"}, call="first")
    holder = hold(child, host, "IMMEDIATE", 2)
    took: list[float] = []

    def agent(name: int) -> None:
        for number in range(5):
            begin = time.monotonic()
            host.pre("write_file", {"path": f"/srv/{name}-{number}"}, call=f"{name}-{number}", session=f"s{name}")
            took.append(time.monotonic() - begin)

    threads = [threading.Thread(target=agent, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holder.poll() is None
    assert len(took) == 40 and max(took) < MOST_S
    holder.wait()
    all_in(host, lambda: host.turn(session="nobody"))
    assert counted(host) == (41, 41, 1)


def test_reader_of_a_long_transaction_stops_no_writer(host: SimHost) -> None:
    """A program that keeps a read transaction open, and with it the log growing, delays nothing."""
    host.run("write_file", {"path": "/srv/first"}, call="first")
    reader = sqlite3.connect(host.ledger, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM ledger").fetchone() == (1,)
    for number in range(300):
        host.run("write_file", {"path": f"/srv/{number}", "content": "x" * 3000}, call=f"c{number}")
    assert reader.execute("SELECT count(*) FROM ledger").fetchone() == (1,)
    reader.close()
    assert counted(host) == (301, 301, 301)
    assert host.sql("SELECT count(*) FROM ledger WHERE flags LIKE '%spooled%'") == [(0,)]
