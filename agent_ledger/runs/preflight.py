"""The host's own check of its installation, before a run."""

from __future__ import annotations

import time

from .child import Child, Diagnostics, Signals
from .command import Command
from .live import Live

LONGEST_S = 120.0
_STEP_S = 0.05


def check(command: Command, live: Live, signals: Signals, variables: dict[str, str]) -> str:
    """Run ``hermes doctor``, whose text goes to standard error; why the run must not start, '' where it may."""
    words = command.doctor()
    child = Child(words, variables)
    printed = [Diagnostics(pipe, live.raw) for pipe in (child.stdout, child.stderr)]
    until = time.monotonic() + LONGEST_S
    while (code := child.code()) is None:
        for number in signals.waiting:
            child.kill()
            return f"preflight: stopped by signal {number}"
        if time.monotonic() > until:
            child.kill()
            return f"preflight: `{' '.join(words)}` did not end within {LONGEST_S:.0f} s"
        live.tick()
        time.sleep(_STEP_S)
    for one in printed:
        one.finish(1.0)
    return f"preflight: `{' '.join(words)}` ended with {code}; the run was not started" if code else ""
