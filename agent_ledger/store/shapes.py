"""The shapes of what a reader answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of table ``ledger``; the names are the columns'. All of the first schema: a ledger that no newer plugin
    wrote to has no others."""

    id: int
    ts: str
    session_id: str
    task_id: str
    turn_id: str
    tool_call_id: str
    tool_name: str
    args_json: str
    args_sha256: str
    args_len: int
    summary: str
    status: str
    effect: str
    grace_s: int
    owner: str
    cwd: str
    platform: str
    backend: str
    reads: str
    probe_json: str
    settled_ts: str | None
    duration_ms: int | None
    result_digest: str
    error_message: str
    policy_decision: str
    policy_rule: str
    policy_sha256: str
    flags: str
    outer_id: int | None


@dataclass(frozen=True, slots=True)
class Transition:
    """One unusual change of a row's status."""

    ts: str
    from_status: str
    to_status: str
    why: str


@dataclass(frozen=True, slots=True)
class Told:
    """A notice that named a call. ``state``: told, again (given twice) or read."""

    id: int
    ts: str
    session_id: str
    turn_id: str
    state: str


@dataclass(frozen=True, slots=True)
class Child:
    """A delegated session: how many calls it confirmed, and how many are open or ghosts."""

    session_id: str
    confirmed: int
    unsettled: int


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call without an outcome: its row, why it was reported ('' while it was not), how many calls ran inside it."""

    row: Row
    why: str
    nested: int


@dataclass(frozen=True, slots=True)
class Totals:
    """How much there is. ``recent``: (status, effect) -> rows among the newest 1000; ``last_settled_ts`` of those."""

    rows: int
    first_ts: str
    last_ts: str
    pending: int
    recent: dict[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class RunRow:
    """What a run's verdict needs to know of one of its calls; the names are the columns'."""

    id: int
    session_id: str
    tool_name: str
    summary: str
    status: str
    effect: str
    owner: str
    flags: str
    outer_id: int | None
