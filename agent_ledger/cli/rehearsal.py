"""Run by ``doctor`` in a process of its own: plays a host, with the hooks as a host gets them.

``rehearsal.py crash`` confirms one call, leaves a second one open and dies; ``rehearsal.py resume`` is the next turn of
that conversation and prints the notice as JSON. The home is the one in HERMES_HOME.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

SESSION = "doctor"
TURN = "doctor:task:00000001"


class Host:
    """The part of a host's plugin context that registering needs."""

    def __init__(self) -> None:
        self.hooks: dict[str, Callable[..., Any]] = {}

    def register_hook(self, name: str, callback: Callable[..., Any]) -> None:
        self.hooks[name] = callback

    def register_cli_command(self, name: str, **_: Any) -> None:
        """Hosts take it; nothing here needs it."""

    def register_command(self, name: str, **_: Any) -> None:
        """Hosts take it; nothing here needs it."""


def mount(folder: Path) -> ModuleType:
    """Import the package from where this file lies, as hosts do: not through ``sys.path``."""
    spec = importlib.util.spec_from_file_location(
        "agent_ledger", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no package at {folder}")
    package = importlib.util.module_from_spec(spec)
    sys.modules["agent_ledger"] = package
    spec.loader.exec_module(package)
    return importlib.import_module("agent_ledger.plugin")


def call(number: int) -> dict[str, Any]:
    """The keywords of one call, as current hosts send them."""
    return {
        "tool_name": "write_file",
        "args": {"path": f"/nowhere/doctor-{number}.txt", "content": "doctor"},
        "session_id": SESSION,
        "task_id": "task",
        "turn_id": TURN,
        "tool_call_id": f"call_{number}",
    }


def main(part: str) -> int:
    host = Host()
    mount(Path(__file__).resolve().parent.parent).register(host)
    if part == "crash":
        host.hooks["pre_tool_call"](**call(1))
        host.hooks["post_tool_call"](**call(1), result='{"ok": true}', status="ok", duration_ms=1)
        host.hooks["pre_tool_call"](**call(2))
        os._exit(0)  # as if killed: no goodbye of any kind
    told = host.hooks["pre_llm_call"](
        session_id=SESSION, user_message="continue", conversation_history=[], turn_id="doctor:task:00000002"
    )
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
