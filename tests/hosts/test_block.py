"""A call that another plugin refuses never ran, and the ledger says so."""

from __future__ import annotations

from tests.hosts.conftest import NewHome
from tests.hosts.model_server import Call, ModelServer, calls, text


def test_a_call_blocked_by_another_plugin_had_no_effect(ledger_home: NewHome, model: ModelServer) -> None:
    """The blocked write is ERROR:blocked with effect none; the allowed one beside it is confirmed."""
    home = ledger_home("blocker")
    target = home.work / "forbidden.txt"
    model.play(
        calls(Call("write_file", {"path": str(target), "content": "x"}, id="refused")),
        calls(Call("write_file", {"path": str(home.work / "fine.txt"), "content": "x"}, id="allowed")),
        text("done"),
    )
    home.chat("write two files")

    outcomes = {row["tool_call_id"]: (row["status"], row["effect"]) for row in home.ledger.rows()}
    assert outcomes == {"refused": ("ERROR:blocked", "none"), "allowed": ("CONFIRMED", "applied")}
    assert not target.exists()


def test_a_blocked_call_is_not_reported_as_a_ghost(ledger_home: NewHome, model: ModelServer) -> None:
    """The turn after a blocked call hears nothing of it: everyone knows that it did not run."""
    home = ledger_home("blocker")
    model.play(calls(Call("terminal", {"command": "echo forbidden"}, id="refused")), text("done"))
    home.chat("run it")
    before = len(model.requests)
    model.play(text("done"))
    home.chat("and now", home.sessions()[-1])

    assert [request.last_user.strip() for request in model.requests[before:]] == ["and now"]
