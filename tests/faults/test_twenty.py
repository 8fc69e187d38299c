"""Many processes on one ledger, some of them killed."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import NewDriver, all_in, counted
from tests.simhost import SimHost

Child = Callable[..., "subprocess.Popen[str]"]


@pytest.mark.parametrize("synchronous", ["normal", "full"])
def test_twenty_processes_with_random_kills(
    home: Path, child: Child, new_driver: NewDriver, monkeypatch: pytest.MonkeyPatch, synchronous: str
) -> None:
    """Twenty processes of fifty calls each that begin at the same instant on an empty home, a third of them killed somewhere
    on the way: every acknowledged call is there once, and every acknowledged outcome."""
    monkeypatch.setenv("AGENT_LEDGER_SYNCHRONOUS", synchronous)
    code = """
import os, sys
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
os.write(1, b"ready\\n")
sys.stdin.readline()
for number in range(50):
    name = f"{sys.argv[2]}-{number}"
    host.pre("write_file", {"path": "/srv/" + name}, call=name)
    os.write(1, f"pre {name}\\n".encode())
    host.post("write_file", {"path": "/srv/" + name}, call=name)
    os.write(1, f"post {name}\\n".encode())
os._exit(3 if host.raised else 0)  # no last try for what waits in the spool
"""
    chance = random.Random(synchronous)  # noqa: S311 - no secret
    last = {number: chance.randint(0, 95) for number in range(0, 20, 3)}  # process -> the line after which it is killed
    processes = [child(code, home, number) for number in range(20)]
    for one in processes:
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    heard: dict[str, set[str]] = {"pre": set(), "post": set()}

    def follow(number: int) -> None:
        one = processes[number]
        assert one.stdin is not None and one.stdout is not None
        one.stdin.write("\n")
        one.stdin.flush()
        for count in itertools.count():
            if count == last.get(number):
                one.kill()
            line = one.stdout.readline().split()
            if not line:
                return
            heard[line[0]].add(line[1])

    threads = [threading.Thread(target=follow, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [one.wait(20) for number, one in enumerate(processes) if number not in last] == [0] * 13
    assert -signal.SIGKILL in [processes[number].wait(20) for number in last]
    host, driver = SimHost(home), new_driver()
    driver.ask("start")
    all_in(host, driver.turn)
    rows, calls, _ = counted(host)
    assert rows == calls
    found = dict(host.sql("SELECT tool_call_id, status FROM ledger"))
    assert sorted(heard["pre"] - found.keys()) == []
    assert sorted(name for name in heard["post"] if found[name] != "CONFIRMED") == []
    assert len(found.keys() - heard["pre"]) <= len(last)  # one call whose pre was killed before it returned
    assert len(heard["post"]) >= 13 * 50
    spool = host.ledger.parent / "spool"
    assert not spool.exists() or os.listdir(spool) == []
