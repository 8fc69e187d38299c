"""Policies as a user writes them, and calls that they judge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cli.commands import folder, snapshot
from tests.simhost import PLUGIN_FOLDER

DELETE: dict[str, Any] = {
    "id": "delete-tree", "effect": "recursive_delete", "severity": "critical", "reason": "A whole tree would go.",
    "instead": "Name the one folder that must go.",
}  # fmt: skip
ORDERS: dict[str, Any] = {
    "id": "no-orders", "severity": "high", "reason": "Orders nobody about.", "argument": {"name": "message", "regex": "drop"},
}  # fmt: skip
ETC = "rm -r /etc"
SAY = "send_message", {"message": "drop it all"}


def pack(*rules: dict[str, Any]) -> str:
    return json.dumps({"version": 1, "rules": rules or [DELETE, ORDERS]})


def write(home: Path, policy: str | None = None, mode: str | None = None) -> None:
    """Put a policy and a mode into the data folder."""
    folder(home).mkdir(parents=True, exist_ok=True)
    for name, text in (("policy.json", policy), ("policy_mode", mode)):
        if text is not None:
            (folder(home) / name).write_text(text)
            (folder(home) / name).chmod(0o600)


def given(tmp_path: Path, *rules: dict[str, Any]) -> str:
    """A policy file that is not in force."""
    path = tmp_path / "other.json"
    path.write_text(pack(*rules))
    return str(path)

RECORD = """
import json, sys
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
for number, (session, tool, args, outcome) in enumerate(json.loads(sys.stdin.read())):
    ids = {"session": session, "call": f"c{number}", "turn": f"{session}:t0:{number:08}"}
    host.pre(tool, args, **ids)
    if outcome == "ok":
        host.post(tool, args, '{"exit_code": 0}', **ids)
    elif outcome == "blocked":
        host.post(tool, args, '{"error": "blocked"}', status="blocked", error_type="plugin_block", **ids)
"""


def record(home: Path, *calls: tuple[str, str, dict[str, Any], str], **environment: str) -> None:
    """Let a host of its own record calls: (session, tool, arguments, ok or blocked or open), numbered from 1."""
    subprocess.run(
        [sys.executable, "-c", RECORD, str(home)], cwd=PLUGIN_FOLDER, input=json.dumps(calls), text=True, check=True,
        env={**os.environ, "TERMINAL_CWD": "/srv", **environment},
    )  # fmt: skip


def run(command: str, session: str = "s1", outcome: str = "ok") -> tuple[str, str, dict[str, Any], str]:
    return session, "terminal", {"command": command}, outcome


def kept(home: Path) -> dict[str, bytes]:
    """Every file of the data folder, without the empty log that any reader of a closed ledger makes."""
    return {name: raw for name, raw in snapshot(home).items() if raw or not name.endswith("-wal")}
