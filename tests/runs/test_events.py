"""The reader of event streams: what is an event, what is none, and what memory it takes."""

from __future__ import annotations

import io
import os
import threading

import pytest

from agent_ledger.runs import events, lines
from agent_ledger.runs.model import Init, Result, Text, ToolResult, ToolUse, Unknown
from tests.runs.streams import done, event, facts, init, result, use

LARGE = b"x" * (lines.LARGE + 1)


def counted(*parts: bytes) -> tuple[int, int, int, int]:
    """(events, unreadable, foreign, unknown)"""
    found = facts(*parts)
    return found.events, found.unreadable, found.foreign, found.unknown


def test_events_have_types() -> None:
    """Every kind of the contract comes as its own type, in order."""
    stream = events.Stream(io.BytesIO(init() + event("text", text="a") + use() + done() + event("usage") + result()), texts=True)

    assert [type(one) for one in stream] == [Init, Text, ToolUse, ToolResult, Unknown, Result]


def test_text_is_counted_and_only_handed_on_where_asked() -> None:
    """Deltas are most of a stream, and nobody but a live display needs them."""
    stream = events.Stream(io.BytesIO(init() + event("text", text="a") * 3 + result()))

    assert [type(one) for one in stream] == [Init, Result]
    assert stream.events == 5


@pytest.mark.parametrize("line", [
    b"plain text", b"[1]", b'"text"', b"{}", b'{"a": 1}', b'{"type": 5}', b'{"type": null}', b'{"type": "result"}',
    b'{"type": "result", "text": "x"}', b"\xa0{}", b"\xff\xfe{\x00", b"x" + LARGE, b"x" * (lines.MOST + 1),
])  # fmt: skip
def test_what_is_no_event_is_foreign(line: bytes) -> None:
    """Text, JSON that is no object, and objects without a type decide nothing and are counted."""
    assert counted(line + b"\n", init()) == (1, 0, 1, 0)


@pytest.mark.parametrize("line", [
    b"{", b'{"type": "text", "text": "x"', b'{"type": "text"} {}', b'{"type": "text", "text": "\t"}', b'{"type": NaN}',
    b'{"type": "text", "n": -Infinity}', b'{"type": "text", "n": ' + b"9" * 5000 + b"}", b'{"type": "text", "n": 01}',
    b'{"type": "text", "n": ' + b"[" * 99_999 + b"]" * 99_999 + b"}", b'{"type": "text", "type": "result"}',
    b'{"type": "text", "t\\u0079pe": "result"}', b'{"type": "text", "text": "' + LARGE, b'{"type": "text",}',
    b'{"type": "result", "exit_code": 0, "text": "' + b"x" * lines.MOST + b'"}', b'{"text": "' + LARGE + b'"',
    b'{"type": "text", "text": "' + LARGE + b'", "type": "result"}', b'{"type": "text", "text": "' + LARGE + b'\\x"}',
])  # fmt: skip
def test_what_begins_like_an_object_and_is_none_is_unreadable(line: bytes) -> None:
    """Cut lines, raw control characters, numbers and nestings that no parser takes, two types, more than 8 MiB."""
    assert counted(line + b"\n", init()) == (1, 1, 0, 0)


@pytest.mark.parametrize("line", [
    b'\xef\xbb\xbf{"type": "text"}', b' \t{"type": "text"} \r', b'{"type": "text", "type": "text"}',
    b'{"type": "text", "text": "\xff\xe2"}', '{"type": "text", "text": "\u2028\u0085"}'.encode(),
    b'{"type": "text", "input": {"type": "result"}}', b'\xef\xbb\xbf {"type": "text", "text": "' + LARGE + b'"}\r',
    b'{"type": "text", "text": "' + b"x" * (lines.MOST - 26 - 2) + b'"}',
])  # fmt: skip
def test_what_is_unusual_and_right_is_an_event(line: bytes) -> None:
    """A BOM, blanks, CR, bytes that are no UTF-8, line ends of Unicode, and lines up to 8 MiB."""
    assert counted(line + b"\n", init()) == (2, 0, 0, 0)


def test_blank_lines_are_not_counted() -> None:
    """Nothing on a line says nothing, however long."""
    assert counted(b"\n\r\n \t\n\xef\xbb\xbf\n" + b" " * (lines.MOST + 9) + b"\n", init()) == (1, 0, 0, 0)


def test_events_after_the_result_are_counted() -> None:
    """Foreign lines are no events."""
    assert facts(init(), result(), event("text"), b"bye\n", event("usage")).after_result == 2


def test_the_size_of_the_pieces_makes_no_difference() -> None:
    """A pipe gives what it has: every cut of the stream into pieces reads the same."""
    stream = b"\xef\xbb\xbf" + init() + "é \U0001f600\n".encode() + use() + b"\n\n{\n" + done() + result()
    whole = events.read(io.BytesIO(stream))
    for size in (1, 2, 3, 7, 64, 1000):
        reader = events.Stream()
        found = [one for at in range(0, len(stream), size) for one in reader.feed(stream[at : at + size])]
        found += reader.finish()
        assert [type(one) for one in found] == [Init, ToolUse, ToolResult, Result]
        assert (reader.events, reader.foreign, reader.unreadable) == (whole.events, whole.foreign, whole.unreadable)


def test_an_event_comes_as_soon_as_its_line_is_there() -> None:
    """A live display does not wait for a buffer to fill."""
    reading, writing = os.pipe()
    with open(reading, "rb") as source:
        found = iter(events.Stream(source))
        with open(writing, "wb", buffering=0) as sink:
            sink.write(init())
            timer = threading.Timer(10, sink.close)
            timer.start()
            assert type(next(found)) is Init
            timer.cancel()


def test_a_large_line_reads_like_a_small_one() -> None:
    """What decides is found behind and before a text of megabytes, and the answer is cut."""
    record = result(text="a" * (3 * lines.LARGE), error={"a": 1}, partial=True)
    [found] = facts(init(), record).records
    assert (found.code, found.error, found.flags, len(found.text)) == (0, '{"a": 1}', ("partial true",), events.MAX_ANSWER)
    assert found.cut


def test_the_time_of_the_run_is_that_of_its_events() -> None:
    """First and last timestamp, whatever has none; a stamp that no clock shows is none."""
    found = facts(event("text"), init(timestamp=1000), event("text", timestamp=2000), event("usage", timestamp=1e300))
    assert (found.first_ms, found.last_ms) == (1000, 2000)
