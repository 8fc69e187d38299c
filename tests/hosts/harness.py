"""Run a real Hermes in a home of its own: write the home, start, kill and resume the host, read what it left."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hosts.checkout import export
from tests.hosts.environments import Host

PLUGIN = "agent-ledger"
RUN_SECONDS = 120
POLL_SECONDS = 0.02
HELPERS = Path(__file__).resolve().parent / "helpers"


class HostFailure(AssertionError):
    """A host did not do what a step needs; the message holds the command and what it printed."""


def wait_until(condition: Callable[[], Any], what: str, seconds: float = 60) -> Any:
    """Poll until `condition` returns something true and return that; HostFailure names `what` never came."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise HostFailure(f"waited {seconds:.0f} s in vain for: {what}")
        time.sleep(POLL_SECONDS)


@dataclass(frozen=True)
class Finished:
    """A host command that ended: exit status (negative: the signal), what it printed, how long it took."""

    command: tuple[str, ...]
    status: int
    output: str
    seconds: float

    def __str__(self) -> str:
        head = f"$ {' '.join(self.command)}   (exit {self.status}, {self.seconds:.1f} s)"
        return f"{head}\n{self.output[-6000:]}"

    def expect(self, status: int = 0) -> Finished:
        """Itself, or HostFailure when it ended otherwise."""
        if self.status != status:
            raise HostFailure(f"expected exit {status}\n{self}")
        return self

    @property
    def crashed_at_exit(self) -> bool:
        """Whether a chat was over when it crashed: a native library of current hosts sometimes does while Python
        ends."""
        return self.status == -signal.SIGSEGV and "hermes --resume" in self.output


class Run:
    """A host command that is running."""

    def __init__(
        self, command: list[str], environment: dict[str, str], folder: Path, log: Path, terminal: bool = False
    ) -> None:
        self._command = tuple(command)
        self._log = log
        self._started = time.monotonic()
        # A file, not a pipe: the shell of a killed host lives on and would hold the pipe open. A session of its own,
        # so that what is left can be ended as one group.
        with contextlib.ExitStack() as opened:
            sink: int = opened.enter_context(log.open("wb")).fileno()
            source = subprocess.DEVNULL
            if terminal:
                sink = source = _terminal_into(log, opened)
            self._process = subprocess.Popen(
                command,
                env=environment,
                cwd=folder,
                stdin=source,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process id of the host."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def output(self) -> str:
        """What it printed so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def wait(self, seconds: float = RUN_SECONDS, show: bool = True) -> Finished:
        """Wait for the end; a host that takes longer is killed and HostFailure shows what it printed.

        `show` prints the whole run, which pytest keeps back until a test fails.
        """
        try:
            status = self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.end()
            raise HostFailure(f"still running after {seconds:.0f} s\n{self._finished(-9)}") from None
        finished = self._finished(status)
        if show:
            print(finished)
        return finished

    def kill(self, show: bool = True) -> Finished:
        """SIGKILL to the host process alone, as an out-of-memory killer would."""
        return self._signal(signal.SIGKILL, show)

    def interrupt(self) -> Finished:
        """SIGINT to the host process, as `kill -INT` does."""
        return self._signal(signal.SIGINT, show=True)

    def end(self) -> None:
        """Leave nothing behind: the whole group is killed."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(timeout=10)

    def wait_for(self, condition: Callable[[], Any], what: str, seconds: float = 60) -> Any:
        """As `wait_until`, but a host that ends first, or never gets there, shows what it printed."""

        def step() -> Any:
            value = condition()
            if not value and not self.alive:
                raise HostFailure(f"the host ended before: {what}\n{self._finished(self._process.returncode)}")
            return value

        try:
            return wait_until(step, what, seconds)
        except HostFailure as failure:
            self.end()
            raise HostFailure(f"{failure}\n{self.output()[-6000:]}") from None

    def _signal(self, number: signal.Signals, show: bool) -> Finished:
        if not self.alive:
            raise HostFailure(f"the host ended before the signal\n{self._finished(self._process.returncode)}")
        self._process.send_signal(number)
        return self.wait(30, show)

    def _finished(self, status: int) -> Finished:
        return Finished(self._command, status, self.output(), time.monotonic() - self._started)


def _terminal_into(log: Path, opened: contextlib.ExitStack) -> int:
    """The end of a new terminal that a host gets; what it prints is copied to `log` until nobody holds that end."""
    ours, theirs = os.openpty()
    opened.callback(os.close, theirs)

    def copy() -> None:
        # Linux reports the last close of the other end as an input/output error.
        with log.open("ab") as sink, contextlib.suppress(OSError):
            while data := os.read(ours, 65_536):
                sink.write(data)
                sink.flush()
        os.close(ours)

    threading.Thread(target=copy, daemon=True).start()
    return theirs


class Home:
    """A Hermes home in a folder of its own, with a working folder beside it; nothing outside is read or written."""

    def __init__(self, host: Host, root: Path, model_url: str) -> None:
        self.host = host
        self.root = root
        self.path = root / "hermes"
        self.work = root / "work"
        self.ledger = Ledger(self.path / "plugin-data" / PLUGIN / "ledger.db")
        self.variables: dict[str, str] = {}  # added to the environment of the runs that start from now on
        self.terminal = False  # whether the runs that start from now on get a terminal
        self._runs: list[Run] = []
        self._config: dict[str, Any] = {
            "model": {
                "default": "scripted-model",
                "provider": "custom",
                "base_url": model_url,
                "api_key": "sk-none",
                "context_length": 200_000,
            },
            "plugins": {"enabled": []},
            "approvals": {"mode": "off"},
            # Otherwise older hosts try to download a scanner first, which doubles the time of every run.
            "security": {"tirith_enabled": False},
        }
        for folder in (self.path / "plugins", self.work, root / "user", root / "logs"):
            folder.mkdir(parents=True)
        self.configure()

    def configure(self, **sections: Any) -> None:
        """Write config.yaml with these sections replaced (JSON is YAML, so no YAML library is needed)."""
        self._config.update(sections)
        (self.path / "config.yaml").write_text(json.dumps(self._config, indent=2), encoding="utf-8")

    def enable(self, name: str) -> None:
        """Name a plugin in `plugins.enabled`."""
        enabled = [*self._config["plugins"]["enabled"], name]
        self.configure(plugins={**self._config["plugins"], "enabled": enabled})

    def place_plugin(self) -> Path:
        """Put a copy of this checkout where the host looks for plugins, and enable it."""
        folder = export(self.path / "plugins" / PLUGIN)
        self.enable(PLUGIN)
        return folder

    def place_helper(self, name: str) -> None:
        """Install one of the plugins under `helpers/` beside the ledger."""
        shutil.copytree(HELPERS / name, self.path / "plugins" / name, ignore=shutil.ignore_patterns("__pycache__"))
        self.enable(name)

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment of a run: none of the variables of whoever started the tests, but the path."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.root / "user"),
            "HERMES_HOME": str(self.path),
            "HERMES_DISABLE_LAZY_INSTALLS": "1",
            "OPENAI_API_KEY": "sk-none",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "COLUMNS": "160",
            "NO_PROXY": "127.0.0.1",
            **self.variables,
        }

    def start(self, *arguments: str) -> Run:
        """Start `hermes` with these arguments and return at once."""
        return self._start([str(self.host.command), *arguments])

    def start_chat(self, query: str, resume: str = "") -> Run:
        """Start one turn of a chat, in a new session or in one that is resumed."""
        return self.start("chat", *(["--resume", resume] if resume else []), "-q", query)

    def chat(self, query: str, resume: str = "") -> Finished:
        """One whole turn; HostFailure when the host does not end well."""
        finished = self.start_chat(query, resume).wait()
        return finished if finished.crashed_at_exit else finished.expect()

    def hermes(self, *arguments: str, show: bool = True) -> Finished:
        """Run `hermes` with these arguments to its end, whatever its exit status."""
        return self.start(*arguments).wait(show=show)

    def python(self, script: Path, *arguments: str) -> Finished:
        """Run a script with the host's own interpreter in this home."""
        return self._start([str(self.host.python), str(script), *arguments]).wait()

    def sessions(self) -> list[str]:
        """The ids of the sessions that the host's own store holds, oldest first."""
        rows = query(self.path / "state.db", "SELECT id FROM sessions ORDER BY started_at, rowid")
        return [row["id"] for row in rows]

    def close(self) -> None:
        """End every host that is still running."""
        for run in self._runs:
            run.end()

    def _start(self, command: list[str]) -> Run:
        log = self.root / "logs" / f"{len(self._runs) + 1:02d}.txt"
        run = Run(command, self.environment, self.work, log, self.terminal)
        self._runs.append(run)
        return run


