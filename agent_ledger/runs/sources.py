"""Where the bytes of a run's stream come from while it runs: the host's standard output, or the events of its hooks."""

from __future__ import annotations

import os
import queue
import threading
import time
from typing import IO, Protocol

from .save import Sink

_CHUNK = 65_536
_WAITING_MOST = 64  # chunks between the pipe and the reader: a slow reader slows the host, and memory stays flat
_POLL_S = 0.05
_QUIET_S = 0.5  # a pipe that a left-over child of the host holds open counts as ended after this
_DRAIN_MOST_S = 5.0


class Source(Protocol):
    """What hands out the stream."""

    def pull(self) -> bytes:
        """The next bytes; waits for them. b'' at the end, for good."""

    def over(self, code: int) -> None:
        """The process has ended with ``code``: what is left is read, and then the stream ends."""


class Output:
    """The host's own stream, from its standard output."""

    def __init__(self, pipe: IO[bytes], save: Sink) -> None:
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

    def _pump(self, pipe: IO[bytes], save: Sink) -> None:
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
