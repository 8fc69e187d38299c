"""One finding of ``doctor``, and the checks of the files, the spool and the counters of a home."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import LedgerError, NoLedger
from ..ghosts import footprint
from ..home import data_folder, ledger_path
from ..store import schema
from ..store.reader import Reader
from . import where
from .text import plural, safe, size

OK, WARN, FAIL = "ok", "warn", "fail"
INTEGRITY_S = 2.0

# sqlite.org/wal.html, section "the WAL-reset bug": 3.7.0 to 3.51.2, fixed in 3.51.3 and in two older branches.
_FIXED_BRANCHES = ((3, 44, 6), (3, 50, 7))


@dataclass(frozen=True, slots=True)
class Check:
    """``state``: ok, warn or fail; ``next``: what to do about it, '' where nothing is to be done."""

    name: str
    state: str
    detail: str
    next: str = ""


def wal_reset_fault(version: tuple[int, ...]) -> bool:
    """Whether this SQLite can damage a ledger when two connections reset its log at once."""
    if version >= (3, 51, 3) or version < (3, 7, 0):
        return False
    return not any(version[:2] == fixed[:2] and version >= fixed for fixed in _FIXED_BRANCHES)


def sqlite_library() -> Check:
    version = sqlite3.sqlite_version
    if not wal_reset_fault(sqlite3.sqlite_version_info):
        return Check("sqlite", OK, f"{version}; the WAL-reset fault is fixed in it")
    return Check(
        "sqlite", WARN,
        f"{version} has the WAL-reset fault (fixed in 3.51.3); hooks never checkpoint, and checkpoints hold a lock"
        " file, which avoids it among copies of this plugin",
        "do not checkpoint or VACUUM the ledger with other programs while agents run; a Python with SQLite 3.51.3"
        " or later ends the matter",
    )  # fmt: skip


def ledger(home: str) -> tuple[list[Check], Mapping[str, str], Mapping[str, int]]:
    """(checks of the ledger file, its counters, what of the spool it holds)."""
    path = ledger_path(home)
    try:
        with Reader(path) as reader:
            return _open_ledger(reader), reader.meta(), reader.applied()
    except NoLedger as nothing:
        return [Check("ledger", OK, str(nothing))], {}, {}
    except LedgerError as trouble:
        return (
            [
                Check(
                    "ledger", FAIL, str(trouble), "hooks go on: they set a damaged ledger aside, or record to the spool"
                )
            ],
            {},
            {},
        )


def _open_ledger(reader: Reader) -> list[Check]:
    rows = plural(reader.totals().rows, "call")
    found = [
        Check(
            "ledger",
            OK,
            f"{reader.path}, {rows}" + (", read without locks (read-only folder)" if reader.immutable else ""),
        )
    ]
    if reader.version > schema.SCHEMA_VERSION:
        found.append(
            Check("schema", WARN, f"{reader.version}, newer than this version's {schema.SCHEMA_VERSION}",
                  "update the plugin: hermes plugins update agent-ledger")
        )  # fmt: skip
    else:
        found.append(Check("schema", OK, f"version {reader.version}"))
    mode = str(reader.pragma("journal_mode"))
    if mode == "wal" or reader.immutable:
        found.append(Check("journal", OK, "wal"))
    else:
        found.append(
            Check("journal", WARN, f"{mode}: the file system refused a write-ahead log, so writers wait for readers",
                  "keep the Hermes home on a local disk")
        )  # fmt: skip
    whole, wrong = reader.quick_check(INTEGRITY_S)
    if wrong:
        found.append(
            Check("integrity", FAIL, "; ".join(safe(text) for text in wrong[:3]),
                  "copy ledger.db, ledger.db-wal and ledger.db-shm away, then delete them while no agent runs")
        )  # fmt: skip
    else:
        extent = "the whole file" if whole else f"what {INTEGRITY_S:.0f} s allow"
        found.append(Check("integrity", OK, f"nothing wrong in {extent}"))
    return found


def files(home: str) -> Check:
    """Whether only this user can read and write what the plugin keeps, and whether it can be written at all."""
    folder = data_folder(home)
    if not os.path.lexists(folder):
        return Check("files", OK, f"{folder} is not there yet")
    me = os.geteuid() if hasattr(os, "geteuid") else None
    foreign, open_to_others, locked = [], [], []
    for path in _kept(folder):
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if me is not None and status.st_uid != me:
            foreign.append(path)
        if status.st_mode & 0o077 and not stat.S_ISLNK(status.st_mode) and os.name != "nt":
            open_to_others.append(f"{path} ({stat.S_IMODE(status.st_mode):04o})")
        if not os.access(path, os.W_OK):
            locked.append(path)
    if locked:
        return Check(
            "files",
            FAIL,
            f"cannot write {_some(locked)}",
            f"give {folder} back to the user that runs Hermes, folder 0700, files 0600",
        )
    if foreign:
        return Check("files", WARN, f"of another user: {_some(foreign)}", f"give {folder} to the user that runs Hermes")
    if open_to_others:
        return Check("files", WARN, f"others may look at {_some(open_to_others)}", f"chmod -R go= {folder}")
    return Check("files", OK, f"{folder} 0700, files 0600, yours")


def _kept(folder: str) -> list[str]:
    found = [folder]
    for name in sorted(os.listdir(folder)) if os.access(folder, os.R_OK | os.X_OK) else []:
        named = ("ledger.db", "settings.json", "policy.json", "policy_mode")
        if name.startswith(named) or name in ("spool", "owners", footprint.KEY_FILE):
            found.append(os.path.join(folder, name))
    return found


def spool(home: str, applied: Mapping[str, int], not_replayed: str) -> Check:
    waits = where.waiting(home, applied)
    ignored = _untrusted(home)
    if waits.lines:
        why = f": {not_replayed}" if not_replayed else ""
        return Check("spool", WARN, f"{plural(waits.lines, 'record')} ({size(waits.bytes)}) wait for the ledger{why}",
                     "they are put in by the next hook or command that reaches the ledger")  # fmt: skip
    if ignored:
        return Check("spool", WARN, f"not trusted, so ignored: {_some(ignored)}",
                     "spool files count only where they are files of yours that nobody else may write")  # fmt: skip
    return Check("spool", OK, "nothing waits")


def _untrusted(home: str) -> list[str]:
    folder = os.path.join(data_folder(home), "spool")
    trusted = set(where.spool_of(home).files())
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return []
    return [
        entry.path
        for entry in entries
        if entry.name.endswith(".jsonl") and entry.path not in trusted and entry.stat(follow_symlinks=False).st_size
    ]


def counters(meta: Mapping[str, str]) -> Check:
    """What was lost or refused so far."""
    told = [
        f"{key} {meta[key]}" for key in ("lost_writes", "spool_refused", "spool_replayed") if meta.get(key, "0") != "0"
    ]
    trouble = f"last trouble {meta.get('last_error_ts')}: {meta.get('last_error')}" if meta.get("last_error") else ""
    detail = "; ".join([", ".join(told) or "nothing lost", *([trouble] if trouble else [])])
    if meta.get("lost_writes", "0") != "0":
        return Check(
            "counters",
            WARN,
            detail,
            "records were lost while neither ledger nor spool could be written; see the last trouble",
        )
    return Check("counters", OK, detail)


def set_aside(home: str) -> Check:
    found = where.set_aside(home)
    if not found:
        return Check("set aside", OK, "no damaged ledger was set aside")
    named = _some([f"{name} ({size(count)})" for name, count in found.items()])
    return Check(
        "set aside", WARN,
        f"damaged earlier ledgers in {data_folder(home)}, {size(sum(found.values()))} in all: {named}",
        "`sqlite3 FILE .recover` shows what can still be read; delete them, with their -wal and -shm, when they are of"
        " no more use: the plugin never does",
    )  # fmt: skip


def _some(names: list[str]) -> str:
    shown = ", ".join(safe(name) for name in names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")
