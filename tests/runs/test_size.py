"""Streams of any length in flat memory: the command as a process of its own, measured by the system."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_ledger.runs import lines
from tests.runs.streams import done, event, init, result, use
from tests.simhost import PLUGIN_FOLDER

# The system has to say it.
pytestmark = pytest.mark.skipif(not os.path.exists("/proc/" "self/status"), reason="needs /proc")
MOST_KIB = 96 * 1024
MEASURE = """
import sys
from agent_ledger.cli.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
# Not the maxrss of getrusage: that begins with the size of the process that forked.
print(*[line.split()[1] for line in open("/proc/" "self/status") if line.startswith("VmHWM")], file=sys.stderr)
sys.exit(code)
"""
WIDE = "\U0001f600"


def checked(home: Path, parts: Iterator[bytes]) -> tuple[dict[str, object], int]:
    """(the verdict, the largest size of the process in KiB) over a stream that is piped in."""
    child = subprocess.Popen(
        [sys.executable, "-c", MEASURE, "run", "check", "-", "--json", "-"], cwd=PLUGIN_FOLDER,
        env={**os.environ, "HERMES_HOME": str(home)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    for part in parts:
        child.stdin.write(part)
    out, errors = child.communicate(timeout=300)
    return json.loads(out), int(errors.split()[-1])


def calls(megabytes: int) -> Iterator[bytes]:
    """Calls with results and text, by ids, by order, and some never finished; a few lines that are no events."""
    number = 0
    yield init()
    for _ in range(megabytes):
        block = bytearray()
        while len(block) < 1 << 20:
            number += 1
            ids = {"tool_call_id": f"call_{number}"} if number % 2 else {}
            block += use(f"tool_{number % 40}", **ids) + event("text", text=f"delta {number} {WIDE}") * 20
            if number % 50:
                block += done(f"tool_{number % 40}", output="line\n" * 500, **ids)
            else:
                block += b"a banner\n{half\n\n" + use(f"new_{number}", tool_call_id=f"only_{number}")
        yield bytes(block)
    yield result()


@pytest.mark.parametrize("megabytes", [30, pytest.param(1024, marks=pytest.mark.slow)])
def test_a_long_stream_takes_no_more_memory(home: Path, megabytes: int) -> None:
    """1 GB in under 96 MiB; 30 MB where nobody asked for the slow tests."""
    verdict, size = checked(home, calls(megabytes))
    assert (verdict["outcome"], verdict["unfinished_count"] != 0, size < MOST_KIB) == ("success", True, True), size


def padded(begin: bytes, unit: bytes, end: bytes) -> bytes:
    """A line as long as a line may be, filled with ``unit``."""
    return begin + unit * ((lines.MOST - len(begin) - len(end)) // len(unit)) + end + b"\n"


ANSWER = b'{"type": "result", "session_id": "s", "exit_code": 0, "text": "'
INPUT = b'{"type": "tool_use", "name": "t", "input": ['
MADE: dict[str, Callable[[], bytes]] = {
    "a wide character makes a text four times as large": lambda: padded(ANSWER + WIDE.encode(), b"x", b'"}'),
    "wide characters": lambda: padded(ANSWER, WIDE.encode(), b'"}'),
    "escapes": lambda: padded(ANSWER + rb"\ud83d\ude00", rb"\n", b'"}'),
    "empty lists": lambda: padded(INPUT, b"[],", b"1]}"),
    "objects": lambda: padded(INPUT, b'{"type":1},', b"1]}"),
    "floats": lambda: padded(INPUT, b"1e1,", b"1]}"),
    "nested": lambda: padded(INPUT, b'[[{"a":[]}]],', b"1]}"),
    "too long": lambda: padded(INPUT, b'"ab",', b"1]}")[:-1] + b" " * 99 + b"\n",
}  # fmt: skip


@pytest.mark.parametrize("made", MADE.values(), ids=MADE.keys())
def test_the_largest_lines_take_no_more_memory(home: Path, made: Callable[[], bytes]) -> None:
    """Lines up to 8 MiB, one after the other, whatever they hold."""
    verdict, size = checked(home, iter([init(), made(), made(), made(), result(session_id="s", text="x")]))
    assert (verdict["outcome"], size < MOST_KIB) == ("success", True), size


def test_a_line_that_never_ends_is_not_held(home: Path) -> None:
    """Longer than the memory that the process may have."""
    verdict, size = checked(home, iter([init(), ANSWER, *[b"x" * (1 << 20)] * 150, b'"}\n', result()]))
    assert (verdict["outcome"], verdict["unreadable"], size < MOST_KIB) == ("success", 1, True), size

