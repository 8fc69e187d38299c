"""A call as JSON for programs and as cells of a table for people; the same everywhere."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from ..model import CONFIRMED, ERROR_PREFIX, GHOST_REPORTED, PENDING, parse_iso
from ..store.shapes import Row
from .text import age, cut, duration, local, safe

HEADS = ("ID", "TIME", "AGE", "STATUS", "EFFECT", "TOOL", "CALL")
_MOST_STATUS = 24
_MOST_TOOL = 32


def as_json(row: Row, now: float) -> dict[str, Any]:
    """The columns of table ``ledger`` under their own names, but: ``args`` is the parsed ``args_json`` (its text where
    that is no JSON), ``flags`` and ``reads`` are lists, ``age_s`` is added, ``probe_json`` is left out."""
    return {
        "id": row.id,
        "ts": row.ts,
        "age_s": age_s(row, now),
        "session_id": row.session_id,
        "task_id": row.task_id,
        "turn_id": row.turn_id,
        "tool_call_id": row.tool_call_id,
        "tool_name": row.tool_name,
        "summary": row.summary,
        "args": arguments(row),
        "args_sha256": row.args_sha256,
        "args_len": row.args_len,
        "status": row.status,
        "effect": row.effect,
        "grace_s": row.grace_s,
        "owner": row.owner,
        "cwd": row.cwd,
        "platform": row.platform,
        "backend": row.backend,
        "reads": _words(row.reads),
        "settled_ts": row.settled_ts,
        "duration_ms": row.duration_ms,
        "result_digest": row.result_digest,
        "error_message": row.error_message,
        "policy_decision": row.policy_decision,
        "policy_rule": row.policy_rule,
        "policy_sha256": row.policy_sha256,
        "flags": _words(row.flags),
        "outer_id": row.outer_id,
    }


def arguments(row: Row) -> Any:
    """The stored arguments, parsed."""
    try:
        return json.loads(row.args_json)
    except (ValueError, TypeError, RecursionError):
        return row.args_json


def age_s(row: Row, now: float) -> int | None:
    """Seconds since the call was announced, None where its time cannot be read."""
    moment = parse_iso(row.ts)
    return None if moment is None else int(now - moment)


def cells(row: Row, now: float) -> tuple[str, ...]:
    """One line of the table under HEADS."""
    seconds = age_s(row, now)
    mark = "  " if row.outer_id is not None else ""
    return (
        str(row.id),
        local(row.ts),
        age(seconds) if seconds is not None else "?",
        cut(safe(row.status), _MOST_STATUS),
        safe(row.effect),
        cut(safe(row.tool_name), _MOST_TOOL),
        mark + what(row),
    )


def what(row: Row) -> str:
    """The summary beside a column that names the tool already."""
    text = row.summary if isinstance(row.summary, str) else ""
    return safe(text.removeprefix(f"{row.tool_name} ")) or "-"


def style(row: Row) -> str:
    """How the line looks where there are colours."""
    if row.status == GHOST_REPORTED:
        return "bad" if row.effect == "unknown" else "faint"
    if row.status == PENDING:
        return "warn"
    if str(row.status).startswith(ERROR_PREFIX):
        return "warn" if row.effect == "unknown" else "faint"
    return "" if row.status == CONFIRMED else "faint"


def settled_line(row: Row) -> str:
    """What ``tail -f`` says when a call that it showed as open gets its outcome."""
    took = duration(row.duration_ms)
    tail = f" after {took}" if took else ""
    return f"      #{row.id} {safe(row.tool_name)}: {safe(row.status)}, effect {safe(row.effect)}{tail}"


def now() -> float:
    return time.time()


def _words(text: object) -> Sequence[str]:
    return text.split() if isinstance(text, str) else []
