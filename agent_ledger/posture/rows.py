"""The rows that are judged: their columns made safe to rely on, whatever a file holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..model import parse_iso
from ..store.readonly import ReadOnly
from ..store.stream import Stream


class Row(NamedTuple):
    """The columns of a call that rules look at; '' where a column is empty, absent or no text."""

    id: int
    ts: str
    session_id: str
    tool_name: str
    args_json: str
    args_sha256: str
    args_len: int
    status: str
    cwd: str
    reads: str
    result_digest: str
    policy_decision: str
    policy_rule: str
    policy_sha256: str
    flags: str


_ARGS_LEN = Row._fields.index("args_len")


def stream_of(ledger: ReadOnly) -> Stream:
    return Stream(ledger, Row._fields)


def batches(
    stream: Stream, since: str = "", until: str = "", session_ids: Sequence[str] = ()
) -> Iterator[list[Row]]:
    """Rows in the order of ids. No value raises, whatever type it has."""
    for batch in stream.rows(since, until, session_ids):
        yield [_clean(raw) for raw in batch]


def _clean(raw: tuple[Any, ...]) -> Row:
    # One look at all values: a usual row has text, NULL for '', and numbers where they belong.
    values = [value or "" for value in raw]
    if type(values[_ARGS_LEN]) is not int:
        values[_ARGS_LEN] = 0
    row = Row._make(values)
    try:
        "".join(values[1:_ARGS_LEN])
        "".join(values[_ARGS_LEN + 1 :])
    except TypeError:
        return Row._make(
            value if at in (0, _ARGS_LEN) or isinstance(value, str) else _text(value) for at, value in enumerate(row)
        )
    return row if row.id else row._replace(id=0)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


class Clock:
    """Reads the times of rows: seconds since the epoch; a row without a readable time takes that of the row before."""

    def __init__(self) -> None:
        self.unreadable = 0
        self.reversals = 0
        self._minute, self._base = "", 0.0
        self._last = 0.0

    def at(self, stamp: str) -> float:
        moment = self._read(stamp)
        if moment is None:
            self.unreadable += 1
            return self._last
        if moment < self._last:
            self.reversals += 1
        self._last = moment
        return moment

    def _read(self, stamp: str) -> float | None:
        # The ledger's own form, of which only the seconds change from row to row.
        if len(stamp) == 24 and stamp[23] == "Z":
            if stamp[:17] == self._minute:
                try:
                    return self._base + float(stamp[17:23])
                except ValueError:
                    return parse_iso(stamp)
            whole = parse_iso(stamp[:17] + "00Z")
            if whole is not None:
                self._minute, self._base = stamp[:17], whole
        return parse_iso(stamp)
