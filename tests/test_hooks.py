"""What a host sees of the four hooks: their return values, on every family of hosts, whatever it sends."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_ledger import __version__
from tests.simhost import FAMILIES, HOOKS, PLUGIN_FOLDER, SimHost, asked, told, turn_id, user

FILE = {"path": "/srv/a.txt", "content": "alpha"}


class Hostile:
    """An object whose every method refuses."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("hostile value")

    __repr__ = __str__ = __bool__ = __hash__ = __eq__ = __len__ = __iter__ = _refuse  # type: ignore[assignment]


class Leaving:
    """An object that ends the program when anything is asked of it."""

    def _leave(self, *_: object) -> Any:
        raise SystemExit(3)

    __repr__ = __str__ = __bool__ = __hash__ = __eq__ = __len__ = __iter__ = _leave  # type: ignore[assignment]


def test_exactly_the_four_hooks_are_registered(host: SimHost) -> None:
    """The plugin registers the hooks that its manifest declares, and no other."""
    (context,) = host.contexts.values()
    assert sorted(context.hooks) == sorted(HOOKS)
    assert all(len(callbacks) == 1 for callbacks in context.hooks.values())


def test_the_version_is_there() -> None:
    """The version is one text in one place."""
    assert __version__.count(".") == 2


def test_call_is_on_disk_before_it_runs(any_host: SimHost) -> None:
    """When pre returns, another program reads the call as PENDING."""
    any_host.pre("write_file", FILE)
    assert any_host.sql("SELECT tool_name, status, effect FROM ledger") == [("write_file", "PENDING", "unknown")]


def test_confirmed_call_is_one_row(any_host: SimHost) -> None:
    """Pre and post of one call leave one CONFIRMED row, on every family."""
    any_host.run("write_file", FILE)
    assert any_host.sql("SELECT status, effect, duration_ms FROM ledger") == [("CONFIRMED", "applied", 12)]


def test_ids_are_stored_as_the_host_gave_them(any_host: SimHost) -> None:
    """The four ids of a call stand in their columns."""
    any_host.pre("write_file", FILE, call="call_7", session="s4", task="t5", turn="s4:t5:0000000a")
    found = any_host.sql("SELECT session_id, task_id, turn_id, tool_call_id FROM ledger")
    assert found == [("s4", "t5", "s4:t5:0000000a", "call_7")]


def test_recorder_never_refuses(any_host: SimHost) -> None:
    """Without a policy pre returns None, also for a command that looks dangerous."""
    assert any_host.pre("terminal", {"command": "drop everything"}) is None


def test_arguments_stay_untouched(any_host: SimHost) -> None:
    """The hooks leave the host's arguments as they are."""
    args = {"path": "/srv/a.txt", "content": "alpha", "more": {"list": [1, 2, {"deep": True}]}}
    before = copy.deepcopy(args)
    any_host.run("write_file", args)
    assert args == before


def test_read_only_tool_leaves_no_row(any_host: SimHost) -> None:
    """A tool that only reads is not recorded, neither by its pre nor by its post."""
    any_host.run("write_file", FILE, call="c0")
    any_host.run("read_file", {"path": "/srv/a.txt"}, call="c1")
    assert any_host.sql("SELECT tool_name FROM ledger") == [("write_file",)]


def test_first_read_makes_no_ledger(host: SimHost) -> None:
    """As long as nothing changes anything, no file is made."""
    host.run("read_file", {"path": "/srv/a.txt"})
    assert not host.ledger.exists()


def test_nothing_to_say_is_none(any_host: SimHost) -> None:
    """A turn of a conversation where all is confirmed gets no text."""
    any_host.run("write_file", FILE)
    assert any_host.turn() is None


def test_lost_call_is_told_in_the_next_turn(any_host: SimHost) -> None:
    """A call whose grace is over is named in the context of the next turn."""
    any_host.pre("write_file", FILE)
    any_host.age(200)
    text = any_host.turn()
    assert text is not None and "write_file" in text and "/srv/a.txt" in text and "agent-ledger" in text


def test_lost_call_is_told_once(any_host: SimHost) -> None:
    """The turn after the one that was told, and answered, says nothing more."""
    any_host.pre("write_file", FILE)
    any_host.age(200)
    assert any_host.turn(message="first")
    shown = [user("first"), {"role": "assistant", "content": "looked"}, user("second")]
    assert any_host.turn(message="second", history=shown, turn=turn_id("s0", "t0", 10)) is None
    assert any_host.sql("SELECT status FROM ledger") == [("GHOST_REPORTED",)]


