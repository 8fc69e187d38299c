"""Which open calls of a conversation are settled by what it shows, and which are ghosts. Pure: rows and a clock in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .. import digest, outcome
from ..model import NONE, SKIPPED, UNKNOWN, OpenRow, Outcome, parse_iso
from . import history
from .placeholders import Meaning, meaning

OWNER_GONE = "the process that issued it ended without recording a result"
GRACE_OVER = "no result was recorded within {seconds} s"


@dataclass(frozen=True, slots=True)
class FromHistory:
    """A row whose outcome the conversation shows."""

    row: OpenRow
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Ghost:
    """A row that nothing can confirm in time any more, and why."""

    row: OpenRow
    why: str


def settle_from_history(
    rows: Iterable[OpenRow],
    told: Iterable[history.Told],
    explained: Callable[[OpenRow], int],
    store_args: str = "redacted",
) -> list[FromHistory]:
    """Match open rows with results in the conversation.

    Ids repeat, so a result counts for a row only by id, tool and arguments; where a conversation shows one single call
    with that id and tool, by id and tool. ``explained(row)`` is how many results of that kind already belong to settled
    calls; only what is left over can be the row's. A stub for a missing result is none.
    """
    by_id: dict[tuple[str, str], list[history.Told]] = {}
    for call in told:
        by_id.setdefault((history.base_id(call.call_id), call.tool_name), []).append(call)
    settled, used = [], set[int]()
    groups: dict[tuple[str, str], list[OpenRow]] = {}
    for row in rows:
        if row.tool_call_id:
            groups.setdefault((history.base_id(row.tool_call_id), row.tool_name), []).append(row)
    for key, group in groups.items():
        shown = by_id.get(key, [])
        if not shown:
            continue
        hashes = [_hash_of(call.arguments, store_args) for call in shown]
        for row in group:
            fitting = [
                number
                for number, call in enumerate(shown)
                if id(call) not in used and (hashes[number] == row.args_sha256 or len(shown) == len(group) == 1)
            ]
            outcomes = [(number, found) for number in fitting if (found := _outcome(shown[number], row)) is not None]
            spare = outcomes[explained(row) :]
            if spare:
                number, found = spare[0]
                used.add(id(shown[number]))
                settled.append(FromHistory(row, found))
    return settled


def ghosts(rows: Iterable[OpenRow], now: float, alive: Mapping[str, bool | None]) -> list[Ghost]:
    """The rows whose grace period is over at ``now`` (seconds since the epoch) or whose owner is gone.

    ``alive``: owner id -> True, False, or None where it cannot be judged. A row with an unreadable time is left to its
    owner.
    """
    found = []
    for row in rows:
        if alive.get(row.owner) is False:
            found.append(Ghost(row, OWNER_GONE))
            continue
        issued = parse_iso(row.ts)
        if issued is not None and now - issued >= row.grace_s:
            found.append(Ghost(row, GRACE_OVER.format(seconds=row.grace_s)))
    return found


def _outcome(call: history.Told, row: OpenRow) -> Outcome | None:
    if call.result is None:
        return None
    text = history.text_of(call.result)
    if text is None:
        return None
    kind = meaning(text, row.tool_name)
    if kind is Meaning.NOT_A_RESULT:
        return None
    if kind is Meaning.NEVER_STARTED:
        return Outcome(SKIPPED, NONE, digest.digest_result(text))
    judged = outcome.judge(row.tool_name, _parsed(call.arguments), text)
    if kind is Meaning.FINISHED_RESULT_GONE:
        # The host pruned the text of a result that it had: it finished, and how is not known.
        return Outcome(judged.status, UNKNOWN, judged.digest)
    return judged


def _hash_of(arguments: object, store_args: str) -> str:
    parsed = _parsed(arguments)
    return digest.digest_args(parsed, store_args).sha256 if parsed is not None else ""


def _parsed(arguments: object) -> object:
    """The arguments as the host parses them: JSON text, or already a mapping."""
    if isinstance(arguments, str):
        try:
            return json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments
