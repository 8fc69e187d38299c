"""A plugin that makes some writes slow: a file called `slow...` is written only once `release` stands beside it.

The wait heeds no interrupt, as a hung mount or a remote service would not, so the host gives up before the tool does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST_WAIT_S = 30


def slowed(write: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of write_file with the wait before it; `begun` beside the file says that the wait has begun."""

    def wait_then_write(args: Any, **more: Any) -> Any:
        path = Path(str(args.get("path", "")))
        if path.name.startswith("slow"):
            (path.parent / "begun").touch()
            deadline = time.monotonic() + LONGEST_WAIT_S
            while not (path.parent / "release").exists() and time.monotonic() < deadline:
                time.sleep(0.02)
        return write(args, **more)

    return wait_then_write


def register(ctx: Any) -> None:
    """Put the wait before the host's own handler."""
    import tools.file_tools  # noqa: F401  it registers write_file
    from tools.registry import registry

    entry = registry._tools["write_file"]
    entry.handler = slowed(entry.handler)
