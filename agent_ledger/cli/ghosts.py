"""``ghosts``: every call of the home that nobody confirmed, in every conversation. Claims and tells nothing."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import NoLedger
from ..ghosts import owner, reconcile
from ..home import data_folder, ledger_path
from ..model import GHOST_REPORTED, OpenRow
from ..store.reader import Reader
from ..store.shapes import OpenCall, Row
from . import exits, rows, where
from .answer import Answer
from .output import Screen
from .text import cut, plural, safe, when


@dataclass(frozen=True, slots=True)
class OpenGhost:
    """One open ghost: its row, why it is one, whether its conversation was told, and the calls that ran inside it."""

    row: Row
    why: str
    told: bool
    nested: int


def find(reader: Reader, home: str, now: float, session_ids: Sequence[str] = ()) -> tuple[list[OpenGhost], int]:
    """(open ghosts, oldest first; calls that are still running within their grace period) of the home."""
    owners = os.path.join(data_folder(home), "owners")
    calls = reader.open_calls(session_ids)
    pending = [call for call in calls if call.row.status != GHOST_REPORTED]
    # Asked once an owner: each answer opens a lock file, and a home may hold thousands of rows of one dead process.
    alive = {name: owner.is_alive(name, owners) for name in {call.row.owner for call in pending}}
    why = {ghost.row.id: ghost.why for ghost in reconcile.ghosts([_judged(call) for call in pending], now, alive)}
    found = []
    for call in calls:
        if call.row.status == GHOST_REPORTED:
            found.append(OpenGhost(call.row, call.why or "reported, reason not recorded", True, call.nested))
        elif call.row.id in why:
            found.append(OpenGhost(call.row, why[call.row.id], False, call.nested))
    return found, len(calls) - len(found)


def _judged(call: OpenCall) -> OpenRow:
    row = call.row
    return OpenRow(
        id=row.id, ts=row.ts, session_id=row.session_id, task_id=row.task_id, turn_id=row.turn_id,
        tool_call_id=row.tool_call_id, tool_name=row.tool_name, args_json=row.args_json, args_sha256=row.args_sha256,
        status=row.status, effect=row.effect, grace_s=row.grace_s if isinstance(row.grace_s, int) else 0,
        owner=row.owner, flags=row.flags, outer_id=row.outer_id,
    )  # fmt: skip


def as_json(ghost: OpenGhost, now: float) -> dict[str, Any]:
    """The row as rows.as_json has it, with ``why``, ``told`` (whether its conversation was given the notice) and
    ``nested`` (calls that ran inside it)."""
    return {**rows.as_json(ghost.row, now), "why": ghost.why, "told": ghost.told, "nested": ghost.nested}


def run(options: argparse.Namespace) -> Answer:
    home = where.home_of(options.ledger_home)
    now = rows.now()
    session = options.ledger_session
    try:
        with where.opened(home) as reader:
            names = reader.conversation(session) if session else ()
            known = not session or reader.knows_session(names)
            found, running = find(reader, home, now, names)
    except NoLedger as nothing:
        return _nothing(home, session, str(nothing))
    code = exits.PROBLEM if options.ledger_check and found else exits.OK
    data = {
        "ledger": ledger_path(home),
        "session": session or None,
        "known_session": known if session else None,
        "open": len(found),
        "running": running,
        "ghosts": [as_json(ghost, now) for ghost in found],
    }

    def show(screen: Screen) -> None:
        if not known:
            screen.line(f"no call of session {safe(session)} is recorded in {safe(ledger_path(home))}")
            return
        of = f" in the conversation of session {safe(session)}" if session else ""
        if not found:
            screen.line(f"no open ghosts{of}; {plural(running, 'call')} still running")
            return
        screen.line(f"{plural(len(found), 'open ghost')}{of}: issued, and never confirmed")
        screen.line()
        table(screen, found, now)
        screen.line()
        screen.line(
            f"{plural(running, 'call')} still running. The record of one: hermes ledger show {found[-1].row.id}"
        )

    return Answer(code, data, show)


def table(screen: Screen, found: Sequence[OpenGhost], now: float) -> None:
    """The ghosts as a table; also on the status screen."""
    screen.table(
        ("ID", "ISSUED", "SESSION", "TOLD", "TOOL", "CALL", "WHY"),
        [
            (
                str(ghost.row.id),
                when(ghost.row.ts, now),
                cut(safe(ghost.row.session_id) or "-", 28),
                "yes" if ghost.told else "no",
                cut(safe(ghost.row.tool_name), 28),
                cut(rows.what(ghost.row), 60) + (f" (+{ghost.nested} inside)" if ghost.nested else ""),
                safe(ghost.why),
            )
            for ghost in found
        ],
        ["bad" for _ in found],
    )


def _nothing(home: str, session: str | None, why: str) -> Answer:
    data: dict[str, Any] = {
        "ledger": ledger_path(home), "session": session or None, "known_session": False if session else None,
        "open": 0, "running": 0, "ghosts": [],
    }  # fmt: skip
    return Answer(exits.OK, data, lambda screen: screen.line(safe(why)))
