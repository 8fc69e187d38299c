"""One function a question of the dashboard: the home is the one in force, the answer a value for JSON.

What a command tells too comes from the command, so that both say the same. Nothing here changes a call but ``settle``;
as with every command, what waits in the spool is put into the ledger first.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import __version__, spans
from ..cli import doctor as doctor_command
from ..cli import ghosts as ghost_list
from ..cli import rows, settle, show, status, where
from ..cli.policy import report
from ..cli.text import safe
from ..errors import LedgerError, NoLedger
from ..model import now_iso
from ..store import feed
from ..store.shapes import Row
from ..store.wanted import Wanted
from . import asked, posture, probes
from .asked import Query

PAGE = 50
LOOK_S = 0.8  # what looking for one page may take
COUNT_S = 2.0  # what counting over time may take
_MOST_TOOLS = 6
_REPLAY_S = 0.3
_BUSY_S = 30.0
# How far back a chart goes -> how much of ``ts`` names one of its bars: to the hour or to the day.
SPANS = {"24h": 13, "7d": 10, "30d": 10, "90d": 10}
_heavy = threading.Lock()


def overview(query: Query) -> dict[str, Any]:
    """The numbers above all tabs, and the health of recording: what ``status`` says."""
    home = where.home_of(None)
    said = _said(status, home)
    last = posture.last(home)
    return {**said, "version": __version__, "now": now_iso(), "posture": last}


def ghosts(query: Query) -> dict[str, Any]:
    """Open ghosts, the newest first, with why they are ghosts and what probes see now."""
    home, now = where.home_of(None), rows.now()
    before = asked.row_id(query, "before")
    limit = max(1, asked.whole_number(query, "limit", PAGE, asked.MOST_ROWS))
    try:
        with where.opened(home, _REPLAY_S) as reader:
            found, running = ghost_list.find(reader, home, now)
    except NoLedger as nothing:
        return {"open": 0, "running": 0, "ghosts": [], "before": None, "nothing": str(nothing)}
    listed = [ghost for ghost in reversed(found) if before is None or ghost.row.id < before]
    shown = listed[:limit]
    saw = probes.look(home, [ghost.row for ghost in shown])
    return {
        "open": len(found),
        "running": running,
        "ghosts": [_call({**ghost_list.as_json(ghost, now), "saw": saw.get(ghost.row.id)}) for ghost in shown],
        "before": shown[-1].row.id if len(listed) > limit else None,
    }


def calls(query: Query) -> dict[str, Any]:
    """One page of calls, newest first."""
    home, now = where.home_of(None), rows.now()
    before = asked.row_id(query, "before")
    limit = max(1, asked.whole_number(query, "limit", PAGE, asked.MOST_ROWS))
    try:
        with where.opened(home, _REPLAY_S) as reader:
            wanted = _wanted(query, reader.conversation)
            deadline = time.monotonic() + LOOK_S
            page = reader.ask(lambda connection: feed.page(connection, wanted, before, limit, deadline))
            newest = reader.ask(feed.newest_id)
    except NoLedger as nothing:
        return {"calls": [], "before": None, "whole": True, "newest": 0, "nothing": str(nothing)}
    return {"calls": _calls(page.rows, now), "before": page.before, "whole": page.whole, "newest": newest}


def changes(query: Query) -> dict[str, Any]:
    """Calls that came after ``after``, and how the ``open`` ones stand by now: what a live feed asks."""
    home, now = where.home_of(None), rows.now()
    after = asked.whole_number(query, "after", 0, 2**63 - 1)
    still_open = asked.ids(query, "open")
    try:
        with where.opened(home, _REPLAY_S) as reader:
            wanted = _wanted(query, reader.conversation)
            page = reader.ask(lambda connection: feed.since(connection, wanted, after, asked.MOST_ROWS))
            settled = reader.rows(still_open) if still_open else []
    except NoLedger:
        return {"calls": [], "open": [], "newest": 0, "whole": True}
    whole = page.whole and len(page.rows) < asked.MOST_ROWS
    return {"calls": _calls(page.rows, now), "open": _calls(settled, now), "newest": page.before, "whole": whole}


def call(query: Query) -> dict[str, Any]:
    """The whole life of one call, and for an open ghost what a probe sees now."""
    home = where.home_of(None)
    row_id = show.number(query.get("id", ""))
    said = _said(show, home, ledger_id=str(row_id))
    said["call"] = _call(said["call"])
    said["nested"] = [_call(one) for one in said["nested"]]
    if said["open_ghost"]:
        with where.opened(home, _REPLAY_S) as reader:
            said["saw"] = probes.look(home, reader.rows([row_id])).get(row_id)
    return said


def activity(query: Query) -> dict[str, Any]:
    """Calls by tool and outcome over time, in bars of an hour or a day (UTC)."""
    span = asked.one_of(query, "span", SPANS)
    now, width = rows.now(), SPANS[span]
    start = now_iso(now - spans.seconds(span))[:width]
    try:
        with where.opened(where.home_of(None), _REPLAY_S) as reader:
            deadline = time.monotonic() + COUNT_S
            found = reader.ask(lambda connection: feed.activity(connection, start, width, deadline))
    except NoLedger as nothing:
        return {"span": span, "bars": [], "tools": [], "nothing": str(nothing)}
    totals: Counter[str] = Counter()
    for (_, tool, _), many in found.counts.items():
        totals[tool] += many
    named = [tool for tool, _ in totals.most_common(_MOST_TOOLS)]
    bars: dict[str, dict[str, Counter[str]]] = {
        name: {"tools": Counter(), "outcomes": Counter()} for name in _buckets(start, now, width)
    }
    for (bucket, tool, outcome), many in found.counts.items():
        bar = bars.get(bucket)
        if bar is not None:  # of a clock that went ahead
            bar["tools"][tool if tool in named else ""] += many
            bar["outcomes"][outcome] += many
    return {
        "span": span,
        "calls": sum(totals.values()),
        "whole": found.whole,
        "reached": found.reached,
        "outcomes": list(feed.OUTCOMES),
        "tools": [{"tool": tool, "calls": totals[tool]} for tool in named],
        "other_tools": len(totals) - len(named),
        "bars": [{"start": name, **{kind: dict(bar[kind]) for kind in bar}} for name, bar in bars.items()],
    }


def policy(query: Query) -> dict[str, Any]:
    """What dry run would have refused: what ``policy report`` says."""
    since = asked.words(query, "since") or "7d"
    home = where.home_of(None)
    try:
        with _one_at_a_time():
            return _said(report, home, ledger_since=None if since == "all" else since)
    except NoLedger as nothing:
        return {"nothing": str(nothing)}


def posture_now(query: Query) -> dict[str, Any]:
    """The history of daily scores."""
    return posture.history(where.home_of(None))


def score(query: Query) -> dict[str, Any]:
    """The score of the time that is asked for, with its findings."""
    since = asked.words(query, "since") or "24h"
    with _one_at_a_time():
        return posture.score(where.home_of(None), since, rows.now())


def doctor(query: Query) -> dict[str, Any]:
    """What ``doctor`` proves and shows; its throw-away calls never touch the ledger."""
    with _one_at_a_time():
        return _said(doctor_command, where.home_of(None))


def settle_call(row_id: str, body: bytes, who: str) -> dict[str, Any]:
    """Write down whether an unconfirmed call took effect. ``who``: the person that the host knows, '' where it knows
    none; then it is the user that the dashboard runs as."""
    number = show.number(row_id)
    effect, note = asked.settlement(body)
    name = safe(" ".join(who.split()))[:60] or settle.actor()
    return settle.write_down(where.home_of(None), number, effect, note, f"{name} in the dashboard")


# Path below the plugin's own -> what answers a GET there. ``{id}`` comes with the query.
QUESTIONS: dict[str, Callable[[Query], dict[str, Any]]] = {
    "/overview": overview,
    "/ghosts": ghosts,
    "/calls": calls,
    "/changes": changes,
    "/calls/{id}": call,
    "/activity": activity,
    "/policy": policy,
    "/posture": posture_now,
    "/posture/score": score,
    "/doctor": doctor,
}


def _said(command: Any, home: str, **options: Any) -> dict[str, Any]:
    """What the command prints with --json."""
    said: dict[str, Any] = command.run(argparse.Namespace(ledger_home=home, **options)).data
    return said


def _wanted(query: Query, conversation: Callable[[str], tuple[str, ...]]) -> Wanted:
    session = asked.words(query, "session")
    return Wanted(
        asked.words(query, "tool"), asked.words(query, "status"), conversation(session) if session else ()
    )


def _calls(found: list[Row], now: float) -> list[dict[str, Any]]:
    return [_call(rows.as_json(row, now)) for row in found]


def _call(said: dict[str, Any]) -> dict[str, Any]:
    """A call whose arguments are lines to show: as values they may be of any depth, and nobody computes with them."""
    return {**said, "args": show.pretty(said["args"])}


def _buckets(start: str, now: float, width: int) -> Iterator[str]:
    """The names of all bars from ``start`` to now, so that an hour without a call is a gap and not left out."""
    step = 3600 if width == 13 else 86_400
    moment, names = now, list[str]()
    while not names or names[-1] > start:
        names.append(now_iso(moment)[:width])
        moment -= step
    return reversed(names)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """For what reads the whole ledger: a page that is opened twice must not take both cores of a machine."""
    if not _heavy.acquire(timeout=_BUSY_S):
        raise LedgerError("another report is being made for this dashboard. Wait for it, then try again")
    try:
        yield
    finally:
        _heavy.release()
