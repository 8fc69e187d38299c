"""``status``: where the ledger is, how much it holds, what is open, and whether recording is in good health."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any

from ..errors import LedgerError, NoLedger
from ..home import ledger_path
from ..settings import Settings
from ..store import schema
from ..store.reader import Reader
from ..store.shapes import Totals
from . import exits, ghosts, guard, rows, where
from .answer import Answer
from .output import Screen
from .text import plural, safe, size, when

NEWEST = 5


def run(options: argparse.Namespace) -> Answer:
    home = where.home_of(options.ledger_home)
    now = rows.now()
    not_replayed = where.replay(home)
    chosen = where.settings_of(home)
    totals, found, running, meta, version = Totals(0, "", "", 0, {}), [], 0, {}, schema.SCHEMA_VERSION  # type: ignore[var-annotated]
    applied: Mapping[str, int] = {}
    problem, exists = "", False
    try:
        with Reader(ledger_path(home)) as reader:
            exists = True
            version = reader.version
            totals, meta, applied = reader.totals(), reader.meta(), reader.applied()
            found, running = ghosts.find(reader, home, now)
    except NoLedger as nothing:
        problem = str(nothing)
    except LedgerError as unreadable:
        return _unreadable(home, str(unreadable), chosen)
    waits = where.waiting(home, applied)
    state = _state(meta, waits.lines, not_replayed, where.set_aside(home))
    policy = guard.look(home, chosen, meta)
    data = {
        "home": home,
        "ledger": ledger_path(home),
        "exists": exists,
        "bytes": _bytes(home),
        "schema": version if exists else None,
        "calls": {
            "total": totals.rows,
            "first_ts": totals.first_ts or None,
            "last_ts": totals.last_ts or None,
            "running": running,
            "open_ghosts": len(found),
            "newest_1000": [
                {"status": status, "effect": effect, "calls": many} for (status, effect), many in totals.recent.items()
            ],
        },
        "ghosts": [ghosts.as_json(ghost, now) for ghost in found[-NEWEST:]],
        "spool": {
            "lines": waits.lines,
            "bytes": waits.bytes,
            "files": waits.files,
            "not_replayed": not_replayed or None,
        },
        "health": state,
        "policy": guard.as_json(policy),
        "settings_problems": list(chosen.problems),
    }

    def show(screen: Screen) -> None:
        if not exists:
            screen.line(safe(problem))
        else:
            screen.line(f"ledger    {safe(ledger_path(home))} ({size(data['bytes'])}, schema {version})")  # type: ignore[arg-type]
            screen.line(f"calls     {totals.rows} recorded; last {when(totals.last_ts, now)}")
            if totals.recent:
                screen.line(f"          of the newest {sum(totals.recent.values())}: {_outcomes(totals)}")
            screen.line(f"running   {plural(running, 'call')} within the grace period")
            screen.line(f"ghosts    {len(found)} open" + (": issued, and never confirmed" if found else ""))
        for line in _health_lines(state, waits, not_replayed, now):
            screen.line(line)
        for line in guard.lines(policy):
            screen.line(line)
        for text in chosen.problems:
            screen.line(f"setting   {safe(text)}")
        if found:
            screen.line()
            ghosts.table(screen, found[-NEWEST:], now)
            if len(found) > NEWEST:
                screen.line(f"and {len(found) - NEWEST} older: hermes ledger ghosts")

    return Answer(exits.OK, data, show)


def _state(meta: Mapping[str, str], waiting: int, not_replayed: str, aside: Mapping[str, int]) -> dict[str, Any]:
    degraded = bool(waiting or not_replayed)
    return {
        "state": "degraded" if degraded else "ok",
        "lost_writes": _count(meta, "lost_writes"),
        "spool_replayed": _count(meta, "spool_replayed"),
        "spool_refused": _count(meta, "spool_refused"),
        "last_error": meta.get("last_error"),
        "last_error_ts": meta.get("last_error_ts"),
        "healed_ts": meta.get("healed_ts"),
        "set_aside": list(aside),
    }


def _health_lines(state: dict[str, Any], waits: where.Waiting, not_replayed: str, now: float) -> list[str]:
    lines = []
    if state["state"] == "ok":
        lines.append("health    ok")
    else:
        why = f"; the ledger did not take them: {safe(not_replayed)}" if not_replayed else ""
        lines.append(
            f"health    degraded: {plural(waits.lines, 'record')} ({size(waits.bytes)}) wait in the spool{why}"
        )
    if state["lost_writes"]:
        lines.append(f"lost      {plural(state['lost_writes'], 'record')} fitted neither the ledger nor the spool")
    if state["spool_refused"]:
        lines.append(f"refused   {plural(state['spool_refused'], 'spool line')} that no hook can have written")
    if state["last_error"]:
        healed = f", healed {when(state['healed_ts'], now)}" if state["healed_ts"] else ""
        lines.append(f"trouble   {safe(state['last_error'])}, {when(state['last_error_ts'], now)}{healed}")
    for name in state["set_aside"]:
        lines.append(f"damaged   an earlier ledger was set aside as {safe(name)}")
    return lines


def _outcomes(totals: Totals) -> str:
    by_status: dict[str, int] = {}
    for (status, _), many in totals.recent.items():
        by_status[status] = by_status.get(status, 0) + many
    ordered = sorted(by_status.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{many} {safe(status)}" for status, many in ordered[:6]]
    return ", ".join(shown) + (f" and {len(ordered) - 6} more kinds" if len(ordered) > 6 else "")


def _unreadable(home: str, why: str, chosen: Settings) -> Answer:
    waits = where.waiting(home, {})
    data = {
        "home": home, "ledger": ledger_path(home), "exists": True, "bytes": _bytes(home), "schema": None, "calls": None,
        "ghosts": [], "spool": {"lines": waits.lines, "bytes": waits.bytes, "files": waits.files, "not_replayed": None},
        "health": {**_state({}, waits.lines, "", where.set_aside(home)), "state": "unreadable", "last_error": why},
        "policy": guard.as_json(guard.look(home, chosen, {})),
        "settings_problems": list(chosen.problems),
    }  # fmt: skip

    def show(screen: Screen) -> None:
        screen.line(safe(why))
        for line in _health_lines(data["health"] | {"last_error": None}, waits, "", rows.now()):  # type: ignore[operator]
            screen.line(line)

    return Answer(exits.PROBLEM, data, show)


def _bytes(home: str) -> int:
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += os.stat(ledger_path(home) + suffix).st_size
        except OSError:
            continue
    return total


def _count(meta: Mapping[str, str], key: str) -> int:
    try:
        return int(meta.get(key, 0))
    except ValueError:
        return 0
