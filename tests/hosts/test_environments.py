"""Making the environments of the hosts: once, again when one is half made, and never twice at the same time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.hosts import environments
from tests.hosts.environments import Host

VERSION = "0.22.2.post1"


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty folder for hosts, and the list of installations, which here only write a stand-in for the command."""
    monkeypatch.setenv("LEDGER_HOSTS_DIR", str(tmp_path))
    made: list[str] = []

    def install(host: Host) -> None:
        made.append(host.version)
        host.command.parent.mkdir(parents=True, exist_ok=True)
        # A stand-in for an interpreter that reports the version it is asked for.
        host.python.write_text(f"#!/bin/sh\necho {host.version}\n")
        host.python.chmod(0o755)
        host.command.write_text(f"#!{host.python}\n")

    monkeypatch.setattr(environments, "_install", install)
    return made


def test_a_missing_host_is_installed_once(installs: list[str]) -> None:
    """The second request finds what the first one made."""
    assert environments.ensure(VERSION) == environments.ensure(VERSION)
    assert installs == [VERSION]


def test_a_half_made_host_is_built_again(installs: list[str], tmp_path: Path) -> None:
    """A folder that an interrupted installation left is not taken for a host."""
    (tmp_path / VERSION / "bin").mkdir(parents=True)
    (tmp_path / VERSION / "bin" / "hermes").write_text("")
    environments.ensure(VERSION)

    assert installs == [VERSION]


def test_a_working_host_without_the_marker_is_accepted(installs: list[str], tmp_path: Path) -> None:
    """An environment that was made by other means counts when its command and version are right."""
    environments.ensure(VERSION)
    (tmp_path / VERSION / environments.MARKER).unlink()
    environments.ensure(VERSION)

    assert installs == [VERSION]


def test_a_host_of_another_version_is_replaced(installs: list[str], tmp_path: Path) -> None:
    """The folder's name is not enough: the installed distribution must have exactly that version."""
    environments.ensure(VERSION)
    (tmp_path / VERSION / environments.MARKER).unlink()
    (tmp_path / VERSION / "bin" / "python").write_text("#!/bin/sh\necho 0.0.1\n")
    environments.ensure(VERSION)

    assert installs == [VERSION, VERSION]


def test_a_moved_host_is_built_again(installs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts of an environment hold its path, so one that was moved is not used."""
    environments.ensure(VERSION)
    moved = tmp_path.parent / (tmp_path.name + "-moved")
    tmp_path.rename(moved)
    monkeypatch.setenv("LEDGER_HOSTS_DIR", str(moved))
    environments.ensure(VERSION)

    assert installs == [VERSION, VERSION]


def test_two_at_once_install_one(installs: list[str]) -> None:
    """Several that ask at the same time share one installation."""
    threads = [threading.Thread(target=environments.ensure, args=(VERSION,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert installs == [VERSION]


def test_an_unknown_version_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Asking for a host that does not exist ends with exit 2 and the list of versions."""
    assert environments.main(["9.9.9"]) == 2
    assert "9.9.9" in (told := capsys.readouterr().err) and VERSION in told
