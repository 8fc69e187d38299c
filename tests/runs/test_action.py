"""The GitHub Action: its step as GitHub runs it, with the environment that GitHub sets, around a small fake host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).with_name("fakehost.py")
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
DOCUMENT = (ROOT / "docs" / "github-action.md").read_text(encoding="utf-8")


def section(name: str) -> dict[str, str]:
    """The keys of a top-level section of action.yml, each with its lines (no YAML library is installed here)."""
    body = re.search(rf"^{name}:\n((?:[ #].*\n|\n)+)", ACTION, re.MULTILINE)
    assert body is not None
    return {
        found[1]: found[2]
        for found in re.finditer(r"^  ([a-z-]+):\n((?:    .*\n)+)", body[1], re.MULTILINE)
    }  # fmt: skip


@dataclass
class Step:
    code: int
    out: str
    said: str
    outputs: dict[str, str]
    page: str


def outputs(text: str) -> dict[str, str]:
    """GITHUB_OUTPUT as GitHub reads it: `name<<MARK`, lines, `MARK`."""
    found, lines = {}, iter(text.splitlines())
    for line in lines:
        name, _, mark = line.partition("<<")
        value = []
        for inner in lines:
            if inner == mark:
                break
            value.append(inner)
        found[name] = "\n".join(value)
    return found


def run_step(folder: Path, **inputs: str) -> Step:
    """What `shell: bash` does with the `run` line of action.yml: inputs as in its `env`, defaults filled in."""
    files = {name: folder / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
    for path in files.values():
        path.touch()
    (folder / "temp").mkdir(exist_ok=True)
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    values = {
        name: given.get(name, found[1] if (found := re.search(r'default: "(.*)"', body)) else "")
        for name, body in section("inputs").items()
    }
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "HERMES_HOME": str(folder / "hermes"),
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_WORKSPACE": str(folder),
        "RUNNER_TEMP": str(folder / "temp"),
        **{name: str(path) for name, path in files.items()},
        **{"INPUT_" + name.upper().replace("-", "_"): value for name, value in values.items()},
    }
    line = re.search(r"^      run: (.+)$", ACTION, re.MULTILINE)
    assert line is not None
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line[1]], cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return Step(done.returncode, done.stdout, done.stderr, outputs(files["GITHUB_OUTPUT"].read_text()),
                files["GITHUB_STEP_SUMMARY"].read_text())  # fmt: skip


def fake(*words: str) -> str:
    """The input `hermes` that starts the fake host."""
    return "\n".join((sys.executable, str(FAKE), *words))


def command(steps: str) -> str:
    return f"{fake()}\nchat\n-q\n{steps}"


def test_a_run_that_succeeds(tmp_path: Path) -> None:
    """Exit 0, outputs, a job page, and reports in a new folder among the runner's temporary files."""
    step = run_step(tmp_path, command=command("init use:terminal done:terminal result:0"))

    assert step.code == 0, step.said
    assert {name: step.outputs[name] for name in ("outcome", "exit-code", "text")} == {
        "outcome": "success", "exit-code": "0", "text": "fine",
    }  # fmt: skip
    assert json.loads(Path(step.outputs["verdict"]).read_text())["outcome"] == "success"
    assert ElementTree.parse(step.outputs["junit"]).getroot().tag.startswith("testsuite")  # noqa: S314
    assert len(Path(step.outputs["stream"]).read_text().splitlines()) == 4
    assert Path(step.outputs["stream"]).parent.parent == tmp_path / "temp"
    assert "success" in step.page and Path(step.outputs["summary"]).exists()


@pytest.mark.parametrize(
    ("steps", "code", "outcome"),
    [("init result:1 exit:1", 1, "failed"), ("init", 1, "incomplete"), ("init result:75 exit:75", 75, "retry_later")],
)
def test_a_run_that_does_not(tmp_path: Path, steps: str, code: int, outcome: str) -> None:
    """The step ends with the verdict's exit code, the outputs are there all the same, and an annotation says why."""
    step = run_step(tmp_path, command=command(steps))

    assert (step.code, step.outputs["outcome"], step.outputs["exit-code"]) == (code, outcome, str(code))
    assert "::error" in step.out + step.said and outcome in step.page.replace("\\", "")


