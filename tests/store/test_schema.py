"""The tables that users and other programs rely on, and how a file gets to them."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from agent_ledger.model import Call
from agent_ledger.store import schema
from agent_ledger.store.shapes import Row
from agent_ledger.store.sql import columns
from tests.store import old_files

COLUMNS = [
    "id", "ts", "session_id", "task_id", "turn_id", "tool_call_id", "tool_name", "args_json", "args_sha256", "args_len",
    "summary", "status", "effect", "grace_s", "owner", "cwd", "platform", "backend", "reads", "probe_json", "settled_ts",
    "duration_ms", "result_digest", "error_message", "policy_decision", "policy_rule", "policy_sha256", "flags",
    "policy_memory",
]  # fmt: skip


def test_documented_columns_are_there(db: sqlite3.Connection) -> None:
    """Every column of the documentation exists."""
    found = [row[1] for row in db.execute("PRAGMA table_info(ledger)")]
    assert [name for name in COLUMNS if name not in found] == []


def test_whole_row_is_every_column(db: sqlite3.Connection) -> None:
    """What commands show of a call has the table's columns, in its order, but what the judgement keeps for itself; an
    announced call has only such columns."""
    found = [row[1] for row in db.execute("PRAGMA table_info(ledger)")]
    assert columns(Row).split(", ") == [name for name in found if name != "policy_memory"]
    assert set(Call._fields) <= set(found)


def test_columns_of_transitions(db: sqlite3.Connection) -> None:
    """The trace of unusual changes has its documented columns."""
    found = {row[1] for row in db.execute("PRAGMA table_info(transitions)")}
    assert {"ledger_id", "ts", "from_status", "to_status", "why"} <= found


@pytest.mark.parametrize("view", ["ghosts", "recent"])
def test_view_can_be_read(db: sqlite3.Connection, view: str) -> None:
    """The views exist and answer, empty on an empty ledger."""
    assert db.execute(f"SELECT * FROM {view}").fetchall() == []  # noqa: S608


def test_recent_shows_the_newest_first(db: sqlite3.Connection) -> None:
    """View recent is the ledger from its end."""
    db.execute("INSERT INTO ledger (ts, tool_name) VALUES ('2026-01-02T00:00:00.000Z', 'a')")
    db.execute("INSERT INTO ledger (ts, tool_name) VALUES ('2026-01-02T00:00:01.000Z', 'b')")
    assert db.execute("SELECT tool_name FROM recent").fetchall() == [("b",), ("a",)]


def test_ghosts_shows_what_is_overdue(db: sqlite3.Connection) -> None:
    """View ghosts has the open call whose grace is over, not the young one and not the confirmed one."""
    old, young = "2026-01-02T00:00:00.000Z", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    db.execute(f"INSERT INTO ledger (ts, tool_name) VALUES ('{old}', 'overdue')")  # noqa: S608
    db.execute(f"INSERT INTO ledger (ts, tool_name) SELECT {young}, 'young'")  # noqa: S608
    db.execute(f"INSERT INTO ledger (ts, tool_name, status) VALUES ('{old}', 'done', 'CONFIRMED')")  # noqa: S608
    assert db.execute("SELECT tool_name FROM ghosts").fetchall() == [("overdue",)]


@pytest.mark.parametrize("status", ["PENDING", "CONFIRMED", "GHOST_REPORTED", "ERROR:x", "ERROR:exit_1"])
def test_status_words_are_accepted(db: sqlite3.Connection, status: str) -> None:
    """The documented statuses can be written."""
    db.execute("INSERT INTO ledger (ts, status) VALUES ('t', ?)", (status,))


@pytest.mark.parametrize("status", ["", "pending", "DONE", "ERROR", "ERROR:"])
def test_other_status_words_are_refused(db: sqlite3.Connection, status: str) -> None:
    """No other status can get into the table."""
    with pytest.raises(sqlite3.IntegrityError):
        db.execute("INSERT INTO ledger (ts, status) VALUES ('t', ?)", (status,))


def test_other_effects_are_refused(db: sqlite3.Connection) -> None:
    """An effect is one of the four words."""
    with pytest.raises(sqlite3.IntegrityError):
        db.execute("INSERT INTO ledger (ts, effect) VALUES ('t', 'maybe')")


def test_space_can_be_given_back(db: sqlite3.Connection) -> None:
    """auto_vacuum is INCREMENTAL from the first page on."""
    assert db.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_fresh_file_is_of_this_version(db: sqlite3.Connection) -> None:
    """user_version and min_writer say which plugin may write."""
    assert schema.version(db) == schema.SCHEMA_VERSION == len(schema.MIGRATIONS)
    assert schema.min_writer(db) == schema.MIN_WRITER


def test_migrating_twice_changes_nothing(db: sqlite3.Connection) -> None:
    """A second migration leaves rows and schema alone."""
    db.execute("INSERT INTO ledger (ts) VALUES ('a')")
    before = db.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    schema.migrate(db)
    assert db.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall() == before
    assert db.execute("SELECT count(*) FROM ledger").fetchone() == (1,)


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


def test_newer_file_is_left_as_it_is(db: sqlite3.Connection) -> None:
    """A file of a later version keeps its version."""
    db.execute("PRAGMA user_version = 99")
    schema.migrate(db)
    assert schema.version(db) == 99


def test_unreadable_min_writer_is_zero(db: sqlite3.Connection) -> None:
    """A min_writer that is no number forbids nothing."""
    db.execute("UPDATE meta SET value = 'soon' WHERE key = 'min_writer'")
    assert schema.min_writer(db) == 0


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


def made_of(connection: sqlite3.Connection) -> dict[str, str]:
    """Name -> what made each table, index, view and trigger, without comments."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: " ".join(re.sub(r"--[^\n]*", "", sql).split()) for name, sql in found}


