"""Ledgers as other programs make, hold and look at them: many rows by one statement, in a file that the plugin made."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from agent_ledger.home import ledger_path
from agent_ledger.store.opening import create

INSERT = """
INSERT INTO ledger (ts, session_id, turn_id, tool_call_id, tool_name, args_json, args_sha256, args_len, summary, status,
                    effect, owner, settled_ts, duration_ms, result_digest)
WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :many)
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ((:many - n) * :apart) || ' seconds'), 's' || (n % 50), 't',
       'call-' || n, 'write_file', json_object('path', '/srv/' || n || '.txt', 'content', :content),
       lower(hex(randomblob(32))), 100, 'write_file /srv/' || n || '.txt', :status, :effect, 'gone',
       strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 12, 'ok'
FROM numbers
"""


def filled(
    home: Path, many: int, status: str = "CONFIRMED", effect: str = "applied", content: str = "x" * 300, apart: int = 60
) -> Path:
    """Add ``many`` rows, the newest ``apart`` seconds old and each as long after the one before; returns the file."""
    path = Path(ledger_path(str(home)))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        create(str(path))
    connection = sqlite3.connect(path, timeout=10)
    with connection:
        connection.execute(
            INSERT, {"many": many, "status": status, "effect": effect, "content": content, "apart": apart}
        )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


@contextlib.contextmanager
def held(path: Path | str) -> Iterator[None]:
    """Another program holds the write lock of the ledger meanwhile."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        holder.close()


def statuses(path: Path) -> dict[str, int]:
    connection = sqlite3.connect(path, timeout=10)
    try:
        return dict(connection.execute("SELECT status, count(*) FROM ledger GROUP BY status").fetchall())
    finally:
        connection.close()


def content(path: Path) -> list[str]:
    """The ledger as statements: what a command that must not change anything leaves equal."""
    connection = sqlite3.connect(path, timeout=10)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def on_disk(path: Path) -> int:
    """Bytes that the ledger and its log take."""
    return sum(file.stat().st_size for file in (path, path.with_name(path.name + "-wal")) if file.exists())
