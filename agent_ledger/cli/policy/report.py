"""``policy report``: what dry run would have refused, and what enforce refused."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ... import spans
from ...home import ledger_path
from ...model import now_iso
from ...store import judged
from ...store.judged import Refusal, Tally
from .. import exits, guard, rows, where
from ..answer import Answer
from ..output import Screen
from ..text import local, plural, safe

EXAMPLES = 3  # of one rule, for people
MOST_IDS = 100  # of one rule, for programs
_SHOWN_DAYS = 14
_KINDS = ("would_block", "blocked")


def run(options: argparse.Namespace) -> Answer:
    since = now_iso(spans.moment(options.ledger_since, rows.now())) if options.ledger_since else ""
    home = where.home_of(options.ledger_home)
    with where.opened(home) as reader:
        tallies = reader.ask(lambda connection: judged.tally(connection, since))
        newest = reader.ask(lambda connection: judged.newest(connection, since, MOST_IDS)) if tallies else []
        total = reader.ask(lambda connection: judged.judged(connection, since))
        ran, ran_ids = reader.ask(lambda connection: judged.not_honoured(connection, since, MOST_IDS))
        found = guard.look(home, where.settings_of(home), reader.meta())
    by_rule = _by(tallies, "rule")
    data: dict[str, Any] = {
        "ledger": ledger_path(home),
        "since": since or None,
        "mode": found.state.mode,
        "judged": total,
        **{kind: sum(one.calls for one in tallies if one.decision == kind) for kind in _KINDS},
        "not_honoured": {"calls": ran, "ids": ran_ids},
        "by_rule": [_rule(name, counts, tallies, newest) for name, counts in by_rule],
        "by_tool": [{"tool": name, **counts} for name, counts in _by(tallies, "tool")],
        "by_day": [{"day": name, **counts} for name, counts in sorted(_by(tallies, "day"))],
        "last_error": found.last_error or None,
    }

    def show(screen: Screen) -> None:
        for line in guard.lines(found):
            screen.line(line)
        span = f"since {local(since)}" if since else "in all"
        screen.line(
            f"judged    {plural(total, 'call')} {span}; {data['would_block']} would have been refused,"
            f" {data['blocked']} refused"
        )
        if ran:
            ids = ", ".join(f"#{one}" for one in ran_ids[:10])
            screen.line(f"alarm     {plural(ran, 'refused call')} ran all the same ({ids}): hermes ledger show ID")
        if not tallies:
            screen.line(_nothing(total, found.state.mode))
            return
        _tables(screen, data, newest)

    return Answer(exits.PROBLEM if ran else exits.OK, data, show)


def _by(tallies: Sequence[Tally], column: str) -> list[tuple[str, dict[str, int]]]:
    """Counts of would_block and blocked by one column, the largest first."""
    found: dict[str, dict[str, int]] = {}
    for one in tallies:
        counts = found.setdefault(getattr(one, column), dict.fromkeys(_KINDS, 0))
        counts[one.decision] += one.calls
    return sorted(found.items(), key=lambda item: (-sum(item[1].values()), item[0]))


def _rule(name: str, counts: dict[str, int], tallies: Sequence[Tally], newest: Sequence[Refusal]) -> dict[str, Any]:
    mine = [one for one in newest if one.rule == name]
    tools = _by([one for one in tallies if one.rule == name], "tool")
    return {
        "rule": name,
        **counts,
        "tools": {tool: sum(many.values()) for tool, many in tools},
        "ids": [one.id for one in mine],
        "examples": [
            {"id": one.id, "ts": one.ts, "session_id": one.session_id, "tool": one.tool_name, "decision": one.decision,
             "summary": one.summary, "reason": one.reason, "flags": one.flags.split()}
            for one in mine[:EXAMPLES]
        ],
    }  # fmt: skip


def _nothing(total: int, mode: str) -> str:
    if total:
        return "nothing would have been refused"
    if mode == "off":
        return "no call was judged, since the mode is off. Look at what is recorded with: hermes ledger policy replay"
    return "no call was judged yet"


def _tables(screen: Screen, data: dict[str, Any], newest: Sequence[Refusal]) -> None:
    for title, column in (("RULE", "rule"), ("TOOL", "tool"), ("DAY (UTC)", "day")):
        key = f"by_{column}"
        screen.line()
        listed = data[key][-_SHOWN_DAYS:] if column == "day" else data[key]
        table = [(str(one["would_block"]), str(one["blocked"]), safe(one[column])) for one in listed]
        screen.table(("WOULD", "REFUSED", title), table)
    for rule in data["by_rule"]:
        screen.line()
        screen.line(f"{safe(rule['rule'])}, newest:")
        for one in rule["examples"]:
            screen.line(f"  #{one['id']}  {local(one['ts'])}  {safe(one['summary'])}")
            if one["reason"]:
                screen.line(f"      {safe(one['reason'])}")
