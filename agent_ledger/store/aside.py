"""A corrupt ledger goes out of the way, so that a fresh one can start. Nothing of it is lost."""

from __future__ import annotations

import contextlib
import os
import time

from ..model import now_iso


def set_aside(path: str) -> str:
    """Rename the ledger at ``path`` and its sidecars; returns the new name. Raises OSError where it cannot be read."""
    # SQLite calls a page corrupt that the disk would not give: a healthy ledger must not go for that.
    _read_through(path)
    stamp = now_iso().replace(":", "").replace(".", "")
    aside = f"{path}.corrupt-{stamp}-{os.getpid()}"
    # The write-ahead log goes first: a fresh database must never meet the old one's log.
    for suffix in ("-wal", "-shm", ""):
        with contextlib.suppress(FileNotFoundError):
            os.rename(path + suffix, aside + suffix)
    return aside


def _read_through(path: str) -> None:
    """Read the file from the beginning, 64 MB or a tenth of a second at most. Raises OSError where the disk refuses."""
    until = time.monotonic() + 0.1
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for megabyte in range(64):
            # The way SQLite reads.
            if not os.pread(descriptor, 1 << 20, megabyte << 20) or time.monotonic() > until:
                return
    finally:
        os.close(descriptor)
