"""How far a long command is: a bar on a terminal (with rich where it is), a line every five seconds elsewhere; always
on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack

_EVERY_S = 5


def begin(stack: ExitStack, doing: str, total: Callable[[], int], said: Callable[[int], str]) -> Callable[[int], None]:
    """Returns what is called with how much is done. ``doing``: one word for the bar; ``total`` is asked only where
    there is one; ``said``: the line for logs."""
    if not sys.stderr.isatty():
        return _Lines(said)
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        return _Lines(said)
    bar = stack.enter_context(
        Progress(
            TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            console=Console(stderr=True), transient=True,
        )
    )  # fmt: skip
    task = bar.add_task(doing, total=total())
    return lambda count: bar.update(task, completed=count)


class _Lines:
    """Progress for logs."""

    def __init__(self, said: Callable[[int], str]) -> None:
        self._said = said
        self._next = time.monotonic() + _EVERY_S

    def __call__(self, count: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY_S
            print(f"agent-ledger: {self._said(count)}", file=sys.stderr, flush=True)
