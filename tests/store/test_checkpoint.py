"""Checkpoints: off the hook path, one process at a time, nothing lost."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from collections.abc import Callable

import pytest

from agent_ledger.store import checkpoint
from agent_ledger.store.db import Database

Deadline = Callable[[], float]


@pytest.fixture
def full_log(ledger: Database, soon: Deadline) -> Database:
    """A ledger with fifty rows that are only in its write-ahead log."""
    for _ in range(50):
        ledger.write(lambda c: c.execute("INSERT INTO ledger (ts, args_json) VALUES ('a', ?)", ("x" * 2000,)), soon())
    return ledger


def test_log_is_copied_back(full_log: Database) -> None:
    """After a checkpoint the database file itself holds the rows."""
    before = os.stat(full_log.path).st_size
    assert checkpoint.checkpoint(full_log.path) is True
    assert os.stat(full_log.path).st_size > before


def test_rows_survive(full_log: Database, soon: Deadline) -> None:
    """A checkpoint loses no row, and writing goes on."""
    checkpoint.checkpoint(full_log.path)
    full_log.write(lambda c: c.execute("INSERT INTO ledger (ts) VALUES ('b')"), soon())
    assert sqlite3.connect(full_log.path).execute("SELECT count(*) FROM ledger").fetchone() == (51,)


def test_one_process_at_a_time(full_log: Database) -> None:
    """While another process holds the lock file, no checkpoint runs."""
    descriptor = os.open(full_log.path + ".checkpoint", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        assert checkpoint.checkpoint(full_log.path) is False
    finally:
        os.close(descriptor)


def test_lock_file_is_private(full_log: Database) -> None:
    """The lock file is 0600 like everything beside the ledger."""
    checkpoint.checkpoint(full_log.path)
    assert stat.S_IMODE(os.stat(full_log.path + ".checkpoint").st_mode) == 0o600


def test_log_size_of_no_ledger() -> None:
    """No log is a log of no bytes."""
    assert checkpoint.log_size("/nonexistent/ledger.db") == 0


def test_many_writes_start_a_checkpoint(full_log: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many writes, with a log that is long enough, a checkpoint runs in a thread of its own."""
    monkeypatch.setattr(checkpoint, "START_BYTES", 1000)
    monkeypatch.setattr(checkpoint, "_BETWEEN_S", -1e9)
    before = os.stat(full_log.path).st_size
    counter = checkpoint.Checkpoints(full_log.path)
    for _ in range(checkpoint.EVERY):
        counter.count()
    while (thread := counter._thread) is not None:
        thread.join(5)
    assert os.stat(full_log.path).st_size > before


def test_few_writes_start_none(full_log: Database) -> None:
    """Below the count nothing is looked at."""
    counter = checkpoint.Checkpoints(full_log.path)
    for _ in range(checkpoint.EVERY - 1):
        counter.count()
    assert not os.path.exists(full_log.path + ".checkpoint")
