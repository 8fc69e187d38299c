"""The event stream of hosts that have none: what the plugin's hooks write for one run, and what is made of its end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent_ledger import plugin, process
from agent_ledger.runs.emitter import OUTPUT_MOST, VARIABLE
from agent_ledger.runs.events import Stream
from agent_ledger.runs.model import Result
from agent_ledger.runs.produced import HALF_WAY, Produced
from agent_ledger.runs.save import Sink

SESSION = "20261130_120000_abc123"
TURN = f"{SESSION}:task:0001"


class Host:
    """The part of a host's context that registration uses."""

    def __init__(self) -> None:
        self.hooks: dict[str, list[Callable[..., Any]]] = {}

    def register_hook(self, name: str, hook: Callable[..., Any]) -> None:
        self.hooks.setdefault(name, []).append(hook)

    def register_cli_command(self, *_: Any, **__: Any) -> None: ...

    def register_command(self, *_: Any, **__: Any) -> None: ...

    def fire(self, name: str, **given: Any) -> list[Any]:
        return [hook(**{"session_id": SESSION, "turn_id": TURN, **given}) for hook in self.hooks.get(name, ())]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Produced]:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    made = Produced(Sink(str(tmp_path / "saved.jsonl")))
    monkeypatch.setenv(VARIABLE, made.variables[VARIABLE])
    yield made
    made.close()
    if hasattr(process.registry(), "run_events"):
        del process.registry().run_events


@pytest.fixture
def host(source: Produced) -> Host:
    made = Host()
    plugin.register(made)
    return made


def begin(host: Host, **more: Any) -> None:
    host.fire("pre_llm_call", user_message="go", conversation_history=[], model="m", **more)


def call(host: Host, call_id: str, command: str = "true", **more: Any) -> None:
    args = {"command": command}
    host.fire("pre_tool_call", tool_name="terminal", args=args, tool_call_id=call_id, task_id="task", **more)


def back(host: Host, call_id: str, result: str = '{"exit_code": 0}', status: str = "ok", **more: Any) -> None:
    host.fire("post_tool_call", tool_name="terminal", args={"command": "true"}, tool_call_id=call_id, task_id="task",
              result=result, status=status, duration_ms=12, **more)  # fmt: skip


def stream(source: Produced, code: int) -> list[dict[str, Any]]:
    """All of the stream, for a process that ended with ``code``."""
    source.over(code)
    data = b"".join(iter(source.pull, b""))
    return [json.loads(line) for line in data.splitlines()]


def result(source: Produced, code: int) -> dict[str, Any] | None:
    last = stream(source, code)[-1]
    return last if last["type"] == "result" else None


def test_nothing_is_registered_where_no_run_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The four hooks, and no other: what the manifest declares."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    made = Host()
    plugin.register(made)

    assert set(made.hooks) == {"pre_tool_call", "post_tool_call", "pre_llm_call", "on_session_start"}


def test_a_whole_run(source: Produced, host: Host, tmp_path: Path) -> None:
    """The contract's events in the contract's order, saved as they stand, and the reader finds nothing odd in them."""
    begin(host)
    message = SimpleNamespace(content="I will look.")
    host.fire("post_api_request", assistant_message=message, usage={"input_tokens": 10, "output_tokens": 2})
    call(host, "a")
    back(host, "a")
    call(host, "b")
    back(host, "b", '{"exit_code": 2}')
    host.fire("post_api_request", assistant_message=SimpleNamespace(content="Done. "), usage={"input_tokens": 20})
    host.fire("post_llm_call", assistant_response="Done. ")
    host.fire("on_session_end", completed=True, interrupted=False)
    events = stream(source, 0)

    assert [event["type"] for event in events] == [
        "system", "text", "tool_use", "tool_result", "tool_use", "tool_result", "text", "result",
    ]  # fmt: skip
    assert events[0]["produced_by"].startswith("agent-ledger ") and events[0]["session_id"] == SESSION
    assert events[2]["input"] == {"command": "true"} and events[2]["tool_call_id"] == "a"
    assert [event["is_error"] for event in events if event["type"] == "tool_result"] == [False, True]
    last = events[-1]
    assert (last["exit_code"], last["text"], last["tokens"]["input"], "error" in last) == (0, "Done.", 30, False)
    reader = Stream()
    saved = (tmp_path / "saved.jsonl").read_bytes()
    found = [*reader.feed(saved), *reader.finish()]
    assert (reader.unreadable, reader.foreign, reader.unknown) == (0, 0, 0) and isinstance(found[-1], Result)


def test_events_come_as_they_happen(source: Produced, host: Host) -> None:
    """A call that runs is in the stream before it ends."""
    begin(host)
    call(host, "a")

    assert b'"tool_use"' in source.pull()


