"""A ledger for tests of single statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_ledger.store.opening import create


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A file that was just made, opened by a foreign program."""
    create(str(tmp_path / "ledger.db"))
    connection = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    yield connection
    connection.close()