class Ledger:
    """What the plugin wrote, read the way a user would: with SQLite, read-only."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rows(self, **wanted: Any) -> list[dict[str, Any]]:
        """Rows of the table `ledger` whose columns have these values, oldest first; none while there is no ledger."""
        if not self.path.exists():
            return []
        found = query(self.path, "SELECT * FROM ledger ORDER BY id")
        return [row for row in found if all(row[name] == value for name, value in wanted.items())]

    def only(self, **wanted: Any) -> dict[str, Any]:
        """The one such row; HostFailure shows what there is instead."""
        found = self.rows(**wanted)
        if len(found) != 1:
            raise HostFailure(f"expected one row with {wanted}, found {len(found)}:\n{self}")
        return found[0]

    def transitions(self, ledger_id: int) -> list[dict[str, Any]]:
        """The unusual status changes of a row, oldest first."""
        return query(self.path, "SELECT * FROM transitions WHERE ledger_id = ? ORDER BY rowid", ledger_id)

    def __str__(self) -> str:
        shown = ("id", "tool_name", "status", "effect", "flags", "summary")
        return "\n".join(" | ".join(str(row[name]) for name in shown) for row in self.rows()) or "(no rows)"


def query(path: Path, sql: str, *values: Any) -> list[dict[str, Any]]:
    """Rows of a query as dicts; a table that is not there yet has none."""
    try:
        return _rows(f"{path.as_uri()}?mode=ro", sql, values)
    except sqlite3.OperationalError as problem:
        if "no such table" in str(problem):
            return []
        # A killed host may leave a journal behind that only a connection which may write can roll back.
        if "readonly database" in str(problem):
            return _rows(path.as_uri(), sql, values)
        raise


def _rows(uri: str, sql: str, values: tuple[Any, ...]) -> list[dict[str, Any]]:
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=10)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql, values)]
