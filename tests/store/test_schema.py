"""The tables that users and other programs rely on, and how a file gets to them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent_ledger.store import schema
from agent_ledger.store.db import create

COLUMNS = [
    "id", "ts", "session_id", "task_id", "turn_id", "tool_call_id", "tool_name", "args_json", "args_sha256", "args_len",
    "summary", "status", "effect", "grace_s", "owner", "cwd", "platform", "backend", "reads", "probe_json", "settled_ts",
    "duration_ms", "result_digest", "error_message", "policy_decision", "policy_rule", "policy_sha256", "flags",
    "policy_memory",
]  # fmt: skip


@pytest.fixture
def fresh(tmp_path: Path) -> sqlite3.Connection:
    """A file that was just made, opened by a foreign program."""
    create(str(tmp_path / "ledger.db"))
    return sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)


def test_documented_columns_are_there(fresh: sqlite3.Connection) -> None:
    """Every column of the documentation exists."""
    found = [row[1] for row in fresh.execute("PRAGMA table_info(ledger)")]
    assert [name for name in COLUMNS if name not in found] == []


def test_columns_of_transitions(fresh: sqlite3.Connection) -> None:
    """The trace of unusual changes has its documented columns."""
    found = {row[1] for row in fresh.execute("PRAGMA table_info(transitions)")}
    assert {"ledger_id", "ts", "from_status", "to_status", "why"} <= found


@pytest.mark.parametrize("view", ["ghosts", "recent"])
def test_view_can_be_read(fresh: sqlite3.Connection, view: str) -> None:
    """The views exist and answer, empty on an empty ledger."""
    assert fresh.execute(f"SELECT * FROM {view}").fetchall() == []  # noqa: S608


def test_recent_shows_the_newest_first(fresh: sqlite3.Connection) -> None:
    """View recent is the ledger from its end."""
    fresh.execute("INSERT INTO ledger (ts, tool_name) VALUES ('2026-01-02T00:00:00.000Z', 'a')")
    fresh.execute("INSERT INTO ledger (ts, tool_name) VALUES ('2026-01-02T00:00:01.000Z', 'b')")
    assert fresh.execute("SELECT tool_name FROM recent").fetchall() == [("b",), ("a",)]


def test_ghosts_shows_what_is_overdue(fresh: sqlite3.Connection) -> None:
    """View ghosts has the open call whose grace is over, not the young one and not the confirmed one."""
    old, young = "2026-01-02T00:00:00.000Z", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    fresh.execute(f"INSERT INTO ledger (ts, tool_name) VALUES ('{old}', 'overdue')")  # noqa: S608
    fresh.execute(f"INSERT INTO ledger (ts, tool_name) SELECT {young}, 'young'")  # noqa: S608
    fresh.execute(f"INSERT INTO ledger (ts, tool_name, status) VALUES ('{old}', 'done', 'CONFIRMED')")  # noqa: S608
    assert fresh.execute("SELECT tool_name FROM ghosts").fetchall() == [("overdue",)]


@pytest.mark.parametrize("status", ["PENDING", "CONFIRMED", "GHOST_REPORTED", "ERROR:x", "ERROR:exit_1"])
def test_status_words_are_accepted(fresh: sqlite3.Connection, status: str) -> None:
    """The documented statuses can be written."""
    fresh.execute("INSERT INTO ledger (ts, status) VALUES ('t', ?)", (status,))


@pytest.mark.parametrize("status", ["", "pending", "DONE", "ERROR", "ERROR:"])
def test_other_status_words_are_refused(fresh: sqlite3.Connection, status: str) -> None:
    """No other status can get into the table."""
    with pytest.raises(sqlite3.IntegrityError):
        fresh.execute("INSERT INTO ledger (ts, status) VALUES ('t', ?)", (status,))


def test_other_effects_are_refused(fresh: sqlite3.Connection) -> None:
    """An effect is one of the four words."""
    with pytest.raises(sqlite3.IntegrityError):
        fresh.execute("INSERT INTO ledger (ts, effect) VALUES ('t', 'maybe')")


def test_space_can_be_given_back(fresh: sqlite3.Connection) -> None:
    """auto_vacuum is INCREMENTAL from the first page on."""
    assert fresh.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_fresh_file_is_of_this_version(fresh: sqlite3.Connection) -> None:
    """user_version and min_writer say which plugin may write."""
    assert schema.version(fresh) == schema.SCHEMA_VERSION == len(schema.MIGRATIONS)
    assert schema.min_writer(fresh) == schema.MIN_WRITER


def test_migrating_twice_changes_nothing(fresh: sqlite3.Connection) -> None:
    """A second migration leaves rows and schema alone."""
    fresh.execute("INSERT INTO ledger (ts) VALUES ('a')")
    before = fresh.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    schema.migrate(fresh)
    assert fresh.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall() == before
    assert fresh.execute("SELECT count(*) FROM ledger").fetchone() == (1,)


def test_first_schema_becomes_the_newest(tmp_path: Path) -> None:
    """A ledger of the first version gets the columns that came since, keeps its rows, and its older plugin may go on."""
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    schema.MIGRATIONS[0](connection)
    connection.execute("PRAGMA user_version = 1")
    insert = "INSERT INTO ledger (ts, session_id) VALUES ('2026-01-02T00:00:00.000Z', ?)"
    connection.execute(insert, ("before",))
    schema.migrate(connection)
    connection.execute(insert, ("older plugin",))
    assert connection.execute("SELECT session_id, policy_memory FROM ledger").fetchall() == [("before", ""), ("older plugin", "")]
    assert (schema.version(connection), schema.min_writer(connection)) == (schema.SCHEMA_VERSION, 1)


def test_newer_file_is_left_as_it_is(fresh: sqlite3.Connection) -> None:
    """A file of a later version keeps its version."""
    fresh.execute("PRAGMA user_version = 99")
    schema.migrate(fresh)
    assert schema.version(fresh) == 99


def test_unreadable_min_writer_is_zero(fresh: sqlite3.Connection) -> None:
    """A min_writer that is no number forbids nothing."""
    fresh.execute("UPDATE meta SET value = 'soon' WHERE key = 'min_writer'")
    assert schema.min_writer(fresh) == 0


def test_failed_step_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration that fails in the middle leaves the file as it was."""

    def broken(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (a)")
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(schema, "MIGRATIONS", [broken])
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    with pytest.raises(sqlite3.OperationalError):
        schema.migrate(connection)
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert schema.version(connection) == 0


def test_statements_keep_semicolons_in_comments_and_texts() -> None:
    """A script is split at its statements only."""
    script = "CREATE TABLE a (x); -- one; two\nINSERT INTO a VALUES ('b;c');\n"
    assert len(schema.statements(script)) == 2
