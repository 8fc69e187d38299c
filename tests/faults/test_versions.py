"""A ledger of a later version, beside this one."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from tests.cli.commands import ledger
from tests.faults.conftest import MOST_S, NewDriver, all_in, counted, spool_files
from tests.simhost import SimHost


def advance(host: SimHost, min_writer: int) -> None:
    """What a later version does to the file when it migrates: it adds a column, and says who may still write."""
    connection = sqlite3.connect(host.ledger)
    with connection:
        connection.execute("ALTER TABLE ledger ADD COLUMN later TEXT NOT NULL DEFAULT 'x'")
        connection.execute("PRAGMA user_version = 9")
        connection.execute("UPDATE meta SET value = ? WHERE key = 'min_writer'", (str(min_writer),))
    connection.close()


def test_later_version_that_lets_us_write(home: Path, new_driver: NewDriver) -> None:
    """The file was migrated while an older plugin runs, and before another one starts: both go on writing to it."""
    running, host = new_driver(), SimHost(home)
    running.run("first")
    advance(host, 1)
    running.run("second")
    started = new_driver()
    started.run("third")
    assert counted(host) == (3, 3, 3)
    assert host.sql("SELECT DISTINCT later FROM ledger") == [("x",)]


def test_later_version_that_does_not(home: Path, new_driver: NewDriver) -> None:
    """A process that starts on it changes nothing in it, records to the spool, says so once, and its lines come in when
    it is this version's again."""
    first, host = new_driver(), SimHost(home)
    first.run("first")
    first.stop()
    advance(host, 9)
    driver = new_driver()
    for number in range(10):
        driver.run(number)
        time.sleep(0.06)
    driver.turn()
    assert driver.slowest < MOST_S
    assert len(spool_files(host)) == 1
    assert host.sql("SELECT count(*) FROM ledger") == [(1,)]
    status = ledger(home, "status")
    assert status.returncode in (0, 1) and "Traceback" not in status.stderr
    assert host.sql("SELECT count(*) FROM ledger") == [(1,)]
    said = driver.end()
    assert said.count("newer") == 1 or said.count("schema 9") == 1
    connection = sqlite3.connect(host.ledger)
    with connection:
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'min_writer'")
    connection.close()
    again = new_driver()
    again.ask("start")
    all_in(host, again.turn)
    assert counted(host) == (11, 11, 11)


def test_running_process_notices_that_it_may_not_write_any_more(home: Path, new_driver: NewDriver) -> None:
    """A later version migrates the file so that this one must not write, while this one holds it open: from then on its
    records go to the spool."""
    driver, host = new_driver(), SimHost(home)
    driver.run("first")
    advance(host, 9)
    time.sleep(0.05)
    for number in range(5):
        driver.run(number)
    assert host.sql("SELECT count(*) FROM ledger") == [(1,)]
    assert len(spool_files(host)) == 1
