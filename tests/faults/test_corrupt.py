"""Damaged files: a corrupt page, a corrupt log. What can be read is kept, and recording goes on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent_ledger.store import checkpoint
from tests.cli.commands import as_json, ledger
from tests.faults.conftest import MOST_S, NewDriver, all_in, counted
from tests.simhost import SimHost


def recorded(home: Path, new_driver: NewDriver, many: int, copied: bool) -> SimHost:
    """A ledger of a process that was killed; ``copied``: with its log copied back into the file."""
    driver, host = new_driver(), SimHost(home)
    for number in range(many):
        driver.run(f"old-{number}")
    driver.stop()
    if copied:
        checkpoint.checkpoint(str(host.ledger))
        for end in ("-wal", "-shm"):
            host.ledger.with_name(f"ledger.db{end}").unlink(missing_ok=True)
    return host


def spoil(file: Path, at: int, size: int) -> None:
    with open(file, "r+b") as stream:
        stream.seek(at)
        stream.write(b"\xa5" * size)


def page_of(host: SimHost, name: str) -> tuple[int, int]:
    """(offset, size) of the first page of a table or index."""
    connection = sqlite3.connect(host.ledger)
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
    connection.close()
    for end in ("-wal", "-shm"):
        host.ledger.with_name(f"ledger.db{end}").unlink(missing_ok=True)
    return (root - 1) * size, size


@pytest.mark.parametrize("name", ["ledger", "ledger_session", "ledger_open"])
def test_page_that_a_call_needs(home: Path, new_driver: NewDriver, name: str) -> None:
    """A damaged page of the table or of an index that every call changes: the ledger is kept aside as it is, a fresh one
    starts, calls go on being recorded, and status says so."""
    host = recorded(home, new_driver, 200, copied=True)
    spoil(host.ledger, *page_of(host, name))
    before = host.ledger.read_bytes()
    driver = new_driver()
    for number in range(5):
        driver.run(number)
    driver.turn()
    assert driver.slowest < MOST_S
    all_in(host, driver.turn)
    rows, calls, _ = counted(host)
    assert (rows, calls) == (5, 5)
    (aside,) = as_json(home, "status")["health"]["set_aside"]
    assert host.ledger.with_name(aside).read_bytes() == before
    assert "damaged" in ledger(home, "status").stdout


def test_page_in_the_middle_that_no_call_needs(home: Path, new_driver: NewDriver) -> None:
    """A damaged page with old rows stops no call; commands that come to it say what is wrong and do not end in a
    traceback."""
    host = recorded(home, new_driver, 400, copied=True)
    connection = sqlite3.connect(host.ledger)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    spoil(host.ledger, pages // 2 * size, size)
    driver = new_driver()
    for number in range(5):
        driver.run(number)
    all_in(host, driver.turn)
    assert driver.slowest < MOST_S
    assert host.sql(
        "SELECT count(*) FROM ledger WHERE id > (SELECT max(id) - 5 FROM ledger) AND status = 'CONFIRMED'"
    ) == [(5,)]
    for command in (["status"], ["tail", "-n", "1000"], ["export"], ["ghosts"], ["prune", "--keep", "1"]):
        done = ledger(home, *command)
        assert done.returncode in (0, 1) and "Traceback" not in done.stderr


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_corrupt_log_of_a_dead_process(home: Path, new_driver: NewDriver, share: float) -> None:
    """A damaged log reads as its end: what stands before the damage is there, and recording goes on in a whole ledger."""
    host = recorded(home, new_driver, 60, copied=False)
    log = host.ledger.with_name("ledger.db-wal")
    spoil(log, int(log.stat().st_size * share), 300)
    host.ledger.with_name("ledger.db-shm").unlink()
    driver = new_driver()
    for number in range(5):
        driver.run(number)
    all_in(host, driver.turn)
    assert driver.slowest < MOST_S
    rows, calls, _ = counted(host)
    assert rows == calls
    names = [row[0] for row in host.sql("SELECT tool_call_id FROM ledger ORDER BY id")]
    kept = len(names) - 5
    assert names == [f"cold-{number}" for number in range(kept)] + [f"c{number}" for number in range(5)]
    assert kept <= 60 * share + 1


def test_log_is_spoiled_under_a_running_process(home: Path, new_driver: NewDriver) -> None:
    """Somebody overwrites the log while it is in use: calls run, and the next process records into a whole ledger, this one
    or a fresh one."""
    driver, host = new_driver(), SimHost(home)
    for number in range(20):
        driver.run(f"old-{number}")
    log = host.ledger.with_name("ledger.db-wal")
    spoil(log, 32, log.stat().st_size - 32)
    for number in range(10):
        driver.run(number)
        driver.turn()
    driver.stop()
    following = new_driver()
    for number in range(5):
        following.run(f"new-{number}")
    all_in(host, following.turn)
    assert max(driver.slowest, following.slowest) < MOST_S
    rows, calls, _ = counted(host)
    assert rows == calls
    assert host.sql("SELECT count(*) FROM ledger WHERE tool_call_id LIKE 'cnew-%' AND status = 'CONFIRMED'") == [(5,)]


@pytest.mark.parametrize("content", [b"", b"garbage " * 1000, b"SQLite format 3\x00" + b"\x00" * 4080])
def test_file_that_is_no_ledger(home: Path, new_driver: NewDriver, content: bytes) -> None:
    """An empty file, another program's file, a header without a database: calls are recorded in a ledger of that name."""
    host = SimHost(home)
    host.ledger.parent.mkdir(parents=True)
    host.ledger.write_bytes(content)
    driver = new_driver()
    for number in range(3):
        driver.run(number)
    all_in(host, driver.turn)
    assert counted(host) == (3, 3, 3)


def test_truncated_ledger(home: Path, new_driver: NewDriver) -> None:
    """A ledger that lost its second half: calls go on being recorded."""
    host = recorded(home, new_driver, 200, copied=True)
    with open(host.ledger, "r+b") as stream:
        stream.truncate(host.ledger.stat().st_size // 2 // 4096 * 4096)
    driver = new_driver()
    for number in range(5):
        driver.run(number)
    all_in(host, driver.turn)
    rows, calls, _ = counted(host)
    assert rows == calls >= 5
    assert host.sql("SELECT count(*) FROM ledger WHERE tool_call_id GLOB 'c[0-9]' AND status = 'CONFIRMED'") == [(5,)]
