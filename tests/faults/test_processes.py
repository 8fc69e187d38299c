"""Forks, copies, reloads, deleted folders, the end of the interpreter, many processes."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import MOST_S, NewDriver, all_in, counted
from tests.simhost import PLUGIN_FOLDER, SimHost
from tests.store.rows import held

Child = Callable[..., "subprocess.Popen[str]"]


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=PLUGIN_FOLDER,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_data_folder_is_deleted_while_running(home: Path, new_driver: NewDriver) -> None:
    """Whoever deletes the whole folder under a running process gets a new ledger with all calls from then on."""
    driver, host = new_driver(), SimHost(home)
    driver.run("old")
    driver.pre("across")
    shutil.rmtree(host.ledger.parent)
    time.sleep(0.05)
    driver.post("across")
    for number in range(5):
        driver.run(number)
    all_in(host, driver.turn)
    assert driver.slowest < MOST_S
    assert counted(host) == (6, 6, 6)
    assert [row[0] for row in host.sql("SELECT tool_call_id FROM ledger WHERE flags = 'orphan'")] == ["cacross"]


@pytest.mark.parametrize("end", ["-wal", "-shm", ""])
def test_one_file_is_deleted_while_running(home: Path, new_driver: NewDriver, end: str) -> None:
    """Any one of the three files may go: later calls are recorded where a fresh process finds them."""
    driver, host = new_driver(), SimHost(home)
    driver.run("old")
    host.ledger.with_name(f"ledger.db{end}").unlink()
    time.sleep(0.05)
    for number in range(5):
        driver.run(number)
    driver.stop()
    other = new_driver()
    other.turn()
    all_in(host, other.turn)
    found = {row[0] for row in host.sql("SELECT tool_call_id FROM ledger WHERE status = 'CONFIRMED'")}
    assert {f"c{number}" for number in range(5)} <= found
    assert host.sql("PRAGMA integrity_check") == [("ok",)]


FORK = """
import os, sys, threading, time
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
host.run("write_file", {"path": "/srv/parent"}, call="before")
host.pre("write_file", {"path": "/srv/across"}, call="across")
busy = True
number_of_thread = [0]
def hooks():
    while busy:
        number = number_of_thread[0]
        host.run("write_file", {"path": f"/srv/t{number}"}, call=f"t{number}")
        number_of_thread[0] += 1
thread = threading.Thread(target=hooks)
thread.start()
pids = []
for child in range(4):
    time.sleep(0.02)
    pid = os.fork()
    if pid == 0:
        for number in range(10):
            host.run("write_file", {"path": f"/srv/{child}-{number}"}, call=f"f{child}-{number}")
        os._exit(len(host.raised))
    pids.append(pid)
codes = [os.waitpid(pid, 0)[1] for pid in pids]
busy = False
thread.join()
host.post("write_file", {"path": "/srv/across"}, call="across")
print(codes, len(host.raised), number_of_thread[0])
"""


def test_forks_while_a_hook_runs(home: Path, new_driver: NewDriver) -> None:
    """Children forked in the middle of a hook of another thread record their own calls, and end; the parent goes on with
    its own connection. Nobody waits for a lock that another process holds in its memory."""
    done = python(FORK, home)
    assert done.stdout.startswith("[0, 0, 0, 0] 0 "), done.stderr
    host, driver = SimHost(home), new_driver()
    driver.ask("start")
    all_in(host, driver.turn)
    threads = int(done.stdout.split()[-1])
    assert counted(host) == (42 + threads,) * 3
    owners = host.sql("SELECT count(DISTINCT owner) FROM ledger WHERE tool_call_id LIKE 'f%'")
    assert owners == [(4,)]


def test_fork_server_child_does_not_keep_its_parent_alive(home: Path) -> None:
    """The parent's call is a ghost as soon as the parent died, though its child lives on."""
    code = """
import os, sys, time
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
host.pre("write_file", {"path": "/srv/lost"}, call="lost")
if os.fork() == 0:
    os.close(1); os.close(2)
    host.run("write_file", {"path": "/srv/child"}, call="child")
    time.sleep(5)
os._exit(0)
"""
    python(code, home)
    time.sleep(0.2)
    host = SimHost(home)
    told = python(
        "import sys\nfrom pathlib import Path\nfrom tests.simhost import in_process\n"
        "print(in_process(Path(sys.argv[1])).turn())", home
    )  # fmt: skip
    assert "write_file" in told.stdout
    assert host.sql("SELECT status FROM ledger WHERE tool_call_id = 'lost'") == [("GHOST_REPORTED",)]


