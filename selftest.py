"""Check the plugin, alone or inside a real Hermes: python3 selftest.py [--hermes PATH] [--json]

Where a Hermes can be imported, or ``--hermes`` names one (its interpreter, its ``hermes`` command, or its environment's
folder), that host's own plugin manager loads a copy of this folder and fires the hooks, and what that version passes to
each hook is read from its source and held against what the plugin accepts. Otherwise a built-in simulation stands in.

Every check has a Hermes home of its own that is thrown away; the user's home and ledger are never opened. Standard
library only. Exit 0: all checks passed, 1: one failed, 2: wrong use.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import json
import os
import site
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # a plugin folder is the user's clone: leave nothing in it
sys.path.insert(0, str(ROOT))
from agent_ledger.selftest.hosts import Failed, Home, Host, find_host, hermes_importable  # noqa: E402
from agent_ledger.selftest.scenarios import SCENARIOS, issue_and_die, loads  # noqa: E402

# A host does not have the plugin's folder on its path, and the plugin must not need it there.
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]


class Unusable(Exception):
    """The command line names no usable Hermes; the message says the thing, the cause and the next step."""


@dataclass(frozen=True)
class Result:
    """One line of the report."""

    name: str
    passed: bool
    detail: str


def run(top: Path) -> tuple[Host, list[Result]]:
    """Run every check, each in a home of its own below ``top``."""
    results: list[Result] = []
    with _entered(Home(top / "first")):
        host = find_host()
    for number, (name, scenario) in enumerate(SCENARIOS):
        home = Home(top / f"home-{number}")
        with _entered(home):
            results.append(_checked(name, functools.partial(_loaded, host, home, scenario)))
            if scenario is loads:
                results += [_checked(*check) for check in host.contract()]
    return host, results


def _loaded(host: Host, home: Home, scenario: Callable[[Host, Home], str]) -> str:
    host.load(home)
    return scenario(host, home)


def _checked(name: str, check: Callable[[], str]) -> Result:
    try:
        return Result(name, True, check())
    except Failed as failed:
        return Result(name, False, str(failed))
    except Exception as error:
        return Result(name, False, f"{type(error).__name__}: {error}")


@contextlib.contextmanager
def _entered(home: Home) -> Iterator[None]:
    """Make it the Hermes home of this process, and keep what the host prints off the report."""
    home.path.mkdir(parents=True, exist_ok=True)
    os.environ["HERMES_HOME"] = str(home.path)
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def forget_the_user(top: Path) -> None:
    """Take away what leads to the user's home and settings, before anything of a host is imported."""
    os.environ.setdefault("PYTHONUSERBASE", site.getuserbase())  # a Hermes installed with --user stays importable
    for name in [*os.environ]:
        if name.startswith(("HERMES_", "AGENT_LEDGER_", "TERMINAL_")):
            del os.environ[name]
    os.environ["HOME"] = os.environ["USERPROFILE"] = os.environ["HERMES_HOME"] = str(top)


def interpreter_of(named: str) -> Path:
    """The interpreter of a Hermes that the user named: itself, its ``hermes`` command, or its environment's folder."""
    path = Path(named).expanduser().absolute()
    if not path.exists():
        raise Unusable(f"--hermes {named}: there is no such file. Name the Python interpreter that runs your Hermes.")
    if path.is_dir():
        found = [path / "bin" / "python", path / "Scripts" / "python.exe"]
    elif path.name.startswith("python"):
        found = [path]
    else:
        # A launcher is often a link to the command in the environment, and the interpreter lies beside that.
        found = [path.resolve().parent / name for name in ("python", "python3", "python.exe")]
        first = path.read_bytes()[:300].split(b"\n")[0].decode(errors="replace")
        if first.startswith("#!") and "python" in first:
            found.insert(0, Path(first[2:].split()[-1]))
    for python in found:
        if python.is_file() and os.access(python, os.X_OK):
            return python
    raise Unusable(f"--hermes {named}: no Python interpreter found there. Name the one that runs your Hermes.")


def hand_over(named: str, as_json: bool) -> int:
    """Run this file with the interpreter of that Hermes; its exit status is ours."""
    python = interpreter_of(named)
    command = [str(python), str(Path(__file__).resolve()), "--expect-hermes", named, *(["--json"] if as_json else [])]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
    except OSError as error:
        raise Unusable(f"--hermes {named}: {python} cannot be started ({error}). Name another interpreter.") from error


def show(host: Host, results: list[Result], as_json: bool) -> int:
    """Print the report; returns the exit status."""
    failed = sum(not result.passed for result in results)
    passed, python = len(results) - failed, sys.version.split()[0]
    if as_json:
        report = {
            "host": "simulation" if host.simulated else "hermes",
            "host_version": host.version,
            "python": python,
            "sqlite": sqlite3.sqlite_version,
            "passed": passed,
            "failed": failed,
            "checks": [asdict(result) for result in results],
        }
        print(json.dumps(report, indent=2))
    else:
        hint = " (this Python has no Hermes; --hermes PATH names one)" if host.simulated else ""
        print(f"agent-ledger self test: {host.about}{hint}, Python {python}, SQLite {sqlite3.sqlite_version}")
        for result in results:
            print(f"{'ok  ' if result.passed else 'FAIL'}  {result.name}: {result.detail}")
        print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main(arguments: list[str] | None = None) -> int:
    """Run the self test; returns the exit status."""
    parser = argparse.ArgumentParser(prog="selftest.py", description="Check agent-ledger, alone or inside a Hermes.")
    parser.add_argument("--hermes", metavar="PATH", help="a Hermes: its interpreter, its hermes command, or its folder")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.add_argument("--expect-hermes", metavar="PATH", help=argparse.SUPPRESS)
    parser.add_argument("--issue-and-die", metavar="HOME", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        if options.hermes:
            return hand_over(options.hermes, options.json)
        if options.expect_hermes and not hermes_importable():
            raise Unusable(
                f"--hermes {options.expect_hermes}: {sys.executable} cannot import hermes_cli. "
                "Name the interpreter that runs your Hermes; the first line of its hermes command has it."
            )
    except Unusable as problem:
        print(problem, file=sys.stderr)
        return 2
    if options.issue_and_die:
        forget_the_user(options.issue_and_die)
        home = Home(options.issue_and_die)
        with _entered(home):
            issue_and_die(find_host(), home)
    with tempfile.TemporaryDirectory(prefix="agent-ledger-selftest-", ignore_cleanup_errors=True) as top:
        forget_the_user(Path(top))
        return show(*run(Path(top)), options.json)


if __name__ == "__main__":
    sys.exit(main())
