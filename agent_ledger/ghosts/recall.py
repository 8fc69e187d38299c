"""Which confirmed calls of a conversation it does not show any more. Pure: rows and messages in, rows out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ..store.recalls import Done, Mark
from . import history

MOST_VISIBLE = 2000  # ids that a mark carries along
# How every supported host begins the message that stands for what it compacted (agent/context_compressor.py), possibly
# merged into another message.
_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
_HEAD = 400


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
        there = [*shown.get(key, []), *shown.get((key[0], ""), [])]
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


def lost(
    gone: Sequence[Done],
    visible: Sequence[Done],
    *,
    compacted: bool,
    current_session: str,
    seen_before: Collection[int],
    ghost_turns: Collection[str],
) -> list[Done]:
    """Those of ``gone`` that the conversation is known to have had and lost, oldest first.

    A call may also be missing because it never stood there: another process works on the same session, or a client
    keeps its own history. So there must be a sign: the host's summary of a compaction, a later call that is still
    visible, an earlier session id (compaction ended it), an earlier turn that showed the call, or a ghost of the same
    turn, which then went down with it.
    """
    newest_visible = max((row.id for row in visible if row.tool_call_id), default=0)
    return [
        row
        for row in gone
        if compacted
        or row.id < newest_visible
        or row.session_id != current_session
        or row.id in seen_before
        or (row.turn_id and row.turn_id in ghost_turns)
    ]


def was_compacted(messages: object) -> bool:
    """True where the conversation holds a host's summary of what it compacted away."""
    for message in history.messages(messages):
        if message.get("role") != "tool":
            text = history.text_of(message.get("content"))
            if text and any(summary in text[:_HEAD] for summary in _SUMMARIES):
                return True
    return False


def next_mark(before: Mark, gone: Sequence[Done], visible: Sequence[Done]) -> Mark:
    """The mark after ``gone`` was told: everything up to its newest row is decided."""
    upto = max([before.upto, *(row.id for row in gone)])
    return Mark(upto, tuple(row.id for row in visible if row.id <= upto)[-MOST_VISIBLE:])
