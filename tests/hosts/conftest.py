"""Fixtures for the real-host tests: which hosts run, a scripted model, a home for each test.

One host runs by default. `--hosts all`, `--hosts V,V` or the variable LEDGER_HOSTS (same words) choose others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from tests.hosts import environments
from tests.hosts.environments import Host
from tests.hosts.harness import Home
from tests.hosts.model_server import ModelServer

NewHome = Callable[..., Home]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--hosts`; seen only where pytest is started on this folder, so the variable does the same everywhere."""
    parser.addoption("--hosts", default=None, help="Hermes versions to test against: 'all' or V,V")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of the tests that start a real host."""
    config.addinivalue_line("markers", "hosts: starts a real Hermes host")


def chosen(config: pytest.Config) -> list[str]:
    """The versions to run against; a usage error names one that does not exist."""
    asked = config.getoption("--hosts", default=None) or os.environ.get("LEDGER_HOSTS") or environments.DEFAULT_VERSION
    if asked == "all":
        return [release.version for release in environments.RELEASES]
    versions = [part.strip() for part in asked.split(",") if part.strip()]
    try:
        return [environments.release(version).version for version in versions]
    except environments.HostUnavailable as unknown:
        raise pytest.UsageError(str(unknown)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that asks for a host once per chosen version.

    One file of one host is one group, which pytest-xdist keeps on one worker: its tests share sessions.
    """
    if "host" not in metafunc.fixturenames:
        return
    file = metafunc.definition.path.stem
    hosts = [
        pytest.param(version, marks=[pytest.mark.hosts, pytest.mark.xdist_group(f"{version}-{file}")])
        for version in chosen(metafunc.config)
    ]
    metafunc.parametrize("host", hosts, indirect=True, scope="session")


@pytest.fixture(scope="session")
def host(request: pytest.FixtureRequest) -> Host:
    """An installed Hermes of the version under test."""
    return environments.ensure(request.param)


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A scripted model; a test gives it turns with `model.play(...)`."""
    with ModelServer([]) as server:
        yield server


@pytest.fixture(scope="module")
def bare_home(host: Host, model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewHome]:
    """Makes homes without any plugin."""
    made: list[Home] = []

    def make() -> Home:
        home = Home(host, tmp_path_factory.mktemp("home"), model.url)
        made.append(home)
        return home

    yield make
    for home in made:
        home.close()


@pytest.fixture(scope="module")
def ledger_home(bare_home: NewHome) -> NewHome:
    """Makes homes with this plugin in place and enabled, and the named helper plugins beside it."""

    def make(*helpers: str) -> Home:
        home = bare_home()
        for name in helpers:
            home.place_helper(name)
        home.place_plugin()
        return home

    return make
