"""``show ID``: the whole life of one call."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import Any

from ..errors import NoSuchCall, UsageError
from ..ghosts import owner
from ..home import data_folder, ledger_path
from ..store.reader import MAX_ID, Reader
from ..store.shapes import Child, Row, Told, Transition
from . import exits, ghosts, rows, where
from .answer import Answer
from .output import Screen
from .text import duration, plural, safe, when


@dataclass(frozen=True, slots=True)
class Life:
    """What happened around one call."""

    changes: list[Transition]
    told: list[Told]
    nested: list[Row]
    repeats: list[tuple[int, str, str]]
    children: list[Child]


def number(text: str) -> int:
    """A row id as people type it: ``12`` or ``#12``. Raises UsageError."""
    digits = text.strip().removeprefix("#")
    if not digits.isascii() or not digits.isdigit():
        raise UsageError(f"{safe(text)!r} is no call number. Numbers stand in the ID column of: hermes ledger tail")
    # Compared as text first: int() refuses thousands of digits.
    short = digits.lstrip("0") or "0"
    if len(short) > 19 or not 0 < int(short) <= MAX_ID:
        raise UsageError(f"there is no call {short[:40]}. Numbers stand in the ID column of: hermes ledger tail")
    return int(short)


def run(options: argparse.Namespace) -> Answer:
    row_id = number(options.ledger_id)
    home = where.home_of(options.ledger_home)
    now = rows.now()
    with where.opened(home) as reader:
        row = reader.row(row_id)
        if row is None:
            last = reader.last_id()
            held = f"its newest call is {last}" if last else "it holds no call"
            raise NoSuchCall(f"there is no call {row_id} in {ledger_path(home)}; {held}. See: hermes ledger tail")
        life = Life(
            changes=reader.transitions(row_id),
            told=reader.told(row_id),
            nested=reader.nested(row_id),
            repeats=reader.repeats(row),
            children=reader.children(row),
        )
        ghost = _ghost(reader, home, row, now)
    alive = owner.is_alive(row.owner, f"{data_folder(home)}/owners")
    data = {
        "call": rows.as_json(row, now),
        "open_ghost": ghost is not None,
        "why": ghost.why if ghost else None,
        "owner_alive": alive,
        "transitions": [
            {"ts": one.ts, "from_status": one.from_status, "to_status": one.to_status, "why": one.why}
            for one in life.changes
        ],
        "notices": [
            {"id": one.id, "ts": one.ts, "session_id": one.session_id, "turn_id": one.turn_id, "state": one.state}
            for one in life.told
        ],
        "nested": [rows.as_json(one, now) for one in life.nested],
        "repeats": [{"id": other, "ts": ts, "status": status} for other, ts, status in life.repeats],
        "children": [
            {"session_id": one.session_id, "confirmed": one.confirmed, "unsettled": one.unsettled}
            for one in life.children
        ],
    }
    return Answer(exits.OK, data, lambda screen: _show(screen, row, ghost, alive, life, now))


def _ghost(reader: Reader, home: str, row: Row, now: float) -> ghosts.OpenGhost | None:
    found, _ = ghosts.find(reader, home, now, [row.session_id])
    wanted = row.id if row.outer_id is None else row.outer_id
    return next((ghost for ghost in found if ghost.row.id in (row.id, wanted)), None)


def _show(
    screen: Screen,
    row: Row,
    ghost: ghosts.OpenGhost | None,
    alive: bool | None,
    life: Life,
    now: float,
) -> None:
    def field(name: str, value: object) -> None:
        if value not in (None, ""):
            screen.line(f"{name:<10}{safe(value)}")

    screen.line(f"#{row.id} {safe(row.summary or row.tool_name)}")
    screen.line()
    field("status", f"{row.status}, effect {row.effect}" + (" (open ghost)" if ghost else ""))
    if ghost and row.outer_id is None:
        field("why", ghost.why)
    field("tool", row.tool_name)
    screen.line(f"{'issued':<10}{when(row.ts, now)}")
    if row.settled_ts:
        took = duration(row.duration_ms)
        screen.line(f"{'settled':<10}{when(row.settled_ts, now)}" + (f", took {took}" if took else ""))
    else:
        field("grace", f"{row.grace_s} s")
    field("process", f"{row.owner} ({ {True: 'running', False: 'ended', None: 'cannot tell whether it runs'}[alive] })")
    field("session", row.session_id)
    field("turn", row.turn_id)
    field("task", row.task_id)
    field("call id", row.tool_call_id)
    field("in call", f"#{row.outer_id}" if row.outer_id is not None else "")
    field("where", ", ".join(part for part in (row.cwd, row.platform, row.backend) if part))
    field("looked at", row.reads)
    field("policy", " ".join(part for part in (row.policy_decision, row.policy_rule) if part))
    field("marks", row.flags)
    field("error", row.error_message)
    field("result", row.result_digest)
    screen.line(f"{'arguments':<10}{row.args_len} characters, sha256 {safe(row.args_sha256)[:16]}")
    for line in pretty(rows.arguments(row)):
        screen.line("          " + line)
    _show_life(screen, life, now)


def _show_life(screen: Screen, life: Life, now: float) -> None:
    if life.changes:
        screen.line("\nchanges")
        for one in life.changes:
            screen.line(f"  {when(one.ts, now)}  {safe(one.from_status)} to {safe(one.to_status)}: {safe(one.why)}")
    if life.told:
        screen.line("\ntold to the agent")
        for notice in life.told:
            screen.line(f"  {when(notice.ts, now)}  session {safe(notice.session_id)}, {_read(notice.state)}")
    if life.repeats:
        screen.line("\nthe same call with the same arguments in this conversation")
        for other, ts, status in life.repeats:
            screen.line(f"  #{other}  {when(ts, now)}  {safe(status)}")
    if life.children:
        screen.line("\nsessions that it launched")
        for child in life.children:
            screen.line(
                f"  {safe(child.session_id)}: {plural(child.confirmed, 'call')} confirmed, {child.unsettled} open"
            )
    if life.nested:
        screen.line(f"\n{plural(len(life.nested), 'call')} inside it")
        screen.table(
            rows.HEADS, [rows.cells(one, now) for one in life.nested], [rows.style(one) for one in life.nested]
        )


def pretty(value: Any) -> list[str]:
    """Arguments as lines that are safe to show."""
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = str(value)
    return [safe(line) for line in text.split("\n")]


def _read(state: str) -> str:
    return {"told": "given", "again": "given, and once more since that turn got no answer", "read": "answered"}.get(
        state, safe(state)
    )
