"""What the ledger knows of a run: joined by its session, and by the process that issued the calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..ghosts import owner
from ..model import BLOCKED, DENIED, FORK, GHOST_REPORTED, INVALID_ARGS, NONE, PENDING, READ, SKIPPED, UNKNOWN, now_iso
from ..store.reader import Reader
from ..store.shapes import RunRow
from .model import Facts
from .verdict import LedgerCall, LedgerFindings

MOST_ROWS = 20_000
MOST_LISTED = 200
_BEFORE_S = 5  # the first event may be written a moment after the hook of the first call
_AFTER_S = 15
_REFUSED = (BLOCKED, DENIED)
# Such calls may be in the stream or not, by host.
_NEVER_RAN = (*_REFUSED, INVALID_ARGS, SKIPPED)


def owner_of(pid: int) -> str:
    """How the owner of calls of the running process ``pid`` begins; ask while it runs, since pids are used again."""
    return f"p{pid}-s{owner.start_ticks(pid) or 0}-"


def findings(reader: Reader, facts: Facts, owners: Sequence[str] = (), since_s: float | None = None) -> LedgerFindings:
    """Judge the run's rows, once the run is over.

    ``owners``: how the owners of its calls begin (see `owner_of`); they find the calls of delegated children, and those
    of a stream that died before it named its session. ``since_s``: when the run began, seconds since the epoch, where
    the stream does not say it.
    """
    session = facts.records[-1].session_id if facts.records else ""
    session = session or facts.session_id
    names = reader.conversation(session) if session else ()
    children = reader.delegated(names) if names else ()
    since, until = _span(facts, since_s)
    rows = reader.of_run((*names, *children), owners, since, until, MOST_ROWS)
    only_stream, only_ledger = _compared(facts, [row for row in rows if row.session_id in names])
    if not session or len(rows) >= MOST_ROWS:
        only_stream, only_ledger = {}, {}  # a part says nothing about the whole
    listed = {row.id for row in rows if _open(row)}
    ghosts = [row for row in rows if _open(row) and row.outer_id not in listed]
    return LedgerFindings(
        path=reader.path,
        known=bool(rows),
        calls=len(rows),
        changed=sum(row.effect != NONE and READ not in row.flags.split() for row in rows),
        ghosts=tuple(_found(row, _why(row)) for row in ghosts[:MOST_LISTED]),
        blocked=tuple(_found(row, "refused") for row in rows if row.status in _REFUSED)[:MOST_LISTED],
        only_stream=only_stream,
        only_ledger=only_ledger,
    )


def without(path: str, facts: Facts, trouble: str = "") -> LedgerFindings:
    """The findings where there is no ledger: every call that ought to be in one is only in the stream."""
    return LedgerFindings(path, only_stream={} if trouble else _compared(facts, [])[0], trouble=trouble)


def _span(facts: Facts, since_s: float | None) -> tuple[str, str]:
    """From when to when rows belong to the run, as the ledger writes times. A session may have had other runs."""
    begin = facts.first_ms / 1000 if facts.first_ms is not None else since_s
    since = now_iso(begin - _BEFORE_S) if begin is not None and begin > _BEFORE_S and begin < _LATEST_S else ""
    # A stream that broke off says nothing about when the run ended.
    end = facts.last_ms / 1000 if facts.last_ms is not None and facts.records else None
    return since, now_iso(end + _AFTER_S) if end is not None and end < _LATEST_S else ""


_LATEST_S = 253_000_000_000  # the year 9987: later moments have no date


def _compared(facts: Facts, rows: Sequence[RunRow]) -> tuple[dict[str, int], dict[str, int]]:
    """(calls of each tool that only the stream has, that only the ledger has), by their numbers: a stream has no
    arguments to tell calls apart that survived redaction."""
    own = [row for row in rows if row.outer_id is None and not {FORK, READ} & set(row.flags.split())]
    most = Counter(row.tool_name for row in own)
    least = Counter(row.tool_name for row in own if row.status not in _NEVER_RAN)
    streamed = {name: stats.changing for name, stats in facts.tools.items()}
    only_stream = {name: many - most[name] for name, many in streamed.items() if many > most[name]}
    # A call that only reads by its arguments is in the stream, and in the ledger where policy looked at it.
    seen = {name: stats.calls for name, stats in facts.tools.items()}
    only_ledger = {name: many - seen.get(name, 0) for name, many in least.items() if many > seen.get(name, 0)}
    return only_stream, only_ledger


def _open(row: RunRow) -> bool:
    return row.status == PENDING or (row.status == GHOST_REPORTED and row.effect == UNKNOWN)


def _why(row: RunRow) -> str:
    return "no outcome was recorded, and the run is over" if row.status == PENDING else "a ghost that was reported"


def _found(row: RunRow, why: str) -> LedgerCall:
    return LedgerCall(row.id, row.tool_name, row.summary, row.status, row.session_id, why)
