"""Keeps the raw stream beside the verdict: byte for byte, written as it arrives."""

from __future__ import annotations

import os

from ..errors import UsageError
from .events import Source


class Saved:
    """A source that writes what it reads to a file, 0600: the stream is raw, and may hold secrets.

    A disk that is full does not end the reading: ``trouble`` says what happened, '' while all is well.
    """

    def __init__(self, source: Source, path: str) -> None:
        """Raises UsageError where the file cannot be made."""
        self.trouble = ""
        self._read = getattr(source, "read1", source.read)
        self._path = path
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
            self._file = os.open(path, flags, 0o600)
        except OSError as error:
            raise UsageError(f"cannot write {path} ({error.strerror}). Give another --save") from error
        try:
            os.fchmod(self._file, 0o600)  # a file that was there before keeps its mode otherwise
        except OSError:
            pass  # no plain file, or not ours

    def read(self, size: int, /) -> bytes:
        data: bytes = self._read(size)
        self.write(data)
        return data

    def write(self, data: bytes) -> None:
        """Add ``data``; it is with the system when this returns, so that a crash does not lose it."""
        if self.trouble:
            return
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            self.trouble = f"--save {self._path} is not complete: {error.strerror}"

    def close(self) -> None:
        os.close(self._file)
