"""Event streams for tests, in the words of the host."""

from __future__ import annotations

import io
import json
from typing import Any

from agent_ledger.runs import events
from agent_ledger.runs.model import Facts
from agent_ledger.runs.verdict import Verdict, judge

SESSION = "20260901_120000_abc123"
START_MS = 1788264000000


def event(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode() + b"\n"


def init(**fields: Any) -> bytes:
    return event("system", **{"subtype": "init", "model": "m", "session_id": SESSION, "timestamp": START_MS, **fields})


def use(name: str = "terminal", **fields: Any) -> bytes:
    return event("tool_use", name=name, **{"input": {"command": "make"}, **fields})


def done(name: str = "terminal", **fields: Any) -> bytes:
    return event("tool_result", name=name, **{"output": "ok", "duration_ms": 40, "is_error": False, **fields})


def result(**fields: Any) -> bytes:
    """The end record; a field that is given as ... is left out."""
    record = {
        "session_id": SESSION, "exit_code": 0, "text": "All done.", "tokens": {"input": 10, "output": 2, "total": 12},
        "duration_ms": 2345, "timestamp": START_MS + 3000, **fields,
    }  # fmt: skip
    return event("result", **{name: value for name, value in record.items() if value is not ...})


def facts(*lines: bytes) -> Facts:
    return events.read(io.BytesIO(b"".join(lines)))


def verdict(*lines: bytes, rc: int | None = None, **keywords: Any) -> Verdict:
    return judge(facts(*lines), rc, **keywords)
