"""What the files take: the cuts bound a row, checkpoints bound the log, and no hook stalls for either."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.conftest import MOST_S, NewDriver, all_in, counted
from tests.simhost import SimHost
from tests.store.rows import on_disk

WRITE = """
import sys, time
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
slowest = 0.0
until = time.monotonic() + float(sys.argv[3])
number = 0
while time.monotonic() < until:
    args = {"path": f"/srv/{number}", "content": str(number) * 1000}
    begin = time.monotonic()
    host.pre("write_file", args, call=f"{sys.argv[2]}-{number}")
    slowest = max(slowest, time.monotonic() - begin)
    host.post("write_file", args, call=f"{sys.argv[2]}-{number}")
    number += 1
print(number, slowest, flush=True)
"""


def test_large_arguments_are_cut(host: SimHost) -> None:
    """Two hundred calls of 50 KB take some kilobytes each."""
    for number in range(200):
        host.run("write_file", {"path": f"/srv/{number}", "content": f"{number} " * 12_000}, call=f"c{number}")
    assert counted(host) == (200, 200, 200)
    until = time.monotonic() + 10
    while on_disk(host.ledger) >= 200 * 8000 and time.monotonic() < until:
        host.sql("PRAGMA wal_checkpoint(TRUNCATE)")  # in vain while the plugin's own checkpoint is at it
        time.sleep(0.05)
    assert on_disk(host.ledger) < 200 * 8000


def test_log_is_copied_back_beside_running_writers(
    home: Path, child: Callable[..., subprocess.Popen[str]], new_driver: NewDriver
) -> None:
    """Three processes that never pause: their hooks keep to the limit while the log is copied back, it stays far below
    64 MB, and every call is there."""
    writers = [child(WRITE, home, number, 4) for number in range(3)]
    host, longest = SimHost(home), 0
    log = host.ledger.with_name("ledger.db-wal")
    while any(one.poll() is None for one in writers):
        longest = max(longest, log.stat().st_size if log.exists() else 0)
        time.sleep(0.02)
    answers = [one.communicate()[0].split() for one in writers]
    assert longest < 40 * 2**20
    assert max(float(slowest) for _, slowest in answers) < MOST_S
    driver = new_driver()
    driver.ask("start")
    all_in(host, driver.turn)
    made = sum(int(number) for number, _ in answers)
    assert counted(host) == (made, made, made)
