"""``prune`` as a user runs it: beside agents that write, stopped at any moment, space really returned."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import as_json, assert_needs_a_ledger, assert_refused, assert_says_locked, ledger
from tests.simhost import PLUGIN_FOLDER
from tests.store.rows import content, filled, on_disk, statuses

WRITER = """
import sys, time
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
host.run("write_file", {"path": "/srv/first"}, call="first")
print("on", flush=True)
slowest, number = 0.0, 0
import select
while not select.select([sys.stdin], [], [], 0.002)[0]:
    begin = time.monotonic()
    host.pre("write_file", {"path": f"/srv/{number}"}, call=f"c{number}")
    slowest = max(slowest, time.monotonic() - begin)
    host.post("write_file", {"path": f"/srv/{number}"}, call=f"c{number}")
    number += 1
time.sleep(0.6)
for _ in range(100):
    host.turn(session="nobody")
print(number, slowest, len(host.raised), flush=True)
"""


def begin(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "agent_ledger.cli", "prune", *arguments], cwd=PLUGIN_FOLDER,
        env={**os.environ, "HERMES_HOME": str(home)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [["--keep", "300"], ["--older-than", "10h"], ["--keep", "900", "--older-than", "10h"], ["--keep", "0", "--also", "ghosts"],
     ["--keep", "0", "--also", "ghosts,refusals"], ["--keep", "5000"]],
)  # fmt: skip
def test_dry_run_says_what_a_run_does_and_changes_nothing(home: Path, arguments: list[str]) -> None:
    """The number is the same, and the dry run changes nothing."""
    for status, effect in (("GHOST_REPORTED", "unknown"), ("ERROR:denied", "none"), ("CONFIRMED", "applied")):
        path = filled(home, 1000, status, effect)
    before = content(path)
    said = as_json(home, "prune", "--dry-run", *arguments)
    assert said["dry_run"] is True and content(path) == before
    done = as_json(home, "prune", *arguments)
    assert done["rows"] == said["rows"] == 3000 - sum(statuses(path).values())


def test_open_calls_ghosts_and_refusals_stay(home: Path) -> None:
    """Unless --also names them; open calls always."""
    for status, effect in (
        ("PENDING", "unknown"), ("GHOST_REPORTED", "unknown"), ("ERROR:blocked", "none"), ("ERROR:denied", "none"),
        ("CONFIRMED", "applied"),
    ):  # fmt: skip
        path = filled(home, 10, status, effect)
    assert ledger(home, "prune", "--keep", "0").returncode == 0
    assert statuses(path) == {"PENDING": 10, "GHOST_REPORTED": 10, "ERROR:blocked": 10, "ERROR:denied": 10}
    ledger(home, "prune", "--older-than", "0s", "--also", "ghosts", "--also", "refusals")
    assert statuses(path) == {"PENDING": 10}


def test_space_is_really_returned(home: Path) -> None:
    """What `du` shows shrinks, the log counted in, and the summary tells the truth about it."""
    path = filled(home, 4000)
    before = on_disk(path)
    done = as_json(home, "prune", "--keep", "200")
    assert on_disk(path) < before * 0.5
    assert done["bytes_after"] == path.stat().st_size < done["bytes_before"] * 0.2


def test_max_size(home: Path) -> None:
    """The file is at most as large as asked, and where what may not go is larger than that, the command says so."""
    path = filled(home, 5000)
    assert ledger(home, "prune", "--max-size", "1MB").returncode == 0
    assert path.stat().st_size <= 1_000_000
    filled(home, 3000, "PENDING", "unknown")
    done = ledger(home, "prune", "--max-size", "100KB")
    assert (done.returncode, "the rest is kept" in done.stdout, statuses(path)) == (0, True, {"PENDING": 3000})


def test_beside_a_process_that_writes(home: Path, child: Callable[..., subprocess.Popen[str]]) -> None:
    """Its hooks are not held up beyond their limit, none of its calls is lost, and the old rows go."""
    path = filled(home, 6000)
    writer = child(WRITER, home)
    assert writer.stdout is not None and writer.stdin is not None and writer.stdout.readline() == "on\n"
    done = ledger(home, "prune", "--older-than", "10s")
    writer.stdin.write("\n")
    writer.stdin.flush()
    made, slowest, raised = writer.stdout.readline().split()
    assert (done.returncode, raised) == (0, "0")
    assert float(slowest) < 0.8
    assert int(made) > 20
    assert statuses(path) == {"CONFIRMED": int(made) + 1}
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_interrupted(home: Path) -> None:
    """Ctrl-C ends it soon with exit 130; the ledger is whole, and the summary says how many rows went."""
    path = filled(home, 20_000)
    pruning = begin(home, "--keep", "0", "--json")
    while statuses(path) == {"CONFIRMED": 20_000}:
        time.sleep(0.02)
        assert pruning.poll() is None
    pruning.send_signal(signal.SIGINT)
    output, errors = pruning.communicate(timeout=20)
    assert (pruning.returncode, "Traceback" in errors) == (130, False)
    left = statuses(path).get("CONFIRMED", 0)
    assert 0 < left < 20_000
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    done = json.loads(output)
    assert done["stopped"] is True
    assert done["rows"] == 20_000 - left
    assert done["bytes_before"] > done["bytes_after"]


def test_interrupted_at_many_moments(home: Path) -> None:
    """Whenever Ctrl-C comes, also while it starts or gives space back: no traceback of a prune that began, a whole ledger,
    and the next run finishes."""
    path = filled(home, 4000)
    for moment in (0.15, 0.25, 0.4, 0.6):
        pruning = begin(home, "--keep", "100")
        time.sleep(moment)
        pruning.send_signal(signal.SIGINT)
        _, errors = pruning.communicate(timeout=20)
        assert pruning.returncode in (0, 130, -signal.SIGINT), errors
        assert "agent_ledger/store" not in errors
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert ledger(home, "prune", "--keep", "100").returncode == 0
    assert statuses(path) == {"CONFIRMED": 100}


def test_killed(home: Path) -> None:
    """kill -9 in the middle: whole, and the next run finishes."""
    path = filled(home, 3000)
    pruning = begin(home, "--keep", "0")
    while statuses(path) == {"CONFIRMED": 3000}:
        time.sleep(0.02)
    pruning.kill()
    pruning.communicate()
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert ledger(home, "prune", "--keep", "10").returncode == 0
    assert sum(statuses(path).values()) == 10


def test_two_at_once(home: Path) -> None:
    """Two prunes beside each other end well, and together remove each row once."""
    path = filled(home, 4000)
    both = [begin(home, "--keep", "100", "--json") for _ in range(2)]
    outputs = [one.communicate(timeout=60) for one in both]
    assert [one.returncode for one in both] == [0, 0], outputs
    assert sum(json.loads(output)["rows"] for output, _ in outputs) == 3900
    assert statuses(path) == {"CONFIRMED": 100}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--keep"), (["--keep", "-1"], "--keep"), (["--keep", "many"], "many"), (["--keep", "٣"], "٣"),
        (["--keep", "1" * 16], "1" * 16), (["--older-than", "90"], "90"), (["--older-than", "999999999w"], "999999999w"),
        (["--max-size", "big"], "big"), (["--keep", "1", "--also", "everything"], "everything"), (["--dry-run"], "--keep"),
        (["--keep", "1", "extra"], "extra"), (["--keep", "1", "--home", "/does/not/exist"], "/does/not/exist"),
    ],
)  # fmt: skip
def test_bad_input_removes_nothing(home: Path, arguments: list[str], named: str) -> None:
    """A user's mistake is exit 2 with one message, and nothing in the ledger changes."""
    assert_refused(home, "prune", *arguments, named=named)


def test_no_ledger_is_wrong_use_and_none_is_made(home: Path) -> None:
    """Nothing recorded: exit 2, and nothing appears in the home."""
    assert_needs_a_ledger(home, "prune", "--keep", "1")


def test_locked_ledger_is_named(home: Path) -> None:
    """Another program holds the ledger for long: exit 1, nothing removed, and the message says to try again."""
    path = filled(home, 100)
    assert_says_locked(home, "prune", "--keep", "0")
    assert statuses(path) == {"CONFIRMED": 100}


def test_progress_is_shown_on_a_terminal(home: Path) -> None:
    """On a terminal a bar with a total and the time that is left; the summary is still on standard output alone."""
    pty = pytest.importorskip("pty", reason="no pseudo terminals here")
    filled(home, 3000)
    inner, outer = pty.openpty()
    seen: list[bytes] = []

    def listen() -> None:
        try:
            while data := os.read(inner, 65536):
                seen.append(data)
        except OSError:
            return

    thread = threading.Thread(target=listen)
    thread.start()
    done = subprocess.run(
        [sys.executable, "-m", "agent_ledger.cli", "prune", "--keep", "0"], cwd=PLUGIN_FOLDER,
        env={**os.environ, "HERMES_HOME": str(home), "TERM": "xterm", "COLUMNS": "100"}, stdout=subprocess.PIPE, stderr=outer,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    os.close(outer)
    thread.join(5)
    os.close(inner)
    shown = b"".join(seen).decode()
    assert "pruning" in shown and re.search(r"\d+/3000", shown)
    assert done.stdout.startswith("3000 rows removed")
