"""The connection: how the file is made, opened, shared, noticed to be gone, and never waited for too long."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from .. import log, process
from ..home import make_private_folder
from ..model import now_iso
from . import schema

T = TypeVar("T")

LOCK_WAIT_S = 0.05  # what one hook may wait for locks, all of them together
LOOK_EVERY_S = 0.01  # how long an open file is taken for the one that was opened
# What a hook may wait behind other threads of this process. The one in front waits for the database until its own
# deadline at most, and whoever comes after that finds its time used up: only a starved processor makes this wait
# longer.
QUEUE_WAIT_S = 0.25
OPEN_WAIT_S = 0.4  # what a first hook may wait for another thread that opens the ledger
_PAUSES_S = (0.0002, 0.0003, 0.0005, 0.001, 0.002)

# SQLite primary result codes (the low byte of an extended code): sqlite.org/rescode.html
_KINDS = {
    5: "busy",
    6: "busy",
    8: "read-only",
    10: "i/o error",
    11: "corrupt",
    13: "full",
    14: "cannot open",
    26: "corrupt",
}


class Unavailable(Exception):
    """The database could not take this now. ``kind``: busy, full, read-only, i/o error, cannot open, corrupt, newer,
    ..."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.identity: tuple[int, int] | None = None  # device and inode of the file that was tried


def _of(shared: _Shared, error: BaseException) -> Unavailable:
    """What an error means, with the file that it is about."""
    trouble = classify(error)
    trouble.identity = shared.identity
    return trouble


