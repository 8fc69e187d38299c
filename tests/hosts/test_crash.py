"""A host killed in the middle of a call: the row survives, and the agent is told once, in that conversation only."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.harness import PLUGIN, Home, query
from tests.hosts.model_server import Call, ModelServer, Request, calls, text

SLEEP_SECONDS = 8


@dataclass
class Story:
    """A killed session and what the model was sent after it, by chapter."""

    home: Home
    session: str = ""
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: dict[str, list[Request]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def story(ledger_home: NewHome, model: ModelServer) -> Story:
    """Kill a host in the middle of a command; then another session, the resumed session, and its next turn."""
    home = ledger_home()
    tale = Story(home)
    begun, ended = home.work / "begun", home.work / "ended"
    command = f"touch {begun}; sleep {SLEEP_SECONDS}; touch {ended}"
    model.play(calls(Call("terminal", {"command": command}, id="long-one")), text("never said"))
    run = home.start_chat("do the long thing")
    run.wait_for(begun.exists, "the command has begun")
    tale.rows["running"] = home.ledger.only()
    assert run.kill().status == -signal.SIGKILL
    assert not ended.exists(), "the command ended before the host was killed"
    tale.session = tale.rows["running"]["session_id"]
    for chapter, resume in (("other", ""), ("resumed", tale.session), ("next", tale.session)):
        before = len(model.requests)
        model.play(text("understood"))
        home.chat(f"this is {chapter}", resume)
        tale.requests[chapter] = model.requests[before:]
        tale.rows[chapter] = home.ledger.only()
    return tale


def test_the_call_is_on_disk_while_it_runs(story: Story) -> None:
    """The row is there, PENDING, before the command ends."""
    row = story.rows["running"]

    assert (row["tool_name"], row["status"], row["tool_call_id"]) == ("terminal", "PENDING", "long-one")


def test_another_session_is_told_nothing(story: Story) -> None:
    """A session in the same home, begun after the kill, neither hears of the call nor uses up its warning."""
    told = [str(request.messages) for request in story.requests["other"]]

    assert told
    assert not [words for words in told if PLUGIN in words]
    assert story.rows["other"]["status"] == "PENDING"


def test_the_resumed_turn_is_told_in_the_user_message(story: Story) -> None:
    """The notice stands in the user message of the resumed turn: the plugin, the row, the tool, and no command."""
    words = story.requests["resumed"][0].last_user

    assert "this is resumed" in words
    assert PLUGIN in words
    assert "terminal" in words
    assert str(story.rows["running"]["id"]) in words
    assert f"sleep {SLEEP_SECONDS}" not in words


def test_the_told_call_is_a_reported_ghost(story: Story) -> None:
    """After the notice the row is GHOST_REPORTED with an unknown effect, and a transition says why."""
    row = story.rows["resumed"]
    changes = [(one["from_status"], one["to_status"]) for one in story.home.ledger.transitions(row["id"])]

    assert (row["status"], row["effect"]) == ("GHOST_REPORTED", "unknown")
    assert changes == [("PENDING", "GHOST_REPORTED")]


def test_the_next_turn_is_not_told_again(story: Story) -> None:
    """The user message of the following turn is the user's words alone, and the row does not change."""
    newest = story.requests["next"][0].last_user

    assert newest.strip() == "this is next"
    assert story.rows["resumed"] == story.rows["next"]


def test_the_notice_is_not_repeated_in_the_conversation(story: Story) -> None:
    """No request ever holds the notice in more than one message."""
    for request in (*story.requests["resumed"], *story.requests["next"]):
        assert len([words for words in request.texts("user") if PLUGIN in words]) <= 1


@pytest.fixture(scope="module")
def interrupted(ledger_home: NewHome, model: ModelServer) -> Story:
    """Interrupt a host (SIGINT) in the middle of a command, then resume its session."""
    home = ledger_home()
    tale = Story(home)
    begun = home.work / "begun"
    model.play(calls(Call("terminal", {"command": f"touch {begun}; sleep {SLEEP_SECONDS}"}, id="cut")), text("over"))
    run = home.start_chat("do the long thing")
    run.wait_for(begun.exists, "the command has begun")
    run.interrupt()
    tale.rows["interrupted"] = home.ledger.only()
    tale.session = tale.rows["interrupted"]["session_id"]
    before = len(model.requests)
    model.play(text("understood"))
    home.chat("go on", tale.session)
    tale.requests["resumed"] = model.requests[before:]
    tale.rows["resumed"] = home.ledger.only()
    return tale


def test_an_interrupted_call_is_never_confirmed(interrupted: Story) -> None:
    """A command cut short by Ctrl-C is not recorded as done: its effect is unknown."""
    for row in interrupted.rows.values():
        assert row["status"] != "CONFIRMED"
        assert row["effect"] == "unknown"


def test_an_interrupted_call_does_not_stay_pending(interrupted: Story) -> None:
    """By the next turn of that session the call has an outcome, or the agent was told about it."""
    assert interrupted.rows["resumed"]["status"] != "PENDING"


def test_a_killed_host_leaves_a_ledger_that_another_program_can_read(story: Story) -> None:
    """The database is whole after the kill: SQLite finds nothing wrong."""
    found = query(story.home.ledger.path, "PRAGMA integrity_check")

    assert found == [{"integrity_check": "ok"}]
