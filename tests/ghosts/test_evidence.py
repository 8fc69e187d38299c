"""Probes: read-only, bounded, and never more certain than what they saw."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from agent_ledger.digest import digest_args
from agent_ledger.ghosts import evidence, footprint
from agent_ledger.ghosts.evidence import Subject, look
from tests.simhost import SimHost

KEY = b"k" * 32
TS = "2026-01-02T03:04:05.678Z"
AFTER, BEFORE = "2026-01-02T03:04:06+00:00", "2026-01-01T00:00:00+00:00"
DAILY = {"action": "create", "name": "backup-daily", "schedule": "0 3 * * *"}


def subject(tool: str, args: dict[str, Any], **fields: Any) -> Subject:
    probe = footprint.of_call(tool, args, KEY)
    return Subject(**{"id": 1, "ts": TS, "tool_name": tool, "args_json": digest_args(args).json, "probe_json": probe,
                      "backend": "local", **fields})  # fmt: skip


def effect(one: Subject, home: Path, key: bytes | None = KEY) -> str | None:
    found = look([one], str(home), key, budget_s=5)
    return found[1].effect if found else None


def write(path: Path, content: str = "exactly this") -> Subject:
    return subject("write_file", {"path": str(path), "content": content})


# --- write_file


@pytest.mark.parametrize("content", ["exactly this", "", "é\n", "0123456789 " * 3000])
def test_exact_content_is_applied(tmp_path: Path, content: str) -> None:
    """Size and keyed hash agree, whatever the length."""
    path = tmp_path / "a.txt"
    one = write(path, content)
    path.write_text(content)
    assert effect(one, tmp_path) == "applied"


def test_secret_content_is_found_although_the_row_hides_it(tmp_path: Path) -> None:
    """Redaction changes the stored arguments, not the footprint."""
    content = "token " + "gh" + "p_" + "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8"
    one = write(tmp_path / "a.txt", content)
    (tmp_path / "a.txt").write_text(content)
    assert effect(one, tmp_path) == "applied"


@pytest.mark.parametrize("there", [None, "exactly thiz", "exactly this and more", ""])
def test_other_or_no_content_is_unknown(tmp_path: Path, there: str | None) -> None:
    """It may have been written and changed or removed since."""
    one = write(tmp_path / "a.txt")
    if there is not None:
        (tmp_path / "a.txt").write_text(there)
    assert effect(one, tmp_path) == "unknown"


def test_link_at_the_time_of_the_call_is_followed(tmp_path: Path) -> None:
    """The path was resolved at pre: the file behind the link is what was meant."""
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    one = write(tmp_path / "link")
    (tmp_path / "real").write_text("exactly this")
    assert effect(one, tmp_path) == "applied"


@pytest.mark.parametrize("folder", [False, True])
def test_link_that_came_later_is_not_followed(tmp_path: Path, folder: bool) -> None:
    """A file or folder replaced by a link since leads nowhere."""
    (tmp_path / "in").mkdir()
    one = write(tmp_path / "in" / "a.txt")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("exactly this")
    if folder:
        (tmp_path / "in").rmdir()
        (tmp_path / "in").symlink_to(tmp_path / "other")
    else:
        (tmp_path / "in" / "a.txt").symlink_to(tmp_path / "other" / "a.txt")
    assert effect(one, tmp_path) == "unknown"


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    """A pipe does not block, a folder is no file, a huge file is left alone."""
    one = write(tmp_path / "a.txt")
    os.mkfifo(tmp_path / "a.txt")
    begin = time.monotonic()
    assert effect(one, tmp_path) == "unknown" and time.monotonic() - begin < 2
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").mkdir()
    assert effect(one, tmp_path) == "unknown"
    with (tmp_path / "big").open("wb") as file:
        file.truncate(evidence.MOST_BYTES + 1)
    assert evidence.read_plain(str(tmp_path / "big")) is None


@pytest.mark.parametrize("path", ["", "a", "/a/../b", "/", "/a\0b", None, 7])
def test_odd_path_is_not_opened(path: Any) -> None:
    """Only an absolute path without steps back."""
    assert evidence.read_plain(path) is None


def test_other_key_cannot_tell(tmp_path: Path) -> None:
    """Without the key, or with another one, nothing is claimed."""
    one = write(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_text("exactly this")
    assert effect(one, tmp_path, None) == "unknown" and effect(one, tmp_path, b"l" * 32) == "unknown"


def test_other_backend_is_not_probed(tmp_path: Path) -> None:
    """A file of this machine says nothing about a container."""
    one = subject("write_file", {"path": str(tmp_path / "a"), "content": "x"}, backend="docker")
    assert look([one], str(tmp_path), KEY) == {}


@pytest.mark.parametrize("stored", ["", "{", "[]", "7", '{"path": 1}', '{"path": "/a", "hash": 1, "size": "x"}'])
def test_spoiled_row_cannot_tell(tmp_path: Path, stored: str) -> None:
    """Whatever stands in the columns, a probe raises nothing and claims nothing."""
    one = subject("write_file", {"path": "/a", "content": "x"}, probe_json=stored)
    two = subject("cronjob", DAILY, args_json=stored)
    assert effect(one, tmp_path) == "unknown" and effect(two, tmp_path) == "unknown"


def test_probe_that_hangs_is_abandoned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget holds for all probes together; what was not seen in time cannot be told."""
    monkeypatch.setattr(evidence, "read_plain", lambda path: time.sleep(0.5))
    begin = time.monotonic()
    found = look([write(tmp_path / "a")] * 5, str(tmp_path), KEY)
    assert time.monotonic() - begin < 0.4 and found[1].effect == "unknown"


