"""Files that commands write because the user named them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from ..errors import UsageError

PRIVATE = 0o600
AS_USUAL = 0o666  # what the user's umask leaves of it


def write(path: str, parts: Iterable[str], option: str, mode: int) -> None:
    """Write ``parts`` to ``path``, which appears complete or not at all; a pipe or a device is written to as it stands.

    Raises UsageError, which names ``option``, where that cannot be done.
    """
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder. Give the name of a file with {option}")
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        try:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.writelines(parts)
        except OSError as error:
            raise _refused(path, error, option) from error
        return
    building = f"{path}.{os.getpid()}.part"
    try:
        descriptor = os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise _refused(path, error, option) from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.writelines(parts)
        os.replace(building, path)
    except BaseException:
        os.unlink(building)
        raise


def _refused(path: str, error: OSError, option: str) -> UsageError:
    return UsageError(f"cannot write {path} ({error.strerror}). Give another {option}")