def test_other_conversation_is_never_told(any_host: SimHost) -> None:
    """Somebody else's turn neither sees the lost call nor uses the warning up."""
    any_host.pre("write_file", FILE)
    any_host.age(200)
    assert any_host.turn(session="s9") is None
    assert any_host.turn(session="s0") is not None


def test_session_start_claims_nothing(any_host: SimHost) -> None:
    """A new session only counts; the warning stays for the conversation that issued the call."""
    any_host.pre("write_file", FILE)
    any_host.age(200)
    any_host.start("s9")
    assert any_host.sql("SELECT status FROM ledger") == [("PENDING",)]
    assert any_host.turn(session="s0") is not None


def test_parallel_calls_end_confirmed_or_explained(any_host: SimHost) -> None:
    """Of parallel calls, those whose post the host dropped are settled by the conversation: no false ghost."""
    calls = [("write_file", {"path": f"/srv/{number}.txt", "content": "x"}, f"u{number}") for number in range(6)]
    any_host.batch(calls)
    history = [user("go")]
    for tool, args, call in calls:
        history += [asked(call, tool, args), told(call, tool, {"bytes_written": 1})]
    any_host.age(200)
    assert any_host.turn(history=[*history, user("please go on")]) is None
    assert any_host.sql("SELECT DISTINCT status, effect FROM ledger") == [("CONFIRMED", "applied")]
    assert any_host.sql("SELECT count(*) FROM ledger") == [(6,)]


def test_calls_inside_execute_code_leave_no_ghost(any_host: SimHost) -> None:
    """Calls without ids inside execute_code follow it, whether or not the host reports them."""
    any_host.execute_code([("write_file", FILE), ("terminal", {"command": "make"})])
    assert any_host.sql("SELECT count(*) FROM ledger WHERE status <> 'CONFIRMED'") == [(0,)]
    any_host.age(5000)
    assert any_host.turn() is None


def test_calls_inside_execute_code_are_marked_nested(any_host: SimHost) -> None:
    """A call without ids that comes while execute_code runs is marked as nested in it."""
    any_host.execute_code([("write_file", FILE)])
    assert any_host.sql("SELECT flags LIKE '%nested%' FROM ledger ORDER BY id") == [(0,), (1,)]


def test_reload_between_pre_and_post(any_host: SimHost) -> None:
    """A reload of the plugin between pre and post changes nothing: one row, its outcome."""
    any_host.pre("write_file", FILE)
    any_host.reload()
    any_host.post("write_file", FILE)
    assert any_host.sql("SELECT status, flags FROM ledger") == [("CONFIRMED", "")]


def test_two_copies_record_once(any_host: SimHost) -> None:
    """Where the plugin is loaded twice in one process, a call is one row and a ghost is told by one copy."""
    any_host.mount("hermes_plugins.agent_ledger_again")
    any_host.pre("write_file", FILE)
    assert any_host.sql("SELECT count(*) FROM ledger") == [(1,)]
    any_host.age(200)
    text = any_host.turn()
    assert text is not None and text.count("[agent-ledger]") == 1


def test_two_homes_have_their_own_rows(any_host: SimHost, tmp_path: Path) -> None:
    """One process that serves two profiles keeps their calls apart."""
    other = tmp_path / "profile"
    any_host.pre("write_file", FILE, call="a")
    with any_host.at_home(other):
        any_host.run("terminal", {"command": "make"}, "{}", call="a")
    any_host.post("write_file", FILE, call="a")
    assert any_host.sql("SELECT tool_name, status FROM ledger") == [("write_file", "CONFIRMED")]
    there = SimHost(other)
    assert there.sql("SELECT tool_name, status FROM ledger") == [("terminal", "CONFIRMED")]


def test_delegated_child_is_another_conversation(new_host: Callable[..., SimHost]) -> None:
    """A child that was delegated to does not hear of its parent's lost calls, nor the parent of the child's."""
    host = new_host("E")
    host.pre("write_file", FILE, session="parent")
    host.pre("terminal", {"command": "make"}, session="child", task="sa-1", call="k1")
    host.age(5000)
    text = host.turn(session="child", task="sa-1", parent="parent")
    assert text is not None and "terminal" in text and "write_file" not in text
    text = host.turn(session="parent")
    assert text is not None and "write_file" in text and "terminal" not in text


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("hook", HOOKS)
def test_hook_without_any_keyword(hook: str, family: str, new_host: Callable[..., SimHost]) -> None:
    """A hook that is called with nothing returns None and does not raise."""
    assert new_host(family).call(hook, {}) == []


