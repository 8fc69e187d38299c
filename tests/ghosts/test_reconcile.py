"""Judgement over open rows: what the conversation settles, and what is a ghost. Rows and a clock in, values out."""

from __future__ import annotations

from typing import Any

import pytest

from agent_ledger.ghosts import history, reconcile
from agent_ledger.model import OpenRow, parse_iso
from tests.calls import TS, row
from tests.simhost import SimHost, asked, told, turn_id, user

A, B = {"path": "/srv/a.txt"}, {"path": "/srv/b.txt"}
NOW = parse_iso(TS) or 0.0
STUB = "[Result unavailable — see context summary above]"
TIMED_OUT = "Error executing tool 'write_file': timed out after 420.0s"


def settle(rows: list[OpenRow], *messages: Any, explained: int = 0, alone: bool = True) -> list[tuple[int, str, str]]:
    shown = history.calls([*messages])
    hashes = reconcile.hashes(shown, rows)
    found = reconcile.settle_from_history(rows, shown, hashes, lambda _: explained, lambda _: alone)
    return [(one.row.id, one.outcome.status, one.outcome.effect) for one in found]


def exchange(args: Any, content: Any, call: str = "c1", tool: str = "write_file") -> list[Any]:
    return [asked(call, tool, args), told(call, tool, content)]


# --- ghosts


@pytest.mark.parametrize(("age", "count"), [(119.9, 0), (120.0, 1), (5000, 1)])
def test_grace_decides_while_the_owner_lives(age: float, count: int) -> None:
    """Before the end of its grace a call of a living process is no ghost, from then on it is."""
    assert len(reconcile.ghosts([row(A)], NOW + age, {"me": True})) == count


def test_owner_that_is_gone_makes_a_ghost_at_once() -> None:
    """Nothing can confirm the call any more."""
    (ghost,) = reconcile.ghosts([row(A)], NOW, {"me": False})
    assert ghost.why == reconcile.OWNER_GONE


@pytest.mark.parametrize("alive", [{"me": None}, {}])
def test_owner_that_cannot_be_judged_is_left_to_the_grace(alive: dict[str, bool | None]) -> None:
    """Unknown is not gone."""
    assert reconcile.ghosts([row(A)], NOW + 100, alive) == []
    assert len(reconcile.ghosts([row(A)], NOW + 200, alive)) == 1


def test_unreadable_time_is_left_to_the_owner() -> None:
    """A time that somebody wrote into the file makes no ghost by itself."""
    odd = row(A, ts="yesterday")
    assert reconcile.ghosts([odd], NOW + 9999, {"me": True}) == []
    assert len(reconcile.ghosts([odd], NOW, {"me": False})) == 1


def test_clock_that_went_back_makes_no_ghost() -> None:
    """A call from the future is not overdue."""
    assert reconcile.ghosts([row(A)], NOW - 9999, {"me": True}) == []


# --- settled by the conversation


def test_result_settles() -> None:
    """Id, tool and arguments fit: the result is the row's."""
    mine = row(A)
    assert settle([mine], *exchange(A, {"ok": 1})) == [(mine.id, "CONFIRMED", "applied")]


def test_failed_result_settles_as_a_failure() -> None:
    """The result's own error key decides; the effect stays unknown."""
    mine = row(A)
    assert settle([mine], *exchange(A, {"error": "no space"})) == [(mine.id, "ERROR:tool_error", "unknown")]


@pytest.mark.parametrize(
    "content", [STUB, TIMED_OUT, "[Tool execution cancelled — write_file was skipped due to user interrupt]"]
)
def test_stub_settles_nothing(content: str) -> None:
    """The host's own words for a missing result are none."""
    assert settle([row(A)], *exchange(A, content)) == []


def test_call_that_never_started_has_no_effect() -> None:
    """The one stub that is certain settles the row as skipped."""
    mine = row(A)
    content = "[Tool execution skipped — write_file was not started. User sent a new message]"
    assert settle([mine], *exchange(A, content)) == [(mine.id, "ERROR:skipped", "none")]


