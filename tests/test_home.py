"""Where the data is, and which files may decide anything."""

from __future__ import annotations

import os
import stat
import sys
import types
from pathlib import Path

import pytest

from agent_ledger import home as place


def test_host_is_asked_on_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's answer holds at that moment: one process serves several profiles."""
    constants = types.ModuleType("hermes_constants")
    answers = iter([Path("/srv/one"), Path("/srv/two")])
    constants.get_hermes_home = lambda: next(answers)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hermes_constants", constants)
    assert [place.hermes_home(), place.hermes_home()] == ["/srv/one", "/srv/two"]


def test_without_a_host_the_variable_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HERMES_HOME, with the user's folder written as a tilde too."""
    assert place.hermes_home() == str(home)
    monkeypatch.setenv("HERMES_HOME", "~/h")
    assert place.hermes_home() == os.path.expanduser("~/h")


def test_default_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without anything it is .hermes in the user's folder."""
    assert place.hermes_home() == os.path.expanduser("~/.hermes")


def test_private_folder_is_tightened(tmp_path: Path) -> None:
    """A folder is made 0700; one that was open becomes private."""
    (tmp_path / "b").mkdir(mode=0o777)
    for name in ("a", "b"):
        place.make_private_folder(str(tmp_path / name))
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700


@pytest.mark.parametrize(("mode", "counts"), [(0o600, True), (0o644, True), (0o620, False), (0o602, False)])
def test_private_file(tmp_path: Path, mode: int, counts: bool) -> None:
    """Only a file that nobody else may write counts."""
    (tmp_path / "f").touch()
    (tmp_path / "f").chmod(mode)
    assert place.is_private_file(str(tmp_path / "f")) is counts


def test_no_file_is_not_private(tmp_path: Path) -> None:
    """A missing file, a folder and a dangling link do not count."""
    os.symlink(tmp_path / "nowhere", tmp_path / "link")
    assert not any(place.is_private_file(str(tmp_path / name)) for name in ("missing", "link", "."))
