"""The event stream of a run: bytes in, typed events out, while the stream grows and however long it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Protocol

from .lines import Lines
from .model import Event, Facts, Init, Result, Text, ToolResult, ToolUse, Unknown
from .pairing import Calls
from .parse import REFUSED, scan, twice, whole
from .skim import skim

CHUNK = 256 * 1024
MAX_ANSWER = 1_000_000  # characters of the answer that are kept
MAX_ERROR = 8_000
MAX_OUTPUT = 2_000
_MAX_INPUT = 65_536  # characters of the line, above which a call's input is not handed on
_MAX_WORD = 500
_MAX_ID = 120
_MOST_RECORDS = 5

FLAGS = ("failed", "partial", "interrupted", "is_error")
DECIDING = ("exit_code", "error", "session_id", *FLAGS)
_ESCAPED = re.compile(r"\\u00[67]")  # how a letter of "type" could hide from a search for it
TOKENS = ("input", "output", "total", "cache_read", "cache_write")


class Source(Protocol):
    """Where bytes come from. ``read`` gives what is there, at most ``size`` bytes, and b"" at the end."""

    def read(self, size: int, /) -> bytes: ...


class Stream:
    """Reads events from ``source`` as they arrive; a tolerant reader that raises only what ``source`` raises.

    Iterate over it, or hand it bytes with `feed` and end with `finish`. The counters are true at any moment:
    ``unreadable`` and ``foreign`` lines, ``unknown`` events, ``events`` in all, ``after_result``. Text deltas are most
    of a stream: they are counted, and handed on only where ``texts`` asks for them.
    """

    def __init__(self, source: Source | None = None, texts: bool = False) -> None:
        self.events = self.unknown = 0
        self.first_ms: float | None = None
        self.last_ms: float | None = None
        self._source = source
        self._texts = texts
        self._lines = Lines()
        self._unreadable = self._foreign = 0
        self._at_result: int | None = None

    @property
    def unreadable(self) -> int:
        return self._unreadable + self._lines.long_objects

    @property
    def foreign(self) -> int:
        return self._foreign + self._lines.long_texts

    @property
    def after_result(self) -> int:
        return 0 if self._at_result is None else self.events - self._at_result

    def __iter__(self) -> Iterator[Event]:
        assert self._source is not None  # noqa: S101
        read = getattr(self._source, "read1", self._source.read)  # a buffered reader's read waits until it has all
        while data := read(CHUNK):
            for batch in self._lines.feed(data):
                yield from self._read(batch)
                del batch  # a large line must not stay while the next one gathers
        yield from self.finish()

    def feed(self, data: bytes) -> list[Event]:
        """The events that ``data`` completes."""
        pieces = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)] if len(data) > CHUNK else [data]
        return [event for piece in pieces for batch in self._lines.feed(piece) for event in self._read(batch)]

    def finish(self) -> list[Event]:
        """The event of a last line without an end, if it is whole."""
        return [event for batch in self._lines.finish() for event in self._read(batch)]

    def _read(self, batch: list[str] | bytearray) -> Iterator[Event]:
        return self._large(batch) if isinstance(batch, bytearray) else self._small(batch)

    def _small(self, batch: list[str]) -> Iterator[Event]:
        # The hot loop: a text delta costs little more than its JSON. Names are local, and no object is made for it.
        parse, texts = scan, self._texts
        value: Any = None
        for line in batch:
            if line[:1] != "{":
                line = line.removeprefix("\ufeff").lstrip(" \t\r")
                if line[:1] != "{":
                    self._foreign += line != ""
                    continue
            try:
                found, end = parse(line, 0)
            except REFUSED:
                self._unreadable += 1
                continue
            if end != len(line) and not whole(line, end):
                self._unreadable += 1
                continue
            if (line.count('"type"') != 1 or ("\\u00" in line and _ESCAPED.search(line))) and "type" in twice(line)[1]:
                self._unreadable += 1
                continue
            if found.get("type") == "text" and not texts:
                value = found
                self.events += 1
                if self.first_ms is None:
                    self._time(value)
                continue
            if value is not None:
                self._time(value)
                value = None
            event = self._event(found, line)
            if event is not None:
                yield event
        if value is not None:
            self._time(value)

    def _large(self, line: bytearray) -> Iterator[Event]:
        """The event of a very large line."""
        begin = line.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r") if line[:1] != b"{" else line
        if begin[:1] != b"{":
            self._foreign += len(begin) > 0
            return
        try:
            found, double, cut = skim(begin)
        except ValueError:
            self._unreadable += 1
            return
        if "type" in double:
            self._unreadable += 1
            return
        event = self._event(found, "", double, cut)
        if event is not None:
            yield event

    def _event(
        self, found: dict[str, Any], line: str, double: frozenset[str] | None = None, cut: bool = False
    ) -> Event | None:
        """Count one object, and make its event. ``double``: its keys with several values, to be looked for in ``line``
        where they are not known. ``cut``: its text is not all of it."""
        kind = found.get("type")
        if type(kind) is not str or (kind == "result" and "session_id" not in found and "exit_code" not in found):
            self._foreign += 1
            return None
        self.events += 1
        self._time(found)
        if kind == "tool_use":
            known = double is None and len(line) <= _MAX_INPUT
            return ToolUse(
                _word(found.get("name")), _id(found.get("tool_call_id")), found.get("input") if known else None
            )
        if kind == "tool_result":
            output = found.get("output")
            return ToolResult(
                _word(found.get("name")), _id(found.get("tool_call_id")), found.get("is_error") is True,
                milliseconds(found.get("duration_ms")), output[:MAX_OUTPUT] if type(output) is str else "",
            )  # fmt: skip
        if kind == "result":
            if self._at_result is None:
                self._at_result = self.events
            return _result(found, twice(line)[1] if double is None else double, cut)
        if kind == "text":
            return Text(_word(found.get("text"), MAX_ANSWER)) if self._texts else None
        if kind != "system":
            self.unknown += 1
            return Unknown(kind[:_MAX_WORD])
        if found.get("subtype") == "init":
            return Init(_word(found.get("model")), _word(found.get("session_id")), found)
        return None

    def _time(self, value: dict[str, Any]) -> None:
        stamp = milliseconds(value.get("timestamp"))
        if stamp is not None and stamp > 0:
            self.first_ms = stamp if self.first_ms is None else self.first_ms
            self.last_ms = stamp


def read(source: Source) -> Facts:
    """Read the whole of ``source``."""
    calls, facts, stream = Calls(), Facts(), Stream(source)
    for event in stream:
        note(facts, calls, event)
    return finished(facts, calls, stream)


def note(facts: Facts, calls: Calls, event: Event) -> None:
    """Take one event into account."""
    if type(event) is ToolUse:
        calls.use(event)
    elif type(event) is ToolResult:
        calls.result(event)
    elif type(event) is Init:
        facts.model = facts.model or event.model
        facts.session_id = facts.session_id or event.session_id
    elif type(event) is Result:
        facts.results += 1
        # The last one stands. Of those before it only what contradicts it or another one matters, so few are kept.
        if facts.records and agree(facts.records[-1], event):
            facts.records[-1] = event
        elif len(facts.records) < _MOST_RECORDS:
            facts.records.append(event)
        else:
            facts.records[-1] = event


def finished(facts: Facts, calls: Calls, stream: Stream) -> Facts:
    """Complete ``facts`` with what was counted; also good in the middle of a stream."""
    facts.events, facts.unreadable, facts.foreign = stream.events, stream.unreadable, stream.foreign
    facts.unknown, facts.after_result = stream.unknown, stream.after_result
    facts.first_ms, facts.last_ms = stream.first_ms, stream.last_ms
    calls.into(facts)
    return facts


def agree(one: Result, other: Result) -> bool:
    """Whether two end records say the same of how the run ended. One that contradicts itself agrees with none."""
    return (
        not (one.twice or other.twice)
        and (one.code, one.written, bool(one.error), one.session)
        == (other.code, other.written, bool(other.error), other.session)
    )  # fmt: skip


def holds(value: object) -> bool:
    """Whether a field of the end record says anything: false, null, 0, "", [] and {} do not."""
    return bool(value)


def milliseconds(value: object) -> float | None:
    """``value`` as a time or a duration, None where it can be none."""
    if type(value) not in (int, float) or not 0 <= value <= 2**53:  # type: ignore[operator]
        return None
    return value  # type: ignore[return-value]


def _result(record: dict[str, Any], double: frozenset[str], cut: bool) -> Result:
    code, text, session = record.get("exit_code"), record.get("text"), record.get("session_id")
    tokens = record.get("tokens")
    text = text if type(text) is str else ""
    return Result(
        code=code if type(code) is int else None,
        written=_written(code) if "exit_code" in record else "",
        session=_written(session),
        session_id=_word(session),
        text=text[:MAX_ANSWER],
        cut=cut or len(text) > MAX_ANSWER,
        tokens={
            name: tokens[name] for name in TOKENS if type(tokens.get(name)) is int and 0 <= tokens[name] <= 2**64
        } if type(tokens) is dict else {},
        duration_ms=milliseconds(record.get("duration_ms")),
        error=_said(record.get("error")),
        flags=tuple(f"{name} {_written(record[name])}" for name in FLAGS if holds(record.get(name))),
        twice=tuple(name for name in DECIDING if name in double),
    )  # fmt: skip


def _said(error: object) -> str:
    if not holds(error):
        return ""
    return (error if type(error) is str else _written(error))[:MAX_ERROR]


def _written(value: object) -> str:
    try:
        text = json.dumps(value)
    except REFUSED:  # nested more deeply than it can be written
        return "a nested value"
    return text if len(text) <= _MAX_WORD else f"{text[:_MAX_WORD]}..."


def _word(value: object, most: int = _MAX_WORD) -> str:
    return value[:most] if type(value) is str else ""


def _id(value: object) -> str:
    """A call's id as text; '' for none. Long ones stand for themselves by their hash, so that none is held."""
    if type(value) is not str:
        if type(value) is bool or (not value and value != 0):
            return ""
        try:
            value = json.dumps(value, sort_keys=True)
        except REFUSED:
            return ""
    return value if len(value) <= _MAX_ID else f"{value[:_MAX_ID]}#{hash(value)}"