def test_two_module_copies_and_threads(new_host: Callable[..., SimHost]) -> None:
    """The plugin is loaded twice in one process, from the same folder under two names, and both are asked by eight
    threads: one row a call."""
    host = new_host("E")
    host.mount("hermes_plugins.agent_ledger_again")
    threads = [
        threading.Thread(target=lambda name=name: [
            host.run("write_file", {"path": f"/srv/{name}-{number}"}, call=f"{name}-{number}", session=f"s{name}")
            for number in range(10)
        ])
        for name in range(8)
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    all_in(host, lambda: host.turn(session="nobody"))
    assert counted(host) == (80, 80, 80)


def test_reload_while_the_spool_waits(new_host: Callable[..., SimHost]) -> None:
    """A reload in the middle of a lock: what the old copy spooled and what the new one does come in once, in order."""
    host = new_host("E")
    host.run("write_file", {"path": "/srv/first"}, call="first")
    with held(host.ledger):
        host.run("write_file", {"path": "/srv/a"}, call="a")
        host.pre("write_file", {"path": "/srv/b"}, call="b")
        host.reload()
        host.post("write_file", {"path": "/srv/b"}, call="b")
        host.run("write_file", {"path": "/srv/c"}, call="c")
    all_in(host, lambda: host.turn(session="nobody"))
    host.run("write_file", {"path": "/srv/d"}, call="d")
    all_in(host, lambda: host.turn(session="nobody"))
    assert counted(host) == (5, 5, 5)
    assert host.sql("SELECT count(*) FROM ledger WHERE flags LIKE '%orphan%'") == [(0,)]


SHUTDOWN = """
import sys, threading
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
host.run("write_file", {"path": "/srv/first"}, call="first")
def hooks(name):
    number = 0
    while True:
        host.pre("write_file", {"path": f"/srv/{name}-{number}"}, call=f"{name}-{number}")
        print(f"{name}-{number}", flush=True)
        number += 1
for name in "ab":
    threading.Thread(target=hooks, args=(name,), daemon=True).start()
import time
time.sleep(float(sys.argv[2]))
if sys.argv[3] == "raise":
    raise SystemExit(0)
"""


@pytest.mark.parametrize("how", ["return", "raise"])
@pytest.mark.parametrize("seconds", [0.05, 0.2])
def test_interpreter_ends_with_hooks_running(home: Path, seconds: float, how: str) -> None:
    """The process ends in order while daemon threads are inside hooks: it ends at once and without a traceback of ours,
    and what returned is there."""
    begin = time.monotonic()
    done = python(SHUTDOWN, home, seconds, how)
    assert done.returncode == 0
    assert time.monotonic() - begin < 10
    assert "agent_ledger" not in done.stderr and "agent-ledger" not in done.stderr
    acknowledged = {line for line in done.stdout.split("\n")[:-1] if "-" in line} - {""}
    host = SimHost(home)
    rows = {row[0] for row in host.sql("SELECT tool_call_id FROM ledger")}
    assert {line for line in acknowledged if line.count("-") == 1} <= rows | {""}
    assert counted(host)[0] == len(rows)


LOCKED_END = """
import sys
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
for number in range(5):
    host.run("write_file", {"path": f"/srv/{number}"}, call=f"c{number}")
"""


def test_process_that_ends_while_the_ledger_is_locked(host: SimHost, child: Child) -> None:
    """Its end is not held up much by what waits in its spool, and the next process takes that in."""
    host.run("write_file", {"path": "/srv/first"}, call="first")
    with held(host.ledger):
        begin = time.monotonic()
        done = python(LOCKED_END, host.home)
        assert done.returncode == 0 and time.monotonic() - begin < 5
    host.start(session="another")
    all_in(host, lambda: host.turn(session="nobody"))
    assert counted(host) == (6, 6, 6)


def test_signal_in_the_main_thread(home: Path, child: Child) -> None:
    """Ctrl-C that arrives inside a hook (older hosts run hooks on the main thread) interrupts the host, not the ledger: the
    next hook works."""
    code = """
import os, signal, sys, threading, time
from pathlib import Path
from tests.simhost import FAMILIES, in_process
host = in_process(Path(sys.argv[1]), "B")
def interrupt():
    for _ in range(150):
        time.sleep(0.003)
        os.kill(os.getpid(), signal.SIGINT)
seen = number = 0
thread = threading.Thread(target=interrupt)
thread.start()
while thread.is_alive():
    try:
        host.run("write_file", {"path": f"/srv/{number}"}, call=f"c{number}")
        number += 1
    except KeyboardInterrupt:
        seen += 1
        number += 1
signal.signal(signal.SIGINT, signal.SIG_IGN)
host.raised.clear()
slow = 0.0
for after in range(20):
    begin = time.monotonic()
    host.run("write_file", {"path": f"/srv/after-{after}"}, call=f"after-{after}")
    slow = max(slow, time.monotonic() - begin)
time.sleep(0.6)
for _ in range(20):
    host.turn(session="nobody")
print(slow, seen, len(host.raised))
"""
    done = python(code, home)
    assert done.returncode == 0, done.stderr
    slow, _, raised = done.stdout.split()
    assert float(slow) < MOST_S and raised == "0"
    host = SimHost(home)
    assert host.sql("SELECT count(*) FROM ledger WHERE tool_call_id LIKE 'after-%' AND status = 'CONFIRMED'") == [(20,)]
    rows, calls, _ = counted(host)
    assert rows == calls


READER = """
import sqlite3, sys, time
from agent_ledger.store.reader import Reader
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    if sys.argv[3] == "ours":
        with Reader(sys.argv[1]) as reader:
            reader.totals()
    else:
        connection = sqlite3.connect(sys.argv[1], timeout=5)
        connection.execute("SELECT count(*), max(ts) FROM ledger").fetchone()
        connection.close()
"""


def test_short_lived_readers_beside_a_long_lived_writer(home: Path, new_driver: NewDriver, child: Child) -> None:
    """Readers that open and close all the time, of our own kind and of everybody's, some killed in the middle: the writer
    loses no row, and the ledger is whole."""
    driver, host = new_driver(), SimHost(home)
    driver.run("first")
    until = time.monotonic() + 2.5
    readers = [child(READER, host.ledger, 3, "ours" if number % 2 else "plain") for number in range(4)]
    made = killed = 0
    while time.monotonic() < until:
        driver.run(made)
        made += 1
        if made % 60 == 0:
            readers.pop(0).send_signal(signal.SIGKILL)
            killed += 1
            readers.append(child(READER, host.ledger, 3, "ours" if killed % 2 else "plain"))
    for reader in readers:
        assert reader.wait(20) == 0, reader.communicate()[1]
    assert killed >= 2 and made > 100
    assert driver.slowest < MOST_S
    all_in(host, driver.turn)
    assert counted(host) == (made + 1,) * 3
