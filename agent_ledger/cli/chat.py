"""``/ledger`` in a chat: the same answers in a few lines, quick enough for a gateway's own thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import __version__
from ..errors import LedgerError, NoLedger, UsageError
from ..home import ledger_path
from ..store.reader import Reader
from ..store.shapes import Row
from . import ghosts, rows, show, tail, where
from .text import ago, cut, plural, safe

USAGE = "use: /ledger [status | ghosts | show ID | tail [N] | policy]"
_LISTED = 5
_MOST = 20
_REPLAY_S = 0.2
_WAIT_S = 0.5


def answer(raw: object) -> str:
    """The reply to ``/ledger <raw>``. Never raises: hosts print a handler's error as it stands."""
    words = raw.split() if isinstance(raw, str) else []
    name, rest = (words[0].lower(), words[1:]) if words else ("status", [])
    command = _COMMANDS.get(name)
    if command is None and name != "policy":
        return f"agent-ledger {__version__}: there is no {_code(cut(safe(name), 40))}; {USAGE}"
    try:
        if command is None:  # it needs no ledger, and a command line as it was typed
            from .policy import chat as policy

            return policy.answer(str(raw).strip()[len(name) :].strip())
        home = where.home_of(None)
        where.replay(home, _REPLAY_S)
        with Reader(ledger_path(home), _WAIT_S) as reader:
            return command(reader, home, rest)
    except NoLedger:
        return "agent-ledger: nothing was recorded in this Hermes home yet"
    except LedgerError as error:
        return f"agent-ledger: {safe(error)}"
    except Exception as error:
        return f"agent-ledger could not answer ({type(error).__name__}: {safe(error)}); see: hermes ledger doctor"


def _status(reader: Reader, home: str, rest: Sequence[str]) -> str:
    now = rows.now()
    totals = reader.totals()
    found, running = ghosts.find(reader, home, now)
    waits = where.waiting(home, reader.applied())
    lines = [
        f"agent-ledger: {plural(totals.rows, 'call')} recorded, {running} running, {plural(len(found), 'open ghost')}."
    ]
    if waits.lines:
        lines.append(f"Degraded: {plural(waits.lines, 'record')} wait in the spool.")
    return "\n".join([*lines, *_listed(found, now)])


def _ghosts(reader: Reader, home: str, rest: Sequence[str]) -> str:
    now = rows.now()
    found, running = ghosts.find(reader, home, now)
    if not found:
        return f"agent-ledger: no open ghosts; {plural(running, 'call')} running."
    return "\n".join(
        [f"agent-ledger: {plural(len(found), 'open ghost')}, issued and never confirmed:", *_listed(found, now)]
    )


def _listed(found: Sequence[ghosts.OpenGhost], now: float) -> list[str]:
    lines = [f"- {_call(ghost.row, now)}: {safe(ghost.why)}" for ghost in found[-_LISTED:][::-1]]
    if len(found) > _LISTED:
        lines.append(f"and {len(found) - _LISTED} older: hermes ledger ghosts")
    return lines


def _show(reader: Reader, home: str, rest: Sequence[str]) -> str:
    if len(rest) != 1:
        raise UsageError(f"which call? {USAGE}")
    row_id = show.number(rest[0])
    row = reader.row(row_id)
    if row is None:
        raise UsageError(f"there is no call {row_id}; see: /ledger tail")
    lines = [f"agent-ledger: {_call(row, rows.now())}: {safe(row.status)}, effect {safe(row.effect)}"]
    if row.error_message:
        lines.append(f"error {_code(cut(safe(row.error_message), 200))}")
    if row.flags:
        lines.append(f"marks {safe(row.flags)}")
    lines.extend(f"{safe(one.to_status)}: {safe(one.why)}" for one in reader.transitions(row_id)[-3:])
    return "\n".join(lines)


def _tail(reader: Reader, home: str, rest: Sequence[str]) -> str:
    limit = min(tail.count(rest[0]), _MOST) if rest else _LISTED
    now = rows.now()
    found = reader.tail(limit) if limit else []
    if not found:
        return "agent-ledger: no calls."
    return "\n".join(f"- {_call(row, now)}: {safe(row.status)}" for row in found)


def _call(row: Row, now: float) -> str:
    said = _code(cut(safe(row.summary or row.tool_name), 80))
    return f"#{row.id} {safe(row.tool_name)} {said} {ago(row.ts, now)}".rstrip()


def _code(text: str) -> str:
    """Between backticks, where chat programs neither ring people by name nor read markup."""
    return "`" + text.replace("`", "'") + "`"


_COMMANDS: dict[str, Callable[[Reader, str, Sequence[str]], str]] = {
    "status": _status,
    "ghosts": _ghosts,
    "show": _show,
    "tail": _tail,
}
