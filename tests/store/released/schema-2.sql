-- Schema 2 as it was released, with rows in every table. Never edited: a later version must be able to read it.
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;

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

INSERT INTO ledger (id, ts, session_id, task_id, turn_id, tool_call_id, tool_name, args_json, args_sha256, args_len,
                    summary, status, effect, grace_s, owner, cwd, platform, backend, reads, probe_json, settled_ts, duration_ms,
                    result_digest, error_message, policy_decision, policy_rule, policy_sha256, flags, outer_id)
VALUES
    (1, '2026-01-02T03:04:05.678Z', 's1', 't1', 's1:t1:00000001', 'call_1', 'write_file', '{"path":"/srv/a.txt"}', 'aa',
     22, 'write_file /srv/a.txt', 'CONFIRMED', 'applied', 120, 'p1-s1-b-n-0badcafe', '/srv', 'cli', 'local', 'read_file',
     '{"path":"/srv/a.txt"}', '2026-01-02T03:04:06.000Z', 12, 'done', '', '', '', '', 'spooled', NULL),
    (2, '2026-01-02T03:05:05.678Z', 's1', 't1', 's1:t1:00000002', 'call_2', 'execute_code', '{"code":"x"}', 'bb', 12,
     'execute_code', 'GHOST_REPORTED', 'unknown', 120, 'p1-s1-b-n-0badcafe', '/srv', 'cli', 'local', '', '', NULL, NULL,
     '', '', '', '', '', '', NULL),
    (3, '2026-01-02T03:05:06.678Z', 's1', 't1', '', '', 'terminal', '{"command":"make"}', 'cc', 18,
     'terminal make', 'ERROR:exit_2', 'unknown', 900, 'p1-s1-b-n-0badcafe', '/srv', 'cli', 'local', '', '',
     '2026-01-02T03:05:07.678Z', 900, '', 'exit 2', '', '', '', 'nested', 2),
    (4, '2026-01-02T03:06:05.678Z', 's2', 't2', 's2:t2:00000001', 'call_0', 'cronjob', '{"action":"create"}', 'dd', 19,
     'cronjob create', 'PENDING', 'unknown', 120, 'p1-s1-b-n-0badcafe', '/srv', 'gateway', '', '', '', NULL, NULL,
     '', '', '', '', '', '', NULL),
    (9, '2026-01-02T03:06:06.678Z', 's2', 't2', 's2:t2:00000001', 'call_1', 'patch', '{}', 'ee', 2,
     'patch', 'CONFIRMED', 'applied', 120, 'p1-s1-b-n-0badcafe', '/srv', 'gateway', '', '', '', NULL, NULL,
     '', '', '', '', '', '', NULL);
DELETE FROM ledger WHERE id = 9;
INSERT INTO transitions (ledger_id, ts, from_status, to_status, why)
VALUES (2, '2026-01-02T03:10:05.678Z', 'PENDING', 'GHOST_REPORTED', 'grace');
INSERT INTO sessions (session_id, parent_id, kind, evidence, turn_id, ts)
VALUES ('s2', 's1', 'rotation', 'turn', 's1:t1:00000002', '2026-01-02T03:05:09.678Z');
INSERT INTO notices (ts, session_id, turn_id, owner, asked, ghosts, also, state)
VALUES ('2026-01-02T03:10:05.678Z', 's1', 's1:t1:00000003', 'p1-s1-b-n-0badcafe', 'ff', '[2]', '{}', 'told');
INSERT INTO news (ts, session_id, ledger_id, kind, told_ts)
VALUES ('2026-01-02T03:10:05.678Z', 's1', 1, 'repeat', NULL);
INSERT INTO recalls (session_id, upto, visible, ts) VALUES ('s1', 1, '[1]', '2026-01-02T03:10:05.678Z');
INSERT INTO spooled (spool, seq, ts) VALUES ('p1-s1-b-n-0badcafe', 7, '2026-01-02T03:04:05.678Z');
INSERT INTO meta (key, value) VALUES ('min_writer', '1'), ('spool_replayed', '1');
PRAGMA user_version = 1;

ALTER TABLE ledger ADD COLUMN policy_memory TEXT NOT NULL DEFAULT '';
UPDATE ledger SET policy_memory = '{"cwd":"/srv/app","workdir":"/srv"}' WHERE id = 1;
PRAGMA user_version = 2;
