"""The only statements over table ``ledger`` that concern policy: refused calls, and what a session leaves for later
judgements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from ..model import BLOCKED, NONE, Call, Outcome, Settlement, add_flag
from . import counters
from .schema import NEXT_ID
from .sql import marks

NOT_HONOURED = "not_honoured"
_MOST_ROWS = 5000

# Like an announced call, but its outcome is known: it will not run.
INSERT = (
    f"INSERT INTO ledger (id, {', '.join(Call._fields)}, status, effect, settled_ts)"
    f" VALUES ({NEXT_ID}, {', '.join('?' * len(Call._fields))}, '{BLOCKED}', '{NONE}', ?)"
)


class Memory(NamedTuple):
    """What one row holds of a session: the ``text`` that its judgement left, and whether it was ``refused``."""

    id: int
    text: str
    refused: bool


def of_session(
    connection: sqlite3.Connection, session_ids: Sequence[str], after: int, but_of: str
) -> tuple[int, list[Memory]]:
    """(the newest row of the ledger, what the calls of a conversation behind row ``after`` left: oldest first, the
    newest 5000). Calls that never ran left nothing, but that they were refused. ``but_of``: not what this process wrote
    itself, '' for all."""
    newest = connection.execute("SELECT coalesce(max(id), 0) FROM ledger").fetchone()[0]
    rows = connection.execute(
        "SELECT id, policy_memory, policy_decision = 'blocked' FROM ledger INDEXED BY ledger_session"
        f" WHERE session_id IN ({marks(session_ids)}) AND id > ? AND policy_memory <> '' AND owner <> ?"
        f" AND (effect <> '{NONE}' OR policy_decision = 'blocked') ORDER BY id DESC LIMIT {_MOST_ROWS}",
        (*session_ids, after, but_of),
    ).fetchall()
    return newest, [Memory(row_id, text, bool(refused)) for row_id, text, refused in reversed(rows)]


def row_of(connection: sqlite3.Connection, post: Settlement) -> int:
    """The refused call that ``post`` is about: same ids, tool and arguments; 0 where none is."""
    row = connection.execute(
        f"SELECT id, policy_decision = 'blocked' AND status = '{BLOCKED}' FROM ledger INDEXED BY ledger_session"
        " WHERE session_id = ? AND turn_id = ? AND tool_call_id = ? AND tool_name = ? AND args_sha256 = ?"
        " ORDER BY id DESC LIMIT 1",
        (post.session_id, post.turn_id, post.tool_call_id, post.tool_name, post.args_sha256),
    ).fetchone()
    return row[0] if row and row[1] else 0


def not_honoured(connection: sqlite3.Connection, row_id: int, outcome: Outcome, ts: str) -> bool:
    """Record that the host ran a call that policy had refused: its outcome counts, the row says so, and it is
    counted."""
    row = connection.execute(
        f"SELECT flags FROM ledger WHERE id = ? AND policy_decision = 'blocked' AND status = '{BLOCKED}'", (row_id,)
    ).fetchone()
    if row is None:
        return False
    connection.execute(
        "UPDATE ledger SET status = ?, effect = ?, settled_ts = ?, duration_ms = ?, result_digest = ?, flags = ?"
        " WHERE id = ?",
        (outcome.status, outcome.effect, ts, outcome.duration_ms, outcome.digest, add_flag(row[0], NOT_HONOURED),
         row_id),
    )  # fmt: skip
    connection.execute(
        "INSERT INTO transitions (ledger_id, ts, from_status, to_status, why) VALUES (?, ?, ?, ?, ?)",
        (row_id, ts, BLOCKED, outcome.status, "the host ran a call that policy had refused"),
    )
    counters.bump(connection, NOT_HONOURED, 1)
    return True
