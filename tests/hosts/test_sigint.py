"""A host that is interrupted (SIGINT, as Ctrl-C sends it) in the middle of a call."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.harness import PLUGIN
from tests.hosts.model_server import Call, ModelServer, calls, text

SLEEP_SECONDS = 8


@pytest.fixture(scope="module")
def after(ledger_home: NewHome, model: ModelServer) -> dict[str, Any]:
    """The row after the interrupt (`cut`), after the next turn of that session (`settled`), and that turn's words."""
    home = ledger_home()
    begun = home.work / "begun"
    model.play(calls(Call("terminal", {"command": f"touch {begun}; sleep {SLEEP_SECONDS}"}, id="cut")), text("over"))
    run = home.start_chat("do the long thing")
    run.wait_for(begun.exists, "the command has begun")
    # Versions end differently here (by the signal, with 1, with 130): what counts is the ledger.
    run.interrupt()
    cut = home.ledger.only()
    before = len(model.requests)
    model.play(text("understood"))
    home.chat("go on", cut["session_id"])
    return {"cut": cut, "settled": home.ledger.only(), "words": model.requests[before].last_user}


def test_an_interrupted_call_is_never_confirmed(after: dict[str, Any]) -> None:
    """A command cut short is not recorded as done: its effect is unknown."""
    for row in (after["cut"], after["settled"]):
        assert row["status"] != "CONFIRMED"
        assert row["effect"] == "unknown"


def test_an_interrupted_call_does_not_stay_pending(after: dict[str, Any]) -> None:
    """By the next turn the call has an outcome, or it is a ghost."""
    assert after["settled"]["status"] != "PENDING"


def test_only_a_call_without_an_outcome_is_told(after: dict[str, Any]) -> None:
    """The next turn hears of the call exactly when nobody recorded how it ended."""
    assert (PLUGIN in after["words"]) == (after["settled"]["status"] == "GHOST_REPORTED")
