"""The event stream of a run: bytes in, typed events out, while the stream grows and however long it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from .fields import MAX_ANSWER, MAX_WORD, as_dicts, done_fields, end_record, milliseconds, use_fields, word
from .lines import Lines
from .model import Event, Facts, Init, Result, Text, ToolResult, ToolUse, Unknown
from .pairing import Calls
from .parse import REFUSED, scan, twice, whole
from .skim import is_light, skim

CHUNK = 256 * 1024
_MAX_INPUT = 65_536  # characters of the line, above which a call's input is not handed on
_MOST_RECORDS = 5


class Source(Protocol):
    """Where bytes come from. ``read`` gives what is there, at most ``size`` bytes, and b"" at the end."""

    def read(self, size: int, /) -> bytes: ...


class Stream:
    """Reads events from ``source`` as they arrive; a tolerant reader that raises only what ``source`` raises.

    Iterate over it, or hand it bytes with `feed` and end with `finish`. The counters are true at any moment:
    ``unreadable`` and ``foreign`` lines, ``unknown`` events, ``events`` in all, ``after_result``. Text deltas are most
    of a stream: they are counted, and handed on only where ``texts`` asks for them. Where ``calls`` is given, calls and
    their results go there and need not become events; a few may all the same.
    """

    def __init__(self, source: Source | None = None, texts: bool = False, calls: Calls | None = None) -> None:
        self.events = self.unknown = 0
        self.first_ms: float | None = None
        self.last_ms: float | None = None
        self._source = source
        self._texts = texts
        self._calls = calls
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
        parse, none, calls = scan, frozenset[str](), self._calls
        common = ("tool_use", "tool_result") if self._texts else ("text", "tool_use", "tool_result")
        value: Any = None
        for line in batch:
            if line[:1] != "{":
                line = line.removeprefix("\ufeff").lstrip(" \t\r")
                if line[:1] != "{":
                    self._foreign += line != ""
                    continue
            try:
                pairs, end = parse(line, 0)
            except REFUSED:
                self._unreadable += 1
                continue
            if end != len(line) and not whole(line, end):
                self._unreadable += 1
                continue
            found = dict(pairs)
            double = none if len(found) == len(pairs) else twice(pairs, found)
            kind = found.get("type")
            if kind in common and not double:
                value = found
                self.events += 1
                if self.first_ms is None:
                    self._time(value)
                if kind == "tool_use":
                    if calls is None:
                        yield ToolUse(*use_fields(found, len(line) <= _MAX_INPUT))
                    else:
                        calls.use(*use_fields(found, len(line) <= _MAX_INPUT))
                elif kind == "tool_result":
                    if calls is None:
                        yield ToolResult(*done_fields(found))
                    else:
                        calls.result(*done_fields(found))
                continue
            if value is not None:
                self._time(value)
                value = None
            event = self._event(found, double, len(line) <= _MAX_INPUT)
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
        if is_light(begin):
            yield from self._small([begin.decode("utf-8", "replace")])
            return
        try:
            found, double, cut = skim(begin)
        except ValueError:
            self._unreadable += 1
            return
        event = self._event(found, double, cut=cut)
        if event is not None:
            yield event

    def _event(
        self, found: dict[str, Any], double: frozenset[str], small: bool = False, cut: bool = False
    ) -> Event | None:
        """Count one object, and make its event. ``double``: its keys with several values; ``small``: a call's input may
        be handed on; ``cut``: the text is not all of it."""
        kind = found.get("type")
        if "type" in double:
            self._unreadable += 1
            return None
        if type(kind) is not str or (kind == "result" and "session_id" not in found and "exit_code" not in found):
            self._foreign += 1
            return None
        self.events += 1
        self._time(found)
        if kind == "tool_use":
            return ToolUse(*use_fields(found, small))
        if kind == "tool_result":
            return ToolResult(*done_fields(found))
        if kind == "result":
            if self._at_result is None:
                self._at_result = self.events
            return end_record(found, double, cut)
        if kind == "text":
            return Text(word(found.get("text"), MAX_ANSWER)) if self._texts else None
        if kind != "system":
            self.unknown += 1
            return Unknown(kind[:MAX_WORD])
        if found.get("subtype") == "init":
            return Init(word(found.get("model")), word(found.get("session_id")), as_dicts(tuple(found.items())))
        return None

    def _time(self, value: dict[str, Any]) -> None:
        stamp = milliseconds(value.get("timestamp"))
        if stamp is not None and stamp > 0:
            self.first_ms = stamp if self.first_ms is None else self.first_ms
            self.last_ms = stamp


def read(source: Source) -> Facts:
    """Read the whole of ``source``."""
    calls, facts = Calls(), Facts()
    stream = Stream(source, calls=calls)
    for event in stream:
        note(facts, calls, event)
    return finished(facts, calls, stream)


def note(facts: Facts, calls: Calls, event: Event) -> None:
    """Take one event into account."""
    if type(event) is ToolUse:
        calls.use(*event)
    elif type(event) is ToolResult:
        calls.result(*event)
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
