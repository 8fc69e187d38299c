"""Evidence after a crash, with what each host really writes: jobs, cards, files and background processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.environments import Host
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, Request, calls, text
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
        told = [Told((request,)) for request in requests]
        for row in self.home.ledger.rows():
            self.rows[row["tool_call_id"]] = row
            self.lines[row["tool_call_id"]] = [line for one in told if (line := one.line(row["id"]))]


def allow(home: Home) -> None:
    """Offer the tools for jobs and cards at once, by name, in the chat of every version."""
    names = ["hermes-cli", "kanban", "cronjob"]
    home.configure(toolsets=names, platform_toolsets={"cli": names}, tools={"tool_search": {"enabled": "off"}})


@pytest.fixture(scope="module")
def story(host: Host, ledger_home: NewHome, model: ModelServer) -> Story:
    """`slow` calls are killed after their effect, `stuck` ones before it; each next turn of the session may tell."""
    tale = Story(home := ledger_home("slow"))
    allow(home)
    job = {"action": "create", "schedule": "0 7 * * *", "prompt": "say good morning"}
    hanging = [
        Call(cron(host), {**job, "name": "slow-job"}, id="job-there"),
        Call(cron(host), {**job, "name": "stuck-job"}, id="job-missing"),
        Call("kanban_create", {"title": "a slow card", "assignee": "default"}, id="card-there"),
        Call("kanban_create", {"title": "a stuck card", "assignee": "default"}, id="card-missing"),
        Call("write_file", {"path": str(home.work / "stuck"), "content": "new"}, id="file-other"),
    ]
    (home.work / "stuck").write_text("old")
    resume, requests = "", len(model.requests)
    for call in hanging:
        kill_in_slow_call(home, model, call.id, resume, calls(call))
        resume = newest_session(home)
    for _ in range(2 if host.numbers == LOSES_CONTEXT else 1):
        say(home, model, "and now", resume)
    tale.note(model.requests[requests:])
    return tale


EXPECTED = {
    "job-there": ("applied", "a job of that name was created then"),
    "job-missing": ("none", "no such job exists"),
    "card-there": ("applied", "a card of that title was created then"),
    "card-missing": ("none", "no such card exists"),
    "file-other": ("unknown", "cannot tell: the file holds other content"),
}


@pytest.mark.parametrize("call_id", EXPECTED)
def test_the_notice_says_what_the_host_left_behind(story: Story, call_id: str) -> None:
    """Effect found, not found, or not to be told: the row and the one line about it agree."""
    effect, words = EXPECTED[call_id]
    row = story.rows[call_id]

    assert (row["status"], row["effect"]) == ("GHOST_REPORTED", effect)
    assert len(set(story.lines[call_id])) == 1
    assert words in story.lines[call_id][0]


def test_a_killed_call_is_told_again_only_where_its_notice_found_no_answer(story: Story) -> None:
    """The turns that tell of the first four are killed themselves: those calls are told once more, the last one once."""
    assert [len(story.lines[call_id]) for call_id in list(EXPECTED)[:-1]] <= [2, 2, 2, 2]
    assert len(story.lines["file-other"]) == 1


@pytest.fixture(scope="module")
def background(ledger_home: NewHome, model: ModelServer) -> Story:
    """A background command outlives its host, another one does not; the host is killed in a third call."""
    tale = Story(home := ledger_home("slow"))
    lasting, short = "sleep 60", f"touch {home.work / 'short'}"
    kill_in_slow_call(
        home,
        model,
        "go",
        "",
        calls(Call("terminal", {"command": lasting, "background": True}, id="lasting")),
        calls(Call("terminal", {"command": short, "background": True}, id="short")),
        calls(Call("write_file", {"path": str(home.work / "stuck"), "content": "s"}, id="last")),
    )
    session, before = newest_session(home), len(model.requests)
    for words in ("and now", "and later", "and at last")[: 3 if home.host.numbers == LOSES_CONTEXT else 2]:
        say(home, model, words, session, text("fine"))
    tale.note(model.requests[before:])
    return tale


def test_a_background_command_is_told_with_the_state_of_its_process(background: Story) -> None:
    """The one that sleeps is said to run still, the one that ended not to; each once, and their rows stay confirmed."""
    assert {(row["status"], row["effect"]) for name, row in background.rows.items() if name != "last"} == {
        ("CONFIRMED", "started")
    }
    assert ["Its process still runs" in line for line in background.lines["lasting"]] == [True]
    assert ["Its process does not run any more" in line for line in background.lines["short"]] == [True]