@pytest.mark.parametrize(
    "value", [None, 7, 1.5, b"bytes", ["list"], {"a": 1}, object(), Hostile(), "\ud800", "x" * 3000]
)
@pytest.mark.parametrize("hook", HOOKS)
def test_every_keyword_of_a_wrong_type(hook: str, value: Any, host: SimHost) -> None:
    """Whatever type every keyword has at once, the hook neither raises nor refuses."""
    names = (
        "tool_name", "args", "result", "task_id", "session_id", "tool_call_id", "turn_id", "status", "error_type",
        "error_message", "duration_ms", "user_message", "conversation_history", "parent_session_id", "platform",
    )  # fmt: skip
    assert host.call(hook, dict.fromkeys(names, value)) == []


@pytest.mark.parametrize("value", [Hostile(), {"a": Hostile()}, [Leaving()], {"s": {1, 2}}, b"\xff", "\ud800", 2**70])
def test_odd_arguments_leave_a_row_each(value: Any, any_host: SimHost) -> None:
    """Arguments that are no JSON are recorded as far as they can be, and their outcome too."""
    any_host.pre("write_file", value)
    any_host.post("write_file", value)
    assert any_host.sql("SELECT status FROM ledger") == [("CONFIRMED",)]


def test_unknown_keywords_are_taken(host: SimHost) -> None:
    """A keyword that a later host invents disturbs nothing."""
    host.call("pre_tool_call", {"tool_name": "write_file", "args": FILE, "session_id": "s0", "invented_later": 1})
    assert host.sql("SELECT tool_name FROM ledger") == [("write_file",)]


def test_failure_is_logged_and_the_call_runs(
    host: SimHost, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the plugin itself fails, the host gets None and the log gets one line that names the hook."""
    monkeypatch.setattr(host, "_current", host._current)
    import sys

    broken = sys.modules["hermes_plugins.agent_ledger.agent_ledger.runtime"]

    def fail(*_: object) -> Any:
        raise RuntimeError("out of order")

    monkeypatch.setattr(broken, "for_home", fail)
    with caplog.at_level(logging.WARNING, logger="agent_ledger"):
        assert host.pre("write_file", FILE) is None
    assert ["pre_tool_call" in record.getMessage() for record in caplog.records] == [True]


def test_surrogates_in_the_tool_name_do_not_lose_the_row(host: SimHost) -> None:
    """A tool name that UTF-8 cannot write is recorded as far as possible, not dropped."""
    host.pre("mcp__srv__\udcff", FILE)
    assert host.ledger.exists() and host.sql("SELECT count(*) FROM ledger") == [(1,)]


def test_working_folder_with_undecodable_name(host: SimHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder whose name is not UTF-8 calls are recorded as anywhere else."""
    import os

    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    monkeypatch.chdir(os.fsdecode(folder))
    host.run("write_file", FILE)
    assert host.ledger.exists() and host.sql("SELECT status FROM ledger") == [("CONFIRMED",)]


def test_terminal_backend_with_undecodable_name(host: SimHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment variable that is not UTF-8 costs no row."""
    monkeypatch.setenv("TERMINAL_ENV", "ssh\udcff")
    host.run("write_file", FILE)
    assert host.ledger.exists() and host.sql("SELECT status FROM ledger") == [("CONFIRMED",)]


def test_hooks_are_quick_on_the_usual_way(host: SimHost) -> None:
    """A hundred pairs take far less than a tenth of a second each, in a fresh thread each."""
    begin = time.monotonic()
    for number in range(100):
        host.run("terminal", {"command": f"step {number}"}, '{"exit_code": 0}', call=f"c{number}")
    assert time.monotonic() - begin < 5


def test_plugin_folder_is_not_on_the_path() -> None:
    """Nothing that a hook imports needs the plugin folder on sys.path: imports inside are relative."""
    for file in (PLUGIN_FOLDER / "agent_ledger").rglob("*.py"):
        for line in file.read_text(encoding="utf-8").splitlines():
            assert not line.strip().startswith(("import agent_ledger", "from agent_ledger")), f"{file.name}: {line}"
