"""What serves one Hermes home: settings, keeper, recorder and reconciler, made on first use and found on every call."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import log, process, reads, settings
from .ghosts import footprint, owner
from .home import data_folder, ledger_path
from .marker import Marker
from .model import Turn
from .recorder import Ids, Recorder
from .store import ledger
from .store.keeper import Keeper
from .store.patience import LOCK_WAIT_S
from .tools import READ_ONLY, Kind

if TYPE_CHECKING:
    from .ghosts.turn import Reconciler
    from .policy.gate import Gate
    from .policy.state import State

_FINISH_S = 1.0
_TIDY_MOST = 200
_LEFT_OVER_S = 600


class Runtime:
    """The working parts for one home in this process."""

    def __init__(self, home: str, host_settings: Callable[[], Any] | None = None) -> None:
        self.home = home
        self.settings = settings.load(home, host_settings)
        for problem in self.settings.problems:
            log.logger.warning("agent-ledger: %s", problem)
        folder = data_folder(home)
        self.owners = os.path.join(folder, "owners")
        me = owner.own(self.owners)
        self.keeper = Keeper(
            ledger_path(home), me, self.settings.synchronous, is_gone=lambda name: owner.is_gone(name, self.owners)
        )
        key = footprint.load_key(folder)
        self.recorder = Recorder(self.keeper, self.settings, me, key)
        self._me, self._key = me, key
        self._reconciler: Reconciler | None = None
        self._gate: Gate | None = None
        # What says that calls are judged: a file, unless the settings decide.
        mode_file = Marker(os.path.join(folder, "policy_mode"))
        mode = self.settings.policy_mode
        self.may_judge: Callable[[], bool] = mode_file.is_there if mode == "file" else lambda: mode != "off"
        # The same for calls that only read, which take less time than that question.
        self.may_judge_reads: Callable[[], bool] = mode_file.was_there if mode == "file" else self.may_judge
        atexit.register(self._finish, process.registry().generation)

    def _finish(self, generation: object) -> None:
        """At the end of the process. A forked child has none of this: the connection and the spool are its parent's."""
        if process.registry().generation is generation:
            self.keeper.finish(_FINISH_S)

    def judging(self) -> tuple[Gate, State] | None:
        """What judges a call that comes now, and what is in force; None while no policy is."""
        gate = self._policy()
        if gate is None:
            return None
        state = gate.look()
        return (gate, state) if state.active else None

    def _policy(self) -> Gate | None:
        # Nothing of policy is imported before ``may_judge``, one question to the file system, says yes.
        if not self.may_judge():
            return None
        if self._gate is None:
            from .policy.gate import Gate

            self._gate = Gate(self.home, self.settings, self.keeper, self._me)
        return self._gate

    def guard(
        self, judging: tuple[Gate, State], kind: Kind, tool_name: str, args: object, ids: Ids, deadline: float
    ) -> str:
        """Judge a call and record it; returns what the agent is told where policy refuses it, '' where it may run."""
        gate, state = judging
        recorder = self.recorder
        recorder.follow(ids.session, ids.turn, deadline)
        names = recorder.conversations.get(ids.session, (ids.session,))
        records = recorder.records(kind)
        folder, backend = recorder.place
        verdict = gate.judge(state, tool_name, args, ids.session, names, records, deadline, folder, backend)
        if records or verdict.needs_row:
            try:
                row_id = recorder.announce(kind, tool_name, args, ids, deadline, verdict)
                gate.refused(ids.session, verdict, row_id)
            except Exception as error:  # a refusal holds, also where it could not be recorded
                log.warn("announce", "a call could not be recorded (%s: %s)", type(error).__name__, error)
        elif kind is READ_ONLY:
            reads.note(ids.session, tool_name)
        return verdict.message

    def notice(self, turn: Turn, ids: Ids) -> str | None:
        """The text for the user message of this turn, None where there is nothing to say."""
        deadline = time.monotonic() + LOCK_WAIT_S
        self.recorder.follow(ids.session, ids.turn, deadline)
        gate = self._policy()
        text, names = self._turns().notice(turn, deadline, gate.begin_turn(ids.session) if gate is not None else "")
        self.recorder.note_conversation(ids.session, names)
        self.recorder.begin_turn(ids.session, told=text is not None)
        return text

    def _turns(self) -> Reconciler:
        # Judgement over turns is half of the plugin's code, and nothing before the first turn needs it.
        if self._reconciler is None:
            from .ghosts.turn import Reconciler

            self._reconciler = Reconciler(
                self.keeper, self.home, self.owners, self._me, self._key, self.settings.store_args
            )
        return self._reconciler

    def session_started(self) -> None:
        """Take in what dead processes left, and log one line of counts. Claims nothing: that is the turn's."""
        deadline = time.monotonic() + LOCK_WAIT_S
        if self.keeper.spool.waiting():
            self.keeper.catch_up(deadline)
        found = self.keeper.look(ledger.counts, deadline)
        if found is None:
            return
        self._tidy(deadline)
        self._clear_leftovers()
        if self.settings.retention != "off":
            from . import spans
            from .store import retention

            retention.begin(self.keeper.database.path, spans.seconds(self.settings.retention))
        if log.logger.isEnabledFor(logging.INFO):
            log.info("%d calls open, %d reported and not settled in %s", *found, self.keeper.database.path)

    def _clear_leftovers(self) -> None:
        """Remove what a process that was killed while it made a file left half made."""
        for folder in (data_folder(self.home), self.owners):
            with contextlib.suppress(OSError):
                for entry in os.scandir(folder):
                    made = ".new-" in entry.name or entry.name.endswith(".new")
                    if made and time.time() - entry.stat(follow_symlinks=False).st_mtime > _LEFT_OVER_S:
                        os.unlink(entry.path)

    def _tidy(self, deadline: float) -> None:
        """Remove the lock files of processes that ended and have no open call any more."""
        try:
            names = [name[:-5] for name in os.listdir(self.owners) if name.endswith(".lock")]
        except OSError:
            return
        gone = [name for name in names[:_TIDY_MOST] if owner.is_gone(name, self.owners)]
        if gone:
            needed = self.keeper.look(ledger.owners_of_open_rows, deadline)
            if needed is None:
                return
            for name in gone:
                if name not in needed and not os.path.exists(os.path.join(self.keeper.spool.folder, name + ".jsonl")):
                    owner.remove_lock_of(name, self.owners)


_runtimes: dict[str, Runtime] = {}
_generation: object = None
_making = threading.Lock()


def for_home(home: str, host_settings: Callable[[], Any] | None = None) -> Runtime:
    """The runtime of ``home``; made on first use, and again in a forked child."""
    global _generation, _making
    generation = process.registry().generation
    if generation is not _generation:
        # After a fork the old runtimes hold the parent's connection and lock; another thread may have held our lock.
        _runtimes.clear()
        _making = threading.Lock()
        _generation = generation
    found = _runtimes.get(home)
    if found is None:
        with _making:
            found = _runtimes.get(home)
            if found is None:
                found = _runtimes[home] = Runtime(home, host_settings)
    return found
