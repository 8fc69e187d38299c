"""``settle ID``: an operator who looked writes down whether an unconfirmed call took effect."""

from __future__ import annotations

import argparse
import getpass
import os
import sqlite3
import time
from typing import Any

from ..errors import LedgerError, NoLedger, NoSuchCall, UsageError
from ..ghosts import owner, reconcile
from ..home import data_folder, ledger_path
from ..model import APPLIED, GHOST_REPORTED, NONE, PENDING, now_iso
from ..store import ledger
from ..store.db import Database, Unavailable
from . import exits, rows, show, where
from .answer import Answer
from .output import Screen
from .text import safe

MAX_NOTE = 500
_WAIT_S = 5.0


def run(options: argparse.Namespace) -> Answer:
    row_id = show.number(options.ledger_id)
    home = where.home_of(options.ledger_home)
    effect = APPLIED if options.ledger_applied else NONE
    data = write_down(home, row_id, effect, options.ledger_note, actor())
    before = data["before"]

    def print_it(screen: Screen) -> None:
        was = "" if before in ("unknown", effect) else f" (it was {before})"
        screen.line(f"#{row_id} is settled: effect {effect}{was}. The record: hermes ledger show {row_id}")

    return Answer(exits.OK, data, print_it)


def write_down(home: str, row_id: int, effect: str, note: str, who: str) -> dict[str, Any]:
    """Settle a call as ``applied`` or ``none``; returns what --json prints. Raises UsageError where the call cannot be
    settled or the note is too long, LedgerError where the ledger cannot be written."""
    note = " ".join(note.split())
    if len(note) > MAX_NOTE:
        raise UsageError(f"the note has {len(note)} characters, at most {MAX_NOTE} are kept. Shorten it")
    path = ledger_path(home)
    if not os.path.isfile(path):
        raise NoLedger(f"no ledger yet at {path}: there is nothing to settle")
    where.replay(home)
    why = f"settled by {who}: {'applied' if effect == APPLIED else 'not applied'}" + (f"; {note}" if note else "")
    owners = os.path.join(data_folder(home), "owners")
    database = Database(path, where.settings_of(home).synchronous)
    try:
        before = database.write(
            lambda connection: _settle(connection, row_id, effect, why, owners, path), time.monotonic() + _WAIT_S
        )
    except Unavailable as trouble:
        raise LedgerError(f"cannot write to {path} ({trouble}). Nothing was changed; try again") from trouble
    return {"id": row_id, "effect": effect, "before": before, "note": note, "why": why}


def actor() -> str:
    """Who settles: the operating-system user that runs the command."""
    try:
        return safe(getpass.getuser())[:60]
    except (OSError, KeyError):
        return "an operator"


def _settle(connection: sqlite3.Connection, row_id: int, effect: str, why: str, owners: str, path: str) -> str:
    """Write the effect and a transition; returns the effect before. Raises UsageError, and then nothing is changed."""
    row = ledger.open_row(connection, row_id)
    if row is None:
        raise NoSuchCall(
            f"there is no call {row_id} in {path}. Numbers stand in the ID column of: hermes ledger ghosts"
        )
    if row.status not in (GHOST_REPORTED, PENDING):
        raise UsageError(
            f"call {row_id} is {row.status}: it has its outcome, and only an unconfirmed call can be settled"
        )
    if row.status == PENDING:
        alive = {row.owner: owner.is_alive(row.owner, owners)}
        if not reconcile.ghosts([row], rows.now(), alive):
            raise UsageError(f"call {row_id} is still running within its grace period of {row.grace_s} s. Wait for it")
    ledger.settle_by_hand(connection, row, effect, why, now_iso())
    return row.effect
