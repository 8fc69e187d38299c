"""``tail``: the newest calls, and with -f every further one as it is announced and settled."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence

from ..errors import LedgerError, UsageError
from ..home import ledger_path
from ..model import ERROR_PREFIX, GHOST_REPORTED, PENDING
from ..store.opening import identity
from ..store.reader import Reader
from ..store.shapes import Row
from . import exits, rows, where
from .answer import Answer
from .output import Screen
from .text import safe

MOST = 1_000_000
POLL_S = 0.25
_MOST_OPEN = 1000  # calls whose outcome a follower waits for
_WORDS = {"pending": PENDING, "running": PENDING, "confirmed": "CONFIRMED", "ghost": GHOST_REPORTED,
          "ghost_reported": GHOST_REPORTED, "error": ERROR_PREFIX + "*"}  # fmt: skip


def status_pattern(asked: str) -> str:
    """What ``--status`` looks for: ``pending``, ``confirmed``, ``ghost``, ``error``, or one error such as
    ``error:timeout``. Raises UsageError."""
    word = asked.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    if word.startswith("error:") and len(word) > 6 and len(word) < 200:
        return ERROR_PREFIX + asked.strip()[6:]
    raise UsageError(
        f"there is no status {safe(asked)!r}. It is one of pending, confirmed, ghost, error, or one kind such as"
        " error:timeout"
    )


def run(options: argparse.Namespace) -> Answer:
    limit = count(options.ledger_lines)
    status = status_pattern(options.ledger_status) if options.ledger_status is not None else ""
    home = where.home_of(options.ledger_home)
    with where.opened(home) as reader:
        names = _names(reader, options.ledger_session)
        found = reader.tail(limit, options.ledger_tool or "", status, names) if limit else []
    now = rows.now()

    def show(screen: Screen) -> None:
        if found:
            screen.table(rows.HEADS, [rows.cells(row, now) for row in found], [rows.style(row) for row in found])
        else:
            screen.line("no call matches" if (status or names or options.ledger_tool) else "no calls recorded")

    return Answer(exits.OK, [rows.as_json(row, now) for row in found], show)


def count(text: str) -> int:
    """The number behind ``-n``. Raises UsageError."""
    if not text.isascii() or not text.isdigit() or len(text) > 7 or int(text) > MOST:
        raise UsageError(f"-n {safe(text)!r} is no number of calls; give one from 0 to {MOST}, such as -n 50")
    return int(text)


def _names(reader: Reader, session: str | None) -> Sequence[str]:
    return reader.conversation(session) if session else ()


class Follower:
    """``tail -f``: survives the ledger being set aside and made anew, and looks only after something was committed."""

    def __init__(self, options: argparse.Namespace, screen: Screen, say: Callable[[str], None]) -> None:
        self._limit = count(options.ledger_lines)
        self._tool = options.ledger_tool or ""
        self._status = status_pattern(options.ledger_status) if options.ledger_status is not None else ""
        self._session = options.ledger_session
        self._json = options.ledger_json
        self._path = ledger_path(where.home_of(options.ledger_home))
        self._home = where.home_of(options.ledger_home)
        self._screen = screen
        self._say = say
        self._last = 0
        self._open: dict[int, str] = {}

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Print until ``until()``, a Ctrl-C or the end of the reader of our output."""
        first = where.opened(self._home)
        reader: Reader | None = first
        try:
            seen = first.changes()
            self._begin(first)
            while not until():
                time.sleep(POLL_S)
                if reader is None or identity(self._path) != reader.stamp or self._log_came(reader):
                    reader, seen = self._again(reader), -1
                if reader is None:
                    continue
                try:
                    now = reader.changes()
                    if now != seen:
                        self._further(reader)
                        seen = now
                except LedgerError as trouble:  # locked for a moment, or being set aside just now
                    self._say(f"{trouble}; still following")
                    reader.close()
                    reader = None
        finally:
            if reader is not None:
                reader.close()

    def _begin(self, reader: Reader) -> None:
        self._last = reader.last_id()
        names = _names(reader, self._session)
        if self._limit:
            self._print(reader.tail(self._limit, self._tool, self._status, names), heads=True)

    def _log_came(self, reader: Reader) -> bool:
        # An immutable connection sees nothing new; once somebody writes, there is a log to be read properly.
        return reader.immutable and os.path.exists(self._path + "-wal")

    def _again(self, reader: Reader | None) -> Reader | None:
        """A reader on the file that is there now, None while there is none."""
        before = reader.stamp if reader else None
        if reader is not None:
            reader.close()
        try:
            fresh = Reader(self._path)
        except LedgerError:
            return None
        if before != fresh.stamp:
            if fresh.last_id() < self._last:
                self._say(f"{self._path} was replaced; following the new ledger")
                self._last = 0
            self._open.clear()
        return fresh

    def _further(self, reader: Reader) -> None:
        if self._open:
            self._settled([row for row in reader.rows(list(self._open)) if row.status != self._open[row.id]])
        names = _names(reader, self._session)
        while found := self._after(reader, names):
            self._print(found)
            self._last = found[-1].id
            if len(found) < 1000:
                break
        self._last = max(self._last, reader.last_id() if not (self._tool or self._status or names) else self._last)

    def _after(self, reader: Reader, names: Sequence[str]) -> list[Row]:
        if self._last:
            return reader.tail(1000, self._tool, self._status, names, after=self._last)
        return reader.tail(1000, self._tool, self._status, names)

    def _print(self, found: Sequence[Row], heads: bool = False) -> None:
        now = rows.now()
        for row in found:
            if row.status in (PENDING, GHOST_REPORTED) and len(self._open) < _MOST_OPEN:
                self._open[row.id] = row.status
        if self._json:
            for row in found:
                self._screen.json(rows.as_json(row, now), indent=None)
        elif heads:
            self._screen.table(rows.HEADS, [rows.cells(row, now) for row in found], [rows.style(row) for row in found])
        else:
            for row in found:
                self._screen.line("  ".join(rows.cells(row, now)))
        self._screen.flush()

    def _settled(self, changed: Sequence[Row]) -> None:
        for row in changed:
            if row.status == GHOST_REPORTED:
                self._open[row.id] = row.status
            else:
                self._open.pop(row.id, None)
            if self._json:
                self._screen.json(rows.as_json(row, rows.now()), indent=None)
            else:
                self._screen.line(rows.settled_line(row))
        if changed:
            self._screen.flush()
