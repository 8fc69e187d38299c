"""Keeps the raw stream beside the verdict: byte for byte, written as it arrives."""

from __future__ import annotations

import contextlib
import os
import stat

from ..errors import UsageError
from .events import Source


class Sink:
    """A file for the stream, 0600: the stream is raw, and may hold secrets.

    A disk that is full does not end the reading: ``trouble`` says what happened, '' while all is well.
    """

    def __init__(self, path: str | None) -> None:
        """Raises UsageError where the file cannot be made. Without a ``path`` nothing is kept."""
        self.trouble = ""
        self._path = path
        self._file: int | None = None
        if path is None:
            return
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
            self._file = os.open(path, flags, 0o600)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise UsageError(f"cannot write {path} ({why}). Give another --save") from error
        with contextlib.suppress(OSError, AttributeError):  # not ours, or no such thing on this system
            if stat.S_ISREG(os.fstat(self._file).st_mode):
                os.fchmod(self._file, 0o600)  # a file that was there before keeps its mode otherwise

    def write(self, data: bytes) -> None:
        """Add ``data``; it is with the system when this returns, so that a crash does not lose it."""
        if self._file is None or self.trouble:
            return
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            self.trouble = f"--save {self._path} is not complete: {error.strerror}"

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Saved(Sink):
    """A source that writes what it reads to a file."""

    def __init__(self, source: Source, path: str) -> None:
        super().__init__(path)
        self._read = getattr(source, "read1", source.read)

    def read(self, size: int, /) -> bytes:
        data: bytes = self._read(size)
        self.write(data)
        return data
