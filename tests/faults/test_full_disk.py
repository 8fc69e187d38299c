"""Disk full, file too large, folder or file read-only: calls run, what fits is kept, and it heals by itself."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import as_json
from tests.faults.conftest import MOST_S, NOBODY, NewDriver, all_in, counted
from tests.faults.driver import Driver
from tests.simhost import PLUGIN_FOLDER, SimHost


def fill(folder: Path) -> Path:
    """Take all the space that is left."""
    ballast = folder / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        for size in (65536, 4096, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return ballast


def test_disk_full_and_space_returning(small_disk: Path, new_driver: NewDriver) -> None:
    """On a full disk every hook returns in time; once there is space again, calls are recorded and nothing of what was
    recorded before is gone. What was lost meanwhile is counted where status shows it."""
    driver = new_driver(at=small_disk)
    host = SimHost(small_disk)
    for number in range(5):
        driver.run(f"before-{number}")
    ballast = fill(small_disk)
    for number in range(200):  # the log's reserve is used up at some point, then the spool's
        driver.run(f"full-{number}")
    driver.turn()
    assert driver.slowest < MOST_S
    ballast.unlink()
    all_in(host, driver.turn)
    for _ in range(100):
        driver.turn()
    driver.run("after")
    all_in(host, driver.turn)
    rows, calls, confirmed = counted(host)
    assert rows == calls
    ids = {row[0] for row in host.sql("SELECT tool_call_id FROM ledger WHERE status = 'CONFIRMED'")}
    assert {f"cbefore-{number}" for number in range(5)} | {"cafter"} <= ids
    health = as_json(small_disk, "status")["health"]
    assert health["state"] == "ok"
    missing = 206 * 2 - rows - int(confirmed)
    assert health["lost_writes"] >= missing > 0


def test_disk_full_from_the_start(small_disk: Path, new_driver: NewDriver) -> None:
    """Where not even the data folder can be made, calls run; with space again they are recorded."""
    ballast = fill(small_disk)
    driver = new_driver(at=small_disk)
    for number in range(5):
        driver.run(f"full-{number}")
    assert driver.slowest < MOST_S
    ballast.unlink()
    for number in range(40):
        driver.run(f"after-{number}")
        driver.turn()
    all_in(SimHost(small_disk), driver.turn)
    assert SimHost(small_disk).sql("SELECT status FROM ledger WHERE tool_call_id = 'cafter-39'") == [("CONFIRMED",)]


LIMITED = """
import resource, sys
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
host.run("write_file", {"path": "/srv/first"}, call="first")
size = Path(host.ledger.parent, "ledger.db-wal").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
for number in range(100):
    host.run("write_file", {"path": f"/srv/{number}"}, call=f"c{number}")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
import time
for _ in range(100):
    host.turn(session="nobody")
    time.sleep(0.02)
host.run("write_file", {"path": "/srv/last"}, call="last")
assert host.raised == [], host.raised
from agent_ledger import process
print([state["lost"] for state in process.registry().spools.values()])
"""


def test_file_size_limit(home: Path) -> None:
    """Where no file may grow (RLIMIT_FSIZE) the process is not killed by the signal, calls run, and what was taken before
    and after is there."""
    if resource.getrlimit(resource.RLIMIT_FSIZE)[1] != resource.RLIM_INFINITY:
        pytest.skip("this machine has a hard limit for file sizes already")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, home], cwd=PLUGIN_FOLDER, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    lost = sum(json.loads(done.stdout))
    host = SimHost(home)
    rows, calls, confirmed = counted(host)
    assert rows == calls
    assert {"first", "last"} <= {row[0] for row in host.sql("SELECT tool_call_id FROM ledger")}
    assert 204 - rows - confirmed <= lost


def heals(driver: Driver, host: SimHost, before: int, meanwhile: int) -> None:
    """After the fault: everything comes in, and so do the calls from then on."""
    all_in(host, driver.turn)
    driver.run("after")
    all_in(host, driver.turn)
    assert driver.slowest < MOST_S
    assert counted(host) == (before + meanwhile + 1,) * 3


def test_folder_turns_read_only(of_nobody: SimHost, new_driver: NewDriver) -> None:
    """A data folder in which nothing can be made any more: files that are there go on being written."""
    driver = new_driver(NOBODY, at=of_nobody.home)
    driver.run("first")
    folder = of_nobody.ledger.parent
    folder.chmod(0o500)
    for number in range(5):
        driver.run(number)
    folder.chmod(0o700)
    heals(driver, of_nobody, 1, 5)


def test_file_turns_read_only(of_nobody: SimHost, new_driver: NewDriver) -> None:
    """A ledger that may only be read: a process that starts then spools, and its rows come in afterwards."""
    first = new_driver(NOBODY, at=of_nobody.home)
    first.run("first")
    first.stop()
    files = [of_nobody.ledger, *(of_nobody.ledger.with_name(f"ledger.db{end}") for end in ("-wal", "-shm"))]
    for file in files:
        os.chown(file, 0, 0)
        file.chmod(0o444)
    driver = new_driver(NOBODY, at=of_nobody.home)
    for number in range(5):
        driver.run(number)
    for file in files:
        os.chown(file, NOBODY, NOBODY)
        file.chmod(0o600)
    heals(driver, of_nobody, 1, 5)


def test_index_of_a_foreign_owner(of_nobody: SimHost, new_driver: NewDriver) -> None:
    """Root looked at the ledger with sqlite3 and left an index that its owner may not open: calls run, rows are spooled,
    and come in once the index is gone."""
    first = new_driver(NOBODY, at=of_nobody.home)
    first.run("first")
    first.stop()
    index = of_nobody.ledger.with_name("ledger.db-shm")
    os.chown(index, 0, 0)
    index.chmod(0o600)
    driver = new_driver(NOBODY, at=of_nobody.home)
    for number in range(5):
        driver.run(number)
    index.unlink()
    heals(driver, of_nobody, 1, 5)


def test_disk_is_mounted_read_only(home: Path, new_driver: NewDriver, read_only: Callable[[Path], None]) -> None:
    """A disk that the system turned read-only: even root can write nothing, calls run, and status says what is wrong."""
    first = new_driver()
    first.run("first")
    first.stop()
    read_only(home)
    driver = new_driver()
    for number in range(20):
        driver.run(number)
    driver.turn()
    assert driver.slowest < MOST_S
    shown = as_json(home, "status")
    assert shown["calls"]["total"] == 1
    assert "Traceback" not in driver.end()
