"""Fixtures for everything that needs a Hermes home, a simulated host or a ledger; real SQLite files on real disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_ledger import process
from agent_ledger.store.db import Database
from tests.simhost import FAMILIES, PLUGIN_FOLDER, SimHost

HOST_MODULES = ("hermes_constants", "hermes_plugins")


class PlainRoot:
    """Collects the root of the checkout as a folder, not as a package.

    For a package pytest imports the root's ``__init__.py``, and its relative import fails wherever the folder has a
    name that is no Python identifier: ``agent-ledger``, for one.
    """

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        return pytest.Dir.from_parent(parent, path=path) if path == PLUGIN_FOLDER else None


def pytest_configure(config: pytest.Config) -> None:
    """Add it as a plugin of its own, since pytest does not ask the conftest of a folder below about the root; and declare
    the marker of the tests that take their real time."""
    config.pluginmanager.register(PlainRoot())
    config.addinivalue_line("markers", "slow: takes as long as in life; runs with -m slow or LEDGER_SLOW=1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slow tests out where nobody asked for them, and say how to ask."""
    if os.environ.get("LEDGER_SLOW") == "1" or "slow" in (config.getoption("-m") or ""):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="takes its real time; run with LEDGER_SLOW=1 or -m slow"))


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of the person who runs the tests must not decide anything here."""
    for name in [*os.environ]:
        if name.startswith("AGENT_LEDGER_") or name in ("HERMES_HOME", "TERMINAL_ENV"):
            monkeypatch.delenv(name)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty Hermes home. Afterwards nothing of this process stays open in it."""
    folder = tmp_path / "hermes"
    folder.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(folder))
    yield folder
    _let_go(str(tmp_path))


def _let_go(top: str) -> None:
    state = process.registry()
    for path in [path for path in state.connections if path.startswith(top)]:
        state.connections.pop(path).connection.close()
    for folder in [folder for folder in state.owners if folder.startswith(top)]:
        descriptor = state.owners.pop(folder)[1]
        if descriptor is not None:
            os.close(descriptor)


@pytest.fixture
def new_host(home: Path) -> Iterator[Callable[..., SimHost]]:
    """``new_host("D")``: a simulated host of that family, with the plugin loaded. No hook of it may have raised."""
    hosts: list[SimHost] = []
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] in HOST_MODULES}

    def make(family: str = "E") -> SimHost:
        hosts.append(SimHost(home, FAMILIES[family]).install())
        return hosts[-1]

    yield make
    for name in [name for name in sys.modules if name.split(".")[0] in HOST_MODULES]:
        del sys.modules[name]
    sys.modules.update(before)
    assert [error for host in hosts for error in host.raised] == []


@pytest.fixture
def host(new_host: Callable[..., SimHost]) -> SimHost:
    """A simulated host of the newest family."""
    return new_host("E")


@pytest.fixture(params=sorted(FAMILIES))
def any_host(request: pytest.FixtureRequest, new_host: Callable[..., SimHost]) -> SimHost:
    """One simulated host of each family in turn."""
    return new_host(request.param)


@pytest.fixture
def ledger(home: Path) -> Database:
    """A fresh ledger of its own, opened as a hook opens it."""
    return Database(str(home / "plugin-data" / "agent-ledger" / "ledger.db"))


@pytest.fixture
def child() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """``child(code, *arguments)``: a Python process that can import tests.simhost; killed at the end of the test."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *arguments: object) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", code, *map(str, arguments)],
                cwd=PLUGIN_FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
        )  # fmt: skip
        return started[-1]

    yield start
    for one in started:
        if one.poll() is None:
            one.send_signal(signal.SIGKILL)
        one.communicate()


@pytest.fixture
def soon() -> Callable[[], float]:
    """A deadline for one access, on the monotonic clock, far enough away for a slow machine."""
    return lambda: time.monotonic() + 2.0
