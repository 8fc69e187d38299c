"""Whatever bytes a stream has: no traceback, and no success without its whole end record."""

from __future__ import annotations

import contextlib
import io
import json
import xml.etree.ElementTree as ET
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_ledger.runs import events, github, junit, report, summary
from agent_ledger.runs.parse import REFUSED, scan, twice, whole
from agent_ledger.runs.skim import LEFT_OUT, skim
from agent_ledger.runs.verdict import Verdict, judge
from tests.runs.streams import done, event, init, result, use

STREAM = init() + event("text", text="é \U0001f600") + use(tool_call_id=1) + done(tool_call_id="1") + b"banner\n" + result()
END = STREAM.rindex(b'{"type": "result"')

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=8,
)  # fmt: skip
FIELDS = st.dictionaries(
    st.sampled_from([
        "subtype", "model", "session_id", "text", "name", "input", "tool_call_id", "output", "duration_ms", "is_error",
        "exit_code", "tokens", "error", "failed", "partial", "interrupted", "timestamp",
    ]), JSON, max_size=8,
)  # fmt: skip
EVENTS = st.builds(
    lambda kind, fields: json.dumps({"type": kind, **fields}).encode() + b"\n",
    st.sampled_from(["system", "text", "tool_use", "tool_result", "result", "other"]) | JSON, FIELDS,
)  # fmt: skip


def judged(stream: bytes) -> Verdict:
    """The verdict, after every report was made of it."""
    verdict = report.clean(judge(events.read(io.BytesIO(stream))))
    json.loads(report.json_text(verdict))
    ET.fromstring(junit.document(verdict))  # noqa: S314
    for line in github.commands(verdict).splitlines():
        assert line.startswith(("::error title=", "::warning title=", "::notice title="))
    summary.document(verdict).encode()
    return verdict


@given(st.binary(max_size=300) | st.lists(st.sampled_from([b"{", b'"type"', b":", b'"result"', b"\n", b"}", b",", b"\xff"])).map(b"".join))
def test_any_bytes_have_a_verdict(stream: bytes) -> None:
    """Nothing that a process can print makes the reader or a report fail."""
    assert judged(stream).outcome != "success"


@given(st.lists(EVENTS | st.binary(max_size=20).map(lambda data: data + b"\n"), max_size=8))
def test_any_events_have_a_verdict(lines: list[bytes]) -> None:
    """Fields of any type under the names of the contract."""
    verdict = judged(b"".join(lines))
    assert (verdict.outcome == "success") == (verdict.exit_code == 0)


@given(st.integers(0, len(STREAM)))
def test_any_cut_is_a_success_only_with_the_whole_record(at: int) -> None:
    """The newline at the end alone may be missing."""
    assert (judged(STREAM[:at]).outcome == "success") == (at >= len(STREAM) - 1)


@given(st.integers(0, END - 1), st.integers(END, len(STREAM) - 2))
def test_a_hole_is_never_a_success_where_the_record_is_hurt(begin: int, end: int) -> None:
    """Bytes that are missing somewhere before the end of the record, with some of it."""
    kept = STREAM[:begin] + STREAM[end:]
    assert judged(kept).outcome != "success" or kept.split(b"\n")[-2] + b"\n" == result()


@given(st.integers(END, len(STREAM) - 3), st.integers(0, 255))
def test_a_changed_byte_of_the_record_never_makes_a_failure_a_success(at: int, byte: int) -> None:
    """One byte of a failed record, whatever it becomes, save the digit of the exit code itself."""
    failed = STREAM[:END] + result(exit_code=1, error="x", failed=True)
    at = min(at, len(failed) - 3)
    hurt = failed[:at] + bytes([byte]) + failed[at + 1 :]
    assert judged(hurt).outcome != "success"


LITERALS = st.sampled_from([
    "{", "}", "[", "]", ",", ":", '"', '"a"', '"type"', '"text"', '"b\\n"', '"\\u00e9"', '"\\x"', "1", "-0", "01", "1.5e3", "1.", "true",
    "null", "NaN", " ", "\t", "\r", "é", "[]", "{}", '{"a":1}', "[1,2]", '"a":', '"type":"x",', "\x01", "-",
])  # fmt: skip


def parsed(line: str) -> Any:
    """(object, keys with two values) as the parser of ordinary lines has it; None for no JSON."""
    with contextlib.suppress(*REFUSED):
        value, end = scan(line, 0)
        if whole(line, end) and isinstance(value, dict):
            return value, twice(line)[1]
    return None


def skimmed(line: str) -> Any:
    with contextlib.suppress(ValueError):
        return skim(bytearray(line.encode()))[:2]
    return None


@given(st.lists(LITERALS, max_size=14).map("".join).map(lambda inner: "{" + inner + "}") | st.dictionaries(st.text(), JSON).map(json.dumps))
def test_large_lines_are_read_as_small_ones_are(line: str) -> None:
    """The reader of large lines takes and refuses exactly what the parser does, and finds the same."""
    one, other = parsed(line), skimmed(line)
    assert repr(one) == repr(other)


@given(st.text(alphabet='a"\\\n\té\U0001f600\ud800', max_size=40), st.integers(66_000, 70_000))
def test_a_long_text_is_kept_whole_up_to_its_limit(tail: str, many: int) -> None:
    """Escapes and wide characters included."""
    text = "x" * many + tail
    found = skim(bytearray(json.dumps({"text": text, "input": [text, text]}).encode()))
    assert found == ({"text": text, "input": LEFT_OUT}, frozenset(), False)
