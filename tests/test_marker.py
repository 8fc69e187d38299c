"""Whether a file is there, as every hook asks it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agent_ledger import marker
from agent_ledger.marker import Marker


@pytest.mark.parametrize("keeps_lock", [True, False])
def test_presence_is_seen_at_once(tmp_path: Path, keeps_lock: bool) -> None:
    """Absent, there, and gone again, by either way of asking."""
    found = Marker(str(tmp_path / "later" / "x"))
    found._keeps_lock = keeps_lock and found._keeps_lock
    assert not found.is_there()
    (tmp_path / "later").mkdir()
    assert not found.is_there()
    (tmp_path / "later" / "x").touch()
    assert found.is_there()
    (tmp_path / "later" / "x").unlink()
    assert not found.is_there()


def test_slow_file_system_is_asked_without_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the answer took milliseconds, other threads run while it is waited for."""
    found = Marker(str(tmp_path / "x"))
    monkeypatch.setattr(marker, "_SLOW_S", -1.0)
    assert not found.is_there()
    (tmp_path / "x").touch()
    assert not found._keeps_lock and found.is_there()


def test_library_that_answers_without_looking_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some C libraries know the limits of any path, there or not."""
    monkeypatch.setattr(os, "pathconf", lambda path, name: 255)
    assert not Marker(str(tmp_path / "x")).is_there()


def test_path_that_is_none(tmp_path: Path) -> None:
    """A home with a null character in it has no such file."""
    assert not Marker(f"{tmp_path}/\0/x").is_there()


def test_recent_answer_serves_those_in_a_hurry(tmp_path: Path) -> None:
    """Within a moment the last answer stands for those who ask for it; later, and for all others, the disk is asked."""
    found = Marker(str(tmp_path / "x"))
    assert not found.was_there()
    (tmp_path / "x").touch()
    assert not found.was_there() and found.is_there() and found.was_there()
    (tmp_path / "x").unlink()
    time.sleep(marker.LATELY_S * 1.2)
    assert not found.was_there()
