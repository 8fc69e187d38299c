"""Where the bytes of a run's stream come from while it runs: the host's standard output, or the events of its hooks."""

from __future__ import annotations

import os
import queue
import stat
import threading
import time
from typing import IO, Protocol

from ..errors import UsageError

_CHUNK = 65_536
_WAITING_MOST = 64  # chunks between the pipe and the reader: a slow reader slows the host, and memory stays flat
_POLL_S = 0.05
_QUIET_S = 0.5  # a pipe that a left-over child of the host holds open counts as ended after this
_DRAIN_MOST_S = 5.0


class Save:
    """The raw stream in a file that only this user may read, written as it arrives."""

    def __init__(self, path: str | None) -> None:
        """Raises UsageError where the file can't be made."""
        self.path = path
        self.problem = ""
        self._descriptor: int | None = None
        if path is None:
            return
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o600)
            if stat.S_ISREG(os.fstat(self._descriptor).st_mode) and hasattr(os, "fchmod"):
                os.fchmod(self._descriptor, 0o600)
        except OSError as error:
            raise UsageError(f"--save {path}: {error.strerror or error}. Give a file in a folder that exists") from None

    def write(self, data: bytes) -> None:
        """Append; what can't be written is told at the end, and the run goes on."""
        if self._descriptor is None or self.problem:
            return
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            self.problem = f"the saved stream is not whole: {self.path}: {error.strerror or error}"

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Source(Protocol):
    """What hands out the stream."""

    def pull(self) -> bytes:
        """The next bytes; waits for them. b'' at the end, for good."""

    def over(self, code: int) -> None:
        """The process has ended with ``code``: what is left is read, and then the stream ends."""


class Output:
    """The host's own stream, from its standard output."""

    def __init__(self, pipe: IO[bytes], save: Save) -> None:
        self.begun = threading.Event()  # set with the first byte
        self._chunks: queue.Queue[bytes] = queue.Queue(_WAITING_MOST)
        self._over_at: float | None = None
        threading.Thread(target=self._pump, args=(pipe, save), daemon=True).start()

    def pull(self) -> bytes:
        quiet = time.monotonic()
        while True:
            try:
                data = self._chunks.get(timeout=_POLL_S)
            except queue.Empty:
                now = time.monotonic()
                if self._over_at is not None and now - max(quiet, self._over_at) > _QUIET_S:
                    return b""
                continue
            if self._over_at is not None and time.monotonic() - self._over_at > _DRAIN_MOST_S:
                return b""
            return data

    def over(self, code: int) -> None:
        self._over_at = time.monotonic()

    def _pump(self, pipe: IO[bytes], save: Save) -> None:
        while True:
            try:
                data = os.read(pipe.fileno(), _CHUNK)
            except (OSError, ValueError):
                data = b""
            if data:
                self.begun.set()
                save.write(data)
            self._chunks.put(data)
            if not data:
                return
