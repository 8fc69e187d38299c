"""Checkpoints: the write-ahead log is copied back off the hook path, by one process at a time."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time

try:
    import fcntl
except ImportError:  # Windows: SQLite's own locks must do
    fcntl = None  # type: ignore[assignment]

from .. import log

EVERY = 50  # writes of this process between two looks at the log
START_BYTES = 16 * 1024 * 1024  # a log shorter than this is left alone: copying back competes with the hooks
PRESSING_BYTES = 24 * 1024 * 1024  # a log longer than this is worth a short wait of the writers
_BETWEEN_S = 0.2
_PASSES = 3
_RESTART_WAIT_S = 0.02


class Checkpoints:
    """Decides when the log of one ledger is worth a checkpoint, and runs it in a thread of its own."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._writes = 0
        self._thread: threading.Thread | None = None
        self._last = 0.0

    def count(self) -> None:
        """Called after each write of a hook: costs an addition, and a look at a file's size every 50 writes."""
        self._writes += 1
        if self._writes < EVERY:
            return
        self._writes = 0
        if self._thread is not None or time.monotonic() - self._last < _BETWEEN_S:
            return
        if log_size(self._path) < START_BYTES:
            return
        self._thread = threading.Thread(target=self._run, name="agent-ledger-checkpoint", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the interpreter is shutting down
            self._thread = None

    def _run(self) -> None:
        try:
            checkpoint(self._path)
        except (sqlite3.Error, OSError) as error:
            log.warn("checkpoint", "the write-ahead log could not be copied back (%s); it is tried again", error)
        finally:
            self._last = time.monotonic()
            self._thread = None


def log_size(path: str) -> int:
    """Bytes in the write-ahead log of the ledger at ``path``."""
    try:
        return os.stat(path + "-wal").st_size
    except OSError:
        return 0


def checkpoint(path: str, shrink: bool = False) -> bool:
    """Copy the log back into the ledger; False where another process is at it. ``shrink``: and empty the log's file,
    for which writers wait a moment.

    Blocks no writer and no reader, as a rule: a passive pass copies what is there, and the next writer starts the log
    anew once nothing is left to copy. Where writers never pause, passes always leave something; then, and only for a
    long log, one pass keeps the writers waiting for the few frames that are left.

    SQLite before 3.51.3 can lose pages when two connections reset one log at once, so there is a lock file around it.
    Raises sqlite3.Error or OSError.
    """
    with contextlib.ExitStack() as stack:
        descriptor = os.open(path + ".checkpoint", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        stack.callback(os.close, descriptor)
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        stack.callback(connection.close)
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        for _ in range(_PASSES):
            _, frames, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if frames == copied:
                break
        # Writers that never pause append before the log can start anew, however often everything was copied.
        if shrink or log_size(path) > PRESSING_BYTES:
            connection.execute(f"PRAGMA busy_timeout = {int(_RESTART_WAIT_S * 1000)}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return True


__all__ = ["Checkpoints", "checkpoint", "log_size"]
