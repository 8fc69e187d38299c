"""A connection that can change nothing, neither in the file nor for those who write to it.

How to open a ledger was tried on SQLite 3.40, the oldest that a supported host links:

* ``mode=ro`` reads a ledger in use, and one that a killed process left with its log and index. Such a connection cannot
  write pages, and its last close neither checkpoints nor removes the log, which a writing connection's would. It takes
  only a shared lock, so no hook ever waits for it.
* Where log and index are absent (every process ended in order), ``mode=ro`` makes an empty log and an index beside the
  ledger, as every reader of a WAL database does. In a folder that this user cannot write it is refused instead; then
  ``immutable=1`` reads the file as it is. That skips all locks and ignores the log, so it is only right while there is
  no log: with one, the newest rows would silently be missing, and the caller is told instead.
* A foreign ``-shm`` that this user can read is no obstacle; one that cannot be read is, and is reported.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from typing import Any, Self, TypeVar

from ..errors import LedgerUnreadable, NewerLedger, NoLedger
from . import schema
from .opening import identity

T = TypeVar("T")

WAIT_S = 2.0  # for a lock, which only a file in rollback mode or a recovery can make a reader meet


def connect(path: str, wait_s: float, immutable: bool = False) -> sqlite3.Connection:
    """Open any SQLite file for reading, the host's own among them. ``immutable``: without locks and without its log."""
    from urllib.parse import quote  # slow to import, and most hooks read no other file

    query = "mode=ro&immutable=1" if immutable else "mode=ro"
    return sqlite3.connect(f"file:{quote(os.fsencode(path))}?{query}", uri=True, timeout=wait_s, isolation_level=None)


class ReadOnly:
    """A read-only connection to one ledger; a context manager. All methods raise LedgerUnreadable for what SQLite
    refuses."""

    def __init__(self, path: str, wait_s: float = WAIT_S) -> None:
        """Open ``path``. Raises NoLedger where nothing is recorded yet, NewerLedger or LedgerUnreadable."""
        self.path = path
        self.immutable = False
        self.stamp = identity(path)
        kind = _kind(path)
        if kind == "absent":
            raise NoLedger(
                f"no ledger yet at {path}: nothing was recorded in this Hermes home. The first state-changing call of"
                " an agent creates it; see `hermes ledger doctor` where you expected calls"
            )
        if kind != "file":
            raise LedgerUnreadable(
                f"{path} is {kind}, not a ledger. Move it away, so that the plugin can make a fresh one"
            )
        self._connection = self._connect(wait_s)
        try:
            self.version = self.ask(schema.version)
            self._check_tables()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a reading ``work``."""
        try:
            return work(self._connection)
        except (sqlite3.Error, OSError) as error:
            raise self._unreadable(error) from error

    def pragma(self, name: str) -> Any:
        """The value of a reading pragma such as ``journal_mode``; ``name`` is one of ours."""
        return self.ask(lambda connection: connection.execute(f"PRAGMA {name}").fetchone()[0])

    def changes(self) -> int:
        """A number that moves when another connection commits: the cheap question of ``tail -f``."""
        return int(self.pragma("data_version"))

    def quick_check(self, seconds: float) -> tuple[bool, list[str]]:
        """(whether the whole file was looked at, what is wrong), within about ``seconds``."""
        # From a thread of its own: a whole table is checked in one step of SQLite's machine, and a progress handler is
        # only asked between two steps.
        clock = threading.Timer(seconds, self._connection.interrupt)
        clock.daemon = True
        clock.start()
        try:
            found = [str(row[0]) for row in self._connection.execute("PRAGMA quick_check(5)")]
            return True, [] if found == ["ok"] else found
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == 9:  # SQLITE_INTERRUPT: the time is over
                return False, []
            return True, [str(error)]
        finally:
            clock.cancel()
            clock.join()

    def _connect(self, wait_s: float) -> sqlite3.Connection:
        try:
            return _connected(self.path, wait_s)
        except (sqlite3.Error, OSError) as refused:
            code = getattr(refused, "sqlite_errorcode", 0) & 0xFF
            # 14 cannot open, 8 read-only: there is no index, and none can be made in this folder.
            if code not in (8, 14) or _has_log(self.path):
                raise self._unreadable(refused) from refused
            try:
                connection = _connected(self.path, wait_s, immutable=True)
            except (sqlite3.Error, OSError):
                raise self._unreadable(refused) from refused
            self.immutable = True
            return connection

    def _check_tables(self) -> None:
        names = self.ask(lambda connection: {row[0] for row in connection.execute("SELECT name FROM sqlite_master")})
        if not names:
            raise NoLedger(f"the ledger at {self.path} is empty: nothing was recorded in this Hermes home yet")
        if "ledger" not in names:
            raise LedgerUnreadable(
                f"{self.path} is a database of another program (it has no table `ledger`). Move it away, so that the"
                " plugin can make a fresh ledger"
            )

    def _unreadable(self, error: BaseException) -> LedgerUnreadable | NewerLedger:
        code = getattr(error, "sqlite_errorcode", None)
        primary = code & 0xFF if isinstance(code, int) else None
        if getattr(self, "version", 0) > schema.SCHEMA_VERSION:
            return NewerLedger(
                f"cannot read {self.path}: it was made by a later version of agent-ledger (schema {self.version},"
                f" this version knows {schema.SCHEMA_VERSION}; {error}). Update the plugin: hermes plugins"
                " update agent-ledger"
            )
        return LedgerUnreadable(f"cannot read {self.path}: {error}. {_NEXT.get(primary or 0, _NEXT[0])}")


_NEXT = {
    5: "Another process holds it; try again in a moment",
    8: "This user can neither use nor make its index beside it; run the command as the user that owns the folder",
    10: "The disk reported an error; look at the system log and at the disk before anything else",
    11: "The file is damaged; copy it away with its -wal and -shm, then let the next agent call start a fresh one",
    14: "This user may not open it or the log beside it; run the command as the user that owns the folder",
    26: "It is no SQLite database; move it away, so that the plugin can make a fresh ledger",
    0: "See `hermes ledger doctor` for the state of the ledger",
}
_NEXT[6] = _NEXT[5]


def _kind(path: str) -> str:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return "absent"
    except NotADirectoryError:
        return "absent"
    except OSError as error:
        raise LedgerUnreadable(
            f"cannot look at {path}: {error.strerror}. Run the command as the user that owns the folder"
        ) from error
    if stat.S_ISREG(status.st_mode):
        return "file"
    return "a folder" if stat.S_ISDIR(status.st_mode) else "no plain file"


def _has_log(path: str) -> bool:
    with contextlib.suppress(FileNotFoundError):
        try:
            return os.stat(path + "-wal").st_size > 0
        except PermissionError:
            return True
    return False


def _connected(path: str, wait_s: float, immutable: bool = False) -> sqlite3.Connection:
    connection = connect(path, wait_s, immutable)
    # Rows are for reading: bytes that are no UTF-8 must not hide the others.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
