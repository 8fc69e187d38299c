"""The join of a run with the ledger that the real hooks wrote."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from agent_ledger.home import ledger_path
from agent_ledger.hooks import Hooks
from agent_ledger.runs import join
from agent_ledger.runs.verdict import LedgerFindings
from agent_ledger.store.reader import Reader
from tests.runs.streams import done, facts, init, result, use
from tests.store.rows import filled

FILE = {"path": "/srv/a.txt", "content": "x"}


class Host:
    """Calls the hooks as a host does, in the session that the streams of these tests name."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self.number = 0

    def call(self, tool: str, args: dict[str, Any], status: str | None = "ok", session: str = "run", **fields: Any) -> None:
        """``status``: None for a call that never ends."""
        self.number += 1
        keywords = dict(
            tool_name=tool, args=args, session_id=session, task_id="t", turn_id=f"{session}:t:0", tool_call_id=f"c{self.number}",
        )  # fmt: skip
        self.hooks.pre_tool_call(**keywords)
        if status is not None:
            self.hooks.post_tool_call(**keywords, result="{}", status=status, **fields)


@pytest.fixture
def hooked(home: Path) -> Host:
    return Host()


def now_ms() -> int:
    return int(time.time() * 1000)


def found(home: Path, *parts: bytes, **keywords: Any) -> LedgerFindings:
    stream = facts(init(session_id="run", timestamp=now_ms()), *parts)
    with Reader(ledger_path(str(home))) as reader:
        return join.findings(reader, stream, **keywords)


def end() -> bytes:
    return result(session_id="run", timestamp=now_ms())


def test_a_run_whose_calls_are_all_recorded_has_no_findings(home: Path, hooked: Host) -> None:
    """Read-only calls leave no row, and none is missed."""
    hooked.call("write_file", FILE)
    got = found(home, use("write_file"), done("write_file"), use("read_file"), done("read_file"), use("process", input={"action": "list"}), end())
    assert (got.known, got.calls, got.changed, got.ghosts, got.blocked) == (True, 1, 1, (), ())
    assert (got.only_stream, got.only_ledger) == ({}, {})


def test_a_call_that_is_pending_after_the_run_is_a_ghost(home: Path, hooked: Host) -> None:
    """Its grace period and its process do not matter: the run is over."""
    hooked.call("cronjob", {"action": "create", "name": "backup"}, status=None)
    got = found(home, use("cronjob"), end())
    assert [(one.tool, one.status) for one in got.ghosts] == [("cronjob", "PENDING")]


def test_a_refused_call_is_blocked_and_not_missed(home: Path, hooked: Host) -> None:
    """Hosts leave it out of the stream."""
    hooked.call("terminal", {"command": "make"}, status="blocked", error_type="plugin_block")
    got = found(home, end())
    assert ([one.tool for one in got.blocked], got.only_ledger, got.changed) == (["terminal"], {}, 0)


def test_calls_of_one_side_only_are_listed(home: Path, hooked: Host) -> None:
    """By tool and number."""
    hooked.call("write_file", FILE)
    got = found(home, use("terminal"), done(), use("terminal"), done(), end())
    assert (got.only_stream, got.only_ledger) == ({"terminal": 2}, {"write_file": 1})


def test_a_run_without_the_plugin_is_visible_as_such(home: Path, hooked: Host) -> None:
    """The ledger knows nothing of the session, and the stream changed something."""
    hooked.call("write_file", FILE, session="another")
    got = found(home, use("terminal"), done(), end())
    assert (got.known, got.only_stream) == (False, {"terminal": 1})
    assert join.without("x", facts(use("terminal"), use("read_file"))).only_stream == {"terminal": 1}


def test_other_runs_of_the_session_are_left_out(home: Path, hooked: Host) -> None:
    """A session can be resumed: rows from long before the first event belong to an earlier run."""
    filled(home, 50, status="PENDING", effect="unknown", apart=3600)  # sessions s0 to s49
    stream = facts(init(session_id="s49", timestamp=now_ms()), result(session_id="s49", timestamp=now_ms()))
    with Reader(ledger_path(str(home))) as reader:
        assert join.findings(reader, stream).calls == 0


def test_the_process_finds_what_the_session_does_not(home: Path, hooked: Host) -> None:
    """A stream that died at once names no session; delegated children have their own."""
    hooked.call("write_file", FILE, status=None, session="child")
    with Reader(ledger_path(str(home))) as reader:
        got = join.findings(reader, facts(), [join.owner_of(os.getpid())], time.time() - 5)
        other = join.findings(reader, facts(), ["p1-s1-"], time.time() - 5)
    assert (len(got.ghosts), got.only_ledger, other.calls) == (1, {}, 0)


def test_odd_times_are_no_bounds(home: Path, hooked: Host) -> None:
    """A stamp that no date can hold leaves the whole session."""
    hooked.call("write_file", FILE)
    stream = facts(init(session_id="run", timestamp=2**53), result(session_id="run", timestamp=2**53))
    with Reader(ledger_path(str(home))) as reader:
        assert join.findings(reader, stream).calls == 1
