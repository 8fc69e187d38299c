"""What a hook costs: every call in a fresh thread, as on current hosts, and the time taken inside of it."""

from __future__ import annotations

import gc
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.simhost import Context, SimHost, turn_id

COMMAND = "cd services/api && python -m pytest tests/unit -q --maxfail=1 -k 'not slow' && git status --short"
RESULT = json.dumps({"output": "ok " * 150, "exit_code": 0, "error": None})


def in_thread(work: Callable[[], object]) -> float:
    """Seconds that ``work`` took in a thread of its own; starting it does not count."""
    took: list[float] = []

    def run() -> None:
        begin = time.perf_counter()
        work()
        took.append(time.perf_counter() - begin)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return took[0]


class Hooks:
    """The registered callbacks, called directly with what a host sends."""

    def __init__(self, context: Context) -> None:
        self._hooks = context.hooks
        self.number = 0

    def fire(self, hook: str, **keywords: Any) -> None:
        for callback in self._hooks[hook]:
            callback(telemetry_schema_version="hermes.observer.v1", **keywords)

    def ids(self, number: int) -> dict[str, Any]:
        return {
            "session_id": "bench", "task_id": "task", "turn_id": turn_id("bench", "task"), "tool_call_id": f"call_{number}",
            "api_request_id": "bench:task:1:api:1", "middleware_trace": [],
        }  # fmt: skip

    def pre(self, number: int) -> None:
        self.fire("pre_tool_call", tool_name="terminal", args={"command": f"{COMMAND} # {number}"}, **self.ids(number))

    def post(self, number: int) -> None:
        self.fire(
            "post_tool_call", tool_name="terminal", args={"command": f"{COMMAND} # {number}"}, result=RESULT, duration_ms=7,
            status="ok", error_type=None, error_message=None, **self.ids(number),
        )  # fmt: skip

    def pair(self) -> tuple[float, float]:
        """Seconds of pre and of post of one call."""
        self.number += 1
        number = self.number
        return in_thread(lambda: self.pre(number)), in_thread(lambda: self.post(number))

    def read_only(self) -> None:
        self.fire("pre_tool_call", tool_name="read_file", args={"path": "a.txt"}, **self.ids(0))

    def turn(self, number: int, history: list[dict[str, Any]]) -> None:
        self.fire(
            "pre_llm_call", session_id="bench", task_id="task", turn_id=turn_id("bench", "task", number), user_message="go on",
            conversation_history=history, is_first_turn=False, model="m", platform="cli", parent_session_id="", sender_id="",
        )  # fmt: skip


class Raw:
    """A bare write-ahead insert and update: the floor."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, ts TEXT, session_id TEXT, tool_call_id TEXT, tool_name TEXT,"
            " args_json TEXT, status TEXT, digest TEXT)"
        )
        self.connection.execute("CREATE INDEX i ON t (session_id, tool_call_id) WHERE status = 'PENDING'")
        self.number = 0

    def pair(self) -> tuple[float, float]:
        self.number += 1
        call = f"call_{self.number}"
        insert = "INSERT INTO t (ts, session_id, tool_call_id, tool_name, args_json, status) VALUES (?, ?, ?, ?, ?, 'PENDING')"
        update = "UPDATE t SET status = 'CONFIRMED', digest = ? WHERE session_id = ? AND tool_call_id = ? AND status = 'PENDING'"
        row = (
            "2026-01-01T00:00:00.000Z",
            "bench",
            call,
            "terminal",
            json.dumps({"command": f"{COMMAND} # {self.number}"}),
        )
        return (
            in_thread(lambda: self.connection.execute(insert, row)),
            in_thread(lambda: self.connection.execute(update, (RESULT[:300], "bench", call))),
        )


@pytest.fixture
def hooks(host: SimHost) -> Hooks:
    """The hooks of a warm process on a fresh ledger."""
    found = Hooks(next(iter(host.contexts.values())))
    for _ in range(100):
        found.pair()
    gc.collect()
    return found


@pytest.fixture
def raw(tmp_path: Path) -> Iterator[Raw]:
    """A raw database beside it, warm too."""
    found = Raw(tmp_path / "raw.db")
    for _ in range(100):
        found.pair()
    yield found
    found.connection.close()


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