# --- patch


def patch(path: Path, old: str, new: str, names: tuple[str, str] = ("old_string", "new_string")) -> Subject:
    return subject("patch", {"path": str(path), names[0]: old, names[1]: new})


@pytest.mark.parametrize(
    ("there", "found"),
    [
        ("x beta y", "applied"),
        ("x alpha y", "unknown"),
        ("alpha beta", "unknown"),
        ("neither", "unknown"),
        (None, "unknown"),
    ],
)
@pytest.mark.parametrize("names", [("old_string", "new_string"), ("old", "new")])
def test_patch(tmp_path: Path, there: str | None, found: str, names: tuple[str, str]) -> None:
    """Applied only where the new text is there and the old is gone."""
    one = patch(tmp_path / "a", "alpha", "beta", names)
    if there is not None:
        (tmp_path / "a").write_text(there)
    assert effect(one, tmp_path) == found


def test_patch_that_adds_to_the_old_text_cannot_be_told(tmp_path: Path) -> None:
    """Where the new text holds the old, it may have stood there before the call."""
    one = patch(tmp_path / "a", "port = 80", "port = 8080")
    (tmp_path / "a").write_text("port = 8080\n")
    assert effect(one, tmp_path) == "unknown"


def test_patch_with_a_redacted_side_cannot_be_told(tmp_path: Path) -> None:
    """The row holds only what redaction left of the text."""
    secret = "gh" + "p_" + "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8"
    one = patch(tmp_path / "a", "alpha", secret)
    (tmp_path / "a").write_text(secret)
    assert effect(one, tmp_path) == "unknown"


# --- jobs


def jobs(home: Path, *found: dict[str, Any]) -> None:
    (home / "cron").mkdir(exist_ok=True)
    (home / "cron" / "jobs.json").write_text(json.dumps({"jobs": list(found)}))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([], "none"), ([{"id": "a", "name": "other", "created_at": AFTER}], "none"),
        ([{"id": "a", "name": "backup-daily", "created_at": AFTER}], "applied"),
        ([{"id": "a", "name": "backup-daily", "created_at": BEFORE}], "none"),
    ],
)  # fmt: skip
def test_created_job(tmp_path: Path, found: list[dict[str, Any]], said: str) -> None:
    """A job of that name made since the call is the effect; a repeating job that is not in the file was not made."""
    jobs(tmp_path, *found)
    assert effect(subject("cronjob", DAILY), tmp_path) == said


@pytest.mark.parametrize("created", [None, "", "yesterday", 7])
def test_job_of_that_name_without_a_readable_time_cannot_be_told(tmp_path: Path, created: Any) -> None:
    """It may be this call's job: that none was made is not certain."""
    jobs(tmp_path, {"id": "a", "name": "backup-daily", "created_at": created})
    assert effect(subject("cronjob", DAILY), tmp_path) in ("unknown", "applied")


@pytest.mark.parametrize("schedule", ["30m", "2099-01-01T00:00", "in 5 minutes", None])
def test_job_that_runs_once_may_have_gone(tmp_path: Path, schedule: Any) -> None:
    """Its absence is not certain."""
    jobs(tmp_path)
    assert effect(subject("cronjob_manage", {**DAILY, "schedule": schedule}), tmp_path) == "unknown"


