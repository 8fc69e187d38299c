"""A session that a second process resumes while the first one lives: an open call of a live process is no ghost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.environments import Host
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, calls, text
from tests.hosts.talk import Told, begun, look_in, newest_session, resume_until_told

# From this version on the host lets nobody resume a session that another process has open.
ONE_PROCESS_A_SESSION = (0, 21, 5)


@dataclass
class Story:
    """One session in two processes: the row of the call, and what the second process was told, by chapter."""

    home: Home
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    told: dict[str, list[Told]] = field(default_factory=dict)
    beside: str = ""
    refused: bool = False


@pytest.fixture(scope="module")
def story(ledger_home: NewHome, model: ModelServer) -> Story:
    """A call hangs in one process; another takes the session up before and after the first is killed."""
    tale = Story(home := ledger_home("slow"))
    model.play(calls(Call("write_file", {"path": str(home.work / "stuck"), "content": "s"}, id="held")))
    first = home.start_chat("go")
    first.wait_for(lambda: begun(home), "the call hangs")
    session = newest_session(home)
    before = len(model.requests)
    model.play(text("here"))
    tale.refused = home.start_chat("are you there", session).wait().status == 1
    tale.told["alive"] = [] if tale.refused else [Told(tuple(model.requests[before:]))]
    tale.beside = look_in(home, session, "are you there")
    tale.rows["alive"] = home.ledger.only()
    assert first.alive
    first.kill()
    tale.told["gone"] = resume_until_told(home, model, "and now", session)
    tale.rows["gone"] = home.ledger.only()
    return tale


def test_an_open_call_of_a_live_process_is_no_ghost(story: Story) -> None:
    """A turn that another process begins in the same conversation hears nothing of it, and the row stays open."""
    assert story.beside == ""
    assert story.rows["alive"]["status"] == "PENDING"


def test_a_second_chat_in_a_live_session_hears_nothing(host: Host, story: Story) -> None:
    """The same, through a whole turn with the model."""
    if host.numbers >= ONE_PROCESS_A_SESSION:
        assert story.refused
        pytest.skip(f"Hermes {host.version} refuses to resume a session that another process has open")

    assert [told.notice for told in story.told["alive"]] == [""]


def test_the_call_is_told_when_its_process_is_killed(story: Story) -> None:
    """As soon as the first process is gone the conversation hears of the call."""
    row = story.rows["gone"]
    told = [one for one in story.told["gone"] if one.notice]

    assert row["status"] == "GHOST_REPORTED"
    assert [one.rows for one in told] == [[row["id"]]]
    assert "the process that issued it ended" in told[0].line(row["id"])
