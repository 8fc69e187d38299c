"""The host gives up on a call that goes on: its late outcome settles the same row, and the agent is told once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, Turn, calls, text
from tests.hosts.talk import Told, newest_session, resume_until_told, say, wait_for_status

HOST_PATIENCE_S = 3


@dataclass
class Story:
    """A conversation by chapter: its rows by call id, and what its turns were told."""

    home: Home
    rows: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)

    def note(self, chapter: str) -> None:
        self.rows[chapter] = {row["tool_call_id"]: row for row in self.home.ledger.rows()}


def batch(home: Home) -> Turn:
    """Two writes at once, one of which does not return before it is released."""
    return calls(*[
        Call("write_file", {"path": str(home.work / name), "content": name}, id=name) for name in ("slow", "fast")
    ])  # fmt: skip


@pytest.fixture(scope="module")
def late(ledger_home: NewHome, model: ModelServer) -> Story:
    """The host's deadline for a batch runs out over a write that is done but does not return; then it returns."""
    story = Story(home := ledger_home("slow"))
    home.variables["HERMES_CONCURRENT_TOOL_TIMEOUT_S"] = str(HOST_PATIENCE_S)
    answers = iter([lambda: batch(home), lambda: after_giving_up(story)])
    story.told.append(say(home, model, "go", script=lambda _: next(answers, lambda: text("done"))()))
    story.note("finished")
    for words in ("and now", "and later"):
        story.told.append(say(home, model, words, newest_session(home)))
        story.note(words)
    return story


def after_giving_up(story: Story) -> Turn:
    """The model is asked again only once the host has given up: look, release the write, and wait for its outcome."""
    wait_for_status(story.home, "fast", ["CONFIRMED"])
    story.note("given up")
    (story.home.path / "release").touch()
    wait_for_status(story.home, "slow", ["CONFIRMED"])
    return text("done")


def test_a_call_that_the_host_gave_up_on_is_unknown(late: Story) -> None:
    """After the deadline the row says timeout or cancelled, and not that nothing happened: the file is there."""
    row = late.rows["given up"]["slow"]

    assert (row["status"], row["effect"]) in [("ERROR:timeout", "unknown"), ("ERROR:cancelled", "unknown")]
    assert late.rows["given up"]["fast"]["status"] == "CONFIRMED"


def test_a_late_completion_upgrades_the_same_row(late: Story) -> None:
    """The second outcome lands in the row of the first one, with a mark and a transition; no row is added."""
    row = late.rows["finished"]["slow"]
    before = late.rows["given up"]["slow"]["status"]

    assert (row["status"], row["effect"], row["flags"].split()) == ("CONFIRMED", "applied", ["late"])
    changes = [(one["from_status"], one["to_status"]) for one in late.home.ledger.transitions(row["id"])]
    assert changes == [(before, "CONFIRMED")]
    assert len(late.home.ledger.rows()) == 2


def test_a_late_completion_is_told_once(late: Story) -> None:
    """The next turn hears that the call completed after all, the one after that hears nothing."""
    row = late.rows["finished"]["slow"]

    assert [told.rows for told in late.told] == [[], [row["id"]], []]
    assert "completed after all" in late.told[1].line(row["id"])


@pytest.fixture(scope="module")
def cut(ledger_home: NewHome, model: ModelServer) -> Story:
    """Ctrl-C into a batch of which one write is done and does not return; then the session is resumed."""
    story = Story(home := ledger_home("slow"))
    model.play(batch(home), text("over"))
    run = home.start_chat("go")
    run.wait_for(lambda: (home.path / "begun").exists() and (home.work / "fast").exists(), "both writes are done")
    wait_for_status(home, "fast", ["CONFIRMED"])
    run.interrupt()
    story.note("interrupted")
    story.told += resume_until_told(home, model, "and now", newest_session(home))
    story.note("resumed")
    return story


def test_an_interrupted_batch_keeps_a_row_a_call(cut: Story) -> None:
    """Ctrl-C neither loses a row nor adds one, and what was confirmed stays so."""
    assert sorted(cut.rows["resumed"]) == ["fast", "slow"]
    assert cut.rows["resumed"]["fast"]["status"] == "CONFIRMED"


def test_an_interrupted_call_is_never_taken_for_one_without_effect(cut: Story) -> None:
    """The host says "was skipped" of a call that wrote its file: the row's effect must not be none."""
    assert (cut.home.work / "slow").read_text() == "slow"
    assert [cut.rows[chapter]["slow"]["effect"] != "none" for chapter in cut.rows] == [True, True]


def test_an_interrupted_call_does_not_stay_pending_in_the_next_turn(cut: Story) -> None:
    """By then the host has reported it as given up, or the agent was told that nobody knows."""
    row = cut.rows["resumed"]["slow"]

    assert row["status"] in ("ERROR:cancelled", "ERROR:timeout", "GHOST_REPORTED")
    reported = [told for told in cut.told if told.sections.get("ghosts") == [row["id"]]]
    assert len(reported) == (1 if row["status"] == "GHOST_REPORTED" else 0)


def test_the_confirmed_write_of_an_interrupted_batch_is_at_most_recalled(cut: Story) -> None:
    """Some hosts drop the interrupted turn from the conversation: then the write is called done, never unconfirmed."""
    fast = cut.rows["resumed"]["fast"]["id"]
    spoken = [kind for told in cut.told for kind, rows in told.sections.items() if fast in rows]

    assert spoken in ([], ["recalled"])
