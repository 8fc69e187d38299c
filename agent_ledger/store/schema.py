"""The tables of the ledger, and the steps that bring an older file to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

# Version 1: the first schema.
# Version 2: ledger.policy_memory.
SCHEMA_VERSION = 2
WITH_MEMORY = 2  # from here on calls have the column policy_memory

# The oldest plugin schema that may still write to what this version makes.
MIN_WRITER = 1

# The id of the next row, as an expression; see ledger_newest_gone.
NEXT_ID = (
    "(SELECT 1 + max(coalesce((SELECT max(id) FROM ledger), 0),"
    " coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'newest_gone'), 0)))"
)

TABLES = """
CREATE TABLE ledger (
    id              INTEGER PRIMARY KEY,                -- ascending, never reused (see ledger_newest_gone)
    ts              TEXT    NOT NULL,                   -- when the call was announced: UTC, ISO 8601, milliseconds, Z
    session_id      TEXT    NOT NULL DEFAULT '',        -- the host's ids, '' where the host gave none
    task_id         TEXT    NOT NULL DEFAULT '',
    turn_id         TEXT    NOT NULL DEFAULT '',
    tool_call_id    TEXT    NOT NULL DEFAULT '',
    tool_name       TEXT    NOT NULL DEFAULT '',        -- as the host gave it
    args_json       TEXT    NOT NULL DEFAULT '{}',      -- redacted canonical JSON, at most 4000 characters
    args_sha256     TEXT    NOT NULL DEFAULT '',        -- of the whole redacted canonical JSON, before the cut
    args_len        INTEGER NOT NULL DEFAULT 0,         -- its length in characters, before the cut
    summary         TEXT    NOT NULL DEFAULT '',        -- one line, at most 120 characters: what the call does
    status          TEXT    NOT NULL DEFAULT 'PENDING'  -- PENDING, CONFIRMED, ERROR:<type>, GHOST_REPORTED
                    CHECK (status = 'PENDING' OR status = 'CONFIRMED' OR status = 'GHOST_REPORTED'
                           OR status GLOB 'ERROR:?*'),
    effect          TEXT    NOT NULL DEFAULT 'unknown'  -- what is known of its effect on the world
                    CHECK (effect = 'unknown' OR effect = 'applied' OR effect = 'started' OR effect = 'none'),
    grace_s         INTEGER NOT NULL DEFAULT 120,       -- seconds before an open call counts as a ghost
    owner           TEXT    NOT NULL DEFAULT '',        -- which process issued it
    cwd             TEXT    NOT NULL DEFAULT '',        -- working folder
    platform        TEXT    NOT NULL DEFAULT '',        -- surface: cli, gateway, cron, ...
    backend         TEXT    NOT NULL DEFAULT '',        -- terminal backend: local, docker, ssh, ...
    reads           TEXT    NOT NULL DEFAULT '',        -- read-only tools called in this session since its last row
    probe_json      TEXT    NOT NULL DEFAULT '',        -- what an evidence probe needs and redaction would spoil
    settled_ts      TEXT,                               -- when the outcome was recorded
    duration_ms     INTEGER,                            -- as the host measured it
    result_digest   TEXT    NOT NULL DEFAULT '',        -- at most 300 characters of the result, redacted
    error_message   TEXT    NOT NULL DEFAULT '',
    policy_decision TEXT    NOT NULL DEFAULT '',        -- what policy said, '' where none judged the call
    policy_rule     TEXT    NOT NULL DEFAULT '',
    policy_sha256   TEXT    NOT NULL DEFAULT '',
    flags           TEXT    NOT NULL DEFAULT '',        -- space-separated marks: orphan, late, args_changed, ...
    outer_id        INTEGER                             -- the execute_code row inside which a nested call ran
);

-- Unusual changes of status: everything but PENDING to its first outcome.
CREATE TABLE transitions (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    ledger_id   INTEGER NOT NULL,
    ts          TEXT    NOT NULL,
    from_status TEXT    NOT NULL,
    to_status   TEXT    NOT NULL,
    why         TEXT    NOT NULL DEFAULT ''
);

-- Edges between session ids. kind: rotation (one conversation) or delegation (its own conversation).
CREATE TABLE sessions (
    session_id TEXT NOT NULL,
    parent_id  TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('rotation', 'delegation')),
    evidence   TEXT NOT NULL,                           -- turn, turn_id, host, parent_session_id
    turn_id    TEXT NOT NULL DEFAULT '',
    ts         TEXT NOT NULL,
    PRIMARY KEY (session_id, parent_id)
) WITHOUT ROWID;

-- What a conversation was told, by which process and in which turn.
CREATE TABLE notices (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    ts         TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    turn_id    TEXT    NOT NULL DEFAULT '',
    owner      TEXT    NOT NULL DEFAULT '',
    asked      TEXT    NOT NULL DEFAULT '',             -- hash of that turn's user message
    ghosts     TEXT    NOT NULL DEFAULT '[]',           -- JSON array of ledger ids
    also       TEXT    NOT NULL DEFAULT '{}',           -- JSON: ids of launched, news, recalled; how many recalled
    state      TEXT    NOT NULL DEFAULT 'told'          -- told, again, read
);

