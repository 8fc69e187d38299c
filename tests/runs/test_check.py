"""`run check` as a user runs it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import folder, ledger, record
from tests.runs.streams import done, event, init, result, use
from tests.simhost import PLUGIN_FOLDER

GOOD = init() + event("text", text="hi") + use() + done() + result()


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    path.write_bytes(GOOD)
    return path


def piped(home: Path, data: bytes, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "agent_ledger.cli", "run", "check", *arguments], input=data, cwd=PLUGIN_FOLDER,
        env={**os.environ, "HERMES_HOME": str(home), **environment}, capture_output=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_file_and_standard_input_have_one_verdict(home: Path, stream: Path) -> None:
    """- is standard input, and so is no file at all."""
    of_file = ledger(home, "run", "check", "--json", "-", str(stream))
    assert of_file.returncode == 0
    for arguments in (["-"], []):
        assert piped(home, GOOD, "--json", "-", *arguments).stdout.decode() == of_file.stdout


@pytest.mark.parametrize(("data", "arguments", "code"), [
    (GOOD, [], 0), (GOOD, ["--process-rc=3"], 1), (GOOD, ["--process-rc=-9"], 1), (init(), [], 1), (b"", [], 2), (b"text\n", [], 2),
    (init() + result(exit_code=75), [], 75), (init() + result(exit_code=78), [], 78), (init() + result(exit_code=130), [], 130),
    (init() + result(), ["--fail-on", "no-tools,no-text"], 1), (init() + result(), ["--fail-on", "none"], 0),
])  # fmt: skip
def test_exit_codes(home: Path, data: bytes, arguments: list[str], code: int) -> None:
    """The verdict's, whatever is printed."""
    assert piped(home, data, *arguments).returncode == code


@pytest.mark.parametrize(("arguments", "named"), [
    (["no-such-file.jsonl"], "no-such-file.jsonl"), (["."], "cannot read ."), (["--process-rc=x"], "--process-rc=x"),
    (["--fail-on", "ghost"], "ghost"), (["--json", "-", "--junit", "-"], "--json and --junit"), (["--json", "/no/such/folder/x"], "--json"),
    (["--junit", "."], "--junit"), (["--ledger", "/no/such/ledger.db"], "/no/such/ledger.db"), (["--save", "/no/such/x"], "--save"),
    (["--json", ""], "--json"), (["--save", "x.jsonl", "run.jsonl"], "--save"),
])  # fmt: skip
def test_wrong_use_is_2_and_names_what_is_wrong(home: Path, arguments: list[str], named: str) -> None:
    """One message, no verdict, no traceback."""
    done = piped(home, GOOD, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert named in done.stderr.decode() and b"Traceback" not in done.stderr


def test_all_reports_at_once(home: Path, stream: Path, tmp_path: Path) -> None:
    """Files for programs, text for people, and GitHub's page is added to."""
    page = tmp_path / "page.md"
    page.write_text("# before\n")
    names = {name: str(tmp_path / f"report.{name}") for name in ("json", "junit", "summary")}
    arguments = [word for name, path in names.items() for word in (f"--{name}", path)]
    done = ledger(home, "run", "check", str(stream), *arguments, "--github", GITHUB_STEP_SUMMARY=str(page))
    assert done.returncode == 0 and done.stdout.startswith("success, exit 0\n") and "\n::notice title=" in done.stdout
    assert json.loads(Path(names["json"]).read_text())["outcome"] == "success"
    assert ET.parse(names["junit"]).getroot().attrib["tests"] == "2"  # noqa: S314
    assert page.read_text().startswith("# before\n") and Path(names["summary"]).read_text() in page.read_text()


def test_a_report_that_cannot_be_written_makes_a_success_a_problem(home: Path, stream: Path) -> None:
    """The verdict is printed all the same; a failure keeps its own code."""
    done = ledger(home, "run", "check", str(stream), "--json", "/dev/full")
    assert (done.returncode, "success, exit 0" in done.stdout, "--json" in done.stderr) == (1, True, True)
    stream.write_bytes(init() + result(exit_code=75))
    assert ledger(home, "run", "check", str(stream), "--json", "/dev/full").returncode == 75


def test_save_keeps_every_byte_and_only_for_this_user(home: Path, tmp_path: Path) -> None:
    """What is no event too; a file that was there is replaced, with its mode."""
    data = b"banner \xff\n" + GOOD + b"{half"
    kept = tmp_path / "kept.jsonl"
    kept.write_bytes(b"old" * 10_000)
    kept.chmod(0o644)
    assert piped(home, data, "-", "--save", str(kept)).returncode == 0
    assert (kept.read_bytes(), stat.S_IMODE(kept.stat().st_mode)) == (data, 0o600)


def test_save_keeps_what_arrived_before_the_end(home: Path, tmp_path: Path) -> None:
    """A kill loses nothing that was there."""
    kept = tmp_path / "kept.jsonl"
    child = subprocess.Popen(
        [sys.executable, "-m", "agent_ledger.cli", "run", "check", "-", "--save", str(kept)], cwd=PLUGIN_FOLDER,
        env={**os.environ, "HERMES_HOME": str(home)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(init())
    child.stdin.flush()
    deadline = time.monotonic() + 20
    while not (kept.exists() and kept.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)
    child.kill()
    child.communicate()
    assert kept.read_bytes() == init()


def test_save_on_a_full_disk_says_so(home: Path) -> None:
    """The verdict stands, the command does not claim that all is well."""
    done = piped(home, GOOD, "-", "--save", "/dev/full")
    assert (done.returncode, b"not complete" in done.stderr, b"success" in done.stdout) == (1, True, True)


def test_the_ledger_of_the_home_is_asked(home: Path, stream: Path) -> None:
    """A call that a killed process left open fails a run that calls itself finished; --ledger none does not look."""
    record(home)
    stream.write_bytes(init(session_id="s1", timestamp=int(time.time() * 1000)) + result(session_id="s1", timestamp=...))
    failed = ledger(home, "run", "check", str(stream))
    assert failed.returncode == 1 and "--fail-on ghosts" in failed.stdout and "backup-daily" in failed.stdout
    assert ledger(home, "run", "check", str(stream), "--ledger", "none").returncode == 0
    for named in (home, folder(home) / "ledger.db"):
        assert ledger(home.parent, "run", "check", str(stream), "--ledger", str(named)).returncode == 1


def test_a_ledger_that_cannot_be_read_is_said_and_decides_nothing(home: Path, stream: Path) -> None:
    """Without evidence there is no finding."""
    folder(home).mkdir(parents=True)
    (folder(home) / "ledger.db").write_bytes(b"no database" * 1000)
    done = ledger(home, "run", "check", str(stream))
    assert done.returncode == 0 and "the ledger was not asked" in done.stdout


def test_the_text_cannot_hold_a_workflow_command(home: Path) -> None:
    """GitHub reads the output of every step, whether or not it was asked to."""
    hostile = "a\n::error::x\n##[add-mask]y"
    data = init(model=hostile) + use(hostile) + result(exit_code=1, error=hostile, text=hostile)
    out = piped(home, data).stdout.decode()
    assert "##[" not in out and not [line for line in out.splitlines() if line.strip().startswith("::")]


def test_json_before_the_command_prints_the_verdict_too(home: Path, stream: Path) -> None:
    """As for every other command."""
    shown: Any = json.loads(ledger(home, "--json", "run", "check", str(stream)).stdout)
    assert shown["outcome"] == "success"