@pytest.mark.parametrize("file", old_files.SCHEMAS, ids=lambda file: file.stem)
def test_released_ledger_keeps_every_row(tmp_path: Path, db: sqlite3.Connection, file: Path) -> None:
    """The ledger of every released version becomes one of this version, with all rows, and views that can be read."""
    path = tmp_path / "old" / "ledger.db"
    old_files.ledger_of(file, path)
    before = old_files.rows_of(path)
    assert all(before[table] for table in old_files.rows_of(tmp_path / "ledger.db") if table in before)
    connection = sqlite3.connect(path, isolation_level=None)
    schema.migrate(connection)
    assert schema.version(connection) == schema.SCHEMA_VERSION
    after = old_files.rows_of(path, before)
    marks = {"key": "min_writer", "value": str(schema.MIN_WRITER)}
    before["meta"] = [marks if row["key"] == "min_writer" else row for row in before["meta"]]
    assert after == before
    assert made_of(connection).keys() == made_of(db).keys()
    for name in made_of(db):
        columns = f"SELECT name FROM pragma_table_info('{name}') ORDER BY name"  # noqa: S608
        assert connection.execute(columns).fetchall() == db.execute(columns).fetchall()
    assert len(connection.execute("SELECT id FROM recent").fetchall()) == len(before["ledger"])
    assert connection.execute("SELECT id FROM ghosts").fetchall() == [(2,), (4,)]


def test_tables_of_this_version_are_kept() -> None:
    """Each version has its released file, so that the next one is tested against it."""
    assert [file.stem for file in old_files.SCHEMAS] == [
        f"schema-{number}" for number in range(1, schema.SCHEMA_VERSION + 1)
    ]


def test_released_steps_are_not_edited(tmp_path: Path) -> None:
    """The first step makes the very tables of version 1."""
    old_files.ledger_of(old_files.SCHEMAS[0], tmp_path / "old" / "ledger.db")
    now = sqlite3.connect(":memory:", isolation_level=None)
    schema.MIGRATIONS[0](now)
    assert made_of(now) == made_of(sqlite3.connect(tmp_path / "old" / "ledger.db"))
