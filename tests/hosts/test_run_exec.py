"""`run exec` around a real host: the right outcome and exit code for what can happen to a run, and the whole stream kept.

Hosts before 0.21.4 have no event stream of their own: there the plugin's hooks produce it, and the same must come out.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.checkout import ROOT
from tests.hosts.conftest import NewHome
from tests.hosts.harness import Home, wait_until
from tests.hosts.model_server import Call, ModelServer, Script, Turn, calls, error, text
from tests.hosts.test_policy import with_policy

NATIVE = (0, 21, 4)
LONGEST_S = 150
Meanwhile = Callable[["Execution"], None]


@dataclass
class Execution:
    """A run that is under way, and what came of it."""

    home: Home
    process: subprocess.Popen[str]
    save: Path
    code: int = 0
    said: str = ""
    verdict: dict[str, Any] | None = None

    def begun(self) -> None:
        """Wait until the tool call has begun."""
        wait_until((self.home.work / "begun").exists, "the command has begun", 90)

    def signal(self, number: int) -> None:
        self.begun()
        self.process.send_signal(number)

    def kill_host(self) -> None:
        """SIGKILL to the host alone: the only child of `run exec`."""
        self.begun()
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=True)
        os.kill(int(found.stdout.split()[0]), signal.SIGKILL)

    @property
    def outcome(self) -> tuple[str, int]:
        assert self.verdict is not None
        return str(self.verdict["outcome"]), self.code

    def events(self) -> list[dict[str, Any]]:
        """The saved stream; lines that are no events are left out."""
        lines = self.save.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith('{"')]

    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events()]


def execute(home: Home, *more: str, options: tuple[str, ...] = (), meanwhile: Meanwhile | None = None) -> Execution:
    """One run of `chat -q`, with the runner outside of the host, as a CI job has it."""
    save = home.root / "run.jsonl"
    command = [sys.executable, "-m", "agent_ledger.cli", "run", "exec", "--save", str(save), "--json", "-", *options,
               "--", str(home.host.command), "chat", "-q", "go on", *more]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=home.work, env={**home.environment, "PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    run = Execution(home, process, save)
    try:
        if meanwhile is not None:
            meanwhile(run)
        out, run.said = process.communicate(timeout=LONGEST_S)
    except BaseException:
        process.kill()
        print(process.communicate())
        raise
    run.code = process.returncode
    print(run.said, out)
    run.verdict = json.loads(out)
    if (run.verdict["record_code"], run.verdict["process_rc"]) == (0, -signal.SIGSEGV):
        # See Finished.crashed_at_exit: it comes after the result, and record and process disagree then.
        assert run.outcome == ("contradicted", 1)
        pytest.skip("this host's process crashed at its very end")
    return run


def is_whole(run: Execution) -> None:
    """The saved stream begins with `init` and ends with `result`, and says where it was made."""
    events = run.events()
    assert (events[0]["type"], events[0]["subtype"], events[-1]["type"]) == ("system", "init", "result")
    assert ("produced_by" in events[0]) == (run.home.host.numbers < NATIVE)
    assert run.save.stat().st_mode & 0o777 == 0o600


def after(turn: Turn, answer: Turn) -> Script:
    """A script of two turns for any number of runs, whatever else a host that is just ending asks for."""
    return lambda request: answer if request.messages[-1].get("role") == "tool" else turn


def sleeping(home: Home) -> Turn:
    return calls(Call("terminal", {"command": f"touch {home.work / 'begun'}; sleep 20"}, id="slow"))


def test_finished(ledger_home: NewHome, model: ModelServer) -> None:
    """Tools and an answer: success, with the tools as they were called and the answer of the record."""
    home = ledger_home()
    model.play(
        calls(Call("terminal", {"command": "echo one"}, id="a")),
        calls(Call("write_file", {"path": str(home.work / "made.txt"), "content": "x"}, id="b")),
        text("All done."),
    )
    run = execute(home)

    assert run.outcome == ("success", 0) and run.verdict is not None
    is_whole(run)
    assert run.verdict["text"] == "All done." and run.verdict["tokens"]["input"] > 0
    assert {name: stats["calls"] for name, stats in run.verdict["tools"].items()} == {"terminal": 1, "write_file": 1}
    assert (run.verdict["ledger"]["calls"], run.verdict["ledger"]["only_stream"]) == (2, {})
    assert [kind for kind in run.kinds() if kind.startswith("tool")] == ["tool_use", "tool_result"] * 2


def test_a_failed_tool(ledger_home: NewHome, model: ModelServer) -> None:
    """The run is a success all the same, unless it was asked otherwise."""
    home = ledger_home()
    model.follow(after(calls(Call("terminal", {"command": "exit 3"}, id="a")), text("It failed.")))
    run = execute(home)
    asked = execute(home, options=("--fail-on", "tool-errors"))

    assert run.verdict is not None and run.verdict["tools"]["terminal"]["errors"] == 1
    assert (run.outcome, asked.outcome) == (("success", 0), ("failed", 1))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal(ledger_home: NewHome, model: ModelServer, number: signal.Signals) -> None:
    """Passed on in the middle of a call: the host ends its turn, and the call has no result."""
    home = ledger_home()
    model.play(sleeping(home), text("over"))
    run = execute(home, meanwhile=lambda run: run.signal(number))

    assert run.outcome == ("interrupted", 130) and run.verdict is not None
    assert run.verdict["unfinished"] == ["terminal"]
    is_whole(run)


def test_a_killed_host_leaves_a_ghost(ledger_home: NewHome, model: ModelServer) -> None:
    """SIGKILL in the middle of a call: incomplete, what arrived is kept, and the ledger names the open call."""
    home = ledger_home()
    model.play(sleeping(home), text("over"))
    run = execute(home, meanwhile=Execution.kill_host)

    assert run.outcome == ("incomplete", 1) and run.verdict is not None
    assert run.verdict["unfinished"] == ["terminal"] and "result" not in run.kinds()
    assert [one["tool"] for one in run.verdict["ledger"]["ghosts"]] == ["terminal"]


@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_provider_that_fails(ledger_home: NewHome, model: ModelServer, status: int) -> None:
    """The record says so, with the provider's error; outside of a dispatched worker that is a 1."""
    home = ledger_home()
    # Otherwise current hosts come back to a failing provider for minutes.
    home.configure(agent={"api_max_retries": 1, "auto_recovery_cycles": 0})
    model.follow(lambda _: error(status))
    run = execute(home)

    assert run.outcome == ("failed", 1)
    is_whole(run)
    assert str(status) in run.events()[-1]["error"]


