"""SQL, Redis and MongoDB text: what destroys is noted, what only looks like it is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ledger.policy.code.keyvalue import judge_mongo, judge_redis
from agent_ledger.policy.code.sql import judge_sql
from tests.policy.recording_code import Recorder

DESTROYS = """
DROP TABLE orders
drop/**/table orders
DROP TABLE "orders"
DROP TABLE tmp_x, orders
DROP TABLE IF EXISTS orders
DROP DATABASE shop
drop schema public cascade
DROP USER admin
TRUNCATE orders
truncate table only orders
DELETE FROM orders
DELETE orders
delete from "public"."orders"
DELETE FROM orders WHERE 1=1
delete from orders where true
delete from orders where 'a'='a'
DELETE FROM orders WHERE id > 0
DELETE FROM orders WHERE id=5 OR 1=1
EXPLAIN ANALYZE DELETE FROM orders
UPDATE orders SET paid=1
UPDATE orders SET a=(SELECT 1 WHERE 1=2)
ALTER TABLE orders DROP COLUMN email
ALTER TABLE orders DROP email
alter table x alter column y drop not null, drop column z
SELECT 1; DROP TABLE orders; --
WITH d AS (DELETE FROM orders RETURNING *) SELECT count(*) FROM d
DO $$ BEGIN EXECUTE 'DROP TABLE orders'; END $$
EXEC (N'DROP TABLE orders')
IF EXISTS (SELECT 1) DROP TABLE orders
BEGIN; DELETE FROM orders; COMMIT;
/*!50000 DROP TABLE orders */
MATCH (n) DETACH DELETE n
GRANT ALL PRIVILEGES ON *.* TO 'x'@'%'
ALTER USER bob WITH SUPERUSER
SELECT passwd FROM pg_shadow
"""
HARMLESS = """
SELECT * FROM drops
SELECT 'DROP TABLE orders'
SELECT id FROM t WHERE x = 'a;DROP TABLE orders'
DROP INDEX i
DROP VIEW v
DROP TABLE IF EXISTS tmp_orders
DROP TEMPORARY TABLE x
CREATE TABLE t(a int); DROP TABLE t
BEGIN; DELETE FROM orders; ROLLBACK;
DELETE FROM orders WHERE id=5
DELETE FROM orders WHERE 1=1 AND id=4
DELETE FROM orders WHERE id IN (SELECT id FROM b)
DELETE FROM s WHERE expires_at < now()
DELETE FROM orders LIMIT 5
DELETE a FROM a JOIN b ON a.i=b.i
EXPLAIN DELETE FROM orders
UPDATE orders SET a=1 WHERE id=1
update a set b=c.d from c where a.i=c.i
UPDATE STATISTICS t
-- DROP TABLE orders
/* DROP TABLE orders */ SELECT 1
ALTER TABLE orders DROP CONSTRAINT c
ALTER TABLE orders ADD COLUMN a int
ALTER TABLE t ALTER COLUMN c DROP NOT NULL
INSERT INTO l(m) VALUES ('truncate me')
INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET a=1
INSERT INTO a VALUES (1) ON DUPLICATE KEY UPDATE a=1
CREATE TABLE truncate_log(id int)
CREATE TABLE a(b int REFERENCES c ON DELETE CASCADE ON UPDATE CASCADE)
CREATE FUNCTION f() RETURNS void AS $$ BEGIN DELETE FROM orders; END $$
CREATE TRIGGER x AFTER DELETE ON t BEGIN UPDATE a SET b=1 WHERE c=1; END;
MERGE INTO a USING b ON a.i=b.i WHEN MATCHED THEN UPDATE SET a.x=b.x WHEN NOT MATCHED THEN INSERT VALUES (1)
SELECT TRUNCATE(1.5, 1)
SELECT * FROM t FOR UPDATE
GRANT SELECT ON t TO bob
GRANT ALL ON DATABASE shop TO shop
SELECT user, host FROM mysql.user
\\dt
"""


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


def _sql(text: str) -> list[str]:
    act = Recorder()
    judge_sql(text, act)
    return act.notes


@pytest.mark.parametrize("text", _lines(DESTROYS))
def test_a_statement_that_destroys_or_opens_is_noted(text: str) -> None:
    """Each spelling of a loss of data or rights is one effect or more."""
    assert any(note.startswith("effect") for note in _sql(text))


@pytest.mark.parametrize("text", _lines(HARMLESS))
def test_a_statement_that_only_looks_like_it_is_not(text: str) -> None:
    """Strings, comments, filters, temporary names and rebuildable objects are harmless."""
    assert _sql(text) == []


@pytest.mark.parametrize(("text", "note"), [
    ("\\! ls /", "shell ls /"),
    (".shell ls /", "shell ls /"),
    ("SELECT 1;\n.read x.sql", "run_file x.sql sql"),
    ("\\i x.sql", "run_file x.sql sql"),
    ("source x.sql", "run_file x.sql sql"),
    ("COPY t FROM PROGRAM 'ls /'", "shell ls /"),
    ("\\copy t to program 'ls /'", "shell ls /"),
    ("EXEC master..xp_cmdshell 'dir'", "shell dir"),
    ("SELECT LOAD_FILE('/srv/key')", "read /srv/key shown"),
    ("SELECT 1 INTO OUTFILE '/srv/x'", "write /srv/x '?'"),
])  # fmt: skip
def test_what_leaves_the_database_is_handed_on(text: str, note: str) -> None:
    """Programs, scripts and files that SQL reaches are judged as such."""
    assert note in _sql(text)


@pytest.mark.parametrize(("text", "dangerous"), [
    ("db.dropDatabase()", True),
    ("db.orders.drop()", True),
    ("db['orders'].drop()", True),
    ("db.getCollection('orders').drop()", True),
    ("db.orders.deleteMany( { } )", True),
    ("db.orders.remove({})", True),
    ("db.runCommand({'drop':'orders'})", True),
    ("db.getCollectionNames().forEach(function(c){db[c].drop()})", True),
    ("db.orders.deleteOne({_id:1})", False),
    ("db.orders.deleteMany({old:true})", False),
    ("db.tmp_x.drop()", False),
    ("db.orders.find({n:'db.dropDatabase()'})", False),
    ("// db.dropDatabase()", False),
    ("db.orders.dropIndex('a')", False),
])  # fmt: skip
def test_mongo_scripts(text: str, dangerous: bool) -> None:
    """Dropping and emptying is noted; one document, an index, a string or a comment is not."""
    act = Recorder()
    judge_mongo(text, act)
    assert bool(act.notes) == dangerous


@pytest.mark.parametrize(("text", "dangerous"), [
    ("FLUSHALL", True),
    ("flushdb async", True),
    ("PING\nFLUSHALL", True),
    ("EVAL \"return redis.call('FLUSHALL')\" 0", True),
    ("config set dir /root/.ssh", True),
    ("REPLICAOF other 6379", True),
    ("REPLICAOF NO ONE", False),
    ("KEYS 'flush*'", False),
    ("SET k 'FLUSHALL'", False),
    ("DEL session:1", False),
])  # fmt: skip
def test_redis_commands(text: str, dangerous: bool) -> None:
    """What empties or takes over the server is noted; single keys are not."""
    act = Recorder()
    judge_redis(text, act)
    assert bool(act.notes) == dangerous


@given(st.text(max_size=400) | st.lists(st.sampled_from(
    ["DROP", "TABLE", "DELETE", "FROM", "WHERE", "'", '"', "(", ")", ";", "$$", "--", "/*", "\n", "\\", ".", "x", "1", "=", "OR", "ALTER"]
), max_size=40).map(" ".join))  # fmt: skip
@settings(deadline=None)
def test_no_text_makes_a_judge_raise(text: str) -> None:
    """Any text is judged without an error."""
    judge_sql(text, Recorder())
    judge_redis(text, Recorder())
    judge_mongo(text, Recorder())


@pytest.mark.parametrize("part", [
    "'", "(", "DELETE FROM x WHERE ", "WITH a AS (DELETE FROM x ", "/*", "$a$ ", "(DROP TABLE ", "[a", ".drop", "`a", ".remove(",
])  # fmt: skip
def test_time_grows_with_the_text(part: str) -> None:
    """The longest text that is read takes well under a second of the processor, whatever it repeats."""
    text = part * (64_000 // len(part))
    started = time.process_time()
    judge_sql(text, Recorder())
    judge_mongo(text, Recorder())
    assert time.process_time() - started < 1
