"""Where the calls of a home work: the user's home, the project, and how files of this machine are read."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from ..home import PLUGIN, data_folder
from .scope import World

_MOST_BYTES = 262_144  # larger files are not taken for scripts
_MOST_TEXT = 65_536
_KEPT_S = 5.0  # how long the project of a folder is taken for granted
_MOST_KEPT = 200
_LOCAL = ("", "local")


class Worlds:
    """The worlds of one Hermes home, by working folder and terminal backend."""

    def __init__(self, hermes: str) -> None:
        self._hermes = hermes
        package = str(Path(__file__).resolve().parents[2])
        ours = data_folder(hermes)
        self._guarded = (ours, os.path.realpath(ours), os.path.join(hermes, "plugins", PLUGIN), package)
        self._found: dict[tuple[str, str, str], tuple[float, World]] = {}

    def of(self, folder: str, backend: str) -> World:
        """The world of calls in ``folder``. Behind another backend than the local one no file can be looked at."""
        home = os.path.expanduser("~")
        key = folder, backend, home
        now = time.monotonic()
        found = self._found.get(key)
        if found is not None and now < found[0]:
            return found[1]
        cwd = os.path.normpath(folder) if folder else os.getcwd()
        project = project_of(cwd, home)
        if backend in _LOCAL:
            world = World(home, project, cwd, read_text, os.path.realpath, self._guarded, self._hermes)
        else:
            world = World(home, project, cwd, guarded=self._guarded, hermes=self._hermes)
        if len(self._found) >= _MOST_KEPT:
            self._found.clear()
        self._found[key] = now + _KEPT_S, world
        return world


def project_of(cwd: str, home: str) -> str:
    """The root of the working tree that ``cwd`` is in, else ``cwd`` itself; '' for a folder that holds the home."""
    folder = cwd
    for _ in range(40):
        if (home + "/").startswith(folder.rstrip("/") + "/"):
            break
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        folder = os.path.dirname(folder)
    return "" if (home + "/").startswith(cwd.rstrip("/") + "/") else cwd


def read_text(path: str) -> str | None:
    """The beginning of a small regular text file; None for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return None
        raw = os.read(descriptor, _MOST_TEXT)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None if b"\0" in raw else raw.decode("utf-8", "replace")
