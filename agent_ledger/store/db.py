"""The connection: shared by all threads and copies in a process, noticed to be gone, and never waited for too long."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .. import process
from . import schema
from .opening import identity, make_ready, opened
from .patience import LOCK_WAIT_S, OPEN_WAIT_S, QUEUE_WAIT_S, patiently
from .trouble import Unavailable, classify

T = TypeVar("T")

LOOK_EVERY_S = 0.01  # how long an open file is taken for the one that was opened


def _of(shared: _Shared, error: BaseException) -> Unavailable:
    """What an error means, with the file that it is about."""
    trouble = classify(error)
    trouble.identity = shared.identity
    return trouble


class _Shared:
    """One SQLite connection and the lock around it; shared by every copy of the plugin in this process."""

    __slots__ = ("connection", "current_until", "identity", "lock", "mode", "version")

    def __init__(self, connection: sqlite3.Connection, identity: tuple[int, int], mode: str, version: int) -> None:
        self.connection = connection
        self.identity = identity
        self.current_until = 0.0
        # Reentrant, so that a thread can tell what it holds: an interrupt may arrive between taking it and the `try`.
        self.lock = threading.RLock()
        self.mode = mode
        self.version = version


def release_owned() -> None:
    """Give back what an interrupted call of this thread still holds, and undo its half-done transaction."""
    state = process.registry()
    for shared in list(state.connections.values()):
        if shared.lock._is_owned():
            with contextlib.suppress(sqlite3.Error):
                if shared.connection.in_transaction:
                    shared.connection.execute("ROLLBACK")
        while shared.lock._is_owned():
            shared.lock.release()
    while state.lock._is_owned():
        state.lock.release()


class Database:
    """The ledger file of one home, as one process sees it. Thread-safe; never closed by a hook."""

    def __init__(self, path: str, synchronous: str = "normal", private: bool = False) -> None:
        """``private``: with a connection of its own instead of the process's, for long work beside hooks."""
        self.path = path
        self.synchronous = synchronous
        self._wal = path + "-wal"
        self._connections: dict[str, _Shared] = {} if private else process.registry().connections
        self._tried: tuple[int, int] | None = None  # the file that was last opened, or could not be

    # --- use

    def write(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T:
        """Run ``work`` in one IMMEDIATE transaction and commit it. ``deadline`` is on the monotonic clock and bounds
        the waiting for locks, not the work. Raises Unavailable, and nothing else, for what SQLite or the disk
        refuses."""
        return self._twice(lambda: self._write(work, deadline))

    def insert(self, statement: str, parameters: tuple[Any, ...], deadline: float) -> int:
        """Run one INSERT as its own transaction; returns the row id. The quickest way to disk."""
        return self._run(statement, parameters, deadline).lastrowid or 0

    def change(self, statement: str, parameters: tuple[Any, ...], deadline: float) -> int:
        """Run one UPDATE as its own transaction; returns the number of rows changed."""
        return self._run(statement, parameters, deadline).rowcount

    def read(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T:
        """Run a reading ``work``; each of its statements sees its own snapshot."""
        return self._twice(lambda: self._read(work, deadline))

    def _run(self, statement: str, parameters: tuple[Any, ...], deadline: float) -> sqlite3.Cursor:
        shared = self._connections.get(self.path)
        if shared is not None and shared.lock.acquire(False):
            try:
                if self._is_fresh(shared):
                    return shared.connection.execute(statement, parameters)
            except sqlite3.Error:
                pass  # nothing was written: the patient way says what it is
            finally:
                shared.lock.release()
        return self._twice(lambda: self._run_patiently(statement, parameters, deadline))

    def _twice(self, attempt: Callable[[], T]) -> T:
        """Once more, with a fresh connection, where the file or log of the one that failed was taken away."""
        try:
            return attempt()
        except Unavailable as trouble:
            if trouble.kind not in ("i/o error", "cannot open", "read-only") or not self.forget_where_gone():
                raise
        return attempt()

    def _write(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T:
        shared = self._take(deadline)
        connection = shared.connection
        try:
            patiently(lambda: connection.execute("BEGIN IMMEDIATE"), deadline)
            try:
                value = work(connection)
                connection.execute("COMMIT")
                return value
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                raise
        except (sqlite3.Error, OSError) as error:
            raise _of(shared, error) from error
        finally:
            shared.lock.release()

    def _run_patiently(self, statement: str, parameters: tuple[Any, ...], deadline: float) -> sqlite3.Cursor:
        shared = self._take(deadline)
        try:
            return patiently(lambda: shared.connection.execute(statement, parameters), deadline)
        except (sqlite3.Error, OSError) as error:
            raise _of(shared, error) from error
        finally:
            shared.lock.release()

    def _read(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T:
        shared = self._take(deadline)
        try:
            return patiently(lambda: work(shared.connection), deadline)
        except (sqlite3.Error, OSError) as error:
            raise _of(shared, error) from error
        finally:
            shared.lock.release()

    @property
    def journal_mode(self) -> str:
        """The mode in force, '' while nothing is open."""
        shared = self._connections.get(self.path)
        return shared.mode if shared else ""

    def set_aside(self, failed: tuple[int, int] | None = None) -> str | None:
        """Rename a corrupt ledger and its sidecars out of the way, so that a fresh one can start.

        Returns the new name, or None where another process has already done it. Raises OSError where it cannot be read.
        """
        from . import aside, lockfile  # only a corrupt ledger needs them

        state = process.registry()
        with state.lock, lockfile.exclusive(self.path + ".aside"):
            shared = self._connections.get(self.path)
            if shared is not None and failed in (None, shared.identity):
                self._forget(shared)
            # Only the very file that was found corrupt: another process, or thread, may have begun a fresh one.
            wanted = failed or (shared.identity if shared is not None else self._tried)
            if wanted is not None and identity(self.path) != wanted:
                return None
            return aside.set_aside(self.path)

    def close(self) -> None:
        """Close a private connection."""
        shared = self._connections.pop(self.path, None)
        if shared is not None:
            shared.connection.close()

    def forget_where_gone(self) -> bool:
        """Give up the connection where its file or its log was taken away; the next use opens what is there then."""
        state = process.registry()
        with state.lock:
            shared = self._connections.get(self.path)
            if shared is None or self._is_current(shared):
                return False
            self._forget(shared)
            return True

    # --- opening

    def _take(self, deadline: float) -> _Shared:
        """The shared connection, locked. Opens it, or opens it again where the file is no longer the one we opened."""
        shared = self._connections.get(self.path)
        if shared is not None:
            now = time.monotonic()
            if not shared.lock.acquire(False) and not shared.lock.acquire(timeout=QUEUE_WAIT_S):
                raise Unavailable("busy", "another thread of this process holds the connection")
            if self._is_usable(shared, now):
                return shared
            shared.lock.release()
        state = process.registry()
        # Opening is work, done once: whoever comes meanwhile waits for it as if doing it alone.
        if not state.lock.acquire(timeout=OPEN_WAIT_S):
            raise Unavailable("busy", "another thread of this process opens the ledger")
        try:
            current = self._connections.get(self.path)
            if current is shared or current is None:
                if shared is not None:
                    self._forget(shared)
                current = self._connections[self.path] = self._open(deadline)
        except (sqlite3.Error, OSError) as error:
            trouble = classify(error)
            trouble.identity = self._tried
            raise trouble from error
        finally:
            state.lock.release()
        if not current.lock.acquire(timeout=QUEUE_WAIT_S):
            raise Unavailable("busy", "another thread of this process holds the connection")
        return current

    def _is_usable(self, shared: _Shared, now: float) -> bool:
        """True where the locked connection may be used; False where it must be opened again."""
        try:
            if shared.connection.in_transaction:  # left behind by an interrupt
                shared.connection.execute("ROLLBACK")
        except sqlite3.Error:  # another thread closed it while this one waited for the lock
            return False
        if now < shared.current_until:
            return True
        if self._is_current(shared):
            shared.current_until = now + LOOK_EVERY_S
            return True
        return False

    @staticmethod
    def _is_fresh(shared: _Shared) -> bool:
        """True within the moment after a look at the file, when nothing needs to be checked."""
        return time.monotonic() < shared.current_until and not shared.connection.in_transaction

    def _is_current(self, shared: _Shared) -> bool:
        """False once the file was renamed, deleted or replaced, its log was taken away under us, a later version of
        the plugin changed its schema, or this is that version and the connection that of the copy before it."""
        if identity(self.path) != shared.identity:
            return False
        if shared.mode == "wal" and not os.path.exists(self._wal):
            return False
        try:
            return schema.version(shared.connection) == shared.version >= schema.SCHEMA_VERSION
        except sqlite3.Error:  # locked or sick: the work at hand will say so
            return True

    def _forget(self, shared: _Shared) -> None:
        """Stop using a connection whose file or log is not what it was."""
        self._connections.pop(self.path, None)
        if identity(self.path) == shared.identity and shared.lock.acquire(timeout=LOCK_WAIT_S):
            # Only the log was taken away. SQLite shares a file's index within a process, so a second connection works
            # only once this one is closed; that also saves what stood in the log.
            try:
                shared.connection.close()
                return
            except sqlite3.Error:
                pass
            finally:
                shared.lock.release()
        # Another file is there now: closing would remove its log by name, so the connection is kept unused.
        process.registry().abandoned.append(shared)

    def _open(self, deadline: float) -> _Shared:
        make_ready(self.path, self.synchronous)
        self._tried = identity(self.path)
        connection, mode, version = opened(self.path, self.synchronous, deadline)
        found = identity(self.path)
        if found is None:
            connection.close()
            raise Unavailable("cannot open", f"{self.path} was taken away while it was opened")
        return _Shared(connection, found, mode, version)


__all__ = ["Database", "Unavailable", "release_owned"]
