"""What the ledger says of the policy, and the calls of a conversation in the order in which they are judged again."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from ..model import NONE
from . import schema
from .refusals import NOT_HONOURED
from .sql import marks

_REFUSED = "policy_decision IN ('would_block', 'blocked') AND ts >= ?"


class Recorded(NamedTuple):
    """One recorded call as a later judgement needs it. ``ran``: it is not known to have never run; ``memory``: what its
    own judgement left, '' where it was not judged."""

    id: int
    ts: str
    session_id: str
    tool_name: str
    args_json: str
    args_len: int
    cwd: str
    backend: str
    summary: str
    ran: bool  # as SQLite has it: 0 or 1
    memory: str


class Refusal(NamedTuple):
    """One refusal, or what would have been one."""

    id: int
    ts: str
    session_id: str
    tool_name: str
    rule: str
    decision: str
    summary: str
    reason: str
    flags: str


class Tally(NamedTuple):
    """How many calls of a ``tool`` a ``rule`` refused on a ``day`` (UTC)."""

    rule: str
    tool: str
    day: str
    decision: str
    calls: int


def tally(connection: sqlite3.Connection, since: str) -> list[Tally]:
    query = (
        "SELECT policy_rule, tool_name, substr(ts, 1, 10) AS day, policy_decision, count(*) FROM ledger"
        f" WHERE {_REFUSED} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
    )
    return [Tally(*row) for row in connection.execute(query, (since,))]


def newest(connection: sqlite3.Connection, since: str, limit: int) -> list[Refusal]:
    """The newest ``limit`` refusals of each rule, newest first."""
    names = "id, ts, session_id, tool_name, policy_rule, policy_decision, summary, error_message, flags"
    query = (
        f"SELECT {names} FROM (SELECT {names}, row_number() OVER (PARTITION BY policy_rule ORDER BY id DESC) AS place"
        f" FROM ledger WHERE {_REFUSED}) WHERE place <= ? ORDER BY id DESC"
    )
    return [Refusal(*row) for row in connection.execute(query, (since, limit))]


def judged(connection: sqlite3.Connection, since: str) -> int:
    """How many calls were judged at all."""
    query = "SELECT count(*) FROM ledger WHERE policy_decision <> '' AND ts >= ?"
    return int(connection.execute(query, (since,)).fetchone()[0])


def not_honoured(connection: sqlite3.Connection, since: str, limit: int) -> tuple[int, list[int]]:
    """(how many refused calls the host ran all the same, the newest of their ids)."""
    where = f"policy_decision = 'blocked' AND ts >= ? AND ' ' || flags || ' ' LIKE '% {NOT_HONOURED} %'"
    count = connection.execute(f"SELECT count(*) FROM ledger WHERE {where}", (since,)).fetchone()[0]
    ids = connection.execute(f"SELECT id FROM ledger WHERE {where} ORDER BY id DESC LIMIT ?", (since, limit))
    return int(count), [row[0] for row in ids]


def sessions_since(connection: sqlite3.Connection, since: str) -> list[str]:
    """The session ids with a call at ``since`` or later, in the order of their first one."""
    query = "SELECT session_id FROM ledger WHERE ts >= ? GROUP BY session_id ORDER BY min(id)"
    return [row[0] for row in connection.execute(query, (since,))]


def calls_since(connection: sqlite3.Connection, since: str) -> int:
    return int(connection.execute("SELECT count(*) FROM ledger WHERE ts >= ?", (since,)).fetchone()[0])


def of_conversation(
    connection: sqlite3.Connection, session_ids: Sequence[str], after: int, limit: int
) -> list[Recorded]:
    """Up to ``limit`` calls of a conversation behind row ``after``, oldest first."""
    memory = "policy_memory" if schema.version(connection) >= schema.WITH_MEMORY else "''"
    query = (
        "SELECT id, ts, session_id, tool_name, args_json, args_len, cwd, backend, summary,"
        f" effect <> '{NONE}', {memory}"
        f" FROM ledger INDEXED BY ledger_session WHERE session_id IN ({marks(session_ids)}) AND id > ?"
        " ORDER BY id LIMIT ?"
    )
    found = connection.execute(query, (*session_ids, after, limit))
    return [Recorded(*row) for row in found]
