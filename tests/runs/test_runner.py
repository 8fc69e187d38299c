"""`run exec` against small scripts in the place of a host: signals, hangs, time-outs, retries, what is kept."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).with_name("fakehost.py")
LONGEST_S = 30.0


@dataclass
class Done:
    code: int
    verdict: dict[str, Any]
    said: str
    seconds: float

    @property
    def reasons(self) -> str:
        return "\n".join(self.verdict["reasons"])


class Exec:
    """Starts `run exec` in a process of its own, in an empty home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.save = folder / "run.jsonl"
        self.variables: dict[str, str] = {}
        self._running: list[subprocess.Popen[str]] = []

    def start(self, steps: str, *options: str, host: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "agent_ledger.cli", "run", "exec", "--json", "-", "--save", str(self.save),
                   *options, "--", sys.executable, str(FAKE), *host, "chat", "-q", steps]  # fmt: skip
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES", "GITHUB"))}
        environment |= {"HERMES_HOME": str(self.folder), "PYTHONPATH": str(ROOT), **self.variables}
        running = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self._running.append(running)
        return running

    def finish(self, running: subprocess.Popen[str]) -> Done:
        began = time.monotonic()
        out, said = running.communicate(timeout=LONGEST_S)
        assert "Traceback" not in said, said
        return Done(running.returncode, json.loads(out), said, time.monotonic() - began)

    def __call__(self, steps: str, *options: str, host: tuple[str, ...] = ()) -> Done:
        return self.finish(self.start(steps, *options, host=host))

    def close(self) -> None:
        for one in self._running:
            with contextlib.suppress(ProcessLookupError):
                one.kill()
            one.communicate()


@pytest.fixture
def execute(tmp_path: Path) -> Iterator[Exec]:
    made = Exec(tmp_path)
    yield made
    made.close()


def wait_for(path: Path) -> None:
    until = time.monotonic() + LONGEST_S
    while not path.exists():
        assert time.monotonic() < until, f"{path} never came"
        time.sleep(0.02)


def test_a_finished_run_is_a_success_and_is_saved_whole(execute: Exec) -> None:
    """The verdict is the record's, and the saved stream is what the host wrote, odd lines and all, for this user."""
    done = execute("init raw:odd use:terminal done:terminal text:fine result:0")

    assert (done.code, done.verdict["outcome"], done.verdict["text"]) == (0, "success", "fine")
    assert [line[:12] for line in execute.save.read_text().splitlines()] == [
        '{"type": "sy', "odd", '{"type": "to', '{"type": "to', '{"type": "te', '{"type": "re',
    ]  # fmt: skip
    assert stat.S_IMODE(execute.save.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("steps", "code", "outcome"),
    [
        ("init result:1 exit:1", 1, "failed"),
        ("init result:0 exit:3", 1, "contradicted"),
        ("init use:terminal exit:0", 1, "incomplete"),
        ("init result:78 exit:78", 78, "failed"),
        ("init result:75 exit:75", 75, "retry_later"),
        ("exit:2", 2, "no_stream"),
        ("raw:hello exit:0", 1, "no_stream"),
        ("exit:78", 78, "no_stream"),
    ],
)
def test_outcome_and_exit_code(execute: Exec, steps: str, code: int, outcome: str) -> None:
    """Record and process decide together, and a process without any event passes its own code on."""
    done = execute(steps)

    assert (done.code, done.verdict["outcome"]) == (code, outcome)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_passed_on(execute: Exec, number: signal.Signals) -> None:
    """The host gets it, ends its turn, and its own result decides: 130."""
    begun = execute.folder / "begun"
    running = execute.start(f"polite init use:terminal touch:{begun} sleep:20")
    wait_for(begun)
    running.send_signal(number)
    done = execute.finish(running)

    assert (done.code, done.verdict["outcome"], done.verdict["unfinished"]) == (130, "interrupted", ["terminal"])
    assert f"{number.name} was passed on" in done.reasons


