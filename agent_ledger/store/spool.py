"""The spool: what SQLite cannot take in time, one JSON line each, applied later in order and exactly once."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from typing import Any

from .. import process
from ..home import make_private_folder
from ..model import Call, Outcome, Settlement, add_flag, now_iso
from . import ledger, sessions
from .counters import bump
from .db import Database, Unavailable

MAX_FILE = 64 * 1024 * 1024  # bytes; beyond it a write is lost rather than the disk filled
MAX_LINE = 256 * 1024
BATCH = 100  # lines a transaction: some milliseconds under the write lock
KEEP_MARKS_S = 7 * 86400
_SETTLED_S = 2.0  # a file changed later than that may change again without a new time: the coarsest clocks tick so
_MOST_INT = 2**63  # SQLite's integers end here

# A plugin of another version refuses lines with other fields. Where these change, the files need another suffix than
# `.jsonl`, which older plugins leave alone; lines of this kind must be replayed ever after.
_CALL_FIELDS = {name: "int" if name in ("args_len", "grace_s") else "str" for name in Call._fields}
_LATER_FIELDS = frozenset({"error_message", "policy_memory"})  # lines of older plugins lack them
_MOST_TEXT = 8000
_MOST_MEMORY = 32 * 1024
_POST_FIELDS = {field.name: field.type for field in dataclasses.fields(Settlement)}
_OUTCOME_FIELDS = set(Outcome._fields)
_EDGE_FIELDS = ("session_id", "parent_id", "kind", "evidence", "turn_id", "ts")


class Spool:
    """The spool of one home. ``owner`` names this process's own file."""

    def __init__(self, folder: str, owner: str, durable: bool = False) -> None:
        self.folder = folder
        self.path = os.path.join(folder, f"{owner}.jsonl")
        self.durable = durable
        state = process.registry()
        with state.lock:
            # Shared with other copies of the plugin in this process: one file has one sequence.
            self.state: dict[str, Any] = state.spools.setdefault(
                self.path, {"lock": threading.Lock(), "seq": 0, "backlog": 0, "lost": 0}
            )
        # Other processes' files that were read to their end -> what they looked like, and the mark in the ledger.
        self._read: dict[str, tuple[object, int]] = {}

    @property
    def backlog(self) -> int:
        """Lines of this process that are not in the database yet."""
        return int(self.state["backlog"])

    @property
    def lost(self) -> int:
        """Writes of this process that neither the database nor the spool could take."""
        return int(self.state["lost"])

    # --- writing

    def add_call(self, call: Call) -> bool:
        what = call._asdict()
        for name in _LATER_FIELDS:  # so that an older plugin can replay what it knows
            if not what[name]:
                del what[name]
        return self._append("call", what)

    def add_post(self, post: Settlement) -> bool:
        values = {field.name: getattr(post, field.name) for field in dataclasses.fields(post)}
        return self._append("post", {**values, "outcome": post.outcome._asdict()})

    def add_edge(self, session_id: str, parent_id: str, kind: str, evidence: str, turn_id: str, ts: str) -> bool:
        return self._append(
            "edge", dict(zip(_EDGE_FIELDS, (session_id, parent_id, kind, evidence, turn_id, ts), strict=True))
        )

    def _append(self, operation: str, what: dict[str, Any]) -> bool:
        """Append one line; False, and counted as lost, where the disk refuses that too."""
        with self.state["lock"]:
            line = json.dumps({"seq": self.state["seq"] + 1, "op": operation, "what": what}, ensure_ascii=True) + "\n"
            try:
                self._write(line.encode("ascii"))
            except OSError:
                self.state["lost"] += 1
                return False
            self.state["seq"] += 1
            self.state["backlog"] += 1
            return True

    def _write(self, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        try:
            descriptor = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            make_private_folder(self.folder)
            descriptor = os.open(self.path, flags, 0o600)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size + len(data) > MAX_FILE:
                raise OSError(f"{self.path} is no plain file, or full")
            try:
                written = os.write(descriptor, data)
                if written != len(data):
                    raise OSError(f"only {written} of {len(data)} bytes fitted into {self.path}")
                if self.durable:
                    os.fsync(descriptor)
            except OSError:
                # Half a line must not stand before the next whole one.
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, status.st_size)
                raise
        finally:
            os.close(descriptor)

    # --- replaying

    def waiting(self) -> bool:
        """True where any process left lines here."""
        return next(self.files(), None) is not None

    def files(self) -> Iterator[str]:
        """The spool files of the home that may be trusted: plain files of this user that nobody else may write."""
        try:
            entries = list(os.scandir(self.folder))
        except OSError:
            return
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not entry.name.endswith(".jsonl") or not entry.is_file(follow_symlinks=False):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:  # its owner emptied it just now
                continue
            ours = not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)
            if status.st_size and ours:
                yield entry.path

    def replay(self, database: Database, deadline: float, until: float, is_gone: Any = None) -> int:
        """Apply what waits, of every process; returns the number of lines applied.

        ``deadline`` bounds waiting for locks, ``until`` the work (both monotonic). ``is_gone(owner id)`` says that a
        process ended, so that its emptied file may go. Raises Unavailable where the database still does not answer.
        """
        applied = 0
        paths = list(self.files())
        self._read = {path: self._read[path] for path in paths if path in self._read}
        if self.path in paths:  # our own rows first: a hook of ours may be waiting for them
            paths.remove(self.path)
            paths.insert(0, self.path)
        for path in paths:
            applied += self._replay_file(database, path, deadline, until, is_gone)
            if time.monotonic() >= until:
                break
        return applied

    def _replay_file(self, database: Database, path: str, deadline: float, until: float, is_gone: Any) -> int:
        name = os.path.basename(path)[: -len(".jsonl")]
        # Asked before reading: a process that is gone now can have added nothing after that.
        finished = path != self.path and bool(is_gone and is_gone(name))
        own = path == self.path
        looks = None if own else _looks(path)
        applied, last = 0, self._mark(database, name, deadline)
        if looks is not None and not finished and self._read.get(path) == (looks, last):
            return 0
        lines = _lines(path, last)
        while batch := list(itertools.islice(lines, BATCH)):
            applied += database.write(functools.partial(_apply, name=name, batch=batch), deadline)
            last = batch[-1][0]
            if time.monotonic() >= until and len(batch) == BATCH:
                if own:
                    self.state["backlog"] = max(1, self.state["seq"] - last)
                return applied
        if own:
            self._drop_own(last)
        elif finished:
            self._read.pop(path, None)
            with contextlib.suppress(OSError):
                os.unlink(path)
            database.write(functools.partial(_forget_old_marks, folder=self.folder), deadline)
        elif looks is not None:
            self._read[path] = (looks, last)
        return applied

    def _mark(self, database: Database, name: str, deadline: float) -> int:
        return database.read(lambda connection: _applied_to(connection, name), deadline)

    def _drop_own(self, applied_to: int) -> None:
        """Remove our own file once its last line is in; a line that came meanwhile keeps it."""
        with self.state["lock"]:
            if self.state["seq"] <= applied_to:
                with contextlib.suppress(OSError):
                    os.unlink(self.path)
                self.state["backlog"] = 0
            else:
                self.state["backlog"] = self.state["seq"] - applied_to


