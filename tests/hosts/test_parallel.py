"""Calls that the host runs at the same time: one row each, and every one confirmed."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, calls, text

THREE, SIX = [f"three-{n}" for n in range(3)], [f"six-{n}" for n in range(6)]


def writes(home: Home, ids: list[str]) -> list[Call]:
    """One write a call id, each to a file of that name."""
    return [Call("write_file", {"path": str(home.work / name), "content": name}, id=name) for name in ids]


@pytest.fixture(scope="module")
def states(ledger_home: NewHome, model: ModelServer) -> list[Counter[str]]:
    """How many rows had which status after a turn with three writes at once, one with six, and one with none."""
    home = ledger_home()
    seen: list[Counter[str]] = []
    resume = ""
    for ids in (THREE, SIX, []):
        model.play(*([calls(*writes(home, ids))] if ids else []), text("done"))
        home.chat("go on", resume)
        resume = home.sessions()[-1]
        seen.append(Counter(row["status"] for row in home.ledger.rows()))
        assert {name for name in ids if (home.work / name).read_text() == name} == set(ids)
    assert sorted(THREE + SIX) == sorted(row["tool_call_id"] for row in home.ledger.rows())
    return seen


def test_parallel_calls_leave_one_row_each(states: list[Counter[str]]) -> None:
    """Three calls at once are three rows, six more are nine, and a turn without calls adds none."""
    assert [sum(state.values()) for state in states] == [3, 9, 9]


def test_every_parallel_call_is_confirmed_by_the_next_turn(states: list[Counter[str]]) -> None:
    """Whatever posts the host dropped, the conversation of the next turn settles the rest."""
    assert Counter({"CONFIRMED": 9}) == states[-1]


def test_parallel_calls_are_confirmed_in_their_own_turn(states: list[Counter[str]]) -> None:
    """Nothing is pending at the end of the turn that made the calls, even where the host skips a busy post callback."""
    assert states[:2] == [Counter({"CONFIRMED": 3}), Counter({"CONFIRMED": 9})]
