"""How long a hook waits, and for what."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from .trouble import classify

T = TypeVar("T")

LOCK_WAIT_S = 0.05  # what one hook may wait for locks, all of them together
# What a hook may wait behind other threads of this process. The one in front waits for the database until its own
# deadline at most, and whoever comes after that finds its time used up: only a starved processor makes this wait
# longer.
QUEUE_WAIT_S = 0.25
OPEN_WAIT_S = 0.4  # what a first hook may wait for another thread that opens the ledger
_PAUSES_S = (0.0002, 0.0003, 0.0005, 0.001, 0.002)


def patiently(attempt: Callable[[], T], deadline: float) -> T:
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
