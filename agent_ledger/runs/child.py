"""The process of a run: started in a group of its own, told of signals, ended when it hangs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

from ..errors import UsageError

_CHUNK = 65_536
_HELD_MOST = 65_536
_COMMAND = re.compile(rb"(?m)^(\s*)::")
PASSED_ON = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)


class Child:
    """A running command. Its group is its own, so that the terminal's Ctrl-C reaches it only through us."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        """Raises UsageError where the command can't be started."""
        try:
            self._process = subprocess.Popen(  # noqa: S603
                list(command), stdin=_stdin(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                env={**os.environ, **variables}, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise UsageError(
                f"{command[0]} cannot be started: {error.strerror or error}. Give the run after --, as in: "
                'run exec -- hermes chat -q "..."'
            ) from None
        self.pid = self._process.pid

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101
        return self._process.stdout

    @property
    def stderr(self) -> IO[bytes]:
        assert self._process.stderr is not None  # noqa: S101
        return self._process.stderr

    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def send(self, number: int) -> None:
        """A signal to the whole group: the host may stand behind a shell or another wrapper."""
        with contextlib.suppress(OSError):  # it ended just now
            if hasattr(os, "killpg"):
                os.killpg(self.pid, number)
            else:
                self._process.send_signal(number)

    def kill(self) -> None:
        self.send(getattr(signal, "SIGKILL", signal.SIGTERM))
        self._process.wait()


def _stdin() -> int | None:
    """Piped input is handed on; a terminal is not: nobody is there to answer, and reading it would stop a group that
    is not in front."""
    try:
        return subprocess.DEVNULL if os.isatty(0) else None
    except OSError:
        return subprocess.DEVNULL


class Diagnostics:
    """Hands on what the host writes for people, and keeps it back until ``release`` where it may not be wanted.

    A CI runner obeys workflow commands in what a job prints, also those that a model or a tool wrote: there, only whole
    lines are handed on, and none that is a command.
    """

    def __init__(self, pipe: IO[bytes], say: Callable[[bytes], None], held: bool = False) -> None:
        self._say = say
        self._obeyed = os.environ.get("GITHUB_ACTIONS") == "true"
        self._lock = threading.Lock()
        self._held = held
        self._kept = b""
        self._thread = threading.Thread(target=self._pump, args=(pipe,), daemon=True)
        self._thread.start()

    def release(self) -> None:
        """From now on everything is handed on, first what was held."""
        with self._lock:
            self._held = False
            self._hand_on(b"", last=not self._obeyed)

    def held(self) -> bytes:
        """What is kept back at this moment; b'' once it was handed on."""
        with self._lock:
            return self._kept if self._held else b""

    def finish(self, seconds: float) -> None:
        """Wait for the end of the pipe, which a left-over child of the host may hold open."""
        self._thread.join(seconds)
        if not self._held:
            with self._lock:
                self._hand_on(b"", last=True)

    def _pump(self, pipe: IO[bytes]) -> None:
        while True:
            try:
                data = os.read(pipe.fileno(), _CHUNK)
            except (OSError, ValueError):
                return
            if not data:
                return
            with self._lock:
                self._hand_on(data, last=not self._obeyed)

    def _hand_on(self, data: bytes, last: bool) -> None:
        self._kept += data
        if self._held and len(self._kept) <= _HELD_MOST:
            return
        self._held = False
        end = len(self._kept) if last or len(self._kept) > _HELD_MOST else self._kept.rfind(b"\n") + 1
        said, self._kept = self._kept[:end], self._kept[end:]
        if said:
            self._say(_COMMAND.sub(rb"\1: :", said).replace(b"##[", b"## [") if self._obeyed else said)


class Signals:
    """The signals that reach us while a run goes on, in order."""

    def __init__(self) -> None:
        self.waiting: list[int] = []

    @contextlib.contextmanager
    def caught(self) -> Iterator[Signals]:
        """Collect them; what was in force before is restored."""
        before: dict[int, object] = {}
        if threading.current_thread() is threading.main_thread():
            for number in PASSED_ON:
                # nohup and the like: what was ignored stays ignored.
                if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGINT:
                    before[number] = signal.signal(number, lambda got, _: self.waiting.append(got))
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler or signal.SIG_DFL)  # type: ignore[arg-type]

    def take(self) -> list[int]:
        taken, self.waiting = self.waiting, []
        return taken
