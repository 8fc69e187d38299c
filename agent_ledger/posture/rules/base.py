"""What every rule is made of: its description, the calls that it is shown, and how an episode becomes a finding."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeVar

from ...model import BLOCKED, CONFIRMED, ERROR_PREFIX
from ...policy.rules import Policy
from .. import taxonomy
from ..commands import Facts
from ..excerpt import excerpt_of
from ..model import CONFIDENCES, SEVERITIES, Finding
from ..rows import Row

# What a call is told by; a rule is shown the calls that bear one of its marks.
EVERY = 1
TOLD = 2  # its arguments were parsed
ERROR = 4
OPEN = 8  # PENDING or GHOST_REPORTED
REFUSED = 16  # ERROR:blocked
READS = 32  # the session called read-only tools before it
EGRESS = 64  # it takes what it is given to somebody else
UNTRUSTED = 128  # it, or a read before it, brought what strangers wrote
MEMORY = 256
ONCE = 512  # a second time is a second effect
MARKED = 1024  # has flags
JUDGED = 2048  # policy said something
LITERAL = 4096  # a secret stood in its arguments
PHRASE = 8192  # its result speaks like an injection
FOREIGN = 16384  # a tool that the host did not bring
UNDECLARED = 32768

MOST_SESSIONS = 20_000  # whose recent calls are remembered

T = TypeVar("T")


class Recent(OrderedDict[str, T]):
    """What is remembered by session, of the latest sessions only, so that memory stays flat."""

    def put(self, name: str, value: T) -> None:
        self[name] = value
        self.move_to_end(name)
        if len(self) > MOST_SESSIONS:
            self.popitem(last=False)


class Note(NamedTuple):
    """What is kept of a call: its arguments would fill the memory."""

    id: int
    ts: str
    status: str
    session: str
    tool: str
    at: float
    place: int


@dataclass(slots=True)
class Call:
    """One row on its way through the rules. ``at``: seconds since the epoch; ``place``: its number among the rows of
    its session."""

    row: Row
    at: float
    place: int
    marks: int
    context: Context
    known: Facts | None = None

    @property
    def facts(self) -> Facts:
        """What the call would do; parsed when a rule first asks."""
        if self.known is None:
            self.known = self.context.facts(self.row)
        return self.known

    def note(self) -> Note:
        row = self.row
        return Note(row.id, row.ts, row.status, row.session_id, row.tool_name, self.at, self.place)

    @property
    def refused(self) -> bool:
        return self.row.status == BLOCKED

    @property
    def failed(self) -> bool:
        return self.row.status.startswith(ERROR_PREFIX)

    def within(self, other: float, seconds: float) -> bool:
        """Near a moment, also where a clock was set back in between."""
        return abs(self.at - other) <= seconds


@dataclass(slots=True)
class Context:
    """What rules may know besides rows."""

    now: float
    policy: Policy | None
    budget: int
    declared: frozenset[str]
    facts: Callable[[Row], Facts]
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class Episode:
    """The rows of one finding while they are collected. ``status``: the gravest of them."""

    session: str
    rows: list[int] = field(default_factory=list)
    first: str = ""
    last: str = ""
    status: str = ""

    @classmethod
    def of(cls, *calls: Call | Note) -> Episode:
        notes = [call.note() if isinstance(call, Call) else call for call in calls]
        episode = cls(notes[0].session)
        for note in notes:
            episode.add(note)
        return episode

    def add(self, call: Call | Note) -> None:
        note = call.note() if isinstance(call, Call) else call
        if note.id in self.rows[-3:]:  # one row may be two steps of a sequence
            return
        if not self.rows:
            self.first = note.ts
        self.rows.append(note.id)
        self.last = note.ts
        if not self.status or _gravity(note.status) > _gravity(self.status):
            self.status = note.status


def _gravity(status: str) -> int:
    if status == CONFIRMED:
        return 3
    if status.startswith(ERROR_PREFIX):
        return 0 if status == BLOCKED else 1
    return 2


class Rule:
    """One rule: its description, and the state of one look at a ledger."""

    id: ClassVar[str]
    title: ClassVar[str]
    severity: ClassVar[str]
    confidence: ClassVar[str]
    predicate: ClassVar[str]  # what fires, and what does not, in words
    remediation: ClassVar[str]
    refs: ClassVar[tuple[str, ...]]
    on: ClassVar[int]
    # False where failing, being open or being refused is what the rule is about: its severity then stands.
    conditioned: ClassVar[bool] = True

    def __init__(self, context: Context) -> None:
        self.context = context
        # Sessions of which the rule is shown every call, whatever its marks.
        self.watched: Container[str] = ()

    @classmethod
    def asi(cls) -> str:
        return cls.id.partition("-")[0]

    def not_assessed(self) -> str:
        """Why this rule can say nothing here, '' where it can."""
        return ""

    def see(self, call: Call) -> None:
        """Look at one call."""
        raise NotImplementedError

    def end(self) -> None:
        """The last row was seen."""

    def report(
        self, episode: Episode, message: str, quoted: str = "", args: str = "", severity: str = "", confidence: str = ""
    ) -> None:
        """Make a finding of an episode. ``quoted``: of what it shows an excerpt, redacted; ``args``: the stored
        arguments which that comes from."""
        severity, confidence = severity or self.severity, confidence or self.confidence
        if self.conditioned:
            severity, confidence, message = conditioned(episode.status, severity, confidence, message)
        self.context.findings.append(
            Finding(
                rule_id=self.id,
                asi=self.asi(),
                official=taxonomy.ENTRIES[self.asi()].official,
                severity=severity,
                confidence=confidence,
                status_seen=episode.status,
                message=message,
                rows=tuple(episode.rows),
                session_id=episode.session,
                ts_first=episode.first,
                ts_last=episode.last,
                fingerprint=fingerprint(self.id, episode.session, episode.rows),
                remediation=self.remediation,
                refs=self.refs,
                excerpt=excerpt_of(quoted, args),
            )
        )


def conditioned(status: str, severity: str, confidence: str, message: str) -> tuple[str, str, str]:
    """What a status makes of a finding: a refused call was an attempt, a failed one weighs a step less, and of an open
    one nobody knows whether it happened."""
    gravity = _gravity(status)
    if gravity == 0:
        return "LOW", confidence, f"{message}; attempt stopped"
    if gravity == 1:
        return SEVERITIES[min(SEVERITIES.index(severity) + 1, len(SEVERITIES) - 1)], confidence, f"{message}; it failed"
    if gravity == 2:
        low = CONFIDENCES[min(CONFIDENCES.index(confidence), CONFIDENCES.index("medium"))]
        return severity, low, f"{message}; may have happened"
    return severity, confidence, message


def fingerprint(rule: str, session: str, rows: Sequence[int]) -> str:
    """The same in every run over the same rows."""
    return hashlib.sha256(f"{rule}|{session}|{','.join(map(str, rows))}".encode("utf-8", "surrogatepass")).hexdigest()


def argvs(facts: Facts, *names: str) -> Iterator[tuple[str, ...]]:
    """The resolved commands of these programs."""
    return (words for words in facts.commands if words[0] in names)


def shown(name: str) -> str:
    """The name of a tool in a message: who made the ledger chose it."""
    return excerpt_of(name) or "a tool without a name"