def classify(error: BaseException) -> Unavailable:
    """Name what an sqlite3 or operating-system error means for us."""
    if isinstance(error, Unavailable):
        return error
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        return Unavailable(_KINDS.get(code & 0xFF, "error"), str(error))
    if isinstance(error, OSError):
        kind = {28: "full", 30: "read-only", 13: "read-only"}.get(error.errno or 0, "cannot open")
        return Unavailable(kind, str(error))
    return Unavailable("error", f"{type(error).__name__}: {error}")


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
        try:
            return self._write(work, deadline)
        except Unavailable as trouble:
            self._reopen_where_gone(trouble)
        return self._write(work, deadline)

    def insert(self, statement: str, parameters: tuple[Any, ...], deadline: float) -> int:
        """Run one INSERT as its own transaction; returns the row id. The quickest way to disk."""
        shared = self._connections.get(self.path)
        if shared is not None and shared.lock.acquire(False):
            try:
                if self._is_fresh(shared):
                    return shared.connection.execute(statement, parameters).lastrowid or 0
            except sqlite3.Error:
                pass  # nothing was written: the patient way says what it is
            finally:
                shared.lock.release()
        try:
            return self._insert(statement, parameters, deadline)
        except Unavailable as trouble:
            self._reopen_where_gone(trouble)
        return self._insert(statement, parameters, deadline)

    def change(self, statement: str, parameters: tuple[Any, ...], deadline: float) -> int:
        """Run one UPDATE as its own transaction; returns the number of rows changed."""
        shared = self._connections.get(self.path)
        if shared is not None and shared.lock.acquire(False):
            try:
                if self._is_fresh(shared):
                    return shared.connection.execute(statement, parameters).rowcount
            except sqlite3.Error:
                pass
            finally:
                shared.lock.release()
        try:
            return self._change(statement, parameters, deadline)
        except Unavailable as trouble:
            self._reopen_where_gone(trouble)
        return self._change(statement, parameters, deadline)

    def read(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T:
        """Run a reading ``work``; each of its statements sees its own snapshot."""
        try:
            return self._read(work, deadline)
        except Unavailable as trouble:
            self._reopen_where_gone(trouble)
        return self._read(work, deadline)

    def _reopen_where_gone(self, trouble: Unavailable) -> None:
        """Return where the file or log of the failed connection turns out to have been taken away, so that a fresh one
        is worth a try; raise ``trouble`` again otherwise."""
        if trouble.kind not in ("i/o error", "cannot open", "read-only") or not self.forget_where_gone():
            raise trouble

    def _write(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T:
        shared = self._take(deadline)
        connection = shared.connection
        try:
            _patiently(lambda: connection.execute("BEGIN IMMEDIATE"), deadline)
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

    def _insert(self, statement: str, parameters: tuple[Any, ...], deadline: float) -> int:
        shared = self._take(deadline)
        try:
            execute = shared.connection.execute
            try:
                return execute(statement, parameters).lastrowid or 0
            except sqlite3.OperationalError as error:
                if classify(error).kind != "busy":
                    raise
            return _patiently(lambda: execute(statement, parameters).lastrowid or 0, deadline)
        except (sqlite3.Error, OSError) as error:
            raise _of(shared, error) from error
        finally:
            shared.lock.release()

    def _change(self, statement: str, parameters: tuple[Any, ...], deadline: float) -> int:
        shared = self._take(deadline)
        try:
            execute = shared.connection.execute
            try:
                return execute(statement, parameters).rowcount
            except sqlite3.OperationalError as error:
                if classify(error).kind != "busy":
                    raise
            return _patiently(lambda: execute(statement, parameters).rowcount, deadline)
        except (sqlite3.Error, OSError) as error:
            raise _of(shared, error) from error
        finally:
            shared.lock.release()

    def _read(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T:
        shared = self._take(deadline)
        try:
            return _patiently(lambda: work(shared.connection), deadline)
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
        state = process.registry()
        with state.lock, exclusive(self.path + ".aside"):
            shared = self._connections.get(self.path)
            if shared is not None and failed in (None, shared.identity):
                self._forget(shared)
            # Only the very file that was found corrupt: another process, or thread, may have begun a fresh one.
            wanted = failed or (shared.identity if shared is not None else self._tried)
            if wanted is not None and _identity(self.path) != wanted:
                return None
            # SQLite calls a page corrupt that the disk would not give: a healthy ledger must not go for that.
            _read_through(self.path)
            stamp = now_iso().replace(":", "").replace(".", "")
            aside = f"{self.path}.corrupt-{stamp}-{os.getpid()}"
            # The write-ahead log goes first: a fresh database must never meet the old one's log.
            for suffix in ("-wal", "-shm", ""):
                with contextlib.suppress(FileNotFoundError):
                    os.rename(self.path + suffix, aside + suffix)
            return aside

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
        if _identity(self.path) != shared.identity:
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
        if _identity(self.path) == shared.identity and shared.lock.acquire(timeout=LOCK_WAIT_S):
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
        if not os.path.exists(self.path):
            make_private_folder(os.path.dirname(self.path))
            create(self.path, self.synchronous)
        elif os.stat(self.path).st_mode & 0o077:
            os.chmod(self.path, 0o600)
        self._tried = _identity(self.path)
        connection, mode = _patiently(lambda: connected(self.path), deadline)
        try:
            version = _patiently(lambda: prepare(connection, self.synchronous), deadline)
            if mode == "wal":
                _patiently(lambda: touch_log(connection), deadline)
        except BaseException:
            connection.close()
            raise
        if mode != "wal":
            log.warn(
                "wal", "SQLite cannot use its write-ahead log for %s (mode %s); recording goes on", self.path, mode
            )
        identity = _identity(self.path)
        if identity is None:
            connection.close()
            raise Unavailable("cannot open", f"{self.path} was taken away while it was opened")
        return _Shared(connection, identity, mode, version)


def prepare(connection: sqlite3.Connection, synchronous: str) -> int:
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


def use_log(connection: sqlite3.Connection) -> str:
    """Switch to the write-ahead log; returns the mode in force. Raises OperationalError where the log's index cannot be
    mapped, as on many network file systems: SQLite finds that out with the first read."""
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal":
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return str(mode)


def connected(path: str, synchronous_off: bool = False) -> tuple[sqlite3.Connection, str]:
    """A connection to ``path`` and its journal mode: the write-ahead log, or the rollback journal where that is
    refused."""
    connection = _connect(path)
    try:
        if synchronous_off:
            connection.execute("PRAGMA synchronous = OFF")
        if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # cannot be switched on later without a VACUUM
        return connection, use_log(connection)
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


def touch_log(connection: sqlite3.Connection) -> None:
    """Make sure that the write-ahead log exists, since its absence later tells that somebody took it away."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("COMMIT")


def create(path: str, synchronous: str = "normal") -> None:
    """Make a fresh ledger so that it appears complete or not at all.

    It is built under another name and linked into place: processes that start at the same instant neither wait for one
    another nor see half a schema. The file is private (0600) before SQLite opens it; its sidecars inherit the mode.
    """
    building = f"{path}.new-{os.getpid()}-{threading.get_ident()}"
    _remove(building)
    os.close(os.open(building, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        connection, _ = connected(building, synchronous_off=synchronous != "full")
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


@contextlib.contextmanager
def exclusive(path: str) -> Iterator[None]:
    """Hold the lock file ``path`` (0600). No lock where the file system has none.

    What it guards is short, so whoever holds it for ``QUEUE_WAIT_S`` is stopped or stuck. Raises
    TimeoutError then, for a hook never waits without end.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if fcntl is not None:
            _lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: str) -> None:
    until = time.monotonic() + QUEUE_WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise TimeoutError(f"{path} is locked by another process; the next try comes by itself") from None
            time.sleep(0.005)
        except OSError:
            return


def _read_through(path: str) -> None:
    """Read the file from the beginning, 64 MB or a tenth of a second at most. Raises OSError where the disk refuses."""
    until = time.monotonic() + 0.1
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for megabyte in range(64):
            # The way SQLite reads.
            if not os.pread(descriptor, 1 << 20, megabyte << 20) or time.monotonic() > until:
                return
    finally:
        os.close(descriptor)


def _remove(building: str) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            os.unlink(building + suffix)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _patiently(attempt: Callable[[], T], deadline: float) -> T:
    """Try again while the database is busy, until ``deadline``. Our own pauses are shorter than SQLite's handler's, and
    together with the waits for other locks they keep to one budget."""
    turn = 0
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            pause = _PAUSES_S[min(turn, len(_PAUSES_S) - 1)]
            if classify(error).kind != "busy" or time.monotonic() + pause >= deadline:
                raise
            turn += 1
            time.sleep(pause)
