"""How far a run is, on standard error: one line that is written over on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections import Counter

from ..cli.text import cut, safe
from .model import Event, Init, Result, ToolResult, ToolUse

_EVERY_S = 0.2
_SIGN_OF_LIFE_S = 30.0


class Live:
    """Counts the events of the attempt that runs, and says so. Names only: no arguments, no output."""

    def __init__(self, quiet: bool = False) -> None:
        self._terminal = not quiet and sys.stderr.isatty()
        self._quiet = quiet
        self._lock = threading.RLock()
        self._drawn = False
        self.begin()

    def begin(self) -> None:
        """A new attempt."""
        self._start = self._drawn_at = self._said_at = time.monotonic()
        self._open: Counter[str] = Counter()
        self._called = self._failed = 0
        self._tokens: int | None = None

    def event(self, event: Event) -> None:
        if type(event) is ToolUse:
            self._called += 1
            self._open[event.name] += 1
        elif type(event) is ToolResult:
            self._open -= Counter([event.name])
            self._failed += event.is_error
            took = "" if event.duration_ms is None else f" in {event.duration_ms / 1000:.1f} s"
            self._line(f"{event.name} {'failed' if event.is_error else 'done'}{took}")
        elif type(event) is Init:
            self._line(f"session {event.session_id or 'not named'}, model {event.model or 'not named'}")
        elif type(event) is Result:
            self._tokens = event.tokens.get("total")
            self._line(f"result: exit code {event.written or 'none'}; {self._counts()}")

    def tick(self) -> None:
        """Call often; draws now and then."""
        now = time.monotonic()
        if self._terminal:
            if now - self._drawn_at >= _EVERY_S:
                self._drawn_at = now
                self._draw()
        elif now - self._said_at >= _SIGN_OF_LIFE_S:
            self._line(self._counts())

    def say(self, text: str) -> None:
        """A line for people that stays."""
        self.raw(f"agent-ledger: {safe(text)}\n".encode(errors="replace"))

    def raw(self, data: bytes) -> None:
        """What the host writes to its standard error, as it is."""
        with self._lock:
            self.clear()
            try:
                sys.stderr.flush()
                buffer = getattr(sys.stderr, "buffer", None)
                if buffer is not None:
                    buffer.write(data)
                    buffer.flush()
                else:
                    sys.stderr.write(data.decode("utf-8", "replace"))
            except (OSError, ValueError):  # nobody reads it any more; the run goes on
                pass

    def clear(self) -> None:
        """Remove the line that is written over."""
        with self._lock:
            if self._drawn:
                self._drawn = False
                self._put("\r\x1b[K")

    def _line(self, text: str) -> None:
        self._said_at = time.monotonic()
        if not self._terminal and not self._quiet:
            self.say(f"{self._elapsed()}  {text}")

    def _draw(self) -> None:
        running = ", ".join(safe(name) for name, many in self._open.items() if many) or "thinking"
        with self._lock:
            self._drawn = True
            text = cut(f"{self._elapsed()}  {self._counts()}  {running}", shutil.get_terminal_size().columns - 1)
            self._put(f"\r\x1b[K{text}")

    def _counts(self) -> str:
        tokens = f", {self._tokens} tokens" if self._tokens is not None else ""
        return f"{self._called} calls, {self._failed} failed{tokens}"

    def _elapsed(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._start), 60)
        return f"{minutes}:{seconds:02d}"

    def _put(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            pass
