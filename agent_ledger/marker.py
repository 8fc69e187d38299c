"""Whether one file is there, asked on every call of a hook."""

from __future__ import annotations

import os
import time

_SLOW_S = 0.005
_ASKED = "PC_NAME_MAX"
_now = time.perf_counter


class Marker:
    """A file whose presence alone says something.

    ``stat`` and ``access`` let go of the interpreter's lock. In a hook's fresh thread the host's waiting thread takes
    it then, and getting it back costs ten times the question itself. ``pathconf`` keeps the lock, which is right as
    long as the file system answers at once: where it once took milliseconds (a network), and where the C library
    answers without looking, ``access`` is asked instead.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._keeps_lock = hasattr(os, "pathconf") and _ASKED in os.pathconf_names and not _is_there(path + "/.")

    def is_there(self) -> bool:
        if not self._keeps_lock:
            return os.access(self.path, os.F_OK)
        began = _now()
        try:
            os.pathconf(self.path, _ASKED)
            found = True
        except OSError:
            found = False
        if _now() - began > _SLOW_S:
            self._keeps_lock = False
        return found


def _is_there(path: str) -> bool:
    try:
        os.pathconf(path, _ASKED)
    except (OSError, ValueError):
        return False
    return True
