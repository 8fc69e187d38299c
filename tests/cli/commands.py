"""How tests run the commands: as a process of its own, as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.simhost import PLUGIN_FOLDER
from tests.store.rows import content, held


def ledger(
    home: Path, *arguments: str, plugin: Path = PLUGIN_FOLDER, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``agent-ledger <arguments>`` of the checkout ``plugin`` on ``home``; its output is text."""
    return subprocess.run(
        [sys.executable, "-m", "agent_ledger.cli", *arguments],
        cwd=plugin, env={**os.environ, "HERMES_HOME": str(home), **environment}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip


def as_json(home: Path, *arguments: str, plugin: Path = PLUGIN_FOLDER) -> Any:
    """What the command prints with --json."""
    return json.loads(ledger(home, *arguments, "--json", plugin=plugin).stdout)


RECORD = """
import os, sys
from agent_ledger.hooks import Hooks
hooks = Hooks()
def keywords(number, tool, args):
    ids = dict(session_id="s1", task_id="t", turn_id="s1:t:00000001", tool_call_id=f"call_{number}")
    return dict(tool_name=tool, args=args, **ids)
def file(number):
    return {"path": f"/srv/{number}.txt", "content": "x"}
hooks.pre_tool_call(**keywords(1, "write_file", file(1)))
hooks.post_tool_call(**keywords(1, "write_file", file(1)), result='{"ok": true}', status="ok", duration_ms=1200)
hooks.pre_tool_call(**keywords(2, "terminal", {"command": "make"}))
hooks.post_tool_call(**keywords(2, "terminal", {"command": "make"}), result='{"exit_code": 2}', status="ok")
hooks.pre_tool_call(**keywords(3, "cronjob", {"action": "create", "name": "backup-daily"}))
os._exit(0)
"""


def record(home: Path) -> None:
    """One call confirmed, one failed, one left open by a process that died."""
    subprocess.run(
        [sys.executable, "-c", RECORD], cwd=PLUGIN_FOLDER, env={**os.environ, "HERMES_HOME": str(home)}, check=True
    )


def folder(home: Path) -> Path:
    return home / "plugin-data" / "agent-ledger"


def assert_refused(home: Path, *arguments: str, named: str) -> None:
    """A user's mistake is exit 2 with one message that names it, and nothing in the recorded ledger changes."""
    record(home)
    before = content(folder(home) / "ledger.db")
    done = ledger(home, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr and "Traceback" not in done.stderr
    assert content(folder(home) / "ledger.db") == before


def assert_needs_a_ledger(home: Path, *arguments: str) -> None:
    """Nothing recorded: exit 2, and nothing appears in the home."""
    done = ledger(home, *arguments)
    assert (done.returncode, "no ledger yet" in done.stderr, list(home.iterdir())) == (2, True, [])


def assert_says_locked(home: Path, *arguments: str) -> None:
    """Another program holds the ledger for long: exit 1, and the message says to try again."""
    with held(folder(home) / "ledger.db"):
        done = ledger(home, *arguments)
    assert (done.returncode, "try again" in done.stderr, "Traceback" in done.stderr) == (1, True, False)


def snapshot(home: Path) -> dict[str, bytes]:
    """Every file of the data folder with its bytes, without the index that all readers share."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
    }
