"""Policy in a real host: a refusal is honoured, the agent reads why, and dry run gets in nobody's way."""

from __future__ import annotations

import json

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, calls, text

RULE = {
    "id": "no-forbidden", "severity": "high", "reason": "That file is the user's.", "instead": "Write beside it.",
    "argument": {"name": "path", "regex": "forbidden"},
}  # fmt: skip


def with_policy(home: Home, mode: str) -> Home:
    folder = home.path / "plugin-data" / "agent-ledger"
    folder.mkdir(parents=True, mode=0o700)
    for name, content in (("policy.json", json.dumps({"version": 1, "rules": [RULE]})), ("policy_mode", mode)):
        (folder / name).write_text(content)
        (folder / name).chmod(0o600)
    return home


@pytest.mark.parametrize("mode", ["enforce", "dry_run"])
def test_refusal_in_a_real_host(ledger_home: NewHome, model: ModelServer, mode: str) -> None:
    """Enforced, the write does not happen, the model reads rule and reason, one row says ERROR:blocked and no alarm is
    raised; in a dry run it happens, and the row says what would have been refused. A read is judged like a write."""
    home = with_policy(ledger_home(), mode)
    (home.work / "forbidden-to-read.txt").write_text("content of the user")
    target = home.work / "forbidden.txt"
    before = len(model.requests)
    model.play(
        calls(Call("write_file", {"path": str(target), "content": "x"}, id="first")),
        calls(Call("read_file", {"path": str(home.work / "forbidden-to-read.txt")}, id="second")),
        calls(Call("write_file", {"path": str(home.work / "fine.txt"), "content": "x"}, id="third")),
        text("done"),
    )
    home.chat("write two files and read one")

    found = {row["tool_call_id"]: (row["status"], row["effect"], row["policy_decision"]) for row in home.ledger.rows()}
    sent = json.dumps([request.body for request in model.requests[before:]])
    assert found["third"] == ("CONFIRMED", "applied", "allow") and len(home.ledger.rows()) == 3
    if mode == "enforce":
        assert found["first"] == found["second"] == ("ERROR:blocked", "none", "blocked")
        assert not target.exists() and "no-forbidden" in sent and "Write beside it." in sent
        assert "content of the user" not in sent
    else:
        assert found["first"] == ("CONFIRMED", "applied", "would_block") and found["second"][2] == "would_block"
        assert target.exists() and "content of the user" in sent and "no-forbidden" not in sent
    assert not [row for row in home.ledger.rows() if "not_honoured" in row["flags"]]
