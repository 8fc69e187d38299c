"""This version and a later one, both running, on one ledger."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_ledger.store import schema
from tests.cli.commands import as_json, ledger
from tests.faults import later
from tests.faults.conftest import MOST_S, NewDriver, all_in, counted, spool_files
from tests.faults.driver import Driver
from tests.simhost import PLUGIN_FOLDER, SimHost
from tests.store import old_files

Child = Callable[..., subprocess.Popen[str]]
BOTH = pytest.mark.parametrize("command", ["status", "tail", "doctor", "ghosts"])


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A later version that lets this one write."""
    return later.made(tmp_path_factory.mktemp("later") / "plugin")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A later version that does not."""
    return later.made(tmp_path_factory.mktemp("alone") / "plugin", min_writer=later.VERSION)


def version(host: SimHost) -> int:
    return int(host.sql("PRAGMA user_version")[0][0])


def healthy(home: Path, plugin: Path, rows: int) -> None:
    """``status``, ``tail`` and ``doctor`` of ``plugin`` read the whole ledger, and find its schema theirs or newer."""
    status = as_json(home, "status", plugin=plugin)
    assert (status["calls"]["total"], status["schema"], status["health"]["state"]) == (rows, later.VERSION, "ok")
    assert len(as_json(home, "tail", "-n", "1000", plugin=plugin)) == min(rows, 1000)
    states = {check["name"]: check["state"] for check in as_json(home, "doctor", plugin=plugin)["checks"]}
    assert states["schema"] == ("warn" if plugin == PLUGIN_FOLDER else "ok")
    assert (states["ledger"], states["integrity"], states["spool"], states["round trip"]) == ("ok",) * 4


def test_both_write_while_the_later_one_migrates(home: Path, new_driver: NewDriver, beside: Path) -> None:
    """The older version writes, without a pause, while the later one starts and migrates, and both go on: every call is
    there once and confirmed, no hook is slow, and the commands of both work."""
    old, host = new_driver(), SimHost(home)
    old.run("first")
    made: dict[str, int] = {}
    enough = threading.Event()

    def write(driver: Driver, name: str) -> None:
        while not enough.is_set() or made.get(name, 0) < 100:
            driver.run(f"{name}-{made.get(name, 0)}")
            made[name] = made.get(name, 0) + 1
            if made[name] % 20 == 0:
                driver.turn()

    def run(driver: Driver, name: str) -> threading.Thread:
        thread = threading.Thread(target=write, args=(driver, name))
        thread.start()
        return thread

    threads = [run(old, "old")]
    try:
        assert version(host) == schema.SCHEMA_VERSION
        new = new_driver(plugin=beside)
        threads.append(run(new, "new"))
        until = time.monotonic() + 20
        while version(host) != later.VERSION and time.monotonic() < until:
            time.sleep(0.01)
        before = made["old"]
        while made["old"] < before + 100 and threads[0].is_alive() and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        enough.set()
        for thread in threads:
            thread.join(60)
    assert version(host) == later.VERSION
    assert made["old"] >= before + 100 and made["new"] >= 100
    assert max(old.slowest, new.slowest) < MOST_S
    started = new_driver()
    started.run("last")
    for driver in (old, new, started):
        all_in(host, driver.turn)
    total = made["old"] + made["new"] + 2
    assert counted(host) == (total,) * 3
    assert host.sql("SELECT DISTINCT later FROM ledger") == [("x",)]
    for plugin in (PLUGIN_FOLDER, beside):
        healthy(home, plugin, total)
    assert [said for driver in (old, new, started) if "schema" in (said := driver.end())] == []


def test_both_start_on_an_empty_home(home: Path, new_driver: NewDriver, beside: Path) -> None:
    """Whichever makes the file, it ends as the later version's, with the calls of both."""
    drivers, host = [new_driver(plugin=plugin) for plugin in (PLUGIN_FOLDER, beside) * 3], SimHost(home)
    threads = [threading.Thread(target=driver.run, args=(number,)) for number, driver in enumerate(drivers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    for driver in drivers:
        all_in(host, driver.turn)
    assert version(host) == later.VERSION
    assert counted(host) == (6, 6, 6)


@pytest.mark.parametrize("dies", ["old", "new"])
def test_ghost_of_one_is_told_by_the_other(home: Path, new_driver: NewDriver, beside: Path, dies: str) -> None:
    """A call that died with the one version is told once by the other, and not again by the first."""
    plugins = (PLUGIN_FOLDER, beside) if dies == "old" else (beside, PLUGIN_FOLDER)
    first, second = (new_driver(plugin=plugin) for plugin in plugins)
    first.run("whole")
    second.run("beside")
    first.ask("pre", "write_file", {"path": "/srv/lost"}, call="lost", session="s7")
    first.stop()
    told = second.ask("turn", session="s7", turn="s7:t0:00000002")
    assert told is not None and "/srv/lost" in told
    third = new_driver(plugin=plugins[0])
    assert third.ask("turn", session="s7", turn="s7:t0:00000003", history=[
        {"role": "user", "content": told}, {"role": "assistant", "content": "seen"},
    ]) is None  # fmt: skip
    assert SimHost(home).sql("SELECT status FROM ledger WHERE tool_call_id = 'lost'") == [("GHOST_REPORTED",)]


def test_spool_of_the_older_is_put_in_by_the_later_one(home: Path, new_driver: NewDriver, alone: Path) -> None:
    """A running version that may no longer write says so once and records to its spool; the later one puts that in while
    both go on, and after the older one's end nothing is left, lost or doubled."""
    old, host = new_driver(), SimHost(home)
    old.run("first")
    new = new_driver(plugin=alone)
    new.run("new")
    assert version(host) == later.VERSION
    time.sleep(0.05)
    for number in range(30):
        old.run(number)
        new.run(f"new-{number}")
        if number % 10 == 0:
            new.turn()
            time.sleep(0.1)
    assert len(spool_files(host)) == 1
    assert max(old.slowest, new.slowest) < MOST_S
    status = as_json(home, "status")
    assert status["health"]["state"] == "degraded" and f"schema {later.VERSION}" in status["spool"]["not_replayed"]
    said = old.end()
    assert said.count(f"schema {later.VERSION}") == 1
    all_in(host, new.turn)
    assert counted(host) == (62, 62, 62)
    healthy(home, alone, 62)


@BOTH
def test_commands_of_the_version_that_may_not_write(home: Path, new_driver: NewDriver, alone: Path, command: str) -> None:
    """Those that read still read; doctor says which version is needed."""
    new = new_driver(plugin=alone)
    new.run("new")
    done = ledger(home, command)
    assert "Traceback" not in done.stderr and (done.returncode == 0 or command == "doctor")
    if command == "doctor":
        assert f"{later.VERSION}, newer than this version's {schema.SCHEMA_VERSION}" in " ".join(done.stdout.split())


@pytest.mark.parametrize("arguments", [["settle", "1", "--applied", "--note", "seen"], ["prune", "--keep", "0"]])
def test_changing_commands_of_the_version_that_may_not_write(
    home: Path, new_driver: NewDriver, alone: Path, arguments: list[str]
) -> None:
    """They change nothing and say why."""
    new, host = new_driver(plugin=alone), SimHost(home)
    new.run("new")
    new.end()
    before = host.sql("SELECT * FROM ledger")
    done = ledger(home, *arguments)
    assert done.returncode != 0 and "Traceback" not in done.stderr and f"schema {later.VERSION}" in done.stderr
    assert host.sql("SELECT * FROM ledger") == before


RELOADED = """
import sys
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
host.run("write_file", {"path": "/srv/a"}, call="a")
host.pre("write_file", {"path": "/srv/b"}, call="b")
host.mount(folder=Path(sys.argv[2]))
host.post("write_file", {"path": "/srv/b"}, call="b")
host.run("write_file", {"path": "/srv/c"}, call="c")
print(host.raised)
"""


def test_reload_as_the_later_version(home: Path, child: Child, beside: Path) -> None:
    """A host that updates the plugin and loads it again in the same process: the later one migrates, and takes over the
    call that is running."""
    process = child(RELOADED, home, beside)
    out, errors = process.communicate(timeout=60)
    assert (out.strip(), process.returncode) == ("[]", 0), errors
    host = SimHost(home)
    assert version(host) == later.VERSION
    assert counted(host) == (3, 3, 3) and spool_files(host) == []


@pytest.mark.parametrize("file", old_files.SCHEMAS, ids=lambda file: file.stem)
def test_released_ledger_under_the_later_version(home: Path, file: Path, new_driver: NewDriver, beside: Path) -> None:
    """A ledger of every released version comes to the later one through its first hook, with every row as it was."""
    host = SimHost(home)
    old_files.ledger_of(file, host.ledger)
    before = old_files.rows_of(host.ledger)
    new = new_driver(plugin=beside)
    new.run("after")
    assert version(host) == later.VERSION
    after = old_files.rows_of(host.ledger, before)
    assert [table for table, rows in before.items() if [row for row in rows if row not in after[table]]] == []
    assert host.sql("SELECT id, status FROM ledger WHERE tool_call_id = 'cafter'") == [(10, "CONFIRMED")]
