"""Which results belong to which calls."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from agent_ledger.runs import pairing
from agent_ledger.runs.model import ToolResult
from tests.runs.streams import done, facts, init, use


def paired(*parts: bytes) -> tuple[list[str], str]:
    """(unfinished, pairing)"""
    found = facts(init(), *parts)
    assert found.unfinished_count == len(found.unfinished)
    return found.unfinished, found.pairing


def test_by_order_first_in_first_out() -> None:
    """Without ids a result belongs to the oldest open call of its tool."""
    found = facts(use("a"), use("b"), use("a"), done("a", is_error=True), done("b"))
    assert [call.state for call in found.calls] == ["error", "ok", "unfinished"]
    assert (found.unfinished, found.pairing) == (["a"], "order")


def test_by_id_whatever_the_order() -> None:
    """With ids on both sides the order says nothing."""
    found = facts(use("a", tool_call_id="1"), use("a", tool_call_id="2"), done("a", tool_call_id="2", is_error=True))
    assert [call.state for call in found.calls] == ["unfinished", "error"]
    assert (found.unfinished, found.pairing) == (["a"], "id")


@pytest.mark.parametrize(("issued", "ended"), [(1, "1"), ("1", 1), (["a"], ["a"]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (0, "0")])
def test_ids_are_compared_as_text(issued: Any, ended: Any) -> None:
    """Whatever JSON an id is written in."""
    assert paired(use(tool_call_id=issued), done(tool_call_id=ended)) == ([], "id")


@pytest.mark.parametrize("none", ["", None, [], {}, False])
def test_an_empty_id_is_none(none: Any) -> None:
    """Pairing goes by order then."""
    assert paired(use(tool_call_id=none), done(tool_call_id="1")) == ([], "order")


def test_two_different_ids_never_pair() -> None:
    """By name they would."""
    assert paired(use(tool_call_id="1"), done(tool_call_id="2")) == (["terminal"], "id")


def test_one_id_for_parallel_calls_of_several_tools() -> None:
    """A constant id tells nothing, the name does."""
    parts = [use("a", tool_call_id="c"), use("b", tool_call_id="c"), done("b", tool_call_id="c", is_error=True)]
    assert [call.state for call in facts(*parts).calls] == ["unfinished", "error"]


@pytest.mark.parametrize("order", [*itertools.permutations([{}, {"tool_call_id": "1"}, {"tool_call_id": "3"}])])
def test_mixed_ids_leave_nothing_open_that_has_a_result(order: tuple[dict[str, str], ...]) -> None:
    """Some calls have ids and some have none: every result finds a call."""
    calls = [use(tool_call_id="1"), use(), use(tool_call_id="3")]
    assert paired(*calls, *(done(**ids) for ids in order)) == ([], "order")


def test_a_result_without_a_call_is_a_call() -> None:
    """It ran, and its failure counts."""
    found = facts(done("a", is_error=True), done("a"))
    assert (found.called, found.errors, found.unfinished) == (2, 1, [])


def test_only_true_is_an_error() -> None:
    """Other values than the contract's decide nothing."""
    assert facts(*(done(is_error=value) for value in ("true", 1, None, [1], "error"))).errors == 0


def test_many_open_calls_are_counted_and_not_held() -> None:
    """The count is right, the names stop at a limit, and a finished call of those that are only counted is finished."""
    many = pairing.MOST_OPEN + 500
    parts = [use(f"tool_{number}") for number in range(many)] + [use("late") * 3, done("late")]
    found = facts(*parts)
    assert (found.called, found.unfinished_count) == (many + 3, many + 2)
    assert len(found.unfinished) == pairing.MOST_CALLS
    assert len(found.tools) <= pairing.MOST_TOOLS + 1


def test_finished_calls_leave_nothing_behind() -> None:
    """However many there were, and however they were paired."""
    calls = pairing.Calls()
    for number in range(3000):
        ids = {"tool_call_id": f"c{number}"} if number % 2 else {}
        for part in (use(f"t{number % 7}", **ids), done(f"t{number % 7}", **ids)):
            for event in _events(part):
                (calls.result if isinstance(event, ToolResult) else calls.use)(event)
    assert not (calls._plain or calls._named or calls._ids or calls._open)


def _events(part: bytes) -> list[Any]:
    from agent_ledger.runs.events import Stream

    return list(Stream().feed(part))
