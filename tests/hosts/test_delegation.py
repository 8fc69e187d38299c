"""A delegated child works in a session of its own: linked to its parent, and neither hears of the other's calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.environments import Host
from tests.hosts.harness import Home, query
from tests.hosts.model_server import Call, ModelServer, Request, Turn, calls, text
from tests.hosts.talk import Told, resume_until_told, say

# From this version on a chat without a terminal runs its children to their end within the call; one with a terminal, and
# every version from 0.18.2 on before it, dispatches them in the background.
BACKGROUND_NEEDS_TERMINAL = (0, 21, 5)
GOAL = "Write two files and say so"
CHILDS = ["child-0", "child-1"]


@dataclass
class Story:
    """A delegation: what the parent's turns were told, what the child was sent, and the rows at the end of each
    turn."""

    home: Home
    told: list[Told] = field(default_factory=list)
    to_child: list[Request] = field(default_factory=list)
    rows: list[list[dict[str, Any]]] = field(default_factory=list)

    def of(self, tool: str, chapter: int = 0) -> list[dict[str, Any]]:
        """The rows of one tool."""
        return [row for row in self.rows[chapter] if row["tool_name"] == tool]


def is_child(request: Request) -> bool:
    """Whether the request comes from the delegated child."""
    return "delegate it" not in str(request.messages) and GOAL in str(request.messages)


def delegation(home: Home, childs: list[Turn], parents: list[Turn]) -> Any:
    """A script for parent and child at once: each gets its own turns in its own order."""
    waiting = {True: iter(childs), False: iter(parents)}
    return lambda request: next(waiting[is_child(request)], text("done"))


def write(home: Home, name: str) -> Turn:
    """A write of its own name to a file of that name."""
    return calls(Call("write_file", {"path": str(home.work / name), "content": name}, id=name))


def wait_for_file(home: Home, name: str) -> Turn:
    """The parent keeps its turn open until the child has got that far, ten seconds at most."""
    loop = f"for n in $(seq 200); do test -e {home.work / name} && break; sleep 0.05; done"
    return calls(Call("terminal", {"command": loop}, id="waiting"))


HAND_OVER = calls(Call("delegate_task", {"goal": GOAL}, id="handed-over"))


@pytest.fixture(scope="module")
def finished(ledger_home: NewHome, model: ModelServer) -> Story:
    """The child writes two files and ends while the parent's turn goes on; then the parent's session is resumed."""
    story = Story(home := ledger_home())
    childs = [
        *[write(home, name) for name in CHILDS],
        calls(Call("terminal", {"command": f"touch {home.work}/end"}, id="e")),
    ]
    script = delegation(home, childs, [HAND_OVER, wait_for_file(home, "end")])
    first = len(model.requests)
    story.told.append(say(home, model, "delegate it", script=script))
    story.rows.append(home.ledger.rows())
    parent = story.of("delegate_task")[0]["session_id"]
    story.to_child = [request for request in model.requests[first:] if is_child(request)]
    story.told.append(say(home, model, "and now", parent))
    story.rows.append(home.ledger.rows())
    return story


def test_a_childs_calls_are_rows_of_its_own_session(host: Host, finished: Story) -> None:
    """The child's writes stand under one session id that is not the parent's, each once and confirmed."""
    (handed,) = finished.of("delegate_task")
    childs = finished.of("write_file")

    assert [(row["tool_call_id"], row["status"]) for row in childs] == [(name, "CONFIRMED") for name in CHILDS]
    assert len({row["session_id"] for row in childs} | {handed["session_id"]}) == 2
    dispatched = host.numbers < BACKGROUND_NEEDS_TERMINAL
    assert (handed["status"], handed["effect"]) == ("CONFIRMED", "started" if dispatched else "applied")


def test_a_child_is_linked_to_its_parent(finished: Story) -> None:
    """The link is a delegation, so that the two are never taken for one conversation."""
    (handed,) = finished.of("delegate_task")
    child = finished.of("write_file")[0]["session_id"]
    edges = query(finished.home.ledger.path, "SELECT session_id, parent_id, kind FROM sessions")

    assert edges == [{"session_id": child, "parent_id": handed["session_id"], "kind": "delegation"}]


def test_parent_and_child_hear_nothing_of_each_others_confirmed_calls(finished: Story) -> None:
    """Neither the child's user messages nor the parent's next turn speak of the other's calls as their own."""
    childs = {row["id"] for row in finished.of("write_file")}

    assert finished.to_child
    assert not [request for request in finished.to_child if "[agent-ledger]" in str(request.messages)]
    assert not [told for told in finished.told if childs & set(told.rows)]


@pytest.fixture(scope="module")
def killed(ledger_home: NewHome, model: ModelServer) -> Story:
    """The host is killed while the child hangs in a command, one write done; then the parent's session is resumed."""
    story = Story(home := ledger_home())
    hang = calls(Call("terminal", {"command": f"touch {home.work / 'hanging'}; sleep 8"}, id="hang"))
    home.terminal = home.host.numbers >= BACKGROUND_NEEDS_TERMINAL
    model.follow(delegation(home, [write(home, CHILDS[0]), hang], [HAND_OVER, wait_for_file(home, "never")]))
    run = home.start_chat("delegate it")
    run.wait_for((home.work / "hanging").exists, "the child hangs")
    run.wait_for(lambda: home.ledger.rows(tool_call_id="waiting"), "the parent waits")
    run.kill()
    home.terminal = False
    story.rows.append(home.ledger.rows())
    parent = story.of("delegate_task")[0]["session_id"]
    story.told += resume_until_told(home, model, "and now", parent)
    story.rows.append(home.ledger.rows())
    return story


def test_a_launch_whose_end_nobody_saw_is_told_with_what_the_child_did(killed: Story) -> None:
    """The resumed parent hears of the delegation, with the child's confirmed and unconfirmed calls."""
    (handed,) = killed.of("delegate_task")
    told = [one for one in killed.told if handed["id"] in one.rows]

    assert [one.sections["launched"] for one in told] == [[handed["id"]]]
    assert "1 child session: 1 calls confirmed, 1 not" in told[0].line(handed["id"])


def test_the_parent_is_told_of_its_own_open_call_only(killed: Story) -> None:
    """The parent's waiting command is its ghost; the child's hanging command is not, and stays open for the child."""
    waiting = next(row for row in killed.rows[1] if row["tool_call_id"] == "waiting")
    hang = next(row for row in killed.rows[1] if row["tool_call_id"] == "hang")

    assert [one.sections.get("ghosts") for one in killed.told if "ghosts" in one.sections] == [[waiting["id"]]]
    assert (waiting["status"], hang["status"]) == ("GHOST_REPORTED", "PENDING")
