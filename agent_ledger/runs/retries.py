"""Whether a run that asked to be tried again later may be: not where the attempt has changed something."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from .child import Signals
from .live import Live
from .model import Facts
from .verdict import EXIT_RETRY, LedgerFindings, Verdict

MOST_DELAY_S = 3600.0
_STEP_S = 0.1
WORKER = "HERMES_KANBAN_TASK"


def note_for(environ: Mapping[str, str]) -> str:
    """What --retry cannot do here, '' where it can."""
    if environ.get(WORKER):
        return ""
    return (
        f"--retry: the host says 75 (try again later) only to dispatched workers ({WORKER}); elsewhere an overloaded"
        " provider is exit 1, which is not tried again"
    )


def why_not(verdict: Verdict, facts: Facts, ledger: LedgerFindings | None, unsafe: bool) -> str:
    """Why another attempt is not made, '' where it may be."""
    if verdict.exit_code != EXIT_RETRY:
        return "only 75 is tried again"
    if unsafe:
        return ""
    if ledger is not None and ledger.changed:
        return f"not tried again: the ledger has {ledger.changed} calls of this attempt that may have changed something"
    changing = sum(stats.changing for stats in facts.tools.values())
    if changing and (ledger is None or not ledger.known):
        return f"not tried again: {changing} calls may have changed something, and no ledger knows what came of them"
    return ""


def delay(first: float, attempt: int) -> float:
    """Seconds to wait after ``attempt`` (1 is the first): doubled each time."""
    return float(min(first * 2 ** (attempt - 1), MOST_DELAY_S))


def wait(seconds: float, live: Live, signals: Signals) -> bool:
    """Wait; False where a signal came meanwhile."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if signals.waiting:
            return False
        live.tick()
        time.sleep(min(_STEP_S, seconds))
    return True


def keep(save: str | None, attempt: int) -> None:
    """Give the saved stream of an attempt that is tried again a name of its own: FILE.1, FILE.2."""
    if save is not None and os.path.isfile(save) and not os.path.islink(save):
        os.replace(save, f"{save}.{attempt}")
