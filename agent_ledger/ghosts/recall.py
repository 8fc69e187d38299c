"""Which confirmed calls of a conversation it does not show any more. Pure: rows and messages in, rows out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..store.recalls import Done, Mark
from . import history

MOST_VISIBLE = 2000  # ids that a mark carries along


def split(
    rows: Sequence[Done], told: Sequence[history.Told], hash_of: Callable[[object], str]
) -> tuple[list[Done], list[Done]]:
    """(gone, visible) among confirmed ``rows``, oldest first.

    A row is visible where the conversation shows a call with its id and tool. Ids repeat: where fewer calls are shown
    than rows have that id, arguments tell them apart (``hash_of`` the arguments as the model wrote them), the newest
    first. A row without an id cannot be looked up and counts as visible.
    """
    shown: dict[tuple[str, str], list[history.Told]] = {}
    for call in told:
        shown.setdefault((history.base_id(call.call_id), call.tool_name), []).append(call)
    groups: dict[tuple[str, str], list[Done]] = {}
    gone: list[Done] = []
    for row in rows:
        if row.tool_call_id:
            groups.setdefault((history.base_id(row.tool_call_id), row.tool_name), []).append(row)
    for key, group in groups.items():
        there = shown.get(key, [])
        if len(there) >= len(group):
            continue
        hashes = [hash_of(call.arguments) for call in there]
        for row in reversed(group):
            if row.args_sha256 in hashes:
                hashes.remove(row.args_sha256)
            else:
                gone.append(row)
    missing = {row.id for row in gone}
    return sorted(gone, key=lambda row: row.id), [row for row in rows if row.id not in missing]


def next_mark(before: Mark, gone: Sequence[Done], visible: Sequence[Done]) -> Mark:
    """The mark after ``gone`` was told: everything up to its newest row is decided."""
    upto = max([before.upto, *(row.id for row in gone)])
    return Mark(upto, tuple(row.id for row in visible if row.id <= upto)[-MOST_VISIBLE:])
