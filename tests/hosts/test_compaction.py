"""Compaction in the middle of a turn and between turns, in place and with a new session id: nothing is lost or
doubled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.environments import Host
from tests.hosts.harness import Home, query
from tests.hosts.model_server import Call, ModelServer, calls, text
from tests.hosts.talk import Told, begun, newest_session, say

# From this version on the host asks the provider before it believes that a resumed conversation is too long.
COUNTS_FIRST = (0, 21, 5)
BEFORE, AFTER = [f"before-{n}" for n in range(8)], [f"after-{n}" for n in range(2)]
# More than half of the context that the tests' model is said to have.
OVER_THE_THRESHOLD = 150_000
# Words that do not repeat: current hosts stop a model that says the same thing over and over.
LONG_ANSWER = " ".join(f"{number * 7919 % 1_000_003:x}" for number in range(60_000))


def compression(in_place: bool, enabled: bool = True) -> dict[str, Any]:
    """The section of config.yaml that makes the host compact at half of the context and keep little."""
    return {
        "enabled": enabled,
        "threshold": 0.5,
        "protect_first_n": 1,
        "protect_last_n": 2,
        "in_place": in_place,
    }


@dataclass
class Story:
    """A conversation that is compacted in its first turn."""

    home: Home
    told: list[Told] = field(default_factory=list)
    rows: list[list[dict[str, Any]]] = field(default_factory=list)

    def gone(self) -> list[dict[str, Any]]:
        """Rows of calls that the second turn's first request does not show any more, newest first."""
        return [row for row in reversed(self.rows[0]) if row["tool_call_id"] not in self.told[1].visible]


@pytest.fixture(scope="module", params=[True, False], ids=["in_place", "new_id"])
def story(request: pytest.FixtureRequest, ledger_home: NewHome, model: ModelServer) -> Story:
    """Eight long writes, a compaction, two more; then two turns without calls, each in a process of its own."""
    tale = Story(home := ledger_home())
    home.configure(compression=compression(request.param))
    size = 6_000

    def write(name: str, **more: Any) -> Any:
        content = f"{name} " * size
        return calls(Call("write_file", {"path": str(home.work / name), "content": content}, id=name), **more)

    turns = [*map(write, BEFORE[:-1]), write(BEFORE[-1], prompt_tokens=OVER_THE_THRESHOLD), *map(write, AFTER)]
    resume = ""
    for words in ("go", "and now", "and later"):
        tale.told.append(say(home, model, words, resume, *turns, text("done")))
        tale.rows.append(home.ledger.rows())
        turns, resume = [], newest_session(home)
    assert tale.gone(), "the host did not compact anything away"
    rotated = {row["session_id"] for row in tale.rows[0]}
    assert (len(rotated) > 1) is not request.param
    return tale


def test_a_compaction_costs_no_row_and_doubles_none(story: Story) -> None:
    """Each of the ten calls has one row, confirmed in the turn that made it."""
    assert [row["tool_call_id"] for row in story.rows[0]] == [*BEFORE, *AFTER]
    assert {row["status"] for row in story.rows[0]} == {"CONFIRMED"}
    assert story.rows[0] == story.rows[1] == story.rows[2]


def test_calls_that_compaction_removed_are_recalled_newest_first(story: Story) -> None:
    """The next turn lists exactly the calls that it does not show any more, and calls nothing unconfirmed."""
    assert story.told[1].rows == [row["id"] for row in story.gone()]
    assert "no longer visible above" in story.told[1].notice
    assert "never confirmed" not in story.told[1].notice


def test_recalled_calls_are_told_once(story: Story) -> None:
    """Neither the turn that was compacted nor the one after the recall hears of them."""
    assert [story.told[0].notice, story.told[2].notice] == ["", ""]


def test_both_ids_of_a_rotated_conversation_are_linked(story: Story) -> None:
    """A turn that began under one id and went on under another makes the second continue the first."""
    ids = list(dict.fromkeys(row["session_id"] for row in story.rows[0]))
    edges = query(story.home.ledger.path, "SELECT session_id, parent_id, kind FROM sessions")

    assert edges == [
        {"session_id": new, "parent_id": old, "kind": "rotation"} for old, new in zip(ids, ids[1:], strict=False)
    ]


@pytest.fixture(scope="module")
def crossing(ledger_home: NewHome, model: ModelServer) -> Story:
    """A long conversation, a host killed in a call, and a resumed turn in which compaction gives the session a new id:
    before its first request, or, on hosts that first ask the provider how long the conversation is, after it."""
    tale = Story(home := ledger_home("slow"))
    home.configure(compression=compression(in_place=False, enabled=False))
    for words in ("tell", "tell more"):
        say(home, model, words, newest_session(home) if words != "tell" else "", text(LONG_ANSWER))
    session = newest_session(home)
    model.play(calls(Call("write_file", {"path": str(home.work / "stuck"), "content": "s"}, id="held")))
    run = home.start_chat("go", session)
    run.wait_for(lambda: begun(home), "the call hangs")
    run.kill()
    tale.rows.append(home.ledger.rows())
    home.configure(compression=compression(in_place=False))
    turns = [calls(Call("terminal", {"command": "true"}, id="short"), prompt_tokens=OVER_THE_THRESHOLD), text("done")]
    for words in ("and now", "and later"):
        tale.told.append(say(home, model, words, session, *turns))
        turns, session = [], newest_session(home)
    tale.rows.append(home.ledger.rows())
    assert session != tale.rows[0][0]["session_id"], "the host did not give the session a new id"
    return tale


def test_a_ghost_from_before_a_rotation_is_told_once(crossing: Story) -> None:
    """The conversation goes on under a new id and hears once of the call that its earlier id issued."""
    (row,) = [row for row in crossing.rows[-1] if row["tool_call_id"] == "held"]
    told = [one for one in crossing.told if "ghosts" in one.sections]

    assert row["status"] == "GHOST_REPORTED"
    assert [one.sections["ghosts"] for one in told] == [[row["id"]]]


def test_a_ghost_is_told_in_the_session_that_continues_its_own(host: Host, crossing: Story) -> None:
    """Where the new id comes before the first request, the notice goes to it, although another id issued the call."""
    if host.numbers >= COUNTS_FIRST:
        pytest.skip(f"Hermes {host.version} compacts a resumed session only after its first request")
    (row,) = [row for row in crossing.rows[-1] if row["tool_call_id"] == "held"]
    notices = query(crossing.home.ledger.path, "SELECT session_id FROM notices")

    assert [notice["session_id"] != row["session_id"] for notice in notices] == [True] * len(notices)
    assert notices
