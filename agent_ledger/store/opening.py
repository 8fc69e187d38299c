"""The file: how it is made, opened for writing, set up, and told from another one of the same name."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading

from .. import log
from ..home import make_private_folder
from . import schema
from .patience import patiently
from .trouble import Unavailable


def make_ready(path: str, synchronous: str) -> None:
    """Make the ledger where there is none; where there is one, nobody else may read it."""
    if not os.path.exists(path):
        make_private_folder(os.path.dirname(path))
        create(path, synchronous)
    elif os.stat(path).st_mode & 0o077:
        os.chmod(path, 0o600)


def create(path: str, synchronous: str = "normal") -> None:
    """Make a fresh ledger so that it appears complete or not at all.

    It is built under another name and linked into place: processes that start at the same instant neither wait for one
    another nor see half a schema. The file is private (0600) before SQLite opens it; its sidecars inherit the mode.
    """
    building = f"{path}.new-{os.getpid()}-{threading.get_ident()}"
    _remove(building)
    os.close(os.open(building, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        connection, _ = _connected(building, synchronous_off=synchronous != "full")
        try:
            schema.migrate(connection)
        finally:
            connection.close()
        try:
            os.link(building, path)
        except FileExistsError:
            pass
        except OSError:
            if not os.path.exists(path):  # a file system without hard links
                os.rename(building, path)
    finally:
        _remove(building)


def _remove(building: str) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            os.unlink(building + suffix)


def opened(path: str, synchronous: str, deadline: float) -> tuple[sqlite3.Connection, str, int]:
    """A connection that writes to the ledger at ``path``, its journal mode and its schema version.

    ``deadline`` is on the monotonic clock. Raises sqlite3.Error or OSError, and Unavailable for a newer ledger.
    """
    connection, mode = patiently(lambda: _connected(path), deadline)
    try:
        version = patiently(lambda: _prepare(connection, synchronous), deadline)
        if mode == "wal":
            patiently(lambda: _touch_log(connection), deadline)
    except BaseException:
        connection.close()
        raise
    if mode != "wal":
        log.warn("wal", "SQLite cannot use its write-ahead log for %s (mode %s); recording goes on", path, mode)
    return connection, mode, version


def _prepare(connection: sqlite3.Connection, synchronous: str) -> int:
    """Set up a connection that writes; returns the schema version that it may write to. Raises Unavailable for a newer
    ledger."""
    connection.execute(f"PRAGMA synchronous = {'FULL' if synchronous == 'full' else 'NORMAL'}")
    # Hooks never checkpoint: it takes long, and SQLite before 3.51.3 can lose pages when two processes do it at once.
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    schema.migrate(connection)
    at = schema.version(connection)
    if at > schema.SCHEMA_VERSION and schema.min_writer(connection) > schema.SCHEMA_VERSION:
        raise Unavailable("newer", f"the ledger has schema {at}, this plugin writes {schema.SCHEMA_VERSION}")
    return at


def _use_log(connection: sqlite3.Connection) -> str:
    """Switch to the write-ahead log; returns the mode in force. Raises OperationalError where the log's index cannot be
    mapped, as on many network file systems: SQLite finds that out with the first read."""
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal":
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return str(mode)


def _connected(path: str, synchronous_off: bool = False) -> tuple[sqlite3.Connection, str]:
    """A connection to ``path`` and its journal mode: the write-ahead log, or the rollback journal where that is
    refused."""
    connection = _connect(path)
    try:
        if synchronous_off:
            connection.execute("PRAGMA synchronous = OFF")
        if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # cannot be switched on later without a VACUUM
        return connection, _use_log(connection)
    except sqlite3.OperationalError as error:
        connection.close()
        if not _refuses_log(error):
            raise
    except BaseException:
        connection.close()
        raise
    # The file may say WAL by now, and only a connection that has it for itself from the start does without the index.
    alone = _connect(path)
    try:
        alone.execute("PRAGMA locking_mode = EXCLUSIVE")
        alone.execute("PRAGMA auto_vacuum = INCREMENTAL")
        alone.execute("PRAGMA journal_mode = DELETE").fetchone()
        alone.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        alone.close()
    connection = _connect(path)
    try:
        return connection, str(connection.execute("PRAGMA journal_mode").fetchone()[0])
    except BaseException:
        connection.close()
        raise


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False, cached_statements=64)


def _refuses_log(error: sqlite3.OperationalError) -> bool:
    """True for what SQLite says where it cannot share the log's index."""
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_IOERR_SHM", "SQLITE_CANTOPEN"))


def _touch_log(connection: sqlite3.Connection) -> None:
    """Make sure that the write-ahead log exists, since its absence later tells that somebody took it away."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("COMMIT")


def identity(path: str) -> tuple[int, int] | None:
    """What tells one file at ``path`` from the next: device and inode; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
