"""The values that pass between the rooms: a call, its outcome, and the words the ledger uses for them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

PENDING = "PENDING"
CONFIRMED = "CONFIRMED"
GHOST_REPORTED = "GHOST_REPORTED"
ERROR_PREFIX = "ERROR:"
TIMEOUT = "ERROR:timeout"
CANCELLED = "ERROR:cancelled"
BLOCKED = "ERROR:blocked"
DENIED = "ERROR:denied"
INVALID_ARGS = "ERROR:invalid_args"
SKIPPED = "ERROR:skipped"

# The mark of a call that a background review made under the conversation's own session id: no part of what the user
# sees.
FORK = "fork"

# The mark of a call that only reads and has a row because policy would have refused it.
READ = "read_only"

UNKNOWN = "unknown"
APPLIED = "applied"
STARTED = "started"
NONE = "none"


_this_second: tuple[int, str] = (-1, "")


def now_iso(moment: float | None = None) -> str:
    """UTC as the ledger writes it: ISO 8601 with milliseconds and ``Z``. ``moment`` is seconds since the epoch."""
    global _this_second
    when = time.time() if moment is None else moment
    second = int(when // 1)
    known = _this_second  # one read: another thread may replace it
    if known[0] != second:
        known = _this_second = (second, datetime.fromtimestamp(second, UTC).isoformat()[:19] + ".")
    return f"{known[1]}{int((when - second) * 1000):03d}Z"


def parse_iso(stamp: str) -> float | None:
    """Seconds since the epoch of a ledger time, or None where somebody wrote something else into the column."""
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (TypeError, ValueError):
        return None


class Call(NamedTuple):
    """One announced tool call, as it goes into its row: the columns that are known then, in the order of the INSERT.
    ``flags``: space-separated marks."""

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
    grace_s: int
    owner: str
    cwd: str = ""
    platform: str = ""
    backend: str = ""
    reads: str = ""
    probe_json: str = ""
    policy_decision: str = ""
    policy_rule: str = ""
    policy_sha256: str = ""
    flags: str = ""
    error_message: str = ""
    policy_memory: str = ""


class Outcome(NamedTuple):
    """What the host, or the conversation, said about a call.

    ``status`` and ``effect`` are the ledger's words; ``digest`` and ``error_message`` are redacted and cut.
    """

    status: str
    effect: str
    digest: str = ""
    error_message: str = ""
    duration_ms: int | None = None

    @property
    def confirmed(self) -> bool:
        return self.status == CONFIRMED

    @property
    def ran(self) -> bool:
        """True where it shows that the tool ran: it returned, or its command ended with an exit code."""
        return self.status == CONFIRMED or self.status.startswith("ERROR:exit_")


@dataclass(slots=True)
class Settlement:
    """A post_tool_call on its way to a row: which call it says it is, and what came of it."""

    ts: str
    session_id: str
    task_id: str
    turn_id: str
    tool_call_id: str
    tool_name: str
    args_json: str
    args_sha256: str
    args_len: int
    args_empty: bool
    summary: str
    owner: str
    outcome: Outcome
    keep_orphan: bool = True
    flags: str = ""
    probe_json: str = ""
    cwd: str = ""
    platform: str = ""
    backend: str = ""


@dataclass(frozen=True, slots=True)
class OpenRow:
    """What judgement needs to know of a row that is not settled."""

    id: int
    ts: str
    session_id: str
    task_id: str
    turn_id: str
    tool_call_id: str
    tool_name: str
    args_json: str
    args_sha256: str
    status: str
    effect: str
    grace_s: int
    owner: str
    flags: str
    outer_id: int | None = None

    def flagged(self, mark: str) -> bool:
        return mark in self.flags.split()


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation that is about to be sent to the model, as pre_llm_call describes it."""

    session: str
    turn: str
    parent: str
    message: object
    history: object
    platform: str = ""

    @property
    def has_history(self) -> bool:
        return type(self.history) in (list, tuple) and len(self.history) > 0  # type: ignore[arg-type]


def add_flag(flags: str, mark: str) -> str:
    """``flags`` with ``mark`` in it once."""
    if not flags:
        return mark
    return flags if mark in flags.split() else f"{flags} {mark}"
