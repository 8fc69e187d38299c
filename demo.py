"""Show the plugin's main job on a real Hermes: a host is killed in the middle of a call, and the agent is told.

    make demo        or: python3 demo.py [--host VERSION] [--keep]

Needs Python 3.11, git, and the package index of the machine for a first installation; no account, no key. What plays
the model is a script on loopback. The only lasting traces are `.venv/` and `.hosts/`, which git ignores. Exit 0 when
every step showed what it must, otherwise 1 with the step that did not.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
DEFAULT_HOST = "0.21.5.post2"
# 0.22 downloads an interpreter to install a plugin; 0.21.0 drops what plugins add to the first turn after a crash.
HOSTS = ("0.18.2", "0.19.0", "0.20.6.post1", "0.21.5.post2")
COMMAND_SECONDS = 3
SHORT, LONG = 120, 900
PAYING, PAID = "paying invoice 1047", "paid invoice 1047"
RECENT = "SELECT ts, tool_name, status, substr(args_json,1,60) FROM ledger ORDER BY id DESC LIMIT 20;"


class NotShown(Exception):
    """A step did not show what it must; the message says what was expected and what came."""


class Screen:
    """Numbered steps with the time each began, and what belongs to a step indented below it."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._step = 0

    @property
    def seconds(self) -> float:
        """Seconds since the demo began."""
        return time.monotonic() - self._started

    def step(self, title: str) -> None:
        """Begin the next step."""
        self._step += 1
        print(f"\n{self._step:2}  {title}  [{self.seconds:.0f} s]", flush=True)

    def note(self, words: str) -> None:
        """Say something about the step."""
        print(f"    {words}", flush=True)

    def quote(self, words: str) -> None:
        """Show text as it is: what a program printed or a model received."""
        print(textwrap.indent(words.rstrip(), "    | ", lambda _: True), flush=True)


def check(holds: object, expected: str, came: object) -> None:
    """NotShown unless it holds."""
    if not holds:
        raise NotShown(f"expected {expected}; what came:\n{textwrap.indent(str(came), '  ')}")


def prepare(screen: Screen, version: str) -> None:
    """Make `.venv` where it is missing, and let its interpreter install the host."""
    screen.step("A Python environment and a real Hermes from the package index")
    python = VENV / "bin" / "python"
    if python.exists():
        screen.note(f"{VENV.name}/ is there")
    else:
        done = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, timeout=SHORT)
        check(done.returncode == 0, f"a new environment in {VENV}", done.stdout + done.stderr)
        screen.note(f"{VENV.name}/ made")
    maker = ROOT / "tests" / "hosts" / "environments.py"
    screen.note(f"Hermes {version}: where it is missing, it is installed now, which takes about half a minute")
    done = subprocess.run([str(python), str(maker), version], capture_output=True, text=True, timeout=LONG)
    check(done.returncode == 0, f"Hermes {version} in {ROOT / '.hosts'}", done.stdout + done.stderr)
    screen.note(f"Hermes {version} in .hosts/{version}/")


