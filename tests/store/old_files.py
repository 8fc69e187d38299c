"""What released versions left on disk, kept in ``released/``: the tables of each with rows, and their spool lines."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

RELEASED = Path(__file__).with_name("released")
SCHEMAS = sorted(RELEASED.glob("schema-*.sql"))
SPOOLS = sorted(RELEASED.glob("spool-*.jsonl"))

Rows = dict[str, list[dict[str, Any]]]


def ledger_of(file: Path, path: Path) -> None:
    """Make the ledger at ``path`` as the version of ``file`` left it: private, in WAL mode, with rows in every table."""
    path.parent.mkdir(parents=True, mode=0o700)
    path.touch(mode=0o600)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(file.read_text(encoding="utf-8"))
    connection.close()


def rows_of(path: Path, like: Rows | None = None) -> Rows:
    """Every row of every table; ``like``: only those of its tables and columns."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    found = {name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")] for name in names}  # noqa: S608
    connection.close()
    if like is None:
        return found
    return {
        name: [{column: row[column] for column in rows[0]} for row in found[name]] for name, rows in like.items() if rows
    }
