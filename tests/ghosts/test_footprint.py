"""What a probe will need, taken before redaction: a resolved path, sizes and keyed hashes, never the content."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_ledger.ghosts import evidence, footprint

KEY = b"k" * 32


def test_write_file_leaves_size_and_keyed_hash(tmp_path: Path) -> None:
    """Of a write: the absolute path, the size in bytes and a hash under the key."""
    found = json.loads(footprint.of_call("write_file", {"path": str(tmp_path / "a"), "content": "é"}, KEY))
    assert found == {"path": str(tmp_path / "a"), "size": 2, "hash": footprint.keyed_hash("é".encode(), KEY)}


def test_content_is_not_in_it(tmp_path: Path) -> None:
    """Neither side of an edit is stored raw."""
    args = {"path": str(tmp_path / "a"), "old_string": "purple", "new_string": "elephant", "content": "giraffe"}
    for tool in ("write_file", "patch"):
        text = footprint.of_call(tool, args, KEY)
        assert text and not [word for word in ("purple", "elephant", "giraffe") if word in text]


def test_hash_depends_on_the_key() -> None:
    """Nobody can test guesses with the ledger alone."""
    assert footprint.keyed_hash(b"x", KEY) != footprint.keyed_hash(b"x", b"l" * 32)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("terminal", {"path": "/srv/a", "content": "x"}), ("write_file", None), ("write_file", []), ("write_file", {}),
        ("write_file", {"path": "", "content": "x"}), ("write_file", {"path": "a\0b", "content": "x"}),
        ("write_file", {"path": 7, "content": "x"}), ("write_file", {"path": "/srv/a", "content": b"x"}),
        ("patch", {"path": "/srv/a"}), ("patch", {"path": "/srv/a", "old_string": "x"}),
    ],
)  # fmt: skip
def test_no_footprint_where_no_probe_applies(tool: str, args: object) -> None:
    """Other tools, and arguments of another form."""
    assert footprint.of_call(tool, args, KEY) == ""


def test_no_key_no_footprint() -> None:
    """A hash without a key would let anybody test guesses."""
    assert footprint.of_call("write_file", {"path": "/srv/a", "content": "x"}, None) == ""


def test_path_with_a_secret_leaves_no_footprint() -> None:
    """A path that redaction would change must not stand in the row beside the redacted arguments."""
    token = "gh" + "p_" + "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8"
    assert token not in footprint.of_call("write_file", {"path": f"/srv/{token}", "content": "x"}, KEY)


def test_relative_path_is_resolved_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the call counts, not that of the probe."""
    monkeypatch.delenv("TERMINAL_CWD", raising=False)
    monkeypatch.chdir(tmp_path)
    assert footprint.absolute("a.txt") == str(tmp_path / "a.txt")
    monkeypatch.setenv("TERMINAL_CWD", str(tmp_path / "below"))
    assert footprint.absolute("a.txt") == str(tmp_path / "below" / "a.txt")


def test_links_are_followed_at_the_time_of_the_call(tmp_path: Path) -> None:
    """Where a folder is a link now, the path is that of its target."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert footprint.absolute(str(tmp_path / "link" / "a")) == str(tmp_path / "real" / "a")


def test_launch_notes_the_process_and_its_start() -> None:
    """A running pid with its start time, so that a later process with the same number is not taken for it."""
    found = json.loads(footprint.of_launch({"pid": os.getpid()}))
    assert found["pid"] == os.getpid() and found["start"] > 0 and set(found) == {"pid", "start", "boot", "ns"}


@pytest.mark.parametrize("pid", [None, 0, 1, -5, "12", True, 2**40, 3.5])
def test_launch_without_a_usable_pid(pid: object) -> None:
    """Anything but the number of a process leaves nothing."""
    assert footprint.of_launch({"pid": pid}) == ""


def test_launch_that_is_over() -> None:
    """A process that ended before its launch was reported is known not to run, whoever gets its number later."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert evidence.still_running(footprint.of_launch({"pid": ended.pid})) is False


def test_key_is_made_once_and_private(tmp_path: Path) -> None:
    """32 bytes, 0600, the same ever after."""
    key = footprint.load_key(str(tmp_path))
    path = tmp_path / footprint.KEY_FILE
    assert key is not None and len(key) == 32 and path.stat().st_mode & 0o777 == 0o600
    assert footprint.load_key(str(tmp_path)) == key
    assert [one.name for one in tmp_path.iterdir()] == [footprint.KEY_FILE]


@pytest.mark.parametrize("spoil", ["short", "open", "folder"])
def test_key_that_cannot_be_trusted_is_none(tmp_path: Path, spoil: str) -> None:
    """A key of another length, writable by others, or no file at all."""
    path = tmp_path / footprint.KEY_FILE
    if spoil == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"k" * (5 if spoil == "short" else 32))
        path.chmod(0o666 if spoil == "open" else 0o600)
    assert footprint.load_key(str(tmp_path)) is None
