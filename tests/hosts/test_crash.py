"""A host killed in the middle of a call: the row survives, and the agent is told once, in that conversation only."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.environments import Host
from tests.hosts.harness import PLUGIN, Home, query
from tests.hosts.model_server import Call, ModelServer, Request, calls, text

SLEEP_SECONDS = 8
CHAPTERS = ("other", "resumed", "next", "last")
# This version merges the resumed user message into the unanswered one before it, and drops on the way what plugins
# added to it: nobody reads the first notice, so the turn after it has the notice again.
LOSES_CONTEXT = (0, 21, 0)


@dataclass
class Story:
    """A killed session and what the model was sent after it, by chapter."""

    home: Home
    session: str = ""
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: dict[str, list[Request]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def story(ledger_home: NewHome, model: ModelServer) -> Story:
    """Kill a host in the middle of a command; then another session, and three more turns of the killed one."""
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
    for chapter in CHAPTERS:
        before = len(model.requests)
        model.play(text("understood"))
        home.chat(f"this is {chapter}", "" if chapter == "other" else tale.session)
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


def told_in(host: Host) -> str:
    """The chapter in whose user message the agent hears of the call."""
    return "next" if host.numbers == LOSES_CONTEXT else "resumed"


def test_the_notice_stands_in_the_user_message(host: Host, story: Story) -> None:
    """The agent hears of the call in the first user message that can hold it: plugin, row, tool; no command."""
    chapter = told_in(host)
    words = story.requests[chapter][0].last_user

    assert f"this is {chapter}" in words
    assert PLUGIN in words
    assert "terminal" in words
    assert str(story.rows["running"]["id"]) in words
    assert f"sleep {SLEEP_SECONDS}" not in words


def test_the_agent_is_told_once(story: Story) -> None:
    """Of all user messages after the kill, exactly one brings the notice."""
    told = [chapter for chapter in CHAPTERS if PLUGIN in story.requests[chapter][0].last_user]

    assert len(told) == 1


def test_a_turn_after_the_notice_is_the_users_words_alone(story: Story) -> None:
    """The newest user message of the last turn is what the user wrote, and the row does not change any more."""
    assert story.requests["last"][0].last_user.strip() == "this is last"
    assert story.rows["last"]["status"] == story.rows["next"]["status"]


def test_the_told_call_is_a_reported_ghost(host: Host, story: Story) -> None:
    """After the notice the row is GHOST_REPORTED with an unknown effect, and a transition says why."""
    row = story.rows[told_in(host)]
    changes = [(one["from_status"], one["to_status"]) for one in story.home.ledger.transitions(row["id"])]

    assert (row["status"], row["effect"]) == ("GHOST_REPORTED", "unknown")
    assert changes[0] == ("PENDING", "GHOST_REPORTED")


def test_the_notice_is_not_repeated_in_the_conversation(story: Story) -> None:
    """No request ever holds the notice in more than one message."""
    for chapter in CHAPTERS:
        for request in story.requests[chapter]:
            assert len([words for words in request.texts("user") if PLUGIN in words]) <= 1


def test_a_killed_host_leaves_a_ledger_that_another_program_can_read(story: Story) -> None:
    """The database is whole after the kill: SQLite finds nothing wrong."""
    found = query(story.home.ledger.path, "PRAGMA integrity_check")

    assert found == [{"integrity_check": "ok"}]
