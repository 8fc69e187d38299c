"""A call in table ``ledger``: announced, found again by its post, settled. What turns ask is in ``turns``."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ..model import FORK, GHOST_REPORTED, PENDING, UNKNOWN, Call, OpenRow, Outcome, Settlement, add_flag
from . import news, pairing, refusals, sessions
from .schema import NEXT_ID
from .sql import OPEN, columns, marks

# One statement with a Call as its parameters, so one trip to disk.
INSERT = f"INSERT INTO ledger (id, {', '.join(Call._fields)}) VALUES ({NEXT_ID}, {', '.join('?' * len(Call._fields))})"

SETTLE_PENDING = (
    "UPDATE ledger SET status = ?, effect = ?, settled_ts = ?, duration_ms = ?, result_digest = ?, error_message = ?"
    " WHERE id = ? AND ts = ? AND tool_call_id = ? AND status = 'PENDING'"
)

_ROW = columns(OpenRow)
_MOST_CANDIDATES = 1000
_RECENT_ROWS = 5000


@dataclass(frozen=True, slots=True)
class Settled:
    """What a settlement did: ``how`` is settled, late, orphan, duplicate, not_honoured or ignored; ``id`` its row, 0
    for none."""

    how: str
    id: int
    tool_name: str = ""


def outcome_values(outcome: Outcome, ts: str, row_id: int, issued: str, call_id: str) -> tuple[object, ...]:
    """The parameters of SETTLE_PENDING. The time of issue and the call's id guard against a row of the same number in
    another ledger, where the first one was taken away meanwhile."""
    return (
        outcome.status, outcome.effect, ts, outcome.duration_ms, outcome.digest, outcome.error_message, row_id,
        issued, call_id,
    )  # fmt: skip


def insertion(call: Call) -> tuple[str, tuple[object, ...]]:
    """The statement that writes a call, and its parameters: PENDING, or refused where policy blocked it."""
    return (refusals.INSERT, (*call, call.ts)) if call.policy_decision == "blocked" else (INSERT, call)


def announce(connection: sqlite3.Connection, call: Call) -> int:
    """Write a call that is about to run; returns its id. Inside a transaction: for a call without an id, which may be
    nested in an open execute_code call, and for a replay."""
    outer = 0
    if not call.tool_call_id and call.tool_name != "execute_code":
        outer = open_code_row(connection, call.task_id)
    if outer:
        call = call._replace(flags=add_flag(call.flags, "nested"))
    row_id = connection.execute(*insertion(call)).lastrowid or 0
    if outer:
        connection.execute("UPDATE ledger SET outer_id = ? WHERE id = ?", (outer, row_id))
    return row_id


def known_calls(
    connection: sqlite3.Connection, session_ids: Sequence[str], after: int
) -> tuple[int, list[tuple[str, str]]]:
    """(the newest id, tool and arguments of the calls of a conversation behind ``after`` that were confirmed or are
    open): the same call again is a repeat. The newest 5000."""
    newest = connection.execute("SELECT coalesce(max(id), 0) FROM ledger").fetchone()[0]
    rows = connection.execute(
        "SELECT tool_name, args_sha256 FROM ledger INDEXED BY ledger_session"
        f" WHERE session_id IN ({marks(session_ids)}) AND id > ? AND status IN ('CONFIRMED', 'PENDING')"
        " ORDER BY id DESC LIMIT 5000",
        (*session_ids, after),
    ).fetchall()
    return newest, rows


def open_code_row(connection: sqlite3.Connection, task_id: str) -> int:
    """The newest open execute_code call of a task: calls without ids that come now run inside it. 0 where none is."""
    row = connection.execute(
        "SELECT max(id) FROM ledger INDEXED BY ledger_code"
        " WHERE status = 'PENDING' AND tool_name = 'execute_code' AND task_id = ?",
        (task_id,),
    ).fetchone()
    return row[0] or 0


def settle(connection: sqlite3.Connection, post: Settlement) -> Settled:
    """Find the row of ``post`` and record its outcome. Must run inside one IMMEDIATE transaction."""
    match = pairing.choose(post, _same_id(connection, post)) if post.tool_call_id else None
    if match is None:
        match = pairing.choose(post, _same_tool(connection, post))
    # A second post of a settled call must neither make a row nor settle another call with its constant id.
    if (match is None or match.args_changed) and _is_settled(connection, post, strict=match is not None):
        refused = refusals.row_of(connection, post) if post.outcome.ran else 0
        if refused and refusals.not_honoured(connection, refused, post.outcome, post.ts):
            return Settled("not_honoured", refused, post.tool_name)
        return Settled("duplicate", 0)
    if match is None:
        return _orphan(connection, post) if post.keep_orphan else Settled("ignored", 0)
    row, outcome = match.row, post.outcome
    flags = row.flags
    for mark in post.flags.split():
        flags = add_flag(flags, mark)
    if match.args_changed:
        flags = add_flag(flags, "args_changed")
    if row.status == PENDING:
        how = "settled"
    elif outcome.confirmed or row.status == GHOST_REPORTED:
        flags, how = add_flag(flags, "late"), "late"
        transition(connection, row.id, post.ts, row.status, outcome.status, "the outcome arrived late")
    else:
        return Settled("duplicate", row.id)
    record(connection, row.id, outcome, post.ts, flags)
    if post.probe_json:
        connection.execute("UPDATE ledger SET probe_json = ? WHERE id = ?", (post.probe_json, row.id))
    follow_outer(connection, row.id, row.tool_name, outcome, post.ts, row.status)
    if not row.session_id or FORK in flags.split():
        return Settled(how, row.id, row.tool_name)
    if how == "late":
        news.add(connection, post.ts, row.session_id, row.id, news.LATE)
    elif outcome.confirmed and "repeat" in flags.split():
        news.add_repeat(connection, post.ts, row.session_id, row.id, row.tool_name, row.args_sha256)
    return Settled(how, row.id, row.tool_name)


def record(connection: sqlite3.Connection, row_id: int, outcome: Outcome, ts: str, flags: str) -> None:
    """Write an outcome into a row, whatever its status was."""
    connection.execute(
        "UPDATE ledger SET status = ?, effect = ?, settled_ts = ?, duration_ms = ?, result_digest = ?,"
        " error_message = ?, flags = ? WHERE id = ?",
        (outcome.status, outcome.effect, ts, outcome.duration_ms, outcome.digest, outcome.error_message, flags, row_id),
    )


def follow_outer(
    connection: sqlite3.Connection, row_id: int, tool_name: str, outcome: Outcome, ts: str, before: str = PENDING
) -> None:
    """Calls inside execute_code get no post on most hosts: those still open, and those that followed its status
    ``before``, share its outcome, effect unknown."""
    if tool_name != "execute_code":
        return
    nested = connection.execute(
        "SELECT id, status FROM ledger WHERE outer_id = ? AND (status IN ('PENDING', 'GHOST_REPORTED')"
        " OR (status = ? AND result_digest = '' AND duration_ms IS NULL))",
        (row_id, before),
    ).fetchall()
    for nested_id, status in nested:
        connection.execute(
            "UPDATE ledger SET status = ?, effect = 'unknown', settled_ts = ? WHERE id = ?",
            (outcome.status, ts, nested_id),
        )
        if status != PENDING:
            transition(connection, nested_id, ts, status, outcome.status, f"follows the outer call {row_id}")


def transition(connection: sqlite3.Connection, row_id: int, ts: str, before: str, after: str, why: str) -> None:
    """Leave a trace of an unusual change of status."""
    connection.execute(
        "INSERT INTO transitions (ledger_id, ts, from_status, to_status, why) VALUES (?, ?, ?, ?, ?)",
        (row_id, ts, before, after, why),
    )


def open_row(connection: sqlite3.Connection, row_id: int) -> OpenRow | None:
    """One row as judgement needs it, whatever its status."""
    row = connection.execute(f"SELECT {_ROW} FROM ledger WHERE id = ?", (row_id,)).fetchone()
    return OpenRow(*row) if row else None


def settle_by_hand(connection: sqlite3.Connection, row: OpenRow, effect: str, why: str, ts: str) -> None:
    """An operator's word on a ghost: its effect. The status stays, or becomes, GHOST_REPORTED: nobody confirmed it."""
    connection.execute("UPDATE ledger SET status = 'GHOST_REPORTED', effect = ? WHERE id = ?", (effect, row.id))
    transition(connection, row.id, ts, row.status, GHOST_REPORTED, why)


def counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """(open calls, reported ghosts whose effect nobody knows) of the home."""
    row = connection.execute(
        f"SELECT sum(status = 'PENDING'), sum(status = 'GHOST_REPORTED' AND effect = '{UNKNOWN}')"
        f" FROM ledger INDEXED BY ledger_open WHERE {OPEN}"
    ).fetchone()
    return row[0] or 0, row[1] or 0


def owners_of_open_rows(connection: sqlite3.Connection) -> set[str]:
    """The processes whose calls may still have to be judged."""
    rows = connection.execute(
        f"SELECT DISTINCT owner FROM ledger INDEXED BY ledger_open WHERE {OPEN} AND status = 'PENDING'"
    )
    return {row[0] for row in rows}


# --- finding the row of a post


def _same_id(connection: sqlite3.Connection, post: Settlement) -> list[OpenRow]:
    rows = connection.execute(
        f"SELECT {_ROW} FROM ledger INDEXED BY ledger_open"
        f" WHERE session_id = ? AND tool_call_id = ? AND tool_name = ? AND turn_id = ? AND {OPEN}",
        (post.session_id, post.tool_call_id, post.tool_name, post.turn_id),
    )
    return [OpenRow(*row) for row in rows]


def _same_tool(connection: sqlite3.Connection, post: Settlement) -> list[OpenRow]:
    if post.session_id:
        places = [*sessions.conversation(connection, post.session_id), ""]
        within = f"FROM ledger INDEXED BY ledger_open WHERE {OPEN} AND session_id IN ({marks(places)})"
        rows = connection.execute(
            # Its own id first: the oldest thousand of a tool must not hide it.
            f"SELECT {_ROW} {within} AND tool_call_id = ? AND tool_name = ?"
            f" UNION SELECT * FROM (SELECT {_ROW} {within} AND tool_name = ?"
            f" ORDER BY id LIMIT {_MOST_CANDIDATES}) ORDER BY id",
            (*places, post.tool_call_id, post.tool_name, *places, post.tool_name),
        )
    else:  # a post without a session: the task is all there is to go by
        rows = connection.execute(
            f"SELECT {_ROW} FROM ledger INDEXED BY ledger_open WHERE task_id = ? AND tool_name = ? AND {OPEN}"
            f" ORDER BY id LIMIT {_MOST_CANDIDATES}",
            (post.task_id, post.tool_name),
        )
    return [OpenRow(*row) for row in rows]