def test_a_worker_whose_provider_is_overloaded_is_told_to_come_back(ledger_home: NewHome, model: ModelServer) -> None:
    """75, which is tried again: the second attempt succeeds."""
    home = ledger_home()
    home.variables["HERMES_KANBAN_TASK"] = "t_none"
    model.follow(lambda _: error(429))
    run = execute(home)
    # The stream of the first attempt gets its own name before the second one starts.
    first = home.root / "run.jsonl.1"
    model.follow(lambda _: text("Here it is.") if first.exists() else error(429))
    again = execute(home, options=("--retry", "3", "--retry-delay", "0"))

    assert run.outcome == ("retry_later", 75)
    assert again.outcome == ("success", 0) and again.verdict is not None
    assert any(reason.startswith("attempt 1: retry_later, exit 75") for reason in again.verdict["reasons"])


def test_out_of_iterations(ledger_home: NewHome, model: ModelServer) -> None:
    """Older hosts exit 0 here: it is a failure on all of them."""
    home = ledger_home()
    model.follow(lambda _: calls(Call("terminal", {"command": "echo again"})))
    run = execute(home, "--max-turns", "2")

    assert run.outcome == ("failed", 1)
    is_whole(run)


def test_a_turn_that_stops_half_way(ledger_home: NewHome, model: ModelServer) -> None:
    """Arguments that stay broken end the turn; older hosts exit 0 and never say that the turn ended."""
    home = ledger_home()
    model.follow(lambda _: calls(Call("terminal", '{"command": ')))
    run = execute(home)

    assert run.outcome == ("failed", 1)
    is_whole(run)


def test_a_refused_call(ledger_home: NewHome, model: ModelServer) -> None:
    """Policy refuses a write: no tool call in the stream, the ledger knows it, and --fail-on blocked fails the run."""
    home = with_policy(ledger_home(), "enforce")
    refused = calls(Call("write_file", {"path": str(home.work / "forbidden.txt"), "content": "x"}, id="a"))
    model.follow(after(refused, text("It was refused.")))
    run = execute(home)
    asked = execute(home, options=("--fail-on", "blocked"))

    assert (run.outcome, asked.outcome) == (("success", 0), ("failed", 1)) and run.verdict is not None
    assert [one["tool"] for one in run.verdict["ledger"]["blocked"]] == ["write_file"]
    assert "tool_use" not in run.kinds()


def test_a_ghost_of_a_finished_run(ledger_home: NewHome, model: ModelServer) -> None:
    """The host ends well while a call that it gave up on is still open: success of the record, a failure by default."""
    home = ledger_home("slow")
    home.variables["HERMES_CONCURRENT_TOOL_TIMEOUT_S"] = "2"
    both = [Call("write_file", {"path": str(home.work / name), "content": name}, id=name) for name in ("slow", "fast")]
    model.play(calls(*both), text("done"))
    run = execute(home, options=("--grace", "3"))

    assert run.verdict is not None and run.outcome[0] in ("success", "failed")
    assert run.outcome == ("failed", 1) if run.verdict["ledger"]["ghosts"] else run.outcome == ("success", 0)
