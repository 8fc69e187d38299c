"""Calls and settlements as plain values, for tests of the store and of the judgement over its rows."""

from __future__ import annotations

import itertools
import json
from typing import Any

from agent_ledger import digest
from agent_ledger.model import CONFIRMED, PENDING, Call, OpenRow, Outcome, Settlement

TS = "2026-01-02T03:04:05.678Z"
OK = Outcome(CONFIRMED, "applied", "done", "", 12)
_numbers = itertools.count(1)


def call(args: Any = None, **fields: Any) -> Call:
    """A call of write_file in session s0; any field can be given."""
    stored = digest.digest_args({"path": "/srv/a.txt"} if args is None else args)
    values: dict[str, Any] = {
        "ts": TS, "session_id": "s0", "task_id": "t0", "turn_id": "s0:t0:00000001", "tool_call_id": "c1",
        "tool_name": "write_file", "args_json": stored.json, "args_sha256": stored.sha256, "args_len": stored.length,
        "summary": "write_file /srv/a.txt", "grace_s": 120, "owner": "me",
    }  # fmt: skip
    return Call(**{**values, **fields})


def post(args: Any = None, outcome: Outcome = OK, **fields: Any) -> Settlement:
    """The settlement that belongs to ``call`` with the same fields."""
    announced = call(args, **{key: value for key, value in fields.items() if key in Call._fields})
    values = {name: getattr(announced, name) for name in Settlement.__slots__ if name in Call._fields}
    values |= {"args_empty": args == {}, "outcome": outcome, "flags": ""}
    return Settlement(**{**values, **fields})


def row(args: Any = None, **fields: Any) -> OpenRow:
    """An open row as the store returns it; ids ascend."""
    stored = digest.digest_args({"path": "/srv/a.txt"} if args is None else args)
    values: dict[str, Any] = {
        "id": next(_numbers), "ts": TS, "session_id": "s0", "task_id": "t0", "turn_id": "s0:t0:00000001",
        "tool_call_id": "c1", "tool_name": "write_file", "args_json": stored.json, "args_sha256": stored.sha256,
        "status": PENDING, "effect": "unknown", "grace_s": 120, "owner": "me", "flags": "",
    }  # fmt: skip
    return OpenRow(**{**values, **fields})


def text(value: Any) -> str:
    return json.dumps(value)
