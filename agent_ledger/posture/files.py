"""Files of the posture folder: replaced as a whole, on disk before anybody goes on."""

from __future__ import annotations

import contextlib
import os


def replace(path: str, content: bytes) -> None:
    """Put ``content`` in place of ``path`` (0600). A crash leaves the old file or the new one. Raises OSError."""
    half = f"{path}.new-{os.getpid()}"
    try:
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(half, path)
        _flush_folder(os.path.dirname(path))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(half)
        raise


def read(path: str) -> bytes:
    """The content, b'' where there is no such file. Raises OSError."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _flush_folder(folder: str) -> None:
    # The name is on disk only with its folder; some file systems do not take that, and need it not.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
