"""Arguments that no well-behaved host sends: huge, deep, circular, not JSON; and no keywords at all."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.conftest import MOST_S, counted
from tests.simhost import HOOKS, SimHost

CPU_S = 2 * MOST_S  # of processor time: a slower machine has the same promise, and other limits
BIG = 50_000_000


def circle() -> dict[str, Any]:
    found: dict[str, Any] = {"path": "/srv/a"}
    found["self"] = [found]
    return found


def deep(levels: int = 100_000) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


class Hostile:
    """Whatever is asked of it fails."""

    def __repr__(self) -> str:
        raise ValueError("no")

    __str__ = __repr__

    def __hash__(self) -> int:
        raise ValueError("no")

    def __eq__(self, other: object) -> bool:
        raise ValueError("no")


ODD: dict[str, Callable[[], Any]] = {
    "bytes": lambda: {"path": b"\xff\x00"},
    "set": lambda: {"paths": {"a", "b"}},
    "circle": circle,
    "deep": lambda: {"content": deep()},
    "nan": lambda: {"number": math.nan, "most": math.inf},
    "surrogate": lambda: {"path": "/srv/\ud800\udfff"},
    "huge number": lambda: {"number": 2**70, "more": 10**5000},
    "odd keys": lambda: {1: "a", None: "b", ("c",): "d", b"e": "f"},
    "hostile": lambda: {"path": Hostile()},
    "nul": lambda: {"path": "/srv/a\0b"},
    "many keys": lambda: {f"key-{number}": number for number in range(100_000)},
    "no table": lambda: ["write", "this"],
    "text": lambda: "just text",
}


@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_arguments(host: SimHost, name: str) -> None:
    """Each is one confirmed row with stored arguments that are JSON, and no hook takes longer than the limit."""
    args = ODD[name]()
    took: dict[str, list[float]] = {"pre": [], "post": []}
    for number in range(2):
        begin = time.process_time()
        host.pre("write_file", args, call=f"c{number}")
        took["pre"].append(time.process_time() - begin)
        begin = time.process_time()
        host.post("write_file", args, call=f"c{number}")
        took["post"].append(time.process_time() - begin)
    # The better of two: threads of other tests in this process count, too.
    assert min(took["pre"]) < CPU_S and min(took["post"]) < CPU_S
    assert counted(host) == (2, 2, 2)
    for (stored,) in host.sql("SELECT args_json FROM ledger"):
        json.loads(stored)
        assert len(stored) <= 4000


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write_file", lambda: {"path": "/srv/a", "content": "x" * BIG}),
        ("terminal", lambda: {"command": "echo " + "a b " * (BIG // 4)}),
        ("write_file", lambda: {"path": "/srv/a", "content": "ä\n" * (BIG // 3)}),
        ("execute_code", lambda: {"code": "password = 'a'\n" * (BIG // 15)}),
    ],
    ids=["file", "command", "non-ascii", "secrets"],
)
def test_fifty_megabytes(host: SimHost, tool: str, args: Callable[[], Any]) -> None:
    """pre and post keep to the limit (in processor time, and the better of two: others use this machine too), the row says
    how long the arguments were, and the ledger does not grow with them."""
    value = args()
    took: list[tuple[float, float]] = []
    for number in range(2):
        begin = time.process_time()
        host.pre(tool, value, call=f"c{number}")
        between = time.process_time()
        host.post(tool, value, call=f"c{number}")
        took.append((between - begin, time.process_time() - between))
    assert min(pre for pre, _ in took) < MOST_S
    assert min(post for _, post in took) < MOST_S
    assert counted(host) == (2, 2, 2)
    for length, flags in host.sql("SELECT args_len, flags FROM ledger"):
        assert length > 40_000_000 and "large" in flags.split()
    assert host.ledger.stat().st_size + host.ledger.with_name("ledger.db-wal").stat().st_size < 1_000_000


def test_many_rows_are_measured_and_told_apart(host: SimHost) -> None:
    """Arguments of many small values: the length is true, the limit holds, and two calls that differ in the last value only
    are not the same call."""
    rows = [{"id": number, "text": "x" * 90} for number in range(300_000)]
    host.run("mcp__db__insert", {"rows": rows}, call="a")
    took = []
    for number in (-1, -2):
        begin = time.process_time()
        host.pre("mcp__db__insert", {"rows": [*rows, {"id": number}]}, call=f"b{number}")
        took.append(time.process_time() - begin)
    assert min(took) < CPU_S
    (first, _), (second, flags), _ = host.sql("SELECT args_sha256, flags FROM ledger ORDER BY id")
    assert first != second and "repeat" not in flags.split()
    assert host.sql("SELECT min(args_len) > 30000000 FROM ledger") == [(1,)]


def test_result_of_fifty_megabytes(host: SimHost) -> None:
    """The outcome is read from it within the limit, and what is stored of it is short."""
    args = {"command": "cat big"}
    result = json.dumps({"output": "x" * BIG, "exit_code": 0})
    took = []
    for number in range(2):
        host.pre("terminal", args, call=f"c{number}")
        begin = time.process_time()
        host.post("terminal", args, result, call=f"c{number}")
        took.append(time.process_time() - begin)
    assert min(took) < CPU_S
    assert counted(host) == (2, 2, 2)
    assert host.sql("SELECT max(length(result_digest)) <= 300 FROM ledger") == [(1,)]


@pytest.mark.parametrize("hook", HOOKS)
def test_no_keywords_at_all(host: SimHost, hook: str) -> None:
    """A hook that is given nothing raises nothing and answers nothing; the next call is recorded."""
    assert host.call(hook, {}) == []
    assert host.raised == []
    host.run("write_file", {"path": "/srv/a"})
    assert counted(host) == (1, 1, 1)


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize(
    "value", [None, 7, b"x", [], {}, Hostile()], ids=["none", "int", "bytes", "list", "dict", "hostile"]
)
def test_every_keyword_is_wrong(host: SimHost, hook: str, value: object) -> None:
    """The same value for every keyword, known or not: nothing is raised or refused."""
    names = ("tool_name", "args", "session_id", "task_id", "turn_id", "tool_call_id", "result", "status", "error_type",
             "user_message", "conversation_history", "parent_session_id", "platform", "duration_ms", "never_heard_of")  # fmt: skip
    assert host.call(hook, dict.fromkeys(names, value)) == []
    assert host.raised == []