def test_question_alone_settles_nothing() -> None:
    """A call that the conversation shows without an answer stays open."""
    assert settle([row(A)], asked("c1", "write_file", A), user("next")) == []


def test_other_tool_settles_nothing() -> None:
    """An id counts only together with its tool."""
    assert settle([row(A)], *exchange(A, "ok", tool="patch")) == []


def test_rewritten_arguments_settle_where_there_is_no_doubt() -> None:
    """One call shown, one recorded under that id: the arguments may differ."""
    mine = row(A)
    assert settle([mine], *exchange(B, "ok"), alone=True) == [(mine.id, "CONFIRMED", "applied")]
    assert settle([mine], *exchange(B, "ok"), alone=False) == []


def test_results_of_settled_calls_are_used_up() -> None:
    """Two calls alike, one result: it belongs to the settled one."""
    assert settle([row(A)], *exchange(A, "ok"), explained=1, alone=False) == []
    mine = row(A)
    assert [found[0] for found in settle([mine], *exchange(A, "ok"), *exchange(A, "ok"), explained=1, alone=False)] == [
        mine.id
    ]


def test_one_result_settles_one_row() -> None:
    """Two open calls alike and one result: one of them stays open."""
    first, second = row(A), row(A)
    assert [found[0] for found in settle([first, second], *exchange(A, STUB), *exchange(A, "ok"), alone=False)] == [
        first.id
    ]


def test_composite_id_is_found_by_its_first_half() -> None:
    """The conversation may hold either form."""
    mine = row(A, tool_call_id="call_9|fc_9")
    assert [found[0] for found in settle([mine], *exchange(A, "ok", call="call_9"))] == [mine.id]


def test_background_command_is_only_started() -> None:
    """A launch in the conversation says no more than a launch in a post."""
    args = {"command": "sleep 9", "background": True}
    mine = row(args, tool_name="terminal")
    content = {"session_id": "proc_0a1b2c", "exit_code": 0}
    assert settle([mine], *exchange(args, content, tool="terminal")) == [(mine.id, "CONFIRMED", "started")]


def test_retry_after_a_timeout_is_settled_by_its_own_result(host: SimHost) -> None:
    """The host's text for the first call is a stub, so the one real result is the retry's, also under a constant id."""
    host.run("write_file", A, call="call_0", status="timeout", error_type="tool_timeout")
    host.pre("write_file", A, call="call_0", turn=turn_id("s0", "t0", 2))
    host.age(500)
    shown = [user("go"), *exchange(A, TIMED_OUT, "call_0"), *exchange(A, {"ok": 1}, "call_0"), user("next")]
    assert host.turn(history=shown) is None
    assert host.sql("SELECT status FROM ledger ORDER BY id") == [("ERROR:timeout",), ("CONFIRMED",)]


def test_refusal_of_an_earlier_call_is_not_the_lost_ones(host: SimHost) -> None:
    """A blocked call has its answer in the conversation; a later one alike, that was lost, must be told."""
    host.run("write_file", A, call="call_0", status="blocked", error_type="plugin_block")
    host.pre("write_file", A, call="call_0", turn=turn_id("s0", "t0", 2))
    host.age(500)
    shown = [user("go"), *exchange(A, {"error": "blocked"}, "call_0"), *exchange(A, STUB, "call_0"), user("next")]
    assert host.turn(history=shown) is not None
    assert host.sql("SELECT status FROM ledger ORDER BY id") == [("ERROR:blocked",), ("GHOST_REPORTED",)]


def test_bridged_call_is_settled(host: SimHost) -> None:
    """A deferred tool stands in the conversation as tool_call; its result settles the row of the real tool."""
    host.pre("mcp__a__b", {"n": 1})
    host.age(500)
    bridged = asked("c1", "tool_call", {"name": "mcp__a__b", "arguments": {"n": 1}})
    assert host.turn(history=[user("go"), bridged, told("c1", "mcp__a__b", {"ok": 1}), user("next")]) is None
