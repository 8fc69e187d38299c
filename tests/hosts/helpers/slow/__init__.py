"""A plugin that makes some calls slow, so that a test can kill the host at a chosen moment or see it give up.

A call whose arguments hold the word `stuck` waits before it does anything; one with `slow` has its effect and then does
not return. Either ends when the file `release` appears in the home, and touches `begun` there when its wait begins. The
wait heeds no interrupt, as a hung mount or a remote service would not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOOLS = ("write_file", "cronjob", "cronjob_manage", "kanban_create")
LONGEST_WAIT_S = 30


def wait() -> None:
    """Say that the wait has begun, and wait to be released."""
    home = Path(os.environ["HERMES_HOME"])
    (home / "begun").touch()
    deadline = time.monotonic() + LONGEST_WAIT_S
    while not (home / "release").exists() and time.monotonic() < deadline:
        time.sleep(0.02)


def slowed(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of a tool with a wait before or after it."""

    def handler(args: Any, **more: Any) -> Any:
        if "stuck" in str(args):
            wait()
        result = tool(args, **more)
        if "slow" in str(args):
            wait()
        return result

    return handler


def register(ctx: Any) -> None:
    """Put the wait around the host's own handlers, whatever their names in this version."""
    from tools.registry import discover_builtin_tools, registry

    discover_builtin_tools()
    for name in TOOLS:
        entry = registry._tools.get(name)
        if entry is not None:
            entry.handler = slowed(entry.handler)
