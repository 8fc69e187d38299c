"""Which open calls of a conversation are settled by what it shows, and which are ghosts. Pure: rows and a clock in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .. import digest, outcome
from ..model import APPLIED, CONFIRMED, ERROR_PREFIX, NONE, UNKNOWN, OpenRow, Outcome, parse_iso
from . import history, placeholders
from .host_texts import Meaning

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
    hashes: Mapping[int, str],
    explained: Callable[[OpenRow], int],
    alone: Callable[[OpenRow], bool],
) -> list[FromHistory]:
    """Match open rows with results in the conversation.

    Ids repeat, so a result counts for a row only by id, tool and arguments; by id and tool where only one call of them
    is shown and only one was recorded (``alone(row)``), since arguments may be rewritten on the way. ``explained(row)``
    is how many results of that kind belong to settled calls already; only what is left over can be the row's. A stub
    for a missing result is none.
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
        if not shown and len(group) == 1 and alone(group[0]):
            shown = by_id.get((key[0], ""), [])
        if not shown:
            continue
        for row in group:
            fitting = [
                number
                for number, call in enumerate(shown)
                if id(call) not in used
                and (hashes.get(id(call)) == row.args_sha256 or (len(shown) == 1 and alone(row)))
            ]
            rest = fitting[explained(row) :]
            spare = [(number, found) for number in rest if (found := _outcome(shown[number], row)) is not None]
            if spare:
                number, found = spare[0]
                used.add(id(shown[number]))
                settled.append(FromHistory(row, found))
    return settled


def hashes(told: Iterable[history.Told], rows: Iterable[OpenRow], store_args: str = "redacted") -> dict[int, str]:
    """The ledger's hash of the arguments of each shown call that may be one of ``rows``, by the call's identity."""
    wanted = {history.base_id(row.tool_call_id) for row in rows}
    return {id(call): hash_of(call.arguments, store_args) for call in told if history.base_id(call.call_id) in wanted}


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
    """What a tool message says about a row, None where it is a stub for a result that the host does not have."""
    if call.result is None:
        return None
    text = history.text_of(call.result)
    if text is None:
        # Images alone are a result, too.
        return outcome.judge(row.tool_name, parsed(call.arguments), "") if call.result else None
    reading = placeholders.read(text, row.tool_name, call.disposition)
    shown = digest.digest_result(text)
    match reading.meaning:
        case Meaning.NOT_A_RESULT:
            return None
        case Meaning.NEVER_STARTED:
            return Outcome(ERROR_PREFIX + reading.word, NONE, shown)
        case Meaning.FINISHED_RESULT_GONE:
            # There was a result and compaction removed its text: the call finished, and how is known only by the word.
            if reading.word in ("", "ok"):
                return Outcome(CONFIRMED, APPLIED if reading.word else UNKNOWN, shown)
            return Outcome(ERROR_PREFIX + reading.word, UNKNOWN, shown)
    if reading.word:
        return Outcome(ERROR_PREFIX + reading.word, UNKNOWN, shown, digest.clean_error(text))
    return outcome.judge(row.tool_name, parsed(call.arguments), placeholders.body(text))


def hash_of(arguments: object, store_args: str) -> str:
    """The hash that the ledger holds for these arguments, '' where they cannot be read."""
    found = parsed(arguments)
    return digest.digest_args(found, store_args).sha256 if found is not None else ""


def parsed(arguments: object) -> object:
    """The arguments as the host parses them: JSON text, or already a mapping."""
    if isinstance(arguments, str):
        try:
            return json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments
