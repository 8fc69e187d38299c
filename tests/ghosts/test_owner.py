"""Which process issued a call, and whether it lives."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_ledger.ghosts import owner

OWN = "import sys\nfrom agent_ledger.ghosts import owner\nprint(owner.own(sys.argv[1]), flush=True)\nsys.stdin.read()\n"


@pytest.fixture
def folder(home: Path) -> str:
    return str(home / "owners")


def test_same_process_same_owner(folder: str) -> None:
    """A process has one id, and lives."""
    mine = owner.own(folder)
    assert owner.own(folder) == mine and owner.is_alive(mine, folder) is True


@pytest.mark.parametrize("keep_lock_file", [True, False])
def test_other_process_lives_until_it_is_killed(
    folder: str, child: Callable[..., subprocess.Popen[str]], keep_lock_file: bool
) -> None:
    """With its lock file, or by pid and start time without it."""
    process = child(OWN, folder)
    assert process.stdout is not None
    name = process.stdout.readline().strip()
    if not keep_lock_file:
        owner.remove_lock_of(name, folder)
    assert owner.is_alive(name, folder) is True
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert owner.is_gone(name, folder)


@pytest.mark.parametrize("name", ["", "me", "p1", "../../elsewhere", "p1-s1-b-n-00000000x"])
def test_owner_that_cannot_be_judged(folder: str, name: str) -> None:
    """Neither alive nor gone: the grace period decides."""
    assert owner.is_alive(name, folder) is None and not owner.is_gone(name, folder)


def test_other_boot_says_nothing_by_pid(folder: str) -> None:
    """A pid of another boot is not looked up."""
    name = f"p{os.getpid()}-s{owner.start_ticks(os.getpid())}-b00000000-n1-00000000x"
    assert owner.is_alive(name, folder) is None


def test_lock_file_is_private(folder: str) -> None:
    """0600 in a folder 0700."""
    name = owner.own(folder)
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert os.stat(os.path.join(folder, name + ".lock")).st_mode & 0o777 == 0o600
