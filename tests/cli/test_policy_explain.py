"""``policy explain``: what a call would do, what the policy says, and that nothing of it is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_ledger.cli import main
from agent_ledger.policy.judge import judge
from agent_ledger.policy.session import Session
from tests.cli import policies
from tests.cli.commands import as_json, ledger, snapshot
from tests.cli.policies import DELETE, ETC, SAY, pack, write
from tests.simhost import PLUGIN_FOLDER


def test_a_refused_call_is_1_with_words_effect_rule_and_message(home: Path) -> None:
    """Everything between the text of the call and the verdict is shown."""
    write(home, pack(), "enforce")
    shown = as_json(home, "policy", "explain", 'X=/et; rm -r "${X}c"', "--workdir", "/srv")
    assert shown["commands"] == [["rm", "-r", "/etc"]]
    assert (shown["cwd"], shown["mode"], shown["refused"], shown["rule"]) == ("/srv", "enforce", True, "delete-tree")
    assert [(one["kind"], one["target"]) for one in shown["effects"]] == [("recursive_delete", "/etc")]
    assert [(one["rule"], one["denies"]) for one in shown["hits"]] == [("delete-tree", True)]
    assert "A whole tree would go." in shown["message"] and "Name the one folder" in shown["message"]
    done = ledger(home, "policy", "explain", ETC)
    assert done.returncode == 1
    assert all(text in done.stdout for text in ("command   rm -r /etc", "a system folder", "the agent reads", "Instead:"))


def test_a_harmless_call_is_0(home: Path) -> None:
    """With the effects that it has, and no message."""
    write(home, pack(), "dry_run")
    shown = as_json(home, "policy", "explain", f"echo {ETC!r}")
    assert (shown["refused"], shown["message"], shown["hits"]) == (False, None, [])
    assert ledger(home, "policy", "explain", "ls").returncode == 0


def test_without_a_policy_the_example_pack_answers(home: Path) -> None:
    """Nothing needs to be set up to ask, and asking leaves nothing behind."""
    shown = as_json(home, "policy", "explain", ETC)
    assert (shown["policy"]["origin"], shown["mode"], shown["rule"]) == ("example", "off", "delete-tree")
    assert snapshot(home) == {}


def test_another_policy_can_be_asked(home: Path, tmp_path: Path) -> None:
    """--policy wins over the one of the home; several rules may hit, and the allowing one is told as such."""
    write(home, pack(), "enforce")
    other = policies.given(tmp_path, {**DELETE, "id": "let-it", "action": "allow"})
    shown = as_json(home, "policy", "explain", ETC, "--policy", other)
    assert (shown["refused"], shown["rule"], shown["hits"][0]["denies"]) == (False, "let-it", False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--tool", SAY[0], json.dumps(SAY[1])],
        [json.dumps({"tool": SAY[0], "args": SAY[1]})],
    ],
)
def test_any_tool_can_be_explained(home: Path, arguments: list[str]) -> None:
    """By its name and its arguments as JSON."""
    write(home, pack())
    shown = as_json(home, "policy", "explain", *arguments)
    assert (shown["tool"], shown["args"], shown["rule"]) == (*SAY, "no-orders")


def test_a_call_comes_from_standard_input(home: Path) -> None:
    """A dash reads it, so that no quoting is needed."""
    write(home, pack())
    done = subprocess.run(
        [sys.executable, "-m", "agent_ledger.cli", "policy", "explain", "-", "--json"], input=f"cd /tmp &&\n{ETC}\n",
        cwd=PLUGIN_FOLDER, env={**os.environ, "HERMES_HOME": str(home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)["commands"][-1]) == (1, ["rm", "-r", "/etc"])


@pytest.mark.parametrize("arguments", [[""], ["--tool", "write_file", "no json"], ["ls", "--policy", "/not/there"]])
def test_wrong_use_is_2(home: Path, arguments: list[str]) -> None:
    """One message, no traceback."""
    done = ledger(home, "policy", "explain", *arguments)
    assert (done.returncode, done.stdout) == (2, "") and "Traceback" not in done.stderr


def test_nothing_is_executed_and_no_secret_is_shown(home: Path, tmp_path: Path) -> None:
    """The call is only thought through: no file changes, and what it would print of a credential stays unknown."""
    (tmp_path / ".env").write_text("PASSWORD=" + "hunter2horse")
    (tmp_path / "keep.txt").write_text("kept")
    before = snapshot(tmp_path)
    call = "touch made; " + "rm -r keep.txt; echo $(cat .en" + "v)"
    done = ledger(home, "policy", "explain", call, "--workdir", str(tmp_path))
    assert "hunter2" not in done.stdout and snapshot(tmp_path) == before


def test_asking_is_never_refused_itself() -> None:
    """The command that explains a dangerous call does nothing dangerous."""
    for call in (f"hermes ledger policy explain '{ETC}'", f"echo '{ETC}' | agent-ledger policy explain -"):
        assert judge("terminal", {"command": call}, Session()).effects == ()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.text(max_size=60), st.text(alphabet="rm -/$(){}'\"\\`;|&<>\n{[:", max_size=40)))
def test_no_text_makes_a_traceback(home: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the call looks like, the exit code is one of the documented."""
    try:
        code = main.main(["policy", "explain", "--json", "--", text])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code in (0, 1, 2)
