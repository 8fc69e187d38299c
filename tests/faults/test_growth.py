"""What the files take: the cuts bound a row, checkpoints bound the log, and no hook stalls for either."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_ledger.home import ledger_path
from agent_ledger.store.opening import create
from agent_ledger.store.reader import Reader
from tests.faults.conftest import MOST_S, NewDriver, all_in, counted
from tests.simhost import PLUGIN_FOLDER, SimHost
from tests.store.rows import filled, on_disk, statuses

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


MILLION = 1_000_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with 1,000,000 settled calls and 300 ghosts; for tests that only read, and for one that prunes it last."""
    home = tmp_path_factory.mktemp("large")
    filled(home, MILLION, apart=1)
    path = filled(home, 300, "PENDING", "unknown")
    yield home
    path.unlink()  # 1 GB


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same home without a call."""
    home = tmp_path_factory.mktemp("empty")
    os.makedirs(os.path.dirname(ledger_path(str(home))))
    create(ledger_path(str(home)))
    return home


def command(home: Path, *arguments: str) -> tuple[float, int]:
    """(seconds, bytes of memory at most) of a command in a process of its own. It must end well."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "agent_ledger.cli", "--home", str(home), *arguments], cwd=PLUGIN_FOLDER,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.monotonic() - began, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    ["status", "tail", "tail -n 200", "tail --status ghost", "tail --status error:timeout", "tail --session s1", "ghosts",
     "ghosts --session s1", "export --session nobody"],
)  # fmt: skip
def test_questions_at_a_million_rows(large: Path, empty: Path, arguments: str) -> None:
    """What a person waits for takes at most three times what it takes on an empty ledger, most of which is the start of
    the interpreter. Both are measured in turns, and the best of each counts."""
    pairs = [(command(large, *arguments.split())[0], command(empty, *arguments.split())[0]) for _ in range(3)]
    assert min(one for one, _ in pairs) < 3 * min(other for _, other in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["--keep 500000", "--older-than 5d", "--max-size 100MB"])
def test_dry_run_at_a_million_rows(large: Path, empty: Path, arguments: str) -> None:
    """It reads the file once, or half of it once more: compared with three plain looks at every row."""
    connection = sqlite3.connect(ledger_path(str(large)))
    began = time.monotonic()
    connection.execute("SELECT total(length(effect)) FROM ledger").fetchone()
    pass_s = time.monotonic() - began
    connection.close()
    asked = ["prune", "--dry-run", *arguments.split()]
    base = min(command(empty, *asked)[0] for _ in range(2))
    assert min(command(large, *asked)[0] for _ in range(2)) < base + 3 * pass_s


@pytest.mark.slow
def test_integrity_check_keeps_to_its_time(large: Path) -> None:
    """Doctor's look at a file of 1 GB ends when its time is over, also in the middle of a table."""
    with Reader(ledger_path(str(large))) as reader:
        began = time.monotonic()
        assert reader.quick_check(0.1) == (False, [])
        assert time.monotonic() - began < 0.5


@pytest.mark.slow
def test_prune_at_a_million_rows(large: Path, empty: Path) -> None:
    """Stopped by Ctrl-C it ends soon; taken up again it goes on in the memory of a prune of nothing, and the space comes
    back. The last test of this ledger: it has fewer rows afterwards."""
    path = Path(ledger_path(str(large)))
    before = path.stat().st_size
    pruning = subprocess.Popen(
        [sys.executable, "-m", "agent_ledger.cli", "--home", str(large), "prune", "--keep", "800000"], cwd=PLUGIN_FOLDER,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while sum(statuses(path).values()) == MILLION + 300:
        time.sleep(0.1)
    pruning.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert pruning.wait() == 130
    assert time.monotonic() - began < 10
    assert 800_000 < sum(statuses(path).values()) < MILLION
    _, nothing = command(empty, "prune", "--keep", "0")
    _, most = command(large, "prune", "--keep", "800000")
    assert most < nothing + 20_000_000
    assert sum(statuses(path).values()) == 800_000
    assert path.stat().st_size < before * 0.82