-- What the next turn of a conversation has to say besides ghosts. kind: late (an outcome that came after the warning or
-- after the host had given up) or repeat (a call that was confirmed before).
CREATE TABLE news (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    ts         TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    ledger_id  INTEGER NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('late', 'repeat')),
    told_ts    TEXT                                     -- NULL until a turn took it
);

-- Up to which row it was decided whether a confirmed call is still visible in the conversation.
CREATE TABLE recalls (
    session_id TEXT    PRIMARY KEY,
    upto       INTEGER NOT NULL,                        -- rows up to here were told, or are listed in visible
    visible    TEXT    NOT NULL DEFAULT '[]',           -- JSON array of ledger ids that were still visible
    ts         TEXT    NOT NULL
) WITHOUT ROWID;

-- Up to which line of a spool file everything has been applied.
CREATE TABLE spooled (
    spool TEXT    PRIMARY KEY,
    seq   INTEGER NOT NULL,
    ts    TEXT    NOT NULL
) WITHOUT ROWID;

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- The calls that a post may still settle. Queries must repeat the condition word for word to use it. Chains of OR, here
-- and above: SQLite would build a table for each IN, for every row.
CREATE INDEX ledger_open ON ledger (session_id, tool_call_id)
    WHERE (status = 'PENDING' OR status = 'GHOST_REPORTED' OR status = 'ERROR:timeout' OR status = 'ERROR:cancelled');
CREATE INDEX ledger_session ON ledger (session_id);
CREATE INDEX ledger_code ON ledger (task_id) WHERE status = 'PENDING' AND tool_name = 'execute_code';
CREATE INDEX ledger_nested ON ledger (outer_id) WHERE outer_id IS NOT NULL;
CREATE INDEX ledger_started ON ledger (session_id) WHERE effect = 'started';
CREATE INDEX transitions_ledger ON transitions (ledger_id);
CREATE INDEX sessions_parent ON sessions (parent_id);
CREATE INDEX notices_session ON notices (session_id);
CREATE INDEX news_untold ON news (session_id) WHERE told_ts IS NULL;
CREATE INDEX news_ledger ON news (ledger_id);

-- AUTOINCREMENT would write one more page for every call. Ids are not reused all the same: where the newest row goes,
-- its id is kept here, and the plugin counts on from the larger of the two.
CREATE TRIGGER ledger_newest_gone AFTER DELETE ON ledger
WHEN OLD.id > coalesce((SELECT max(id) FROM ledger), 0)
BEGIN
    INSERT INTO meta (key, value) VALUES ('newest_gone', OLD.id)
    ON CONFLICT (key) DO UPDATE SET value = max(CAST(value AS INTEGER), OLD.id);
END;

-- Calls that nobody confirmed in time. An owner that died makes a ghost at once; SQL cannot see that, `ghosts` can.
CREATE VIEW ghosts AS
    SELECT id, ts, session_id, tool_name, summary, status, effect, grace_s, owner,
           CAST((julianday('now') - julianday(ts)) * 86400 AS INTEGER) AS age_s
    FROM ledger
    WHERE (status = 'PENDING' OR status = 'GHOST_REPORTED' OR status = 'ERROR:timeout' OR status = 'ERROR:cancelled')
      AND ((status = 'GHOST_REPORTED' AND effect = 'unknown')
           OR (status = 'PENDING' AND (julianday('now') - julianday(ts)) * 86400 > grace_s))
    ORDER BY id;

-- The newest calls first, in the columns one looks at.
CREATE VIEW recent AS
    SELECT id, ts, session_id, tool_name, summary, status, effect, duration_ms, flags
    FROM ledger ORDER BY id DESC;
"""


def _first_tables(connection: sqlite3.Connection) -> None:
    for statement in statements(TABLES):
        connection.execute(statement)


def _policy_memory(connection: sqlite3.Connection) -> None:
    # JSON: what the judgement of this call left for the judgement of later calls of its session.
    connection.execute("ALTER TABLE ledger ADD COLUMN policy_memory TEXT NOT NULL DEFAULT ''")


# Append only; a released step is never edited. Each runs in one transaction together with the new user_version, may
# only add (an older plugin goes on writing beside it), and builds no index over calls, because a hook may run it. A new
# column has a default. The tables of each released version are kept in tests/store/released.
MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = [_first_tables, _policy_memory]


def statements(script: str) -> list[str]:
    """Split a script at its semicolons, comments kept, so that it can run inside a transaction."""
    found, current = [], ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            found.append(current.strip())
            current = ""
    return found


def version(connection: sqlite3.Connection) -> int:
    row = connection.execute("PRAGMA user_version").fetchone()
    return int(row[0])


def min_writer(connection: sqlite3.Connection) -> int:
    """The oldest schema version that may write to this file."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'min_writer'").fetchone()
    try:
        return int(row[0]) if row else 0
    except (TypeError, ValueError):
        return 0


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to SCHEMA_VERSION. Safe when several processes do it at once; a newer file is left as it is."""
    while (at := version(connection)) < SCHEMA_VERSION:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version(connection) == at:
                MIGRATIONS[at](connection)
                connection.execute(f"PRAGMA user_version = {at + 1}")
                connection.execute(
                    "INSERT OR REPLACE INTO meta (key, value) VALUES ('min_writer', ?)", (str(MIN_WRITER),)
                )
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
