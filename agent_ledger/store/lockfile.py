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
def exclusive(path: str) -> Iterator[None]:
    """Hold the lock file ``path`` (0600). No lock where the file system has none.

    What it guards is short, so whoever holds it for ``QUEUE_WAIT_S`` is stopped or stuck. Raises
    TimeoutError then, for a hook never waits without end.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if fcntl is not None:
            _lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: str) -> None:
    until = time.monotonic() + QUEUE_WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise TimeoutError(f"{path} is locked by another process; the next try comes by itself") from None
            time.sleep(0.005)
        except OSError:
            return
