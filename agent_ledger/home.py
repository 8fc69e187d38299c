"""Where things are: the Hermes home of this very call, and the plugin's data folder in it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

PLUGIN = "agent-ledger"


# What the host's answer depends on -> the answer as text. A process serves a handful of homes.
_answers: dict[tuple[object, ...], str] = {}
_host: tuple[Any, Any] = (None, None)  # the host's module, and its function for the context's own home


def hermes_home() -> str:
    """The Hermes home that is in force now, as text.

    Asked again on every call: one gateway process serves several profiles, and the host keeps the current one in a
    context variable. Building a path costs the host some microseconds, so an answer is remembered for what it hangs on:
    that variable and two of the environment. Without a host it is ``HERMES_HOME``, else the platform's default.
    """
    global _host
    constants = sys.modules.get("hermes_constants")
    if constants is None:
        return _own_answer()
    try:
        known_module, override = _host
        if known_module is not constants:
            override = getattr(constants, "get_hermes_home_override", None)
            _host = (constants, override)
        if override is None:
            return os.fspath(constants.get_hermes_home())  # type: ignore[no-any-return]
        environment = os.environ
        chosen = environment.get("HERMES_HOME")
        key = (constants, override(), chosen, None if chosen else environment.get("HOME"))
        known = _answers.get(key)
        if known is None:
            known = str(os.fspath(constants.get_hermes_home()))
            if len(_answers) > 100:
                _answers.clear()
            if os.name != "nt":  # there the default hangs on more variables
                _answers[key] = known
        return known
    except Exception:  # a host that is shutting down, or a changed signature: fall through to its own rule
        return _own_answer()


def _own_answer() -> str:
    chosen = os.environ.get("HERMES_HOME", "").strip()
    if chosen:
        return os.path.expanduser(chosen)
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA", "").strip()
        if local:
            return os.path.join(local, "hermes")
    return os.path.join(os.path.expanduser("~"), ".hermes")


def data_folder(home: str) -> str:
    """``<home>/plugin-data/agent-ledger``, where everything that the plugin writes lives."""
    return os.path.join(home, "plugin-data", PLUGIN)


def ledger_path(home: str) -> str:
    return os.path.join(data_folder(home), "ledger.db")


def make_private_folder(path: str) -> None:
    """Create a folder for this user alone (0700); an existing one of ours is tightened, and so is the plugin's data
    folder above it. Raises OSError where that cannot be done.
    """
    parent = os.path.dirname(path)
    if os.path.basename(parent) == PLUGIN and os.path.basename(path) != PLUGIN:
        make_private_folder(parent)
    Path(parent).mkdir(parents=True, exist_ok=True)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    status = os.stat(path)
    if status.st_mode & 0o077 and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid()):
        os.chmod(path, 0o700)


def is_private_file(path: str) -> bool:
    """True where ``path`` is a plain file of this user that nobody else may write: only such a file may decide
    anything here. A symbolic link is followed only to a file for which the same holds."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    if not os.path.isfile(path):
        return False
    if hasattr(os, "geteuid"):
        return status.st_uid in (os.geteuid(), 0) and not status.st_mode & 0o022
    return True
