"""Which row a post belongs to, from rows alone."""

from __future__ import annotations

import pytest

from agent_ledger.model import CANCELLED, GHOST_REPORTED, TIMEOUT
from agent_ledger.store.pairing import choose, ids_may_agree
from tests.calls import post, row

A, B = {"path": "/srv/a.txt"}, {"path": "/srv/b.txt"}


def test_same_ids_pair() -> None:
    """Session, turn, id and tool decide."""
    mine, other = row(A, tool_call_id="c1"), row(A, tool_call_id="c2")
    match = choose(post(A, tool_call_id="c1"), [other, mine])
    assert match is not None and match.row is mine and not match.args_changed


def test_repeated_id_is_told_apart_by_arguments() -> None:
    """With a constant id the arguments choose the row."""
    first, second = row(A, tool_call_id="call_0"), row(B, tool_call_id="call_0")
    match = choose(post(B, tool_call_id="call_0"), [first, second])
    assert match is not None and match.row is second


def test_repeated_id_and_arguments_are_first_in_first_out() -> None:
    """Two identical calls under one id: the older one is settled first."""
    first, second = row(A), row(A)
    match = choose(post(A), [second, first])
    assert match is not None and match.row is first


def test_rewritten_arguments_are_marked() -> None:
    """An id that fits with other arguments pairs, and says that they changed."""
    mine = row(A)
    match = choose(post(B), [mine])
    assert match is not None and match.row is mine and match.args_changed


def test_missing_arguments_are_no_change() -> None:
    """A post that carries no arguments at all does not say that they were rewritten."""
    match = choose(post({}), [row(A)])
    assert match is not None and not match.args_changed


def test_another_tool_never_pairs() -> None:
    """An id counts only together with its tool."""
    assert choose(post(A), [row(A, tool_name="patch")]) is None


def test_another_id_never_pairs() -> None:
    """A post with an id of its own confirms nobody else's call, however alike."""
    assert choose(post(A, tool_call_id="c9"), [row(A, tool_call_id="c1")]) is None


def test_open_call_goes_before_a_late_one() -> None:
    """Of two rows that fit alike, the one that still expects its post gets it."""
    late, due = row(A, status=TIMEOUT), row(A)
    match = choose(post(A), [late, due])
    assert match is not None and match.row is due


@pytest.mark.parametrize("status", [TIMEOUT, CANCELLED, GHOST_REPORTED])
def test_late_row_of_its_own_arguments_is_chosen(status: str) -> None:
    """A late outcome belongs to its own row, not to an open call of the same tool and id with other arguments."""
    late, due = row(A, status=status), row(B)
    match = choose(post(A), [due, late])
    assert match is not None and match.row is late


def test_rotated_session_pairs_by_id_and_arguments() -> None:
    """Elsewhere in the conversation the id needs the arguments beside it."""
    elsewhere = row(A, session_id="s0", turn_id="old")
    rotated = {"session_id": "s1", "turn_id": "new"}
    match = choose(post(A, **rotated), [elsewhere])
    assert match is not None and match.row is elsewhere
    assert choose(post(B, **rotated), [elsewhere]) is None


@pytest.mark.parametrize(("announced", "reported"), [("call_9|fc_9", "call_9"), ("call_9", "call_9|fc_9")])
def test_variants_of_an_id_pair(announced: str, reported: str) -> None:
    """One half of a composite id is enough where task, tool and arguments agree."""
    mine = row(A, tool_call_id=announced)
    match = choose(post(A, tool_call_id=reported), [mine])
    assert match is not None and match.row is mine


def test_pre_without_ids_pairs_in_its_task() -> None:
    """Where the pre had no ids, task and arguments decide."""
    mine = row(A, tool_call_id="", session_id="", turn_id="")
    match = choose(post(A, tool_call_id="real"), [mine])
    assert match is not None and match.row is mine


def test_pre_without_session_of_another_task_never_pairs() -> None:
    """Without a session only the task says whose a call is."""
    assert choose(post(A), [row(A, tool_call_id="", session_id="", task_id="t9")]) is None
    assert choose(post(A), [row(A, tool_call_id="c1", session_id="", task_id="t9")]) is None


def test_post_without_id_takes_the_oldest_of_its_session() -> None:
    """Without an id, and with arguments that fit nothing, the oldest open call of that tool is meant."""
    first, second = row(A, tool_call_id="c1"), row(B, tool_call_id="c2")
    match = choose(post({"path": "/srv/c.txt"}, tool_call_id=""), [second, first])
    assert match is not None and match.row is first


def test_post_without_id_never_takes_a_late_row_by_age_alone() -> None:
    """A row that is no longer due is not guessed."""
    assert choose(post(B, tool_call_id=""), [row(A, status=GHOST_REPORTED)]) is None


def test_post_with_an_id_never_settles_a_nested_call() -> None:
    """Calls inside execute_code have no ids: a post with an id, and other arguments, is not theirs."""
    nested = row(A, tool_call_id="", outer_id=1, flags="nested")
    assert choose(post(B, tool_call_id="w9"), [nested]) is None


def test_nested_call_is_settled_by_its_own_post() -> None:
    """On hosts that report nested calls, the post without ids finds its row."""
    nested, other = row(A, tool_call_id="", outer_id=1), row(B, tool_call_id="", outer_id=1)
    match = choose(post(B, tool_call_id=""), [nested, other])
    assert match is not None and match.row is other


def test_no_rows_no_match() -> None:
    """A post whose call was never announced fits nothing."""
    assert choose(post(A), []) is None


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [("", "c1", True), ("c1", "", True), ("c1|f1", "c1", True), ("c1|f1", "c2|f1", True), ("c1", "c1", False),
     ("c1", "c2", False), ("c1|f1", "c2|f2", False)],
)  # fmt: skip
def test_ids_that_may_agree(one: str, other: str, agree: bool) -> None:
    """A missing id and variants of one id may agree; two different ids never do."""
    assert ids_may_agree(one, other) is agree
