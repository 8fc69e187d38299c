"""Old calls go once a day, where the user asked for it."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from agent_ledger import settings
from agent_ledger.store import ledger, retention
from agent_ledger.store.db import Database
from tests.calls import call

DAY = 86_400


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """A ledger with an old confirmed call, an old open one, an old refusal and a new confirmed one."""
    made = Database(str(tmp_path / "ledger.db"))
    old, new = "2020-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"

    def fill(connection: sqlite3.Connection) -> None:
        for name, ts, status in (
            ("old", old, "CONFIRMED"), ("open", old, "PENDING"), ("refused", old, "ERROR:blocked"), ("new", new, "CONFIRMED"),
        ):  # fmt: skip
            row_id = ledger.announce(connection, call({"path": name}, tool_call_id=name, ts=ts))
            connection.execute("UPDATE ledger SET status = ? WHERE id = ?", (status, row_id))

    made.write(fill, time.monotonic() + 1)
    return made


def left(database: Database) -> list[str]:
    rows = database.read(lambda c: c.execute("SELECT tool_call_id FROM ledger ORDER BY id").fetchall(), time.monotonic() + 1)
    return [row[0] for row in rows]


def run(database: Database) -> None:
    thread = retention.begin(database.path, 90 * DAY)
    assert thread is not None
    thread.join(10)


def test_old_settled_calls_go(database: Database) -> None:
    """Calls without an outcome and refusals stay, whatever their age."""
    run(database)
    assert left(database) == ["open", "refused", "new"]


def test_once_a_day(database: Database) -> None:
    """A second session of the same day removes nothing more."""
    database.write(lambda c: c.execute("INSERT INTO meta VALUES ('retention_ts', ?)", (retention.now_iso(),)), time.monotonic() + 1)
    run(database)
    assert left(database) == ["old", "open", "refused", "new"]


@pytest.mark.parametrize(("value", "accepted"), [("off", True), ("90d", True), ("2w", True), ("12h", False), ("0d", False), ("90", False), ("never", False), (90, False)])
def test_setting_takes_a_span(tmp_path: Path, value: object, accepted: bool) -> None:
    """off or a span; anything else is named and nothing is removed."""
    found = settings.load(str(tmp_path), lambda: {"retention": value}, {})
    assert (found.retention == value, bool(found.problems)) == (accepted, not accepted)
    assert accepted or found.retention == "off"