def _looks(path: str) -> tuple[int, int, int] | None:
    """(inode, size, time of the last change) of a file; None where it is gone, or changed so lately that the next
    change might not show in them."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    if time.time() - status.st_mtime < _SETTLED_S:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _lines(path: str, after: int) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """(seq, record) of every whole line behind ``after``; record is None where the line is not one of ours."""
    flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return
    last = after
    with os.fdopen(descriptor, "rb") as file:
        for raw in file:
            if not raw.endswith(b"\n"):
                return  # the process died inside the write: that hook never returned
            record: dict[str, Any] | None = None
            if len(raw) <= MAX_LINE:
                with contextlib.suppress(ValueError, RecursionError):
                    record = json.loads(raw)
            seq = record.get("seq") if isinstance(record, dict) else None
            if type(seq) is int and 0 < seq < _MOST_INT:
                if seq > last:
                    last = seq
                    yield seq, record
            else:
                yield last, None


def _applied_to(connection: sqlite3.Connection, name: str) -> int:
    row = connection.execute("SELECT seq FROM spooled WHERE spool = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def _forget_old_marks(connection: sqlite3.Connection, folder: str) -> None:
    """Drop marks of files that are gone for a week. One whose file is still there must stay, or its lines count
    again."""
    old = connection.execute(
        "SELECT spool FROM spooled WHERE ts < ?", (now_iso(time.time() - KEEP_MARKS_S),)
    ).fetchall()
    for (name,) in old:
        if not os.path.lexists(os.path.join(folder, f"{name}.jsonl")):
            connection.execute("DELETE FROM spooled WHERE spool = ?", (name,))


def _apply(connection: sqlite3.Connection, name: str, batch: list[tuple[int, dict[str, Any] | None]]) -> int:
    """Apply lines and move the mark in the same transaction, so that no crash and no second process doubles them."""
    mark, applied, refused = _applied_to(connection, name), 0, 0
    for seq, record in batch:
        if record is None:
            refused += 1
        elif seq > mark:
            mark = seq
            if _apply_one(connection, record):
                applied += 1
            else:
                refused += 1
    connection.execute("INSERT OR REPLACE INTO spooled (spool, seq, ts) VALUES (?, ?, ?)", (name, mark, now_iso()))
    if applied:
        bump(connection, "spool_replayed", applied)
    if refused:
        bump(connection, "spool_refused", refused)
    return applied


def _apply_one(connection: sqlite3.Connection, record: dict[str, Any]) -> bool:
    """Apply one change that a hook makes; anything else is refused (False)."""
    what = record.get("what")
    if not isinstance(what, dict):
        return False
    try:
        match record.get("op"):
            case "call":
                call = Call(**_checked(what, _CALL_FIELDS, _LATER_FIELDS))
                ledger.announce(connection, call._replace(flags=add_flag(call.flags, "spooled")))
            case "post":
                outcome = what.get("outcome")
                if not isinstance(outcome, dict) or set(outcome) != _OUTCOME_FIELDS:
                    return False
                post = Settlement(**_checked({**what, "outcome": Outcome(**outcome)}, _POST_FIELDS))
                post.flags = add_flag(post.flags, "spooled")
                ledger.settle(connection, post)
            case "edge":
                if set(what) != set(_EDGE_FIELDS) or not all(isinstance(text, str) for text in what.values()):
                    return False
                if what["kind"] not in (sessions.ROTATION, sessions.DELEGATION):
                    return False
                sessions.add_edge(connection, **what)
            case _:
                return False
    except (TypeError, ValueError, OverflowError, sqlite3.IntegrityError):
        return False
    return True


def _checked(
    what: dict[str, Any], fields: dict[str, Any], optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """``what``, where it has exactly the fields of its kind, each of its type and of a size that a hook writes."""
    if set(what) | optional != set(fields):
        raise ValueError("other fields")
    for name, value in what.items():
        kind = fields[name]
        most = _MOST_MEMORY if name == "policy_memory" else _MOST_TEXT
        if kind == "str" and (not isinstance(value, str) or len(value) > most):
            raise ValueError(name)
        if kind == "int" and (type(value) is not int or abs(value) >= _MOST_INT):
            raise ValueError(name)
        if kind == "bool" and type(value) is not bool:
            raise ValueError(name)
        if kind == "Outcome":
            texts = (value.status, value.effect, value.digest, value.error_message)
            if not all(isinstance(text, str) and len(text) <= _MOST_TEXT for text in texts):
                raise ValueError(name)
            if value.duration_ms is not None and (
                type(value.duration_ms) is not int or abs(value.duration_ms) >= _MOST_INT
            ):
                raise ValueError(name)
    return what


__all__ = ["Spool", "Unavailable"]
