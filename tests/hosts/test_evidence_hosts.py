"""Evidence after a crash, with what each host really writes: jobs, cards, files and background processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.environments import Host
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, Request, calls
from tests.hosts.talk import LOSES_CONTEXT, Told, kill_in_slow_call, newest_session, say

RENAMED = (0, 21, 4)  # cronjob is cronjob_manage from then on


def cron(host: Host) -> str:
    """What the host calls its tool for scheduled jobs."""
    return "cronjob_manage" if host.numbers >= RENAMED else "cronjob"


@dataclass
class Story:
    """One conversation whose host is killed in some of its calls: by call id the row, and every line about it."""

    home: Home
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: dict[str, list[str]] = field(default_factory=dict)

    def note(self, requests: list[Request]) -> None:
        """Take in the rows, and what these requests said of them."""
        # Requests of one turn repeat its user message; each turn of the story says something else.
        told = [Told((request,)) for request in {request.last_user: request for request in requests}.values()]
        for row in self.home.ledger.rows():
            self.rows[row["tool_call_id"]] = row
            self.lines[row["tool_call_id"]] = [line for one in told if (line := one.line(row["id"]))]


def allow(home: Home) -> None:
    """Offer the tools for jobs and cards at once, by name, in the chat of every version."""
    names = ["hermes-cli", "kanban", "cronjob"]
    home.configure(toolsets=names, platform_toolsets={"cli": names}, tools={"tool_search": {"enabled": "off"}})


@pytest.fixture(scope="module")
def story(host: Host, ledger_home: NewHome, model: ModelServer) -> Iterator[Story]:
    """`slow` calls are killed after their effect, `stuck` ones before it; each next turn of the session may tell.

    In the last killed turn two commands were sent to the background before: one outlives its host, one does not.
    """
    tale = Story(home := ledger_home("slow"))
    allow(home)
    job = {"action": "create", "schedule": "0 7 * * *", "prompt": "say good morning"}
    hanging = [
        Call(cron(host), {**job, "name": "slow-job"}, id="job-there"),
        Call(cron(host), {**job, "name": "stuck-job"}, id="job-missing"),
        Call("kanban_create", {"title": "a slow card", "assignee": "default"}, id="card-there"),
        Call("kanban_create", {"title": "a stuck card", "assignee": "default"}, id="card-missing"),
        Call("write_file", {"path": str(home.work / "slow"), "content": "new"}, id="file-there"),
        Call("write_file", {"path": str(home.work / "stuck"), "content": "new"}, id="file-other"),
    ]
    (home.work / "stuck").write_text("old")
    stop = home.work / "stop"
    commands = {"lasting": f"for n in $(seq 600); do test -e {stop} && break; sleep 0.1; done", "ended": "sleep 1"}
    launches = [calls(Call("terminal", {"command": c, "background": True}, id=name)) for name, c in commands.items()]
    resume, requests = "", len(model.requests)
    for call in hanging:
        before = launches if call is hanging[-1] else []
        kill_in_slow_call(home, model, call.id, resume, *before, calls(call))
        resume = newest_session(home)
    for _ in range(2 if host.numbers == LOSES_CONTEXT else 1):
        say(home, model, "and now", resume)
    tale.note(model.requests[requests:])
    yield tale
    stop.touch()


EXPECTED = {
    "job-there": ("applied", "a job of that name was created then"),
    "job-missing": ("none", "no such job exists"),
    "card-there": ("applied", "a card of that title was created then"),
    "card-missing": ("none", "no such card exists"),
    "file-there": ("applied", "the file holds exactly that content"),
    "file-other": ("unknown", "cannot tell: the file holds other content"),
}


@pytest.mark.parametrize("call_id", EXPECTED)
def test_the_record_says_what_the_host_left_behind(story: Story, call_id: str) -> None:
    """Effect found, not found, or not to be told: the row has the effect, and its transition the reason."""
    effect, words = EXPECTED[call_id]
    row = story.rows[call_id]

    assert (row["status"], row["effect"]) == ("GHOST_REPORTED", effect)
    assert [words in one["why"] for one in story.home.ledger.transitions(row["id"])] == [True]


@pytest.mark.parametrize("call_id", EXPECTED)
def test_the_notice_says_what_the_host_left_behind(host: Host, story: Story, call_id: str) -> None:
    """Each call is told in the same words every time: twice at most where the turns that tell of it are killed too."""
    if host.numbers == LOSES_CONTEXT:
        pytest.skip(
            f"Hermes {host.version} drops what plugins add to the first turn after a crash, and each crashes here: all"
            " that was lost comes in one notice at last, which has no room for every call"
        )

    assert len(set(story.lines[call_id])) == 1
    assert EXPECTED[call_id][1] in story.lines[call_id][0]
    assert len(story.lines[call_id]) <= (1 if call_id == list(EXPECTED)[-1] else 2)


def test_a_background_command_is_told_with_the_state_of_its_process(story: Story) -> None:
    """The one that goes on is said to run still, the one that ended not to; each once, and their rows stay confirmed."""
    for name, words in (("lasting", "Its process still runs"), ("ended", "Its process does not run any more")):
        assert (story.rows[name]["status"], story.rows[name]["effect"]) == ("CONFIRMED", "started")
        assert [words in line for line in story.lines[name]] == [True]
