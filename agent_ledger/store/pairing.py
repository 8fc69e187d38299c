"""Which row a post_tool_call belongs to. Pure: rows and a settlement in, a choice out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model import PENDING, OpenRow, Settlement


@dataclass(frozen=True, slots=True)
class Match:
    """The row that was chosen, and whether the arguments had changed on the way."""

    row: OpenRow
    args_changed: bool


def choose(post: Settlement, rows: Iterable[OpenRow]) -> Match | None:
    """Pick the row that ``post`` settles, or None where its call was never announced.

    ``rows`` are the open and still-late rows of this tool in the conversation, and those without a session. In order:
    the same session, turn and id; the same id and arguments elsewhere in the conversation; where one side has no id or
    the ids are variants of one, the same task and arguments; last, under the same condition, the oldest open row.
    """
    candidates = [row for row in rows if row.tool_name == post.tool_name]
    if post.tool_call_id:
        exact = [
            row
            for row in candidates
            if row.tool_call_id == post.tool_call_id
            and row.turn_id == post.turn_id
            # A turn keeps its id when its session rotates; without one the session must do.
            and (row.session_id == post.session_id or (post.turn_id and row.session_id))
        ]
        if exact:
            return _among(post, exact)
        elsewhere = [
            row
            for row in candidates
            if row.tool_call_id == post.tool_call_id and row.args_sha256 == post.args_sha256 and _reachable(post, row)
        ]
        if elsewhere:
            return _among(post, elsewhere)
    loose = [row for row in candidates if ids_may_agree(row.tool_call_id, post.tool_call_id)]
    if post.tool_call_id:  # a nested call has no id on any host: this post is not about one
        loose = [row for row in loose if not row.outer_id]
    same_task = [row for row in loose if row.task_id == post.task_id and row.args_sha256 == post.args_sha256]
    if same_task:
        return _among(post, same_task)
    oldest = [row for row in loose if row.status == PENDING and _same_place(post, row)]
    if oldest:
        return _among(post, oldest)
    return None


def ids_may_agree(one: str, other: str) -> bool:
    """True where one side has no id, or both are variants of one (``call_9|fc_9`` and ``call_9``).

    Two different ids never agree: a post whose own id fits nothing must not confirm somebody else's call. Nor do two
    equal ids here: they have had their chance in the stricter steps.
    """
    if not one or not other:
        return True
    return one != other and not {*one.split("|")}.isdisjoint(other.split("|"))


def _reachable(post: Settlement, row: OpenRow) -> bool:
    # A row without a session is nobody's in particular: only the task says whose.
    return bool(row.session_id) or row.task_id == post.task_id


def _same_place(post: Settlement, row: OpenRow) -> bool:
    if row.session_id and row.session_id == post.session_id:
        # A nested call shares the session at most with its outer call; only its own task's posts may close it.
        return not row.outer_id or row.task_id == post.task_id
    return (not row.session_id or not post.session_id) and row.task_id == post.task_id


def _among(post: Settlement, rows: list[OpenRow]) -> Match:
    """Ids repeat, so the arguments tell candidates apart; then a call that is still expected to report goes before one
    that may report late; then first in, first out."""
    same = [row for row in rows if row.args_sha256 == post.args_sha256]
    chosen = min(same or rows, key=lambda row: (row.status != PENDING, row.id))
    return Match(chosen, args_changed=not same and not post.args_empty)
