"""How fast a stream is read, against json.loads over the same lines in the same run."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from agent_ledger.runs import events
from tests.runs.streams import done, event, init, result, use

LEAST = 0.7  # of the speed of json.loads
OUTPUT = json.dumps({"output": "ok " * 150, "exit_code": 0, "error": None})


def mixed() -> Iterator[bytes]:
    """A usual run: many deltas, some calls."""
    for number in range(4000):
        yield event("text", text=f"some words of the answer {number} ", timestamp=1796057320350 + number)
        if number % 8 == 0:
            yield use(input={"command": f"make test # {number}"}, timestamp=1796057320350) + done(output=OUTPUT)


def deltas() -> Iterator[bytes]:
    for number in range(20_000):
        yield event("text", text=f"w{number} ", timestamp=1796057320350 + number)


def tools() -> Iterator[bytes]:
    """Nothing but calls, half of them with ids."""
    for number in range(3000):
        ids = {"tool_call_id": f"call_{number}"} if number % 2 else {}
        yield use(input={"path": f"/srv/{number}"}, **ids) + done(output=OUTPUT, **ids)


def outputs() -> Iterator[bytes]:
    """Tool outputs as long as the host lets them be, with escapes and other scripts."""
    for _ in range(1500):
        yield use() + done(output=("\x1b[31mé\n" + "x" * 90) * 50)


def large() -> Iterator[bytes]:
    """Lines of megabytes."""
    for _ in range(4):
        yield use("write_file", input={"path": "/srv/a", "content": "some text\n" * 300_000})


STREAMS = {made.__name__: made for made in (mixed, deltas, tools, outputs, large)}


def both(stream: bytes) -> tuple[float, float]:
    """Seconds of the processor that we need, and that json.loads needs, for one stream."""
    begin = time.process_time()
    events.read(io.BytesIO(stream))
    between = time.process_time()
    for line in io.BytesIO(stream):
        json.loads(line)
    return between - begin, time.process_time() - between


def built(name: str) -> bytes:
    return init() + b"".join(STREAMS[name]()) + result()


@pytest.mark.benchmark(group="event streams")
@pytest.mark.parametrize("name", STREAMS)
def test_reading_against_json(benchmark: Any, name: str) -> None:
    """Both in turns, so that a machine that gets busy is busy for both."""
    stream, found = built(name), []
    benchmark.pedantic(lambda: found.append(both(stream)), rounds=1 if benchmark.disabled else 15, iterations=1)
    ratio = min(theirs for _, theirs in found) / min(ours for ours, _ in found)
    benchmark.extra_info.update(mb=round(len(stream) / 1e6, 1), speed_of_json=round(ratio, 2))
    if not benchmark.disabled:
        assert ratio >= LEAST


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMS)
def test_reading_is_at_least_70_percent_of_json(name: str) -> None:
    """The promise, also where nobody measures anything else."""
    stream = built(name)
    found = [both(stream) for _ in range(15)]
    assert min(theirs for _, theirs in found) / min(ours for ours, _ in found) >= LEAST