def test_switches_and_arguments_reach_hermes(tmp_path: Path) -> None:
    """Each as one word, whatever is in it, and nothing of it is read by a shell."""
    script = tmp_path / "hermes.py"
    script.write_text(
        "import json, sys\n"
        "print(json.dumps({'type': 'result', 'session_id': 's', 'exit_code': 0, 'text': json.dumps(sys.argv[1:])}))\n"
    )
    step = run_step(
        tmp_path,
        hermes=f"{sys.executable}\n{script}",
        prompt="--say; \"$(touch pwned)\" `x`\nsecond line",
        profile="ci",
        args="--max-turns\n30\n",
        **{name.replace("-", "_"): "true" for name in (
            "ignore-user-config", "ignore-rules", "pass-session-id", "checkpoints", "worktree")},
    )  # fmt: skip

    assert json.loads(step.outputs["text"]) == [
        "--profile", "ci", "chat", "--format", "stream-json", "--ignore-user-config", "--ignore-rules",
        "--pass-session-id", "--checkpoints", "--worktree", "--max-turns", "30",
        "--query=--say; \"$(touch pwned)\" `x`\nsecond line",
    ]  # fmt: skip
    assert not (tmp_path / "pwned").exists()


def test_a_prompt_from_a_file(tmp_path: Path) -> None:
    """A file reaches hosts that take no file, too; a very long one goes as a file."""
    script = tmp_path / "hermes.py"
    script.write_text(
        "import json, sys\n"
        "print(json.dumps({'type': 'result', 'session_id': 's', 'exit_code': 0, 'text': sys.argv[-1][:60]}))\n"
    )
    hermes = f"{sys.executable}\n{script}"
    (tmp_path / "short.md").write_text("Do it.")
    (tmp_path / "long.md").write_text("x" * 200_000)

    assert run_step(tmp_path, hermes=hermes, prompt_file="short.md").outputs["text"] == "--query=Do it."
    (tmp_path / "github_output").write_text("")
    assert run_step(tmp_path, hermes=hermes, prompt_file="long.md").outputs["text"].startswith("--query-file=/")


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ({}, "prompt, prompt-file and command"),
        ({"prompt": "a", "command": "b"}, "prompt and command"),
        ({"prompt": "a", "worktree": "yes"}, "input worktree"),
        ({"prompt_file": "missing.md"}, "missing.md"),
        ({"prompt": "a", "timeout": "soon"}, "--timeout"),
        ({"prompt": "a", "fail_on": "everything"}, "--fail-on"),
        ({"prompt": "a", "hermes": "no-such-hermes"}, "no-such-hermes"),
    ],
)
def test_wrong_inputs_are_named(tmp_path: Path, inputs: dict[str, Any], named: str) -> None:
    """Exit 2, and what is wrong in one line."""
    step = run_step(tmp_path, **inputs)

    assert (step.code, named in step.said) == (2, True), step.said


def test_an_answer_cannot_forge_outputs(tmp_path: Path) -> None:
    """A text that looks like a further output stays a text."""
    script = tmp_path / "hermes.py"
    script.write_text(
        "import json\n"
        "text = 'fine\\nEOF\\noutcome<<EOF\\nsuccess\\nEOF\\nexit-code=0'\n"
        "print(json.dumps({'type': 'result', 'session_id': 's', 'exit_code': 1, 'text': text}))\n"
    )
    step = run_step(tmp_path, hermes=f"{sys.executable}\n{script}", prompt="hi")

    assert (step.outputs["outcome"], step.outputs["text"].splitlines()[0]) == ("contradicted", "fine")


def test_the_preflight_stops_the_step(tmp_path: Path) -> None:
    """`hermes doctor` that fails is the end of it, with a verdict all the same."""
    script = tmp_path / "hermes.py"
    script.write_text("import sys\nsys.exit(1 if sys.argv[-1] == 'doctor' else 0)\n")
    step = run_step(tmp_path, hermes=f"{sys.executable}\n{script}", prompt="hi", preflight="true")

    assert (step.code, step.outputs["outcome"]) == (1, "no_stream") and "doctor" in step.page


def test_inputs_and_outputs_are_documented_and_handed_on() -> None:
    """Every input has a variable in the step and a line in the documentation, every output one too."""
    for name in section("inputs"):
        variable = "INPUT_" + name.upper().replace("-", "_")
        if name != "working-directory":
            assert f"{variable}: ${{{{ inputs.{name} }}}}" in ACTION
        assert f"| `{name}` |" in DOCUMENT
    for name in section("outputs"):
        assert f"steps.run.outputs.{name} }}}}" in ACTION and f"| `{name}` |" in DOCUMENT


def test_no_input_stands_in_the_text_of_a_script() -> None:
    """There it would be code: `run` lines hold no expression."""
    lines = [line for line in ACTION.splitlines() if line.strip().startswith("run:")]

    assert lines and not [line for line in lines if "${{" in line]
