"""One attempt at a run: starts the host, follows its stream, passes signals on, and ends what hangs."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .child import Child, Diagnostics, Signals
from .command import Command, does_not_know
from .events import Stream, finished, note
from .join import owner_of
from .live import Live
from .model import Event, Facts, Result
from .pairing import Calls
from .produced import Produced
from .save import Sink
from .sources import Output, Source

_STEP_S = 0.05
_LOOK_S = 0.5
_IMPATIENT_S = 1.0  # after a second signal
_READER_S = 10.0


@dataclass(slots=True)
class Attempt:
    """What an attempt came to.

    ``code``: the process's own exit code, negative for a signal. ``evidence``: the same where it says something about
    the run, else None. ``owners``: how the owners of its calls begin in the ledger. ``notes``: what we did to it.
    ``trouble``: what was asked for and could not be done.
    """

    facts: Facts
    code: int
    evidence: int | None
    produced: bool
    seconds: float
    began_s: float
    owners: tuple[str, ...]
    notes: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds. ``timeout``: None for none; ``grace``: after the result, or after a signal, until the process is
    killed."""

    timeout: float | None
    grace: float


class Runner:
    """Runs a command as often as it is asked to."""

    def __init__(
        self,
        command: Command,
        variables: Mapping[str, str],
        bounds: Bounds,
        live: Live,
        signals: Signals,
        owners_folder: str,
    ) -> None:
        """``variables``: added to the environment of the run; ``owners_folder``: the lock files of the home's processes
        (ghosts/owner.py)."""
        self._command = command
        self._variables = variables
        self._bounds = bounds
        self._live = live
        self._signals = signals
        self._owners_folder = owners_folder
        self._old_host = False

    def attempt(self, save_to: str | None) -> Attempt:
        """Run once. Raises UsageError where the command can't be started or the stream can't be saved."""
        save = Sink(save_to)
        self._live.begin()
        try:
            found = None if self._old_host else self._native(save)
            if found is None:
                if not self._old_host:
                    self._old_host = True
                    self._live.say(
                        "this host has no --format stream-json: the events come from the plugin's hooks, and what it"
                        " prints follows"
                    )
                found = self._produced(save)
        finally:
            save.close()
            self._live.clear()
        if save.trouble:
            found.trouble.append(save.trouble)
        return found

    def _native(self, save: Sink) -> Attempt | None:
        """None where the host turns out not to know the option; nothing has happened then."""
        child = Child(self._command.native(), self._variables)
        diagnostics = Diagnostics(child.stderr, self._live.raw, held=self._command.chat is not None)
        output = Output(child.stdout, save)
        follower = _Follower(output, self._live.event)
        watch = _Watch(child, follower, self._bounds, self._owners_folder, lambda: None)
        while watch.goes_on(self._signals.take()):
            if output.begun.is_set():
                diagnostics.release()
            self._live.tick()
            time.sleep(_STEP_S)
        found = watch.end(output)
        if self._command.chat is not None and not watch.notes:
            diagnostics.finish(_LOOK_S)
            if does_not_know(found.code, output.begun.is_set(), diagnostics.held()):
                return None
        diagnostics.release()
        diagnostics.finish(_LOOK_S)
        return found

    def _produced(self, save: Sink) -> Attempt:
        source = Produced(save)
        try:
            child = Child(self._command.quiet(), {**self._variables, **source.variables})
            printed = [Diagnostics(pipe, self._live.raw) for pipe in (child.stdout, child.stderr)]
            follower = _Follower(source, self._live.event)
            watch = _Watch(child, follower, self._bounds, self._owners_folder, lambda: source.turn_ended_at)
            while watch.goes_on(self._signals.take()):
                self._live.tick()
                time.sleep(_STEP_S)
            found = watch.end(source)
            for one in printed:
                one.finish(_LOOK_S)
        finally:
            source.close()
        found.produced = True
        if found.facts.events == 0:
            found.notes.append(
                "no event came: is agent-ledger enabled in this home? `hermes plugins enable agent-ledger`, or a host"
                " from 0.21.4 on, which writes the stream itself"
            )
        elif found.code == 0:
            found.evidence = None  # these hosts end with 0 also where a turn stopped half-way
        return found