def _is_settled(connection: sqlite3.Connection, post: Settlement, strict: bool = False) -> bool:
    """True where this very call has its outcome already: the host reported it twice, perhaps under a variant of its id
    or after a rotation. Constant ids repeat within a turn, so the arguments must be the same, or (not ``strict``) known
    to have changed, or not sent."""
    if not post.tool_call_id:
        return False
    places = [*sessions.conversation(connection, post.session_id), ""] if post.session_id else [""]
    rows = connection.execute(
        "SELECT args_sha256, flags, tool_call_id, turn_id, task_id FROM ledger"
        " WHERE status <> 'PENDING' AND id > (SELECT max(id) FROM ledger) - ?"
        f" AND session_id IN ({marks(places)}) AND tool_name = ? AND outer_id IS NULL",
        (_RECENT_ROWS, *places, post.tool_name),
    )
    for args_sha256, flags, call_id, turn_id, task_id in rows:
        same = args_sha256 == post.args_sha256
        if call_id == post.tool_call_id and turn_id == post.turn_id:
            if same or (not strict and (post.args_empty or "args_changed" in flags.split())):
                return True
        elif same and task_id == post.task_id and pairing.ids_may_agree(call_id, post.tool_call_id):
            return True
    return False


def _orphan(connection: sqlite3.Connection, post: Settlement) -> Settled:
    """A post whose call was never announced: the plugin came in the middle, or the host dropped the pre."""
    outcome = post.outcome
    flags = add_flag(post.flags, "orphan")
    row_id = connection.execute(
        "INSERT INTO ledger (id, ts, session_id, task_id, turn_id, tool_call_id, tool_name, args_json, args_sha256,"
        " args_len, summary, status, effect, owner, cwd, platform, backend, settled_ts, duration_ms, result_digest,"
        f" error_message, flags) VALUES ({NEXT_ID}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            post.ts, post.session_id, post.task_id, post.turn_id, post.tool_call_id, post.tool_name, post.args_json,
            post.args_sha256, post.args_len, post.summary, outcome.status, outcome.effect, post.owner, post.cwd,
            post.platform, post.backend, post.ts, outcome.duration_ms, outcome.digest, outcome.error_message, flags,
        ),
    ).lastrowid  # fmt: skip
    return Settled("orphan", row_id or 0, post.tool_name)