def test_a_host_that_ignores_signals_is_killed_after_grace(execute: Exec) -> None:
    """Its stream has no result: incomplete, and what arrived is kept."""
    begun = execute.folder / "begun"
    running = execute.start(f"deaf init use:terminal touch:{begun} sleep:20", "--grace", "0.5")
    wait_for(begun)
    running.send_signal(signal.SIGINT)
    done = execute.finish(running)

    assert (done.code, done.verdict["outcome"]) == (1, "incomplete")
    assert "was killed" in done.reasons and done.seconds < 10
    assert len(execute.save.read_text().splitlines()) == 2


def test_more_signals_shorten_the_patience(execute: Exec) -> None:
    """A second Ctrl-C leaves a second, a third one none."""
    begun = execute.folder / "begun"
    running = execute.start(f"deaf init touch:{begun} sleep:20", "--grace", "20")
    wait_for(begun)
    for _ in range(2):
        running.send_signal(signal.SIGINT)
        time.sleep(0.2)
    done = execute.finish(running)

    assert done.code == 1 and done.seconds < 10


def test_a_timeout_interrupts_first(execute: Exec) -> None:
    """A host that obeys writes its result: interrupted, and the reason names the option."""
    done = execute("polite init sleep:20", "--timeout", "1")

    assert (done.code, done.verdict["outcome"]) == (130, "interrupted")
    assert "--timeout 1 s" in done.reasons


def test_a_hang_after_the_result_is_ended_and_is_no_failure(execute: Exec) -> None:
    """The record is the end signal: what the process does after it is cut short, and its death says nothing."""
    done = execute("init result:0 sleep:20", "--grace", "0.5")

    assert (done.code, done.verdict["outcome"]) == (0, "success")
    assert "still there" in done.reasons and done.seconds < 10


def test_a_child_that_holds_the_pipe_does_not_hold_the_verdict(execute: Exec) -> None:
    """The process's end is the end of the stream, also where something it started lives on."""
    done = execute("child:15 init result:0")

    assert done.code == 0 and done.seconds < 10


def test_a_killed_host_is_incomplete(execute: Exec) -> None:
    """Half a stream is no success, whatever it says so far."""
    done = execute("init text:fine use:terminal raw:{\"type\":\"result\",\"exit_code\":0")

    assert (done.code, done.verdict["outcome"], done.verdict["unreadable"]) == (1, "incomplete", 1)


def test_what_arrived_outlives_a_crash_of_the_runner(execute: Exec) -> None:
    """SIGKILL to the runner itself: the saved stream has what the host had written."""
    begun = execute.folder / "begun"
    running = execute.start(f"init text:fine use:terminal touch:{begun} sleep:3")
    wait_for(begun)
    time.sleep(0.2)
    running.kill()
    running.wait()

    assert len(execute.save.read_text().splitlines()) == 3


def test_the_option_is_added_where_it_is_missing_and_only_there(execute: Exec) -> None:
    """A host that does not know the option has done nothing yet: it is started again without it, and quietly."""
    done = execute("init result:0", host=("--old",))

    assert "this host has no --format stream-json" in done.said and "unrecognized" not in done.said
    assert (done.code, done.verdict["outcome"]) == (1, "no_stream")
    assert "is agent-ledger enabled" in done.reasons


def test_wrong_use_of_another_kind_is_not_tried_again(execute: Exec) -> None:
    """Only a complaint about the very option means an old host."""
    counted = execute.folder / "count"
    execute.variables["FAKE_ATTEMPTS"] = "1"
    done = execute(f"count:{counted} err:wrong exit:2")

    assert (done.code, counted.read_text()) == (2, "x") and "wrong" in done.said


def test_75_is_tried_again_and_every_attempt_is_reported(execute: Exec) -> None:
    """The last attempt decides; the earlier ones are named, and their streams are kept beside it."""
    execute.variables |= {"FAKE_ATTEMPTS": "3", "HERMES_KANBAN_TASK": "t1"}
    done = execute(f"init count:{execute.folder / 'count'} result:0", "--retry", "5", "--retry-delay", "0.1")

    assert (done.code, done.verdict["outcome"]) == (0, "success")
    assert [reason.split(":")[0] for reason in done.verdict["reasons"]] == ["attempt 1", "attempt 2"]
    assert [path.name for path in sorted(execute.folder.glob("run.jsonl*"))] == [
        "run.jsonl", "run.jsonl.1", "run.jsonl.2",
    ]  # fmt: skip


