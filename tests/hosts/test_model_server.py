"""The scripted model itself: what it plays, what it records, and that it answers like a provider."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts import model_server
from tests.hosts.model_server import Call, ModelServer, Request, calls, error, text

TOOLS = [{"type": "function", "function": {"name": "terminal", "parameters": {}}}]


def post(url: str, **body: Any) -> str:
    """The answer of the chat route as text."""
    data = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}], **body}).encode()
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/chat/completions", data, kind)  # noqa: S310 - http on loopback
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=10) as answer:
        return str(answer.read().decode())


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A running server without a script."""
    with ModelServer([]) as running:
        yield running


def test_turns_are_played_in_order_and_recorded(server: ModelServer) -> None:
    """Each request with tools takes the next turn, and all are kept as sent."""
    server.play(text("one"), text("two", prompt_tokens=9000))
    first, second = (json.loads(post(server.url, tools=TOOLS)) for _ in range(2))

    assert [answer["choices"][0]["message"]["content"] for answer in (first, second)] == ["one", "two"]
    assert second["usage"]["prompt_tokens"] == 9000
    assert [request.last_user for request in server.requests] == ["hello", "hello"]
    assert server.left == 0


def test_a_side_call_takes_no_turn(server: ModelServer) -> None:
    """A request without tools gets the fixed answer and leaves the script alone."""
    server.play(text("for the agent"))
    answer = json.loads(post(server.url))

    assert answer["choices"][0]["message"]["content"] == model_server.SIDE_ANSWER
    assert (server.left, len(server.side_requests), len(server.requests)) == (1, 1, 0)


def test_parallel_calls_keep_their_ids_in_a_stream(server: ModelServer) -> None:
    """A stream carries every call with its id and arguments, the reason for the end, and the usage."""
    server.play(calls(Call("terminal", {"command": "true"}, id="a"), Call("terminal", "not json", id="b")))
    stream = post(server.url, tools=TOOLS, stream=True)
    events = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    found = [call for delta in deltas for call in delta.get("tool_calls", [])]

    assert [(call["index"], call["id"], call["function"]["arguments"]) for call in found] == [
        (0, "a", '{"command": "true"}'),
        (1, "b", "not json"),
    ]
    assert events[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert events[-1]["usage"]["prompt_tokens"] == 100
    assert stream.rstrip().endswith("data: [DONE]")


def test_calls_without_an_id_get_different_ones(server: ModelServer) -> None:
    """The server numbers calls that the script leaves without an id."""
    server.play(calls(Call("terminal"), Call("terminal")))
    answer = json.loads(post(server.url, tools=TOOLS))
    ids = {call["id"] for call in answer["choices"][0]["message"]["tool_calls"]}

    assert len(ids) == 2


@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_provider_failure_has_its_status(server: ModelServer, status: int) -> None:
    """A scripted failure is an HTTP error with that status."""
    server.play(error(status))
    with pytest.raises(urllib.error.HTTPError) as failure:
        post(server.url, tools=TOOLS)

    assert status == failure.value.code


def test_a_function_can_stand_for_the_script() -> None:
    """A callable sees the request and chooses the turn."""

    def echo(request: Request) -> model_server.Turn:
        return text(f"heard {request.last_user} and {request.tools[0]}")

    with ModelServer(echo) as server:
        answer = json.loads(post(server.url, tools=TOOLS))

    assert answer["choices"][0]["message"]["content"] == "heard hello and terminal"


def test_a_script_that_is_over_says_so(server: ModelServer) -> None:
    """After the last turn the server answers with words that a test can recognise."""
    answer = json.loads(post(server.url, tools=TOOLS))

    assert answer["choices"][0]["message"]["content"] == model_server.PAST_THE_END


def test_it_runs_as_a_process_with_a_script_file(tmp_path: Path) -> None:
    """Started as a command it prints its address, plays the file, and logs what it was asked."""
    script, log = tmp_path / "turns.json", tmp_path / "log.jsonl"
    script.write_text(json.dumps([{"calls": [{"name": "terminal", "arguments": {}, "id": "x"}]}]))
    command = [sys.executable, model_server.__file__, "--script", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        answer = json.loads(post(process.stdout.readline().strip(), tools=TOOLS))
        process.terminate()

    assert answer["choices"][0]["message"]["tool_calls"][0]["id"] == "x"
    assert json.loads(log.read_text())["messages"][0]["content"] == "hello"


def test_a_wrong_script_is_named_with_its_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A turn with an unknown key ends with exit 2 and names the file and the key."""
    script = tmp_path / "turns.json"
    script.write_text(json.dumps([{"txet": "oops"}]))

    assert model_server.main(["--script", str(script)]) == 2
    assert "turns.json" in (told := capsys.readouterr().err) and "txet" in told
