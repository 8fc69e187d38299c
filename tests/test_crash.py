"""kill -9 of a process that writes, at any moment: what was acknowledged is there, once."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simhost import SimHost

WRITE = """
import sys
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
for number in range(100_000):
    args = {"path": f"/srv/{number}.txt"}
    host.pre("write_file", args, call=f"c{number}")
    print("pre", number, flush=True)
    host.post("write_file", args, call=f"c{number}")
    print("post", number, flush=True)
"""


@pytest.mark.parametrize("locked", [False, True], ids=["ledger", "spool"])
@pytest.mark.parametrize("seed", range(3))
def test_acknowledged_calls_survive_once(
    host: SimHost, child: Callable[..., subprocess.Popen[str]], seed: int, locked: bool
) -> None:
    """Every call whose pre returned is one row, and every outcome whose post returned is in it."""
    host.run("write_file", {"path": "/srv/first"}, call="first")
    holder = sqlite3.connect(host.ledger, isolation_level=None)
    if locked:
        holder.execute("BEGIN IMMEDIATE")
    process = child(WRITE, host.home)
    assert process.stdout is not None
    heard = [process.stdout.readline()]
    time.sleep(random.Random(seed).uniform(0.05, 0.5))  # noqa: S311 - no secret
    os.kill(process.pid, signal.SIGKILL)
    heard += process.stdout.read().splitlines(keepends=True)
    process.wait()
    holder.close()
    acknowledged = [line.split() for line in heard if line.endswith("\n")]
    host.turn(session="nobody")
    for _ in range(100):  # a hook replays as much as its time allows
        if not any(Path(host.ledger.parent, "spool").glob("*.jsonl")):
            break
        host.turn(session="nobody")
    rows = dict(host.sql("SELECT tool_call_id, status FROM ledger"))
    assert host.sql("SELECT count(*) - count(DISTINCT tool_call_id) FROM ledger") == [(0,)]
    assert [number for kind, number in acknowledged if kind == "pre" and f"c{number}" not in rows] == []
    assert [number for kind, number in acknowledged if kind == "post" and rows[f"c{number}"] != "CONFIRMED"] == []
    assert host.sql("PRAGMA integrity_check") == [("ok",)]