@pytest.mark.parametrize(
    ("end", "code", "exit_code", "error"),
    [
        ({"completed": True, "interrupted": False}, 0, 0, None),
        ({"completed": False, "interrupted": False}, 0, 1, None),
        ({"completed": True, "interrupted": False, "failed": True}, 0, 1, None),
        ({"completed": False, "interrupted": True}, 130, 130, "Interrupted"),
        ({"completed": False, "interrupted": False}, 75, 75, None),
        ({"completed": False, "interrupted": False}, 78, 78, None),
        (None, 0, 1, HALF_WAY),
        (None, 1, 1, "the host ended with 1 and never said how the turn ended"),
        (None, 130, 130, "Interrupted"),
    ],
)
def test_the_end_of_a_turn(
    source: Produced, host: Host, end: dict[str, Any] | None, code: int, exit_code: int, error: str | None
) -> None:
    """Only a turn that the host called complete is a success: the process's 0 alone is not."""
    begin(host)
    if end is not None:
        host.fire("on_session_end", **end)
    last = result(source, code)

    assert last is not None
    assert (last["exit_code"], last.get("error"), last["process_exit_code"]) == (exit_code, error, code)


def test_a_killed_host_leaves_no_result(source: Produced, host: Host) -> None:
    """Nobody knows how its turn ended."""
    begin(host)
    call(host, "a")

    assert result(source, -9) is None


def test_a_provider_that_fails_is_named_unless_it_answered_later(source: Produced, host: Host) -> None:
    """The last trouble is the error of a failed turn."""
    begin(host)
    host.fire("api_request_error", status_code=500, error={"message": "first"})
    host.fire("post_api_request", assistant_message=None, usage=None)
    host.fire("api_request_error", status_code=401, error={"message": "no key"})

    last = result(source, 1)
    assert last is not None and last["error"] == "no key"


def test_nothing_is_claimed_where_nothing_is_known(source: Produced, host: Host) -> None:
    """No turn, no stream; no usage, no tokens."""
    assert stream(source, 0) == []


def test_only_the_run_s_own_conversation_is_shown(source: Produced, host: Host) -> None:
    """Neither delegated children nor calls inside execute_code, which the host's own stream does not show either."""
    begin(host)
    host.fire("pre_llm_call", session_id="child", turn_id="child:t:1", user_message="x", model="m")
    call(host, "a", session_id="child", turn_id="child:t:1")
    call(host, "", turn_id="", session_id="")
    host.fire("on_session_end", session_id="child", turn_id="child:t:1", completed=False, interrupted=False)
    host.fire("on_session_end", completed=True, interrupted=False)
    events = stream(source, 0)

    assert [event["type"] for event in events] == ["system", "result"] and events[-1]["exit_code"] == 0


def test_a_call_that_was_given_up_has_no_result(source: Produced, host: Host) -> None:
    """Its outcome is unknown; a late completion is shown as it is."""
    begin(host)
    call(host, "a")
    back(host, "a", status="cancelled")
    call(host, "b")
    back(host, "b", status="cancelled")
    back(host, "b")

    kinds = [(event["type"], event.get("tool_call_id")) for event in stream(source, -9)[1:]]
    assert kinds == [("tool_use", "a"), ("tool_use", "b"), ("tool_result", "b")]


def test_a_rotated_session_is_named_by_the_result(source: Produced, host: Host) -> None:
    """Compaction gives the conversation a new id in the middle of a turn."""
    begin(host)
    call(host, "a", session_id="rotated")
    host.fire("on_session_end", session_id="rotated", completed=True, interrupted=False)
    events = stream(source, 0)

    assert (events[1]["type"], events[-1]["session_id"]) == ("tool_use", "rotated")


def test_outputs_are_cut_and_odd_values_hurt_nobody(source: Produced, host: Host) -> None:
    """As the host's own stream cuts them; what is no JSON is written as text."""
    begin(host)
    host.fire("pre_tool_call", tool_name="terminal", args={"a": {1, 2}, "b": "\ud800"}, tool_call_id="a")
    back(host, "a", "x" * 6000)
    events = stream(source, -9)

    assert len(events) == 3 and len(events[2]["output"]) == OUTPUT_MOST + 3


def test_a_nested_host_does_not_write_into_this_run(source: Produced, host: Host) -> None:
    """The variable is gone once the plugin has it, and a reload of the plugin still knows."""
    assert VARIABLE not in os.environ
    again = Host()
    plugin.register(again)

    assert "on_session_end" in again.hooks


def test_a_file_of_somebody_else_is_not_written(source: Produced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a private file counts."""
    shared = tmp_path / "shared"
    shared.touch()
    shared.chmod(0o666)
    monkeypatch.setenv(VARIABLE, str(shared))
    made = Host()
    plugin.register(made)
    begin(made)

    assert "on_session_end" not in made.hooks and shared.read_bytes() == b""


def test_a_cut_line_at_the_end_of_a_killed_host_is_no_event(source: Produced, host: Host) -> None:
    """Nothing half-written gets into the stream."""
    begin(host)
    with open(source.variables[VARIABLE], "ab") as file:
        file.write(b'{"type": "text", "te')

    assert [event["type"] for event in stream(source, -9)] == ["system"]
