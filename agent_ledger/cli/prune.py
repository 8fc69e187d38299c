"""``prune``: remove old rows by hand, in small steps beside running hooks."""

from __future__ import annotations

import argparse
import os
import sqlite3
import time
from contextlib import ExitStack
from typing import Any

from .. import spans
from ..errors import LedgerError, NoLedger, UsageError
from ..home import ledger_path
from ..model import now_iso
from ..store import prune
from ..store.db import Database, Unavailable, release_owned
from . import exits, rows, where
from .answer import Answer
from .output import Screen
from .progress import begin
from .text import plural, size

ALSO = ("ghosts", "refusals")


def run(options: argparse.Namespace) -> Answer:
    limits = _limits(options)
    home = where.home_of(options.ledger_home)
    path = ledger_path(home)
    if not os.path.isfile(path):
        raise NoLedger(f"no ledger yet at {path}: there is nothing to prune")
    if options.ledger_dry_run:
        with where.opened(home) as reader:
            count = reader.ask(lambda connection: prune.count(connection, limits))
        data: dict[str, Any] = {"ledger": path, "dry_run": True, "rows": count}
        return Answer(
            exits.OK, data, lambda screen: screen.line(f"{plural(count, 'row')} would be removed from {path}")
        )
    where.replay(home)
    try:
        done = _prune(Database(path, where.settings_of(home).synchronous), limits)
    except (Unavailable, sqlite3.Error, OSError) as trouble:
        raise LedgerError(f"cannot prune {path} ({trouble}). What was removed stays removed; try again") from trouble
    data = {
        "ledger": path, "dry_run": False, "rows": done.rows, "bytes_before": done.bytes_before,
        "bytes_after": done.bytes_after, "stopped": done.stopped,
    }  # fmt: skip

    def show(screen: Screen) -> None:
        screen.line(
            f"{plural(done.rows, 'row')} removed; the ledger takes {size(done.bytes_after)}, it took"
            f" {size(done.bytes_before)}"
        )
        if limits.max_bytes is not None and done.bytes_after > limits.max_bytes:
            screen.line("the rest is kept: open calls, and ghosts and refusals unless --also names them")

    return Answer(exits.INTERRUPTED if done.stopped else exits.OK, data, show)


def _limits(options: argparse.Namespace) -> prune.Limits:
    keep = None
    if options.ledger_keep is not None:
        if not options.ledger_keep.isascii() or not options.ledger_keep.isdigit() or len(options.ledger_keep) > 15:
            raise UsageError(f"--keep {options.ledger_keep!r} is no number of rows, such as 50000")
        keep = int(options.ledger_keep)
    before = None
    if options.ledger_older_than is not None:
        before = now_iso(rows.now() - spans.seconds(options.ledger_older_than))
    most = spans.size(options.ledger_max_size) if options.ledger_max_size is not None else None
    if keep is None and before is None and most is None:
        raise UsageError("say what may go: --keep N, --older-than 90d or --max-size 500MB (see prune --help)")
    also = {word.strip() for text in options.ledger_also for word in text.split(",") if word.strip()}
    if unknown := sorted(also - set(ALSO)):
        raise UsageError(f"--also {unknown[0]!r} is unknown; it takes {' and '.join(ALSO)}")
    return prune.Limits(keep, before, most, ghosts="ghosts" in also, refusals="refusals" in also)


def _prune(database: Database, limits: prune.Limits) -> prune.Pruned:
    done = prune.Pruned()
    with ExitStack() as stack:
        progress = begin(
            stack,
            "pruning",
            lambda: database.read(lambda connection: prune.count(connection, limits), time.monotonic() + 5),
            lambda count: f"{plural(count, 'row')} removed so far",
        )
        try:
            return prune.prune(database, limits, progress, done=done)
        except KeyboardInterrupt:
            # The transaction at hand was rolled back; say how far it came.
            release_owned()
            prune.recount(database, done)
            return done
