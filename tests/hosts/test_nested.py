"""Calls inside execute_code: they follow the outer call, whatever the host reports of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, calls, text
from tests.hosts.talk import Told, newest_session, resume_until_told, say

FIVE, TWO = [f"nested-{n}" for n in range(5)], [f"more-{n}" for n in range(2)]


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

    def split(self, chapter: int, call_id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The row of an outer call, and the rows of the calls inside it."""
        (outer,) = [row for row in self.rows[chapter] if row["tool_call_id"] == call_id]
        return outer, [row for row in self.rows[chapter] if row["outer_id"] == outer["id"]]


@pytest.fixture(scope="module")
def story(ledger_home: NewHome, model: ModelServer) -> Story:
    """A program with five writes runs to its end; in the next turn the host is killed while another program waits after
    two writes; then the session is resumed, twice."""
    tale = Story(home := ledger_home())
    whole = calls(Call("execute_code", {"code": program(home, FIVE)}, id="whole"))
    tale.told.append(say(home, model, "go", "", whole, text("done")))
    tale.rows.append(home.ledger.rows())
    session, before = newest_session(home), len(model.requests)
    code = program(home, TWO, then="import time; time.sleep(8)")
    model.play(calls(Call("execute_code", {"code": code}, id="outer")), text("never said"))
    run = home.start_chat("go on", session)
    run.wait_for((home.work / TWO[1]).exists, "the second nested write")
    run.wait_for(lambda: len(home.ledger.rows()) == 9, "the row of the second nested write")
    run.kill()
    tale.told.append(Told(tuple(model.requests[before:])))
    tale.rows.append(home.ledger.rows())
    tale.told += resume_until_told(home, model, "and now", session)
    tale.rows.append(home.ledger.rows())
    tale.told.append(say(home, model, "and later", session))
    return tale


def test_five_nested_writes_are_one_row_each_beside_their_outer_call(story: Story) -> None:
    """The rows of nested calls name the outer row, carry its mark, and stand in the same session."""
    outer, nested = story.split(0, "whole")

    assert [(story.home.work / name).read_text() for name in FIVE] == FIVE
    assert [row["tool_name"] for row in nested] == ["write_file"] * 5
    assert {row["flags"] for row in nested} == {"nested"}
    assert {row["session_id"] for row in nested} <= {outer["session_id"], ""}


def test_nested_calls_follow_the_outcome_of_their_outer_call(story: Story) -> None:
    """With the program all of its calls are confirmed at the end of the turn; no later turn changes that."""
    outer, nested = story.split(0, "whole")

    assert (outer["status"], outer["effect"]) == ("CONFIRMED", "applied")
    assert {row["status"] for row in nested} == {"CONFIRMED"}
    assert {row["effect"] for row in nested} <= {"unknown", "applied"}
    assert [outer, nested] == list(story.split(2, "whole"))


def test_nested_calls_raise_no_alarm(story: Story) -> None:
    """The turn after a program with five writes hears nothing."""
    assert [told.notice for told in story.told[:2]] == ["", ""]


def test_a_program_cut_short_is_one_warning(story: Story) -> None:
    """Of the outer call and the two inside it, the agent hears in one line, once."""
    outer, nested = story.split(2, "outer")
    told = [one for one in story.told if "ghosts" in one.sections]

    assert len(nested) == 2
    assert [one.sections["ghosts"] for one in told] == [[outer["id"]]]
    assert "2 calls were issued inside it" in told[0].line(outer["id"])
    assert "1 call of this conversation was issued" in told[0].notice


def test_the_calls_of_a_program_cut_short_are_reported_with_it(story: Story) -> None:
    """None of the three rows stays open, and none is called done that the host never reported."""
    outer, nested = story.split(2, "outer")

    assert (outer["status"], outer["effect"]) == ("GHOST_REPORTED", "unknown")
    still_open = [row["id"] for row in story.split(1, "outer")[1] if row["status"] == "PENDING"]
    assert [row["id"] for row in nested if row["status"] == "GHOST_REPORTED"] == still_open
    assert {row["status"] for row in nested} <= {"GHOST_REPORTED", "CONFIRMED"}
