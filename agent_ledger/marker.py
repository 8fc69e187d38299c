"""Whether one file is there, asked on every call of a hook."""

from __future__ import annotations

import os
import time

LATELY_S = 0.05
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
        self._found, self._fresh_until = False, 0.0
        self._keeps_lock = hasattr(os, "pathconf")
        if self._keeps_lock:
            self.path = os.path.join(path, ".")  # a file is no folder: nothing can be there
            if self.is_there():
                self._keeps_lock = False
            self.path = path
            self._fresh_until = 0.0

    def was_there(self) -> bool:
        """Whether it was there within the last LATELY_S: for calls that are cheaper than a question to the disk."""
        if _now() < self._fresh_until:
            return self._found
        return self.is_there()

    def is_there(self) -> bool:
        """Whether it is there now."""
        began = _now()
        try:
            if self._keeps_lock:
                os.pathconf(self.path, _ASKED)
                found = True
            else:
                found = os.access(self.path, os.F_OK)
        except (OSError, ValueError):
            found = False
        ended = _now()
        if ended - began > _SLOW_S:
            self._keeps_lock = False
        self._found, self._fresh_until = found, ended + LATELY_S
        return found
