"""Counters in table ``meta``."""

from __future__ import annotations

import sqlite3


def bump(connection: sqlite3.Connection, counter: str, by: int) -> None:
    """Add to a counter."""
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + ?",
        (counter, str(by), by),
    )


def note(connection: sqlite3.Connection, key: str, text: str) -> None:
    """Keep the newest text under a key."""
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, text))
