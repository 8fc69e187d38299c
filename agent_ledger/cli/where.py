"""Which home a command speaks of, what the host's configuration says there, and the lines that wait in its spool."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import settings
from ..errors import UsageError
from ..ghosts import owner
from ..home import PLUGIN, data_folder, hermes_home, ledger_path
from ..store.db import Database, Unavailable
from ..store.reader import Reader
from ..store.spool import Spool

REPLAY_S = 2.0  # what a command may spend on lines that wait
_LOCK_S = 0.5
_SEQ = re.compile(rb'\{"seq": (\d{1,18}),')


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the spool holds that is not in the ledger yet."""

    files: int
    lines: int
    bytes: int


def home_of(asked: str | None) -> str:
    """The absolute home that a command works on. Raises UsageError for a folder that is not there."""
    if asked is None:
        return os.path.abspath(_in_force())
    if not asked or "\0" in asked:
        raise UsageError("--home needs the path of a Hermes home, such as ~/.hermes")
    path = os.path.abspath(os.path.expanduser(asked))
    if not os.path.isdir(path):
        raise UsageError(
            f"there is no folder {path}. Give the Hermes home, the folder that holds config.yaml, with --home"
        )
    return path


def _in_force() -> str:
    """The host's own home; outside of the host also the profile that ``hermes profile use`` made the standing one."""
    home = hermes_home()
    if "hermes_constants" in sys.modules or os.path.basename(os.path.dirname(home)) == "profiles":
        return home
    try:
        with open(os.path.join(home, "active_profile"), encoding="utf-8-sig") as file:
            name = file.read(200).strip()
    except (OSError, ValueError):
        return home
    profile = os.path.join(home, "profiles", name)
    return profile if re.fullmatch(r"[A-Za-z0-9._-]+", name) and name != "default" and os.path.isdir(profile) else home


def host_config(home: str) -> Mapping[str, Any] | None:
    """The host's ``config.yaml`` of ``home``; None where it is absent or nothing here can read YAML."""
    loaded = sys.modules.get("hermes_cli.config")
    if loaded is not None and os.path.abspath(hermes_home()) == home:
        with contextlib.suppress(Exception):
            found = loaded.load_config()
            if isinstance(found, Mapping):
                return found
    path = os.path.join(home, "config.yaml")
    if not os.path.isfile(path):
        return None
    for load in (_pyyaml, _ruamel):
        with contextlib.suppress(Exception):
            found = load(path)
            if found is None or isinstance(found, Mapping):
                return found or {}
    return None


def _pyyaml(path: str) -> Any:
    yaml = importlib.import_module("yaml")
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def _ruamel(path: str) -> Any:
    module = importlib.import_module("ruamel.yaml")
    with open(path, encoding="utf-8") as file:
        return module.YAML(typ="safe", pure=True).load(file)


def host_settings(home: str) -> Callable[[], Any]:
    """What the host has under ``plugins.entries.agent-ledger.settings``, in the form that settings.load asks for."""

    def found() -> Any:
        node: Any = host_config(home)
        for key in ("plugins", "entries", PLUGIN, "settings"):
            if not isinstance(node, Mapping):
                return None
            node = node.get(key)
        return node

    return found


def settings_of(home: str) -> settings.Settings:
    return settings.load(home, host_settings(home))


def spool_of(home: str) -> Spool:
    """The spool as a command sees it: it has no file of its own, since a command writes no record."""
    return Spool(os.path.join(data_folder(home), "spool"), "command")


def replay(home: str, budget_s: float = REPLAY_S) -> str:
    """Put the lines that wait in the spool into the ledger, as the first hook would; returns why not, '' for done.

    Touches nothing where nothing waits, and never fails: the lines keep. The connection it makes is left to the end of
    the process, like a hook's: closing one early could take the log away from under a host that is just opening it.
    """
    spool = spool_of(home)
    path = ledger_path(home)
    try:
        if not spool.waiting() or (os.path.lexists(path) and not os.path.isfile(path)):
            return ""
        owners = os.path.join(data_folder(home), "owners")
        start = time.monotonic()
        spool.replay(
            Database(path, settings_of(home).synchronous),
            start + _LOCK_S,
            start + budget_s,
            lambda name: owner.is_gone(name, owners),
        )
    except Unavailable as trouble:
        return f"{trouble}"
    except (OSError, sqlite3.Error, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def waiting(home: str, applied: Mapping[str, int]) -> Waiting:
    """What still waits, given up to which line each file was ``applied``."""
    files = lines = total = 0
    for path in spool_of(home).files():
        mark = applied.get(os.path.basename(path)[: -len(".jsonl")], 0)
        here = 0
        with contextlib.suppress(OSError), open(path, "rb") as file:
            for line in file:
                form = _SEQ.match(line)
                if line.endswith(b"\n") and form and int(form[1]) > mark:
                    here += 1
                    total += len(line)
        if here:
            files += 1
            lines += here
    return Waiting(files, lines, total)


def opened(home: str, budget_s: float = REPLAY_S) -> Reader:
    """The ledger of ``home`` for reading, after what waits for it was put in. Raises NoLedger, LedgerUnreadable."""
    replay(home, budget_s)
    return Reader(ledger_path(home))


def set_aside(home: str) -> dict[str, int]:
    """Damaged ledgers that the plugin renamed out of the way, oldest first: name -> bytes, with those of its log."""
    start = os.path.basename(ledger_path(home)) + ".corrupt-"
    found: dict[str, int] = {}
    with contextlib.suppress(OSError):
        for entry in sorted(os.scandir(data_folder(home)), key=lambda entry: entry.name):
            if entry.name.startswith(start):
                # A process that died in between may have left a log without its ledger.
                name = re.sub("-(wal|shm|journal)$", "", entry.name)
                found[name] = found.get(name, 0) + entry.stat(follow_symlinks=False).st_size
    return found
