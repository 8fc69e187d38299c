"""The way of a write to disk: the database where it answers, else the spool; and back again when it has healed."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from .. import log
from ..model import Call, Settlement, now_iso
from . import checkpoint, ledger, sessions
from .counters import bump
from .db import Database, Unavailable
from .patience import LOCK_WAIT_S
from .spool import Spool

T = TypeVar("T")

SLOW_S = 0.2  # a write that takes longer sends the next ones to the spool until the disk is quick again
SLOW_FOR_S = 5.0
BREAK_S = 0.5  # after a wait that failed, writes go straight to the spool for so long
REPLAY_IN_HOOK_S = 0.02
_BETWEEN_REPLAYS_S = 0.25
_LONGEST_PAUSE_S = 5.0


class Keeper:
    """Database and spool of one home. Nothing here raises for what SQLite or the disk does, but the reads."""

    def __init__(self, path: str, owner: str, synchronous: str, is_gone: Callable[[str], bool]) -> None:
        self.database = Database(path, synchronous)
        self.spool = Spool(os.path.join(os.path.dirname(path), "spool"), owner, durable=synchronous == "full")
        self._waiting = self.spool.state
        self.checkpoints = checkpoint.Checkpoints(path)
        self.state = "ok"  # or the kind of trouble the last write met
        self.last_error = ""
        self.last_error_ts = ""
        self.healed_ts = ""
        self._is_gone = is_gone
        self._closed_until = 0.0
        self._draining = threading.Lock()
        self._drainer: threading.Thread | None = None
        self._slow_until = 0.0
        self._reported_lost = 0

    # --- writing

    def announce(self, call: Call, deadline: float) -> int:
        """Write a call before it runs; returns its row id, 0 where it went to the spool or was lost."""
        if self.ready(deadline):
            began = time.monotonic()
            try:
                if call.tool_call_id:
                    row_id = self.database.insert(*ledger.insertion(call), deadline)
                else:  # without an id it may be nested in an open execute_code call
                    row_id = self.database.write(lambda connection: ledger.announce(connection, call), deadline)
                self._wrote(began)
                return row_id
            except Unavailable as trouble:
                self._failed(trouble)
        self._spooled(self.spool.add_call(call))
        return 0

    def settle_open(self, values: tuple[object, ...], deadline: float) -> bool:
        """Record the outcome of a row that this process knows to be open (``ledger.outcome_values``); False where that
        did not succeed."""
        if not self.ready(deadline):
            return False
        began = time.monotonic()
        try:
            changed = self.database.change(ledger.SETTLE_PENDING, values, deadline)
        except Unavailable as trouble:
            self._failed(trouble)
            return False
        self._wrote(began)
        return changed == 1

    def settle(self, post: Settlement, deadline: float) -> ledger.Settled | None:
        """Record an outcome on the row it belongs to; None where it went to the spool."""
        if self.ready(deadline):
            began = time.monotonic()
            try:
                settled = self.database.write(lambda connection: ledger.settle(connection, post), deadline)
                self._wrote(began)
                return settled
            except Unavailable as trouble:
                self._failed(trouble)
        self._spooled(self.spool.add_post(post))
        return None

    def add_edge(
        self, session_id: str, parent_id: str, kind: str, evidence: str, turn_id: str, deadline: float
    ) -> tuple[str, ...]:
        """Note where a session came from; returns the session ids of its conversation as far as they are known."""
        ts = now_iso()

        def note(connection: sqlite3.Connection) -> tuple[str, ...]:
            sessions.add_edge(connection, session_id, parent_id, kind, evidence, turn_id, ts)
            return sessions.conversation(connection, session_id)

        if self.ready(deadline):
            try:
                return self.database.write(note, deadline)
            except Unavailable as trouble:
                self._failed(trouble)
        self._spooled(self.spool.add_edge(session_id, parent_id, kind, evidence, turn_id, ts))
        return (session_id, parent_id)

    # --- reading and writing of turns, which cannot be put off

    def transact(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T | None:
        """Run ``work`` in one transaction now; None where the database does not answer, or takes too long to."""
        if self._is_slow():
            return None
        try:
            return self.database.write(work, deadline)
        except Unavailable as trouble:
            self._failed(trouble)
            return None

    def look(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T | None:
        """Run a reading ``work`` now; None where the database does not answer."""
        try:
            return self.database.read(work, deadline)
        except Unavailable as trouble:
            self._failed(trouble)
            return None

    def glance(self, work: Callable[[sqlite3.Connection], T], deadline: float) -> T | None:
        """``look`` for what a call can do without: soon after trouble it is not tried, or each call would wait."""
        return None if self._rests() else self.look(work, deadline)

    # --- the breaker, and healing

    def ready(self, deadline: float) -> bool:
        """False while writes must take the spool: soon after trouble, and as long as older ones of ours wait there."""
        if self._rests():
            return False
        return not self._waiting["backlog"] or (self.catch_up(deadline) and not self.spool.backlog)

    def _rests(self) -> bool:
        return self._is_slow() or time.monotonic() < self._closed_until

    def _is_slow(self) -> bool:
        return time.monotonic() < self._slow_until

    def catch_up(self, deadline: float, budget_s: float = REPLAY_IN_HOOK_S) -> bool:
        """Replay what waits in the spool, of every process; False where the database does not answer."""
        if self._is_slow() and threading.current_thread() is not self._drainer:
            return False
        began = time.monotonic()
        if not self._draining.acquire(blocking=False):
            return not self.spool.backlog
        try:
            self.spool.replay(self.database, deadline, time.monotonic() + budget_s, self._is_gone)
        except Unavailable as trouble:
            self._failed(trouble)
            return False
        except Exception as error:  # a line of a kind that nobody thought of must not stop the hooks
            log.warn("spool", "the spool cannot be replayed (%s: %s); its lines wait", type(error).__name__, error)
            return False
        finally:
            self._draining.release()
        if time.monotonic() - began < SLOW_S:
            self._slow_until = 0.0
        if self.state != "ok" and not self.spool.backlog and not self._is_slow():
            self._healed(deadline)
        return True

    def finish(self, seconds: float) -> None:
        """At the end of the process, off the hook path: one more try for what waits in our own spool."""
        until = time.monotonic() + seconds
        while self.spool.backlog and time.monotonic() < until:
            if not self.catch_up(time.monotonic() + 0.2, budget_s=seconds):
                time.sleep(0.05)

    def _failed(self, trouble: Unavailable) -> None:
        self._closed_until = time.monotonic() + BREAK_S
        self.state, self.last_error, self.last_error_ts = trouble.kind, trouble.detail, now_iso()
        if trouble.kind == "corrupt":
            self._set_aside(trouble)
        elif trouble.kind != "busy":
            log.warn(trouble.kind, "the ledger cannot be written (%s); calls run, records go to the spool", trouble)
        self._start_draining()

    def _set_aside(self, trouble: Unavailable) -> None:
        try:
            aside = self.database.set_aside(trouble.identity)
        except OSError as error:
            self.state, self.last_error = "i/o error", str(error)
            return
        if aside:
            log.warn("corrupt", "the ledger is corrupt (%s); it is kept as %s and a fresh one starts", trouble, aside)
        self._closed_until = 0.0  # a fresh ledger can be had at once

    def _spooled(self, kept: bool) -> None:
        if not kept:
            lost = self.spool.lost
            log.warn("lost", "%d records could be written neither to the ledger nor to the spool", lost)
        self._start_draining()

    def _wrote(self, began: float) -> None:
        if time.monotonic() - began > SLOW_S:
            # A write to the spool is one operation of the disk, one to the database several.
            self._slow_until = time.monotonic() + SLOW_FOR_S
            self.state, self.last_error, self.last_error_ts = "slow", f"a write took over {SLOW_S} s", now_iso()
            log.warn("slow", "the disk is slow (a write took over %s s); records go to the spool for now", SLOW_S)
        elif self.state != "ok" and not self.spool.backlog:
            self._healed(time.monotonic() + LOCK_WAIT_S)
        self.checkpoints.count()

    def _healed(self, deadline: float) -> None:
        """Note what was lost meanwhile where every reader of the ledger can see it."""
        lost = self.spool.lost - self._reported_lost
        state, error, since = self.state, self.last_error, self.last_error_ts
        stamp = now_iso()

        def note(connection: sqlite3.Connection) -> None:
            if lost > 0:
                bump(connection, "lost_writes", lost)
            for key, value in (("last_error", f"{state}: {error}"), ("last_error_ts", since), ("healed_ts", stamp)):
                connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

        with contextlib.suppress(Unavailable):
            self.database.write(note, deadline)
            self._reported_lost += max(0, lost)
            self.state, self.healed_ts = "ok", stamp

    def _start_draining(self) -> None:
        """A thread that empties the spool once the database answers, so that rows do not wait for the next hook."""
        if not self.spool.backlog or self._drainer is not None:
            return
        self._drainer = threading.Thread(target=self._drain, name="agent-ledger-replay", daemon=True)
        try:
            self._drainer.start()
        except RuntimeError:  # no thread to be had, or the interpreter is shutting down: the next write tries again
            self._drainer = None

    def _drain(self) -> None:
        pause = _BETWEEN_REPLAYS_S
        try:
            while self.spool.backlog:
                time.sleep(pause)
                self.catch_up(time.monotonic() + LOCK_WAIT_S, budget_s=0.2)
                pause = min(pause * 1.5, _LONGEST_PAUSE_S) if self.spool.backlog else _BETWEEN_REPLAYS_S
        except Exception as error:
            log.warn("replay", "the replay thread stopped (%s: %s); hooks go on replaying", type(error).__name__, error)
        finally:
            self._drainer = None
