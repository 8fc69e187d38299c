"""A session that a second process resumes while the first one lives: an open call of a live process is no ghost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, calls, text
from tests.hosts.talk import Told, begun, newest_session, resume_until_told, say


@dataclass
class Story:
    """One session in two processes: the row of the call, and what the second process was told, by chapter."""

    home: Home
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    told: dict[str, list[Told]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def story(ledger_home: NewHome, model: ModelServer) -> Story:
    """A call hangs in one process; another resumes the session before and after the first is killed."""
    tale = Story(home := ledger_home("slow"))
    model.play(calls(Call("write_file", {"path": str(home.work / "stuck"), "content": "s"}, id="held")))
    first = home.start_chat("go")
    first.wait_for(lambda: begun(home), "the call hangs")
    session = newest_session(home)
    tale.told["alive"] = [say(home, model, "are you there", session)]
    tale.rows["alive"] = home.ledger.only()
    assert first.alive
    first.kill()
    tale.told["gone"] = resume_until_told(home, model, "and now", session)
    tale.rows["gone"] = home.ledger.only()
    tale.told["later"] = [say(home, model, "and later", session)]
    return tale


def test_an_open_call_of_a_live_process_is_no_ghost(story: Story) -> None:
    """A second process in the same conversation hears nothing of it, and the row stays open."""
    assert [told.notice for told in story.told["alive"]] == [""]
    assert story.rows["alive"]["status"] == "PENDING"


def test_the_call_is_told_once_its_process_is_killed(story: Story) -> None:
    """As soon as the first process is gone the conversation hears of the call, and only once."""
    row = story.rows["gone"]
    told = [one for one in (*story.told["gone"], *story.told["later"]) if one.notice]

    assert row["status"] == "GHOST_REPORTED"
    assert [one.rows for one in told] == [[row["id"]]]
    assert "the process that issued it ended" in told[0].line(row["id"])
