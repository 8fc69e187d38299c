"""kill -9 at any point of pre, post, spool and replay: what returned is there, once.

Sixty kills in a usual run; LEDGER_KILLS=500 makes as many as that in all.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.faults.conftest import NewDriver, all_in, counted, spool_files
from tests.simhost import PLUGIN_FOLDER, SimHost

KILLS = int(os.environ.get("LEDGER_KILLS", "60"))
CRASHED = 9  # the wait status of a process that SIGKILL ended


@dataclass
class Server:
    """The process that forks, and what its children acknowledged."""

    home: Path
    environment: dict[str, str]
    announced: set[str] = field(default_factory=set)
    settled: set[str] = field(default_factory=set)
    killed: int = 0
    number: int = 0

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.killed", str(self.home)],
            cwd=PLUGIN_FOLDER, env={**os.environ, **self.environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def once(self, after: int = 0, half: int = 0, seconds: float = 0, nap: float = 0) -> None:
        """One child, from its start to its end."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.number += 1
        self.process.stdin.write(f"{self.number} {after} {half} {seconds} {nap}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            word, number, value = line.split()
            if word == "end":
                assert value in ("0", str(CRASHED)), f"child {number} ended with {value}"
                self.killed += value == str(CRASHED)
                return
            (self.announced if word == "pre" else self.settled).add(f"k{number}-{value}")
        raise AssertionError("the server ended")

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    made: list[Server] = []
    yield made
    for one in made:
        one.stop()


def proven(server: Server, host: SimHost) -> None:
    """No acknowledged call is missing or unsettled, none is there twice, and the ledger is whole."""
    rows, calls, _ = counted(host)
    assert rows == calls
    statuses = dict(host.sql("SELECT tool_call_id, status FROM ledger"))
    assert sorted(server.announced - set(statuses)) == []
    assert sorted(call for call in server.settled if statuses[call] != "CONFIRMED") == []
    # A killed child left at most the one call whose pre had not returned.
    assert len(set(statuses) - server.announced) <= server.killed


@pytest.mark.parametrize("synchronous", ["normal", "full"])
@pytest.mark.parametrize("how", ["moment", "file call"])
def test_nothing_acknowledged_is_lost_or_doubled(
    home: Path, new_driver: NewDriver, servers: list[Server], request: pytest.FixtureRequest, how: str, synchronous: str
) -> None:
    """A process is killed at a random moment, or at a random change of a file, half of the time half way into a write;
    each second one meets a locked ledger first, so that it spools and replays."""
    environment = {"AGENT_LEDGER_SYNCHRONOUS": synchronous}
    if how == "file call":
        environment["LD_PRELOAD"] = str(request.getfixturevalue("failing_disk"))
    server, host = Server(home, environment), SimHost(home)
    servers.append(server)
    server.once()
    chance = random.Random(f"{how} {synchronous}")  # noqa: S311 - no secret
    for turn in range(max(2, KILLS // 4)):
        locked = turn % 2 == 1
        nap = 0.55 if turn % 4 == 3 else 0.0
        holder = sqlite3.connect(host.ledger, isolation_level=None, check_same_thread=False)
        if locked:
            holder.execute("BEGIN IMMEDIATE")
        release = threading.Timer(chance.uniform(0.02, 0.3), lambda one=holder: one.rollback())
        release.start()
        if how == "moment":
            server.once(seconds=chance.uniform(0.001, 0.1) + chance.choice([0, nap]), nap=nap)
        else:
            server.once(after=chance.randint(1, 60 if locked else 300), half=turn // 2 % 2, nap=nap)
        release.join()
        holder.close()
    assert server.killed >= KILLS // 4 * 0.5
    if KILLS >= 100:  # a few kills may all miss the spool
        assert host.sql("SELECT count(*) > 0 FROM ledger WHERE flags LIKE '%spooled%'") == [(1,)]
    driver = new_driver()
    driver.turn()
    all_in(host, driver.turn)
    proven(server, host)


def test_killed_at_each_file_change_of_a_first_call(tmp_path: Path, new_driver: NewDriver, servers: list[Server],
                                                     failing_disk: Path) -> None:  # fmt: skip
    """The process that makes the ledger dies at its first, second, ... change of a file: the next process has a whole
    ledger, with what was acknowledged in it."""
    most = 90
    for after in range(1, most, 1 if KILLS >= 500 else 6):
        home = tmp_path / f"home-{after}"
        home.mkdir()
        server, host = Server(home, {"LD_PRELOAD": str(failing_disk)}), SimHost(home)
        servers.append(server)
        server.once(after=after, half=after // 6 % 2)
        server.once()
        driver = new_driver(at=home)
        driver.turn()
        all_in(host, driver.turn)
        proven(server, host)
        driver.stop()
        server.stop()


def test_killed_at_each_file_change_of_a_replay(
    home: Path, new_driver: NewDriver, servers: list[Server], failing_disk: Path
) -> None:
    """A process that replays what a dead one left dies at the first, second, ... change of a file, the removal of the spool
    file among them: its lines count once, whoever goes on."""
    server, host = Server(home, {"LD_PRELOAD": str(failing_disk)}), SimHost(home)
    servers.append(server)
    server.once()
    for after in range(1, 61, 1 if KILLS >= 500 else 3):
        holder = sqlite3.connect(host.ledger, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        server.once(after=40)  # a time would do on a quick machine only: the first write waits for the lock
        holder.rollback()
        holder.close()
        assert spool_files(host)
        server.once(after=after)
    driver = new_driver()
    driver.turn()
    all_in(host, driver.turn)
    assert host.sql("SELECT count(*) > 0 FROM ledger WHERE flags LIKE '%spooled%'") == [(1,)]
    proven(server, host)


@pytest.mark.parametrize(("after", "made"), [(1, "lock"), (2, "probe.key"), (4, "probe.key"), (20, "ledger.db")])
def test_making_that_was_killed_leaves_no_files(
    home: Path, servers: list[Server], failing_disk: Path, after: int, made: str
) -> None:
    """What a process that died while making a lock file, the key or the ledger had begun is cleared away by those that
    come after."""
    server, host = Server(home, {"LD_PRELOAD": str(failing_disk)}), SimHost(home)
    servers.append(server)
    server.once(after=after)
    begun = [path.name for path in host.ledger.parent.rglob("*.new*")]
    assert begun and all(made in name for name in begun)
    for path in host.ledger.parent.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    server.once()
    server.once()
    left = [path.name for path in host.ledger.parent.rglob("*") if not path.name.endswith(".lock")]
    assert sorted(left) == ["ledger.db", "ledger.db-shm", "ledger.db-wal", "owners", "probe.key"]
