"""Many processes and threads on one ledger."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.children import let_go
from tests.simhost import SimHost
from tests.store.rows import held

ONE = """
import sys
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    host.run("write_file", {"path": f"/srv/{sys.argv[2]}-{number}.txt"}, call=f"{sys.argv[2]}-{number}")
"""


def at_once(child: Callable[..., subprocess.Popen[str]], home: Path, many: int, calls: int) -> None:
    """Start ``many`` processes, let them go at the same moment, wait until all have ended well."""
    processes = [child(ONE, home, number, calls) for number in range(many)]
    let_go(processes)
    assert [process.wait(60) for process in processes] == [0] * many


def all_in(host: SimHost) -> None:
    for _ in range(200):
        if not any(Path(host.ledger.parent, "spool").glob("*.jsonl")):
            return
        host.turn(session="nobody")


@pytest.mark.parametrize("garbage", [False, True], ids=["fresh", "corrupt"])
def test_twenty_processes_begin_at_the_same_instant(
    new_host: Callable[..., SimHost], home: Path, child: Callable[..., subprocess.Popen[str]], garbage: bool
) -> None:
    """Each call is one confirmed row, whoever made the file, also where the file they find is no database."""
    if garbage:
        folder = home / "plugin-data" / "agent-ledger"
        folder.mkdir(parents=True)
        (folder / "ledger.db").write_bytes(b"garbage " * 1000)
    at_once(child, home, 20, 1)
    host = new_host("E")
    all_in(host)
    assert host.sql("SELECT count(*), sum(status = 'CONFIRMED') FROM ledger") == [(20, 20)]


def test_four_writers_lose_nothing(
    new_host: Callable[..., SimHost], home: Path, child: Callable[..., subprocess.Popen[str]]
) -> None:
    """Processes that write as fast as they can have all their calls recorded once."""
    at_once(child, home, 4, 100)
    host = new_host("E")
    all_in(host)
    assert host.sql("SELECT count(*), count(DISTINCT tool_call_id), sum(status = 'CONFIRMED') FROM ledger") == [
        (400, 400, 400)
    ]


def test_threads_of_one_process(host: SimHost) -> None:
    """Eight agents in one process: each call is one confirmed row."""

    def agent(name: int) -> None:
        for number in range(20):
            host.run("write_file", {"path": f"/srv/{name}-{number}"}, call=f"{name}-{number}", session=f"s{name}")

    threads = [threading.Thread(target=agent, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    all_in(host)
    assert host.sql("SELECT count(*), sum(status = 'CONFIRMED') FROM ledger") == [(160, 160)]


def test_locked_database_delays_nobody(host: SimHost) -> None:
    """While another program holds the ledger, calls wait a moment at most and are recorded when it lets go."""
    host.run("write_file", {"path": "/srv/first"}, call="first")
    slowest = 0.0
    with held(host.ledger):
        for number in range(10):
            begin = time.monotonic()
            host.run("write_file", {"path": f"/srv/{number}"}, call=f"c{number}")
            slowest = max(slowest, time.monotonic() - begin)
    assert slowest < 0.8
    for _ in range(100):
        time.sleep(0.02)
        host.turn(session="nobody")
        if host.sql("SELECT count(*) FROM ledger WHERE status = 'CONFIRMED'") == [(11,)]:
            break
    assert host.sql("SELECT count(*), sum(status = 'CONFIRMED') FROM ledger") == [(11, 11)]
    assert host.sql("SELECT count(*) FROM ledger WHERE flags LIKE '%spooled%'")[0][0] >= 9


def test_ghost_is_told_by_one_of_many(host: SimHost) -> None:
    """Eight turns of one session at the same moment: one of them is told."""
    host.pre("write_file", {"path": "/srv/a.txt"})
    host.age(200)
    told: list[str | None] = []
    threads = [threading.Thread(target=lambda n=n: told.append(host.turn(turn=f"s0:t0:{n:08x}"))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sum(text is not None for text in told) == 1
