"""What a notice says: the facts behind the ids that a turn claimed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ..model import GHOST_REPORTED
from ..store import news, notices, sessions, turns
from . import evidence
from .notice import Content, Launch


def joined(one: notices.Told, other: notices.Told) -> notices.Told:
    """What two notices say, as one."""
    return notices.Told(
        [*one.ghosts, *other.ghosts],
        [*one.launched, *other.launched],
        [*one.news, *other.news],
        [*one.recalled, *other.recalled],
        one.recalled_in_all + other.recalled_in_all,
    )


def content(
    connection: sqlite3.Connection, names: Sequence[str], before: notices.Told, now: notices.Told
) -> Content | None:
    """What the notice says: of an earlier one that was not read, and of this turn's own."""

    def facts(ids: Sequence[int]) -> list[turns.Facts]:
        found = [turns.facts(connection, row_id) for row_id in dict.fromkeys(ids)]
        return [fact for fact in found if fact is not None]

    told = news.describe(connection, [*before.news, *now.news], names)
    late = {item.ledger_id for item in told}
    recalled = [fact for fact in facts([*before.recalled, *now.recalled]) if fact.id not in late]
    said = Content(
        ghosts=[fact for fact in facts([*before.ghosts, *now.ghosts]) if fact.status == GHOST_REPORTED],
        launched=[_launch(connection, fact) for fact in facts([*before.launched, *now.launched])],
        news=told,
        recalled=recalled[::-1],
        recalled_in_all=max(len(recalled), before.recalled_in_all + now.recalled_in_all - len(late)),
    )
    return said if said else None


def _launch(connection: sqlite3.Connection, fact: turns.Facts) -> Launch:
    children: list[str] = []
    if fact.tool_name == "delegate_task":
        children = sessions.children(connection, *turns.span_of_launch(connection, fact.id))
    done, unsettled = turns.tally(connection, children) if children else (0, 0)
    probe = turns.probe_of(connection, fact.id)
    return Launch(fact, evidence.still_running(probe), len(children), done, unsettled)
