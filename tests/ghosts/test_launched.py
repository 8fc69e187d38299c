"""Background commands and delegations whose process is gone: told once, unless the conversation shows their end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_ledger.ghosts import history, launched
from tests.simhost import SimHost, asked, told, turn_id, user

PROC, DELEG = "proc_0a1b2c3d4e5f", "deleg_dcbe60a7"
SLEEP = {"command": "sleep 600", "background": True}
STARTED = {"output": "Background process started", "session_id": PROC, "exit_code": 0, "error": None}


def process(content: Any, action: str = "poll", name: str = PROC, tool: str = "process") -> list[Any]:
    return [asked("p1", tool, {"action": action, "session_id": name}), told("p1", tool, content)]


@pytest.mark.parametrize(
    ("digest", "found"),
    [
        (json.dumps(STARTED), PROC), (json.dumps({"status": "dispatched", "delegation_id": DELEG}), DELEG), ("", ""),
        ("nothing of the kind", ""), ("proc_xyz", ""), ("subproc_0a1b2c3d", ""),
    ],
)  # fmt: skip
def test_handle(digest: str, found: str) -> None:
    """The id that the host gave a launch, from its result."""
    assert launched.handle(digest) == found


@pytest.mark.parametrize(
    "messages",
    [
        process({"session_id": PROC, "status": "exited", "exit_code": 0}), process({"status": "already_exited"}, "kill"),
        process({"exit_code": 3}, "wait"), process({"status": "not_found"}), process({"status": "killed"}, "kill", tool="process_manage"),
        process({"processes": [{"session_id": PROC, "status": "exited"}]}, "list", ""),
        [user(f"[Background process {PROC} completed (exit code 0)]")], [user(f"[ASYNC DELEGATION COMPLETE: {PROC}]")],
    ],
)  # fmt: skip
def test_end_is_shown(messages: list[Any]) -> None:
    """A process result that says so, or the host's own message."""
    assert launched.end_is_shown(PROC, history.calls(messages), messages)


@pytest.mark.parametrize(
    "messages",
    [
        [], process({"session_id": PROC, "status": "running"}), process({"status": "exited"}, name="proc_ffffffff"),
        process({"processes": [{"session_id": PROC, "status": "running"}]}, "list", ""), process("exited"),
        [asked("c1", "terminal", SLEEP), told("c1", "terminal", STARTED)], [user(f"[Background process {PROC} is still running]")],
        [user(f"[Background process {PROC} matched pattern 'exited']")],
        [asked("c1", "terminal", {"command": f"echo {PROC} exited"}), told("c1", "terminal", f"{PROC} exited")],
    ],
)  # fmt: skip
def test_end_is_not_shown(messages: list[Any]) -> None:
    """A process that goes on, another one, and what a command printed are no end."""
    assert not launched.end_is_shown(PROC, history.calls(messages), messages)


def test_no_handle_no_end() -> None:
    """A launch without an id cannot be looked up."""
    assert not launched.end_is_shown("", [], [user("Background process completed")])


# --- with the plugin


def owner_ends(host: SimHost, where: str = "1") -> None:
    """Give rows an owner that has ended: its lock file is there and nobody holds it."""
    name = "p999999-s1-b00000000-n1-0badc0de"
    (host.home / "plugin-data" / "agent-ledger" / "owners" / f"{name}.lock").touch(mode=0o600)
    host.sql(f"UPDATE ledger SET owner = ? WHERE {where}", name)  # noqa: S608


def test_launch_of_a_living_process_is_not_told(host: SimHost) -> None:
    """However old it is."""
    host.run("terminal", SLEEP, json.dumps(STARTED))
    host.age(90_000)
    assert host.turn() is None


def test_launch_of_a_dead_process_is_told_once(host: SimHost) -> None:
    """Launched, end not seen."""
    host.run("terminal", SLEEP, json.dumps(STARTED))
    owner_ends(host)
    text = host.turn()
    assert text is not None and "terminal" in text and "the end was not seen" in text
    assert host.turn(turn=turn_id("s0", "t0", 3)) is None
    assert host.sql("SELECT status, effect FROM ledger") == [("CONFIRMED", "started")]


def test_launch_whose_end_is_shown_is_not_told(host: SimHost) -> None:
    """The conversation shows that it exited; later turns do not need to show it again."""
    host.run("terminal", SLEEP, json.dumps(STARTED))
    shown = [
        user("go"),
        asked("c1", "terminal", SLEEP),
        told("c1", "terminal", STARTED),
        *process({"status": "exited"}),
        user("x"),
    ]
    assert host.turn(history=shown) is None
    owner_ends(host)
    assert host.turn(history=[]) is None


def test_delegation_is_told_with_what_its_child_did(host: SimHost) -> None:
    """Confirmed and open calls of the child session are counted in the parent's notice, and stay the child's own."""
    host.run("delegate_task", {"goal": "x"}, json.dumps({"status": "dispatched", "delegation_id": DELEG}))
    host.turn("kid", parent="s0", task="k", history=[])
    host.run("write_file", {"path": "/srv/a"}, session="kid", task="k")
    host.pre("write_file", {"path": "/srv/b"}, call="c2", session="kid", task="k")
    owner_ends(host)
    text = host.turn()
    assert text is not None and "1 child session: 1 calls confirmed, 1 not" in text and "/srv/b" not in text
    child = host.turn("kid", parent="s0", task="k2")
    assert child is not None and "/srv/b" in child and "delegate_task" not in child


def test_launch_settled_by_the_conversation_is_told_too(host: SimHost) -> None:
    """The post was lost, the result is shown, the process is gone: told by the next turn at the latest."""
    host.pre("terminal", SLEEP)
    owner_ends(host)
    shown = [user("go"), asked("c1", "terminal", SLEEP), told("c1", "terminal", STARTED), user("x")]
    texts = [host.turn(history=shown), host.turn(history=shown, turn=turn_id("s0", "t0", 4))]
    assert [text for text in texts if text is not None and "the end was not seen" in text]