def tell(screen: Screen, version: str, folder: Path) -> None:
    """The story itself, in a Hermes home below `folder`."""
    # Imported here: these need Python 3.11, and an older one should hear that in a sentence.
    from tests.hosts import checkout, environments
    from tests.hosts.harness import Home, wait_until
    from tests.hosts.model_server import Call, ModelServer, calls, text

    with ModelServer([]) as model, closing(Home(environments.ensure(version), folder / "home", model.url)) as home:
        screen.step("The plugin, installed with the host's own command")
        address = checkout.repository(folder / "agent-ledger")
        screen.note("$ hermes plugins install file://.../agent-ledger --enable     (a clone of this checkout)")
        done = home.hermes("plugins", "install", address, "--enable", show=False)
        check(done.status == 0, "the installation to end with 0", done)
        listed = home.hermes("plugins", "list", "--plain", show=False)
        line = next((line for line in listed.output.splitlines() if "agent-ledger" in line), "")
        check("enabled" in line and "not enabled" not in line, "agent-ledger among the enabled plugins", listed)
        screen.quote(" ".join(line.split()))

        screen.step("The agent is asked to pay an invoice, and issues a command")
        book = home.work / "payments.log"
        command = f"echo {PAYING} >> {book.name}; sleep {COMMAND_SECONDS}; echo {PAID} >> {book.name}"
        model.play(calls(Call("terminal", {"command": command})))
        run = home.start_chat("Pay invoice 1047.")
        screen.note("user:   Pay invoice 1047.")
        run.wait_for(book.exists, f"the command has begun to write {book.name}")
        row = home.ledger.only()
        check(row["status"] == "PENDING", "a PENDING row while the command runs", row)
        screen.note(f"model:  terminal {command}")
        screen.note(f"ledger: row {row['id']} {row['tool_name']} {row['status']}, on disk before the command ran")

        screen.step(f"kill -9 of the host (process {run.pid}) in the middle of the command")
        ended = run.kill(show=False)
        check(ended.status == -signal.SIGKILL, "the host to die of SIGKILL", ended)
        check(PAID not in book.read_text(), "the command to be unfinished when the host died", book.read_text())
        wait_until(lambda: PAID in book.read_text(), "the second line of the command", COMMAND_SECONDS + 20)
        screen.note(f"The host is gone. Its shell is not: {book.name} now says")
        screen.quote(book.read_text())
        screen.note("It happened, and no conversation knows.")

        screen.step("The session is resumed. What the model receives as the user's message:")
        model.play(
            calls(Call("read_file", {"path": str(book)})),
            text("The payment is in the log already, so I do not pay again."),
        )
        before = len(model.requests)
        done = home.start_chat("Did you pay it?", resume=row["session_id"]).wait(show=False)
        check(done.status == 0, "the resumed turn to end with 0", done)
        received = model.requests[before].last_user
        screen.quote(received)
        check("agent-ledger" in received, "a notice of agent-ledger", received)
        check(f"{row['id']}" in received and "terminal" in received, f"row {row['id']} and its tool", received)
        check(command not in received, "no raw command in the notice", received)
        check(book.read_text().count(PAID) == 1, "the invoice paid once", book.read_text())
        screen.note("The scripted model looks before it acts: read_file, then")
        screen.quote("The payment is in the log already, so I do not pay again.")

        screen.step("The next turn is not told again")
        model.play(text("You are welcome."))
        before = len(model.requests)
        done = home.start_chat("Thanks.", resume=row["session_id"]).wait(show=False)
        check(done.status == 0, "the next turn to end with 0", done)
        received = model.requests[before].last_user
        check(received.strip() == "Thanks.", "the user's word alone", received)
        screen.quote(received)

        screen.step("What the operator sees")
        screen.note("$ hermes ledger ghosts")
        done = home.hermes("ledger", "ghosts", show=False)
        check(done.status == 0 and "terminal" in done.output, "the call among the ghosts", done)
        screen.quote(done.output)
        screen.note(f'$ sqlite3 ~/.hermes/plugin-data/agent-ledger/ledger.db "{RECENT}"')
        told = ask(home.ledger.path, RECENT)
        check("|terminal|GHOST_REPORTED|" in told, "the call as GHOST_REPORTED", told)
        screen.quote(told)


def ask(database: Path, sql: str) -> str:
    """The answer in the form of the `sqlite3` command, which is used where the machine has it."""
    command = shutil.which("sqlite3")
    if command:
        done = subprocess.run([command, str(database), sql], capture_output=True, text=True, timeout=SHORT)
        check(done.returncode == 0, "sqlite3 to read the ledger", done.stderr)
        return done.stdout
    with closing(sqlite3.connect(database)) as connection:
        return "\n".join("|".join(map(str, row)) for row in connection.execute(sql))


def main(arguments: list[str] | None = None) -> int:
    """Run the demo. Exit 0, 1 when a step fails, 2 for a machine or a command line that can't run it, 130 on Ctrl-C."""
    parser = argparse.ArgumentParser(prog="demo.py", description="agent-ledger in a real Hermes, killed mid-call.")
    parser.add_argument("--host", choices=HOSTS, default=DEFAULT_HOST, help=f"Hermes version (default {DEFAULT_HOST})")
    parser.add_argument("--keep", action="store_true", help="keep the Hermes home and say where it is")
    options = parser.parse_args(arguments)
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever has an older one should read a sentence, not a traceback
        print(f"This needs Python 3.11 or later; {sys.executable} is {sys.version.split()[0]}.", file=sys.stderr)
        return 2
    if shutil.which("git") is None:
        print(
            "This needs git: the host installs a plugin by cloning it. Install git and run it again.", file=sys.stderr
        )
        return 2
    screen = Screen()
    print("agent-ledger: a call that a crash swallowed, and what the agent is told about it")
    folder = Path(tempfile.mkdtemp(prefix="agent-ledger-demo-"))
    try:
        prepare(screen, options.host)
        tell(screen, options.host, folder)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    except (NotShown, AssertionError, RuntimeError, OSError, subprocess.SubprocessError, sqlite3.Error) as failure:
        print(f"\nThe demo did not show what it must: {failure}", file=sys.stderr)
        return 1
    finally:
        if options.keep:
            print(f"\nkept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\nEvery step showed what it must, in {screen.seconds:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
