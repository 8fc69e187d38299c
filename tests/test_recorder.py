"""What becomes of announcements and posts, seen through the host's hooks and the ledger."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simhost import SimHost, turn_id

A, B = {"path": "/srv/a.txt", "content": "a"}, {"path": "/srv/b.txt", "content": "b"}


def remove(host: SimHost) -> None:
    for suffix in ("", "-wal", "-shm"):
        os.unlink(f"{host.ledger}{suffix}")


def test_post_after_the_ledger_was_removed_settles_no_other_call(host: SimHost) -> None:
    """A call issued into a ledger that is gone must not confirm the call with its row number in the new one."""
    host.pre("write_file", A, call="a")
    remove(host)
    time.sleep(0.05)
    host.pre("write_file", B, call="b")
    host.post("write_file", A, call="a")
    assert host.sql("SELECT status FROM ledger WHERE tool_call_id = 'b'") == [("PENDING",)]


def test_post_of_removed_row_is_an_orphan(host: SimHost) -> None:
    """Where the user deleted the row, its post leaves a row of its own, under a new number."""
    host.pre("write_file", A)
    host.sql("DELETE FROM ledger")
    host.post("write_file", A)
    assert host.sql("SELECT id, status, flags LIKE '%orphan%' FROM ledger") == [(2, "CONFIRMED", 1)]


@pytest.mark.parametrize("rest", ["1", "id > 1", "id = 3"])
def test_ids_are_never_used_again(host: SimHost, rest: str) -> None:
    """Whatever the user deletes, neither a call nor an orphan gets a number that was given out before."""
    for number in range(3):
        host.run("write_file", A, call=f"c{number}")
    host.sql(f"DELETE FROM ledger WHERE {rest}")  # noqa: S608
    host.post("write_file", B, call="orphan")
    host.pre("write_file", B, call="next")
    assert host.sql("SELECT id FROM ledger WHERE tool_call_id IN ('orphan', 'next') ORDER BY id") == [(4,), (5,)]


def test_orphan_of_a_constant_id_is_not_taken_for_a_duplicate(host: SimHost) -> None:
    """A post with other arguments under an id that was used before is a call of its own."""
    host.run("write_file", A, call="call_0")
    host.post("write_file", B, call="call_0")
    assert host.sql("SELECT flags LIKE '%orphan%' FROM ledger ORDER BY id") == [(0,), (1,)]


def test_second_post_changes_nothing(host: SimHost) -> None:
    """The same post again is the same call."""
    host.run("write_file", A)
    host.post("write_file", A, status="error", error_type="tool_error")
    assert host.sql("SELECT status FROM ledger") == [("CONFIRMED",)]


@pytest.mark.parametrize("status", ["timeout", "cancelled"])
def test_late_ok_upgrades(any_host: SimHost, status: str) -> None:
    """An ok after a timeout or cancellation confirms the same row, marked late."""
    any_host.pre("write_file", A)
    any_host.post("write_file", A, "", status=status)
    any_host.post("write_file", A)
    assert any_host.sql("SELECT status, flags FROM ledger") == [("CONFIRMED", "late")]
    assert any_host.sql("SELECT from_status, to_status FROM transitions") == [(f"ERROR:{status}", "CONFIRMED")]


def test_late_error_of_a_ghost(host: SimHost) -> None:
    """A ghost that failed after all gets its error, marked late."""
    host.pre("write_file", A)
    host.age(200)
    host.turn()
    host.post("write_file", A, status="error", error_type="OSError")
    assert host.sql("SELECT status, flags FROM ledger") == [("ERROR:OSError", "late")]


def test_rewritten_arguments_are_one_row(any_host: SimHost) -> None:
    """A host that rewrites arguments between pre and post leaves one row, marked."""
    any_host.pre("write_file", A)
    any_host.post("write_file", B)
    assert any_host.sql("SELECT status, flags FROM ledger") == [("CONFIRMED", "args_changed")]


def test_rotation_inside_a_turn(any_host: SimHost) -> None:
    """The session id rotates between pre and post: one row, and the edge is noted."""
    turn = turn_id("s0", "t0")
    any_host.pre("write_file", A, turn=turn)
    any_host.post("write_file", A, session="s1", turn=turn)
    assert any_host.sql("SELECT session_id, status FROM ledger") == [("s0", "CONFIRMED")]
    assert any_host.sql("SELECT session_id, parent_id, kind FROM sessions") == [("s1", "s0", "rotation")]


def test_reads_go_with_the_next_row(any_host: SimHost) -> None:
    """A row names the read-only tools that were called before it in its session, and the next row does not again."""
    any_host.run("read_file", {"path": "/srv/a.txt"}, call="r1")
    any_host.run("search_files", {"pattern": "x"}, call="r2")
    any_host.run("write_file", A, call="w1")
    any_host.run("write_file", B, call="w2")
    found = any_host.sql("SELECT reads FROM ledger ORDER BY id")
    assert sorted(found[0][0].split()) == ["read_file", "search_files"] and found[1] == ("",)


def test_post_with_an_id_leaves_nested_calls_alone(host: SimHost) -> None:
    """A post whose pre was dropped does not confirm a call that runs inside execute_code."""
    host.pre("execute_code", {"code": "x"}, call="x1")
    host.pre("write_file", A, call="", turn="")
    host.post("write_file", B, call="w9")
    assert host.sql("SELECT status FROM ledger WHERE outer_id IS NOT NULL") == [("PENDING",)]


@pytest.mark.parametrize(("mode", "kept"), [("redacted", False), ("full", True), ("hash", False)])
def test_store_args(new_host: Callable[..., SimHost], monkeypatch: pytest.MonkeyPatch, mode: str, kept: bool) -> None:
    """The setting store_args decides whether a secret is kept."""
    monkeypatch.setenv("AGENT_LEDGER_STORE_ARGS", mode)
    host = new_host("E")
    secret = "pa" + "ss-9f8e7d"
    host.run("mcp__x__login", {"password": secret})
    ((stored,),) = host.sql("SELECT args_json FROM ledger")
    assert (secret in stored) is kept
    assert host.sql("SELECT status FROM ledger") == [("CONFIRMED",)]


def test_unknown_tools_can_be_ignored(new_host: Callable[..., SimHost], monkeypatch: pytest.MonkeyPatch) -> None:
    """unknown_tools: ignore leaves no row of a tool that nobody knows."""
    monkeypatch.setenv("AGENT_LEDGER_UNKNOWN_TOOLS", "ignore")
    host = new_host("E")
    host.run("frobnicate", {})
    host.run("write_file", A)
    assert host.sql("SELECT tool_name FROM ledger") == [("write_file",)]


def test_working_folder_is_the_one_of_the_call(host: SimHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """cwd is where the process was when the call was announced, also right after it went elsewhere."""
    host.pre("write_file", A, call="a")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    host.pre("write_file", B, call="b")
    assert host.sql("SELECT cwd FROM ledger WHERE tool_call_id = 'b'") == [(str(tmp_path / "elsewhere"),)]


def test_documented_statements(host: SimHost) -> None:
    """The two statements of the documentation work as they stand."""
    for number in range(3):
        host.run("write_file", A, call=f"c{number}")
    newest = host.sql("SELECT ts, tool_name, status, substr(args_json,1,60) FROM ledger ORDER BY id DESC LIMIT 20;")
    assert [row[1:3] for row in newest] == [("write_file", "CONFIRMED")] * 3
    host.sql("DELETE FROM ledger WHERE id NOT IN (SELECT id FROM ledger ORDER BY id DESC LIMIT 50000)")
    assert host.sql("SELECT count(*) FROM ledger") == [(3,)]
