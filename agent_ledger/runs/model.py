"""The values that pass between the rooms of a run: events, and what is known of a whole stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Init(NamedTuple):
    """The run began. ``event``: the whole object, for what a producer of streams says besides."""

    model: str
    session_id: str
    event: dict[str, Any]


class Text(NamedTuple):
    """A delta of the answer, for following only."""

    text: str


class ToolUse(NamedTuple):
    """A call was issued. ``call_id``: '' where the host gives none; ``input``: None where it is very large."""

    name: str
    call_id: str
    input: Any


class ToolResult(NamedTuple):
    """A call ended. ``output``: its first characters; ``duration_ms``: None where it is no sensible number."""

    name: str
    call_id: str
    is_error: bool
    duration_ms: float | None
    output: str


class Result(NamedTuple):
    """The end record.

    ``code``: its exit code where that is an integer, else None; ``written``: the exit code as it stands there, '' where
    it is absent. ``error``: what the record says, '' where that is nothing. ``flags``: the words for failure that hold
    something. ``twice``: the deciding keys that it gives twice with different values. ``session``: the session as it
    stands there. ``cut``: the answer is longer than ``text``.
    """

    code: int | None
    written: str
    session: str
    session_id: str
    text: str
    cut: bool
    tokens: dict[str, int]
    duration_ms: float | None
    error: str
    flags: tuple[str, ...]
    twice: tuple[str, ...]


class Unknown(NamedTuple):
    """An event of another type."""

    kind: str


Event = Init | Text | ToolUse | ToolResult | Result | Unknown


@dataclass(slots=True)
class ToolStats:
    """What the calls of one tool came to. ``changing``: calls that the ledger ought to have a row of."""

    calls: int = 0
    errors: int = 0
    unfinished: int = 0
    duration_ms: float = 0.0
    changing: int = 0


@dataclass(slots=True)
class CallSeen:
    """One call of the stream. ``state``: ok, error, or unfinished; ``output``: the first characters of an error."""

    name: str
    state: str = "unfinished"
    duration_ms: float | None = None
    output: str = ""


@dataclass(slots=True)
class Facts:
    """A stream as a whole, in bounded memory: lists stop at their limits, counts go on.

    ``records``: the end records that differ in what decides, in order, the last of them being the one that stands;
    ``results`` counts them all. ``unfinished``: names, the first 1000; ``unfinished_count`` counts all.
    ``first_ms``, ``last_ms``: the times of the first and the last event, milliseconds since the epoch.
    """

    events: int = 0
    unreadable: int = 0
    foreign: int = 0
    unknown: int = 0
    after_result: int = 0
    first_ms: float | None = None
    last_ms: float | None = None
    model: str = ""
    session_id: str = ""
    results: int = 0
    records: list[Result] = field(default_factory=list)
    tools: dict[str, ToolStats] = field(default_factory=dict)
    calls: list[CallSeen] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    unfinished_count: int = 0
    pairing: str = "id"

    @property
    def called(self) -> int:
        """How many calls there were."""
        return sum(stats.calls for stats in self.tools.values())

    @property
    def errors(self) -> int:
        """How many of them failed."""
        return sum(stats.errors for stats in self.tools.values())
