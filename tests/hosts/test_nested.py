"""Calls inside execute_code: they follow the outer call, whatever the host reports of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, calls, text
from tests.hosts.talk import Told, newest_session, resume_until_told, say

FIVE = [f"nested-{n}" for n in range(5)]


def program(home: Home, names: list[str], then: str = "") -> str:
    """A program that writes each of these files through the host's own tool."""
    lines = [f"write_file(path={str(home.work / name)!r}, content={name!r})" for name in names]
    return "\n".join(["from hermes_tools import write_file", *lines, then, "print('all written')"])


@dataclass
class Story:
    """A conversation around an execute_code call: what its turns were told, and its rows after each."""

    home: Home
    told: list[Told] = field(default_factory=list)
    rows: list[list[dict[str, Any]]] = field(default_factory=list)

    def split(self, chapter: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The outer row, and the rows of the calls inside it."""
        (outer,) = [row for row in self.rows[chapter] if row["tool_name"] == "execute_code"]
        return outer, [row for row in self.rows[chapter] if row is not outer]


@pytest.fixture(scope="module")
def finished(ledger_home: NewHome, model: ModelServer) -> Story:
    """A program with five writes runs to its end; then a turn without calls."""
    story = Story(home := ledger_home())
    run = calls(Call("execute_code", {"code": program(home, FIVE)}, id="outer"))
    for words, turns in (("go", (run, text("done"))), ("and now", (text("fine"),))):
        story.told.append(say(home, model, words, newest_session(home) if story.told else "", *turns))
        story.rows.append(home.ledger.rows())
    return story


def test_five_nested_writes_are_one_row_each_beside_their_outer_call(finished: Story) -> None:
    """The rows of nested calls name the outer row, carry its mark, and stand in the same session."""
    outer, nested = finished.split(0)

    assert [(finished.home.work / name).read_text() for name in FIVE] == FIVE
    assert [row["tool_name"] for row in nested] == ["write_file"] * 5
    assert {(row["outer_id"], row["flags"]) for row in nested} == {(outer["id"], "nested")}


def test_nested_calls_follow_the_outcome_of_their_outer_call(finished: Story) -> None:
    """With the program all of its calls are confirmed at the end of the turn; no later turn changes that."""
    outer, nested = finished.split(0)

    assert (outer["status"], outer["effect"]) == ("CONFIRMED", "applied")
    assert {row["status"] for row in nested} == {"CONFIRMED"}
    assert {row["effect"] for row in nested} <= {"unknown", "applied"}
    assert finished.rows[0] == finished.rows[1]


def test_nested_calls_raise_no_alarm(finished: Story) -> None:
    """The turn after a program with five writes hears nothing."""
    assert [told.notice for told in finished.told] == ["", ""]


@pytest.fixture(scope="module")
def killed(ledger_home: NewHome, model: ModelServer) -> Story:
    """The host is killed while a program waits between its writes; then the session is resumed and goes on."""
    story = Story(home := ledger_home())
    code = program(home, FIVE[:2], then="import time; time.sleep(8)")
    model.play(calls(Call("execute_code", {"code": code}, id="outer")), text("never said"))
    run = home.start_chat("go")
    run.wait_for((home.work / FIVE[1]).exists, "the second nested write")
    run.wait_for(lambda: len(home.ledger.rows()) == 3, "the row of the second nested write")
    run.kill()
    story.rows.append(home.ledger.rows())
    session = newest_session(home)
    story.told += resume_until_told(home, model, "and now", session)
    story.rows.append(home.ledger.rows())
    story.told.append(say(home, model, "and later", session))
    return story


def test_a_program_cut_short_is_one_warning(killed: Story) -> None:
    """Of the outer call and the two inside it, the agent hears in one line, once."""
    outer, nested = killed.split(1)
    told = [one for one in killed.told if one.notice]

    assert len(nested) == 2
    assert [one.rows for one in told] == [[outer["id"]]]
    assert "2 calls were issued inside it" in told[0].line(outer["id"])
    assert "1 call of this conversation was issued" in told[0].notice


def test_the_calls_of_a_program_cut_short_are_reported_with_it(killed: Story) -> None:
    """None of the three rows stays open, and none is called done that the host never reported."""
    outer, nested = killed.split(1)

    assert (outer["status"], outer["effect"]) == ("GHOST_REPORTED", "unknown")
    assert {row["status"] for row in nested} <= {"GHOST_REPORTED", "CONFIRMED"}
    still_open = [row["id"] for row in killed.split(0)[1] if row["status"] == "PENDING"]
    assert [row["id"] for row in nested if row["status"] == "GHOST_REPORTED"] == still_open
