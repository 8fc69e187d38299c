"""``run check [FILE|-]``: the verdict over an event stream, recorded or growing."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import ExitStack
from typing import BinaryIO

from ...errors import LedgerError, UsageError
from ...runs import events, verdict
from ...runs.save import Saved
from ..answer import Answer
from . import reports


def run(options: argparse.Namespace) -> Answer:
    process_rc = _process_rc(options.ledger_process_rc)
    fail_on = reports.fail_on(options)
    reports.validate(options)
    path, save = options.ledger_file, options.ledger_save
    if save is not None and path != "-":
        raise UsageError(f"--save keeps what comes from standard input, and {path} is a file already. Leave it out")
    saved: Saved | None = None
    with ExitStack() as stack:
        source: events.Source = _stdin() if path == "-" else stack.enter_context(_opened(path))
        if save is not None:
            source = saved = Saved(source, save)
            stack.callback(saved.close)
        try:
            facts = events.read(source)
        except OSError as error:
            raise LedgerError(f"cannot read {path} to its end ({error.strerror}); there is no verdict") from error
    found = reports.findings(options, facts)
    judged = verdict.judge(facts, process_rc, found, fail_on)
    return reports.answer(options, judged, [saved.trouble] if saved is not None and saved.trouble else [])


def _process_rc(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"-?[0-9]{1,10}", text):
        raise UsageError(f"--process-rc={text} is no exit code. Give an integer, such as --process-rc=$?")
    return int(text)


def _stdin() -> BinaryIO:
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("standard input is closed. Give a file, or a stream on standard input")
    if sys.stdin.isatty():
        raise UsageError("standard input is a terminal. Give a file, or pipe the output of hermes chat into it")
    return sys.stdin.buffer


def _opened(path: str) -> BinaryIO:
    try:
        return open(path, "rb", buffering=0)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read {path} ({why}). Give the file that holds the stream, or -") from error