def test_only_75_is_tried_again(execute: Exec) -> None:
    """A failure is a failure; and the option says where the host never gives 75."""
    done = execute("init result:1 exit:1", "--retry", "3", "--retry-delay", "0")

    assert done.code == 1 and not list(execute.folder.glob("run.jsonl.*"))
    assert "HERMES_KANBAN_TASK" in done.said


@pytest.mark.parametrize(("unsafe", "attempts"), [((), 1), (("--retry-unsafe",), 2)])
def test_an_attempt_that_may_have_changed_something_is_not_repeated(
    execute: Exec, unsafe: tuple[str, ...], attempts: int
) -> None:
    """Where no ledger knows better, a call that changes something counts as done; --retry-unsafe insists."""
    execute.variables |= {"FAKE_ATTEMPTS": "2", "HERMES_KANBAN_TASK": "t1"}
    counted = execute.folder / "count"
    steps = f"init use:terminal done:terminal count:{counted} result:0"
    done = execute(steps, "--retry", "1", "--retry-delay", "0", *unsafe)

    assert (done.code, len(counted.read_text())) == ((75, 1) if attempts == 1 else (0, 2))
    assert ("not tried again" in done.reasons) == (attempts == 1)


def test_a_signal_ends_the_wait_for_the_next_attempt(execute: Exec) -> None:
    """Ctrl-C between two attempts: 130, and no further one."""
    execute.variables |= {"FAKE_ATTEMPTS": "9", "HERMES_KANBAN_TASK": "t1"}
    counted = execute.folder / "count"
    running = execute.start(f"init count:{counted}", "--retry", "3", "--retry-delay", "20")
    wait_for(counted)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    done = execute.finish(running)

    assert (done.code, counted.read_text()) == (130, "x")


@pytest.mark.parametrize(("doctor", "code"), [("0", 0), ("1", 1)])
def test_the_preflight_stops_a_run(execute: Exec, doctor: str, code: int) -> None:
    """Where the host's own check fails, the run is not started."""
    execute.variables["FAKE_DOCTOR"] = doctor
    begun = execute.folder / "begun"
    done = execute(f"init touch:{begun} result:0", "--preflight")

    assert (done.code, begun.exists()) == (code, code == 0)
    assert ("preflight" in done.reasons) == (code == 1)


def test_a_model_cannot_speak_to_the_ci_runner(execute: Exec) -> None:
    """In GitHub Actions, what the host prints for people can be no workflow command."""
    execute.variables["GITHUB_ACTIONS"] = "true"
    done = execute("init err:::error::forged err:##[error]forged result:0")

    assert "\n::" not in "\n" + done.said and "##[" not in done.said and "forged" in done.said


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--timeout", "soon"), "--timeout"),
        (("--retry", "-1"), "--retry"),
        (("--save", "missing/run.jsonl"), "--save"),
        (("--ledger", "missing.db"), "--ledger"),
    ],
)
def test_wrong_use_is_named_before_anything_starts(execute: Exec, options: tuple[str, ...], named: str) -> None:
    """Exit 2, the option by name, and no run."""
    begun = execute.folder / "begun"
    running = execute.start(f"init touch:{begun} result:0", *options)
    _, said = running.communicate(timeout=LONGEST_S)

    assert running.returncode == 2 and named in said and not begun.exists()


def test_a_command_that_does_not_exist_is_wrong_use(execute: Exec) -> None:
    """It is named, with what to write instead."""
    done = subprocess.run(
        [sys.executable, "-m", "agent_ledger.cli", "run", "exec", "--", "no-such-hermes", "chat", "-q", "hi"],
        env={**os.environ, "HERMES_HOME": str(execute.folder)}, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 2 and "no-such-hermes cannot be started" in done.stderr
