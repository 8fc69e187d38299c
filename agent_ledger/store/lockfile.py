"""Lock files: one process at a time, and no longer wait than a hook can afford."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from .patience import QUEUE_WAIT_S


@contextlib.contextmanager
def exclusive(path: str, wait_s: float = QUEUE_WAIT_S) -> Iterator[None]:
    """Hold the lock file ``path`` (0600). No lock where the file system has none.

    What a hook guards is short, so whoever holds it for ``QUEUE_WAIT_S`` is stopped or stuck. Raises
    TimeoutError then, for a hook never waits without end; a command may wait for longer.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if fcntl is not None:
            _lock(descriptor, path, wait_s)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: str, wait_s: float) -> None:
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise TimeoutError(f"{path} is locked by another process; the next try comes by itself") from None
            time.sleep(min(wait_s / 50, 0.1))
        except OSError:
            return
