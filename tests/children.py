"""Child processes that begin their work at the same moment."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence


def let_go(processes: Sequence[subprocess.Popen[str]]) -> None:
    """Wait until each child has said ``ready``, then give all of them the line that they read next."""
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