class _Follower:
    """Reads the stream in a thread of its own."""

    def __init__(self, source: Source, show: Callable[[Event], None]) -> None:
        self.result_at: float | None = None
        self._facts, self._calls, self._stream = Facts(), Calls(), Stream()
        self._source, self._show = source, show
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def facts(self) -> Facts:
        """All of it, once the source was told that the process is over."""
        self._thread.join(_READER_S)
        return finished(self._facts, self._calls, self._stream)

    def _read(self) -> None:
        while data := self._source.pull():
            self._take(self._stream.feed(data))
        self._take(self._stream.finish())

    def _take(self, events: list[Event]) -> None:
        for event in events:
            note(self._facts, self._calls, event)
            if type(event) is Result:
                self.result_at = time.monotonic()
            self._show(event)


class _Watch:
    """Decides when a process has had its time."""

    def __init__(
        self, child: Child, follower: _Follower, bounds: Bounds, owners: str, turn_ended: Callable[[], float | None]
    ) -> None:
        self.notes: list[str] = []
        self._child, self._follower, self._bounds = child, follower, bounds
        self._owners_folder, self._turn_ended = owners, turn_ended
        self._owners = {owner_of(child.pid)}
        self._began, self._began_s = time.monotonic(), time.time()
        self._look_at = self._began
        self._kill_at: float | None = None
        self._signals = 0
        self._timed_out = self._hung = False
        self._code: int | None = None

    def goes_on(self, signals: list[int]) -> bool:
        """One step; False once the process has ended."""
        self._code = self._child.code()
        if self._code is not None:
            return False
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + _LOOK_S
            self._owners |= _owners_in(self._owners_folder, self._child.pid)
        for number in signals:
            self._pass_on(number, now)
        timeout, grace = self._bounds.timeout, self._bounds.grace
        if timeout is not None and now - self._began >= timeout and not self._timed_out:
            self._timed_out = True
            self.notes.append(f"the run took longer than --timeout {timeout:g} s and was interrupted")
            self._child.send(signal.SIGINT)
            self._by(now + grace)
        ended = self._follower.result_at or self._turn_ended()
        if ended is not None and self._kill_at is None and now - ended >= grace:
            self._hung = True
            self.notes.append(f"the process was still there {grace:g} s after its end of turn and was killed")
            self._child.kill()
        elif self._kill_at is not None and now >= self._kill_at:
            self.notes.append("the process did not end after it was told to, and was killed")
            self._child.kill()
        return True

    def end(self, source: Source) -> Attempt:
        """What came of it, after the process has ended."""
        code = self._code if self._code is not None else self._child.code()
        assert code is not None  # noqa: S101
        source.over(code)
        # That it was killed is our doing: it says nothing about a run whose end is on record.
        return Attempt(
            facts=self._follower.facts(),
            code=code,
            evidence=None if self._hung else code,
            produced=False,
            seconds=time.monotonic() - self._began,
            began_s=self._began_s,
            owners=tuple(sorted(self._owners)),
            notes=self.notes,
        )

    def _pass_on(self, number: int, now: float) -> None:
        self._signals += 1
        name = signal.Signals(number).name
        self.notes.append(f"{name} was passed on" if self._signals < 3 else f"{name} came again: killed")
        if self._signals >= 3:
            self._child.kill()
            return
        self._child.send(number)
        self._by(now + (self._bounds.grace if self._signals == 1 else min(self._bounds.grace, _IMPATIENT_S)))

    def _by(self, moment: float) -> None:
        self._kill_at = moment if self._kill_at is None else min(self._kill_at, moment)


def _owners_in(folder: str, session: int) -> set[str]:
    """The owners whose processes run in the process session ``session``: the host may stand behind a wrapper."""
    found = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            pid = name[1:].partition("-")[0]
            with contextlib.suppress(OSError, AttributeError):
                if name.startswith("p") and pid.isdigit() and os.getsid(int(pid)) == session:
                    found.add(owner_of(int(pid)))
    return found
