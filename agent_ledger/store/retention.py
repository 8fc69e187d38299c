"""The opt-in setting ``retention``: old calls go once a day, off the hook path, in small steps."""

from __future__ import annotations

import sqlite3
import threading
import time

from .. import log
from ..model import now_iso, parse_iso
from .db import Database, Unavailable
from .prune import Limits, prune

EVERY_S = 86_400
_LOCK_S = 1.0


def begin(path: str, keep_s: int) -> threading.Thread | None:
    """Remove calls older than ``keep_s`` seconds in a thread of its own; None where no thread can be had."""
    thread = threading.Thread(target=_run, args=(path, keep_s), name="agent-ledger-retention", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the interpreter is shutting down: the next session tries again
        return None
    return thread


def _run(path: str, keep_s: int) -> None:
    # A connection of its own: what scans the whole ledger must not stand before a hook.
    database = Database(path, private=True)
    try:
        if not database.read(_is_due, time.monotonic() + _LOCK_S):
            return
        done = prune(database, Limits(before=now_iso(time.time() - keep_s)), lambda _: None)
        # Noted at the end: a process that ends before leaves the rest to the next one.
        database.write(_note, time.monotonic() + _LOCK_S)
        if done.rows:
            log.info("retention removed %d calls", done.rows)
    except (Unavailable, sqlite3.Error, OSError) as trouble:
        log.warn("retention", "old calls could not be removed (%s); the next session tries again", trouble)
    finally:
        database.close()


def _is_due(connection: sqlite3.Connection) -> bool:
    """True where it was not done within a day."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'retention_ts'").fetchone()
    last = parse_iso(row[0]) if row else None
    return last is None or not 0 <= time.time() - last < EVERY_S


def _note(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('retention_ts', ?)", (now_iso(),))