@pytest.mark.parametrize("key", ["job_id", "id", "name"])
def test_removed_job(tmp_path: Path, key: str) -> None:
    """Gone from the file: removed. Still there: not claimed to be removed."""
    one = subject("cronjob", {"action": "remove", key: "j1"})
    jobs(tmp_path, {"id": "j2", "name": "x"})
    assert effect(one, tmp_path) == "applied"
    jobs(tmp_path, {"id": "j1", "name": "j1"})
    assert effect(one, tmp_path) in ("unknown", "none")


@pytest.mark.parametrize("text", ["{{{", "[]", "7", '{"jobs": {}}', ""])
def test_job_file_of_another_form_cannot_be_told(tmp_path: Path, text: str) -> None:
    """A file that cannot be read proves no absence."""
    jobs(tmp_path)
    (tmp_path / "cron" / "jobs.json").write_text(text)
    assert effect(subject("cronjob", DAILY), tmp_path) == "unknown"


def test_other_actions_cannot_be_told(tmp_path: Path) -> None:
    """Pausing or running leaves nothing that is looked at."""
    jobs(tmp_path)
    assert effect(subject("cronjob", {"action": "run", "job_id": "j1"}), tmp_path) == "unknown"


# --- cards


def board(home: Path, *cards: tuple[str, str, str, float]) -> None:
    with sqlite3.connect(home / "kanban.db") as store:
        store.execute("CREATE TABLE tasks (id TEXT, title TEXT, status TEXT, created_at REAL)")
        store.executemany("INSERT INTO tasks VALUES (?, ?, ?, ?)", cards)
    store.close()


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("kanban_create", {"title": "new"}, "applied"), ("kanban_create", {"title": "old"}, "none"),
        ("kanban_create", {"title": "missing"}, "none"), ("kanban_create", {}, "unknown"),
        ("kanban_complete", {"task_id": "t1"}, "applied"), ("kanban_complete", {"task_id": "t2"}, "unknown"),
        ("kanban_complete", {"task_id": "t9"}, "unknown"), ("kanban_block", {"task_id": "t3"}, "applied"),
    ],
)  # fmt: skip
def test_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, args: dict[str, Any], said: str) -> None:
    """The card of that title made since the call, or the card in the state that was asked for."""
    for name in ("HERMES_KANBAN_DB", "HERMES_KANBAN_HOME", "HERMES_KANBAN_BOARD"):
        monkeypatch.delenv(name, raising=False)
    board(tmp_path, ("t1", "new", "done", 2e9), ("t2", "old", "ready", 1.0), ("t3", "x", "blocked", 1.0))
    assert effect(subject(tool, args), tmp_path) == said


def test_missing_board_cannot_be_told(tmp_path: Path) -> None:
    """No board proves nothing."""
    assert effect(subject("kanban_create", {"title": "x"}), tmp_path) == "unknown"


# --- background commands


def test_process_of_a_launch() -> None:
    """Our own process runs; the same number with another start time, boot or namespace does not, or cannot be known."""
    probe = json.loads(footprint.of_launch({"pid": os.getpid()}))
    assert evidence.still_running(json.dumps(probe)) is True
    assert evidence.still_running(json.dumps({**probe, "start": probe["start"] + 1})) is False
    assert evidence.still_running(json.dumps({**probe, "boot": "00000000"})) is None
    assert evidence.still_running(json.dumps({**probe, "ns": "1"})) is None


@pytest.mark.parametrize("stored", ["", "{", "[]", "7", "null", "{}"])
def test_launch_without_a_process_cannot_be_known(stored: str) -> None:
    """Whatever stands there."""
    assert evidence.still_running(stored) is None


# --- with the plugin


def test_evidence_never_changes_the_status(host: SimHost, tmp_path: Path) -> None:
    """The effect is known, the status stays reported, and the reason stands in the transition."""
    path = tmp_path / "a.txt"
    host.pre("write_file", {"path": str(path), "content": "x"})
    path.write_text("x")
    host.age(500)
    text = host.turn()
    assert text is not None and "the file holds exactly that content" in text
    assert host.sql("SELECT status, effect FROM ledger") == [("GHOST_REPORTED", "applied")]
    assert "exactly that content" in host.sql("SELECT why FROM transitions")[0][0]
