"""The step of the GitHub Action: its inputs into the arguments of ``run exec``, the verdict into its outputs."""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ...errors import UsageError
from .. import main as commands

_SWITCHES = ("ignore-user-config", "ignore-rules", "pass-session-id", "checkpoints", "worktree")
_PROMPT_MOST = 100_000  # bytes of one argument: Linux takes no more than 131,072
_TEXT_MOST = 10_000
_MARK = "INPUT_"


def main(environ: Mapping[str, str] | None = None) -> int:
    """Run the step; returns the exit code of ``run exec``, 2 for inputs that make no run."""
    environ = os.environ if environ is None else environ
    try:
        folder = _folder(environ)
        arguments = _arguments(environ, folder)
    except UsageError as error:
        print(f"agent-ledger: {error}", file=sys.stderr)
        return error.exit_code
    # Hermes, and whatever it starts, has no use for the inputs; a prompt may be long.
    for name in [name for name in os.environ if name.startswith(_MARK)]:
        del os.environ[name]
    try:
        code = commands.main(arguments)
    except SystemExit as wrong:  # argparse
        code = wrong.code if isinstance(wrong.code, int) else 2
    sys.stdout.flush()
    _outputs(environ, folder, code)
    return code


def _input(environ: Mapping[str, str], name: str) -> str:
    return environ.get(_MARK + name.upper().replace("-", "_"), "")


def _words(environ: Mapping[str, str], name: str) -> list[str]:
    """One word a line: blanks inside belong to the word, and no shell reads it."""
    return [line for line in (line.strip() for line in _input(environ, name).splitlines()) if line]


def _is_on(environ: Mapping[str, str], name: str) -> bool:
    text = _input(environ, name).strip().lower()
    if text not in ("true", "false", ""):
        raise UsageError(f"input {name} is {text!r}. Give true or false")
    return text == "true"


def _folder(environ: Mapping[str, str]) -> Path:
    """Where the reports go: the folder that was asked for, or a new one among the runner's temporary files."""
    asked = _input(environ, "reports")
    try:
        if asked:
            Path(asked).mkdir(parents=True, exist_ok=True)
            return Path(asked).absolute()
        return Path(tempfile.mkdtemp(prefix="hermes-run-", dir=environ.get("RUNNER_TEMP") or None))
    except OSError as error:
        raise UsageError(f"input reports: cannot make {asked or 'a folder'} ({error.strerror})") from None


def _paths(folder: Path) -> dict[str, Path]:
    names = {"verdict": "verdict.json", "junit": "junit.xml", "summary": "summary.md", "stream": "stream.jsonl"}
    return {output: folder / name for output, name in names.items()}


def _arguments(environ: Mapping[str, str], folder: Path) -> list[str]:
    """The arguments of ``agent-ledger``. Raises UsageError."""
    paths = _paths(folder)
    found = ["run", "exec", "--github"]
    for option, output in (("save", "stream"), ("json", "verdict"), ("junit", "junit"), ("summary", "summary")):
        found.append(f"--{option}={paths[output]}")
    for name in ("timeout", "grace", "retry", "fail-on", "ledger"):
        if value := _input(environ, name).strip():
            found.append(f"--{name}={value}")
    if _is_on(environ, "preflight"):
        found.append("--preflight")
    return [*found, "--", *_command(environ)]


def _command(environ: Mapping[str, str]) -> list[str]:
    given = [name for name in ("prompt", "prompt-file", "command") if _input(environ, name).strip()]
    if len(given) != 1:
        named = " and ".join(given) or "none"
        raise UsageError(f"one of the inputs prompt, prompt-file and command is needed; there is {named}")
    if given == ["command"]:
        return _words(environ, "command")
    profile = _input(environ, "profile").strip()
    switches = [f"--{name}" for name in _SWITCHES if _is_on(environ, name)]
    return [
        *(_words(environ, "hermes") or ["hermes"]),
        *(["--profile", profile] if profile else []),
        "chat",
        *switches,
        *_words(environ, "args"),
        _query(environ),
    ]


def _query(environ: Mapping[str, str]) -> str:
    """The prompt as one argument; as a file only where it is too long for one, since hosts before 0.21 take none."""
    path = _input(environ, "prompt-file").strip()
    if not path:
        return f"--query={_input(environ, 'prompt')}"
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"input prompt-file: cannot read {path} ({error.strerror})") from None
    if len(content) > _PROMPT_MOST:
        return f"--query-file={Path(path).absolute()}"
    text = content.decode("utf-8", "replace").replace("\0", "")
    if not text.strip():
        raise UsageError(f"input prompt-file: {path} is empty")
    return f"--query={text}"


def _outputs(environ: Mapping[str, str], folder: Path, code: int) -> None:
    """Write the step's outputs, where there is a file for them."""
    target = environ.get("GITHUB_OUTPUT")
    if not target:
        return
    paths = _paths(folder)
    try:
        verdict = json.loads(paths["verdict"].read_text(encoding="utf-8"))
    except (OSError, ValueError):
        verdict = {}
    values = {
        "outcome": str(verdict.get("outcome", "")),
        "exit-code": str(code),
        "session-id": str(verdict.get("session_id", "")),
        "text": str(verdict.get("text", ""))[:_TEXT_MOST],
        **{output: str(path) for output, path in paths.items() if path.exists()},
    }
    with open(target, "a", encoding="utf-8", errors="replace", newline="\n") as file:
        for name, value in values.items():
            # A value may hold lines that look like further outputs; nobody can guess where it ends.
            end = f"end_{secrets.token_hex(16)}"
            file.write(f"{name}<<{end}\n{value}\n{end}\n")
