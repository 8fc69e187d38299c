"""The rows that are judged: their columns made safe to rely on, whatever a file holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..model import parse_iso
from ..store.readonly import ReadOnly
from ..store.stream import Stream


class Row(NamedTuple):
    """The columns of a call that rules look at; the names are the columns'."""

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


_NUMBERS = ("id", "args_len")


def stream_of(ledger: ReadOnly) -> Stream:
    return Stream(ledger, [f"{name}:int" if name in _NUMBERS else name for name in Row._fields])


def batches(
    stream: Stream, since: str = "", until: str = "", session_ids: Sequence[str] = ()
) -> Iterator[list[Row]]:
    """Rows in the order of ids, a batch at a time."""
    for batch in stream.rows(since, until, session_ids):
        yield list(map(Row._make, batch))


_MINUTES = {f"{hour:02}:{minute:02}": 60.0 * (60 * hour + minute) for hour in range(24) for minute in range(60)}


class Clock:
    """Reads the times of rows: seconds since the epoch; a row without a readable time takes that of the row before."""

    def __init__(self) -> None:
        self.unreadable = 0
        self.reversals = 0
        self._day, self._base = "", 0.0
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
        # The ledger's own form, of which only the time of day changes from row to row.
        if len(stamp) == 24 and stamp[10] == "T" and stamp[23] == "Z":
            if stamp[:10] != self._day and (midnight := parse_iso(f"{stamp[:10]}T00:00:00Z")) is not None:
                self._day, self._base = stamp[:10], midnight
            if stamp[:10] == self._day:
                try:
                    return self._base + _MINUTES[stamp[11:16]] + float(stamp[17:23])
                except (KeyError, ValueError):
                    return None
        return parse_iso(stamp)
