"""Calls that are announced and settled by the statements alone, without a keeper."""

from __future__ import annotations

import sqlite3
from typing import Any

from agent_ledger.model import Outcome
from agent_ledger.store import ledger
from tests.calls import OK, call, post

LATE_TS = "2026-01-02T04:00:00.000Z"
FAILED = Outcome("ERROR:tool_error", "unknown", "no", "no")


def announce(db: sqlite3.Connection, args: Any = None, **fields: Any) -> int:
    return ledger.announce(db, call(args, **fields))


def settle(db: sqlite3.Connection, args: Any = None, outcome: Outcome = OK, **fields: Any) -> ledger.Settled:
    return ledger.settle(db, post(args, outcome, **{"ts": LATE_TS, **fields}))


def statuses(db: sqlite3.Connection) -> list[str]:
    """Of all rows, oldest first."""
    return [row[0] for row in db.execute("SELECT status FROM ledger ORDER BY id")]
