"""``settle``: an operator's word on an unconfirmed call."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import (
    as_json,
    assert_needs_a_ledger,
    assert_refused,
    assert_says_locked,
    folder,
    ledger,
    record,
)


def rows(home: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(folder(home) / "ledger.db", timeout=5)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize(("option", "effect"), [("--applied", "applied"), ("--not-applied", "none")])
def test_a_ghost_gets_its_effect_and_a_trace(home: Path, option: str, effect: str) -> None:
    """The effect is the operator's, the status is GHOST_REPORTED since nobody confirmed the call, and the changes say who
    settled it with which note."""
    record(home)
    done = ledger(home, "settle", "3", option, "--note", "looked at  the server\nmyself")
    assert (done.returncode, done.stderr) == (0, "")
    shown = as_json(home, "show", "3")
    assert (shown["call"]["status"], shown["call"]["effect"]) == ("GHOST_REPORTED", effect)
    (change,) = shown["transitions"]
    assert (change["from_status"], change["to_status"]) == ("PENDING", "GHOST_REPORTED")
    assert change["why"].startswith("settled by ") and change["why"].endswith("; looked at the server myself")
    assert as_json(home, "ghosts")["open"] == 0
    assert ledger(home, "ghosts", "--check").returncode == 0


def test_json_says_what_changed(home: Path) -> None:
    """One object with the documented keys."""
    record(home)
    assert as_json(home, "settle", "#3", "--applied") == {
        "id": 3, "effect": "applied", "before": "unknown", "note": "",
        "why": as_json(home, "show", "3")["transitions"][0]["why"],
    }  # fmt: skip


def test_a_word_can_be_taken_back(home: Path) -> None:
    """Settling again replaces the effect, and both words stay on record."""
    record(home)
    ledger(home, "settle", "3", "--applied")
    done = ledger(home, "settle", "3", "--not-applied", "--note", "I was wrong")
    assert (done.returncode, "it was applied" in done.stdout) == (0, True)
    shown = as_json(home, "show", "3")
    assert (shown["call"]["effect"], len(shown["transitions"])) == ("none", 2)


def test_settled_ghost_is_not_told_any_more(home: Path) -> None:
    """The conversation is not warned of a call that the operator has settled."""
    record(home)
    ledger(home, "settle", "3", "--applied")
    turn = (
        "from agent_ledger.hooks import Hooks\n"
        "print(Hooks().pre_llm_call(session_id='s1', user_message='go on', conversation_history=[]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", turn], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert "cronjob" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["1", "--applied"], "CONFIRMED"), (["2", "--not-applied"], "ERROR:exit_2"), (["99", "--applied"], "no call 99"),
        (["0", "--applied"], "0"), (["-3", "--applied"], "-3"), (["three", "--applied"], "three"),
        ([str(2**63), "--applied"], str(2**63)), (["3"], "--applied"), (["3", "--applied", "--not-applied"], "not allowed"),
        (["3", "--applied", "--note", "x" * 501], "501"), (["", "--applied"], "call number"),
    ],
)  # fmt: skip
def test_bad_input_changes_nothing(home: Path, arguments: list[str], named: str) -> None:
    """A user's mistake is exit 2, one message that names the thing, and nothing in the ledger changes."""
    assert_refused(home, "settle", *arguments, named=named)


def test_no_ledger_is_wrong_use_and_none_is_made(home: Path) -> None:
    """Nothing recorded: exit 2, and nothing appears in the home."""
    assert_needs_a_ledger(home, "settle", "1", "--applied")


def test_a_running_call_is_left_alone(home: Path, child: Callable[..., subprocess.Popen[str]]) -> None:
    """A call within its grace period, of a process that lives, still runs: it cannot be settled yet."""
    running = child(
        "import sys\nfrom pathlib import Path\nfrom tests.simhost import in_process\n"
        "in_process(Path(sys.argv[1])).pre('write_file', {'path': '/srv/a'})\nprint('on', flush=True)\nsys.stdin.readline()",
        home,
    )
    assert running.stdout is not None and running.stdout.readline() == "on\n"
    done = ledger(home, "settle", "1", "--applied")
    assert (done.returncode, "still running" in done.stderr) == (2, True)
    assert rows(home, "SELECT status, effect FROM ledger") == [("PENDING", "unknown")]


def test_outcome_that_comes_later_still_counts(home: Path, child: Callable[..., subprocess.Popen[str]]) -> None:
    """A call that was settled by hand and then reported by its host is confirmed, marked late."""
    running = child(
        "import sys\nfrom pathlib import Path\nfrom tests.simhost import in_process\n"
        "host = in_process(Path(sys.argv[1]))\nhost.pre('write_file', {'path': '/srv/a'})\nhost.age(1000)\n"
        "print('on', flush=True)\nsys.stdin.readline()\nhost.post('write_file', {'path': '/srv/a'})\nprint('off', flush=True)",
        home,
    )
    assert running.stdout is not None and running.stdin is not None and running.stdout.readline() == "on\n"
    assert ledger(home, "settle", "1", "--not-applied").returncode == 0
    running.stdin.write("\n")
    running.stdin.flush()
    assert running.stdout.readline() == "off\n"
    assert rows(home, "SELECT status, effect, flags FROM ledger") == [("CONFIRMED", "applied", "late")]


def test_locked_ledger_is_waited_for_and_then_named(home: Path) -> None:
    """Another program holds the ledger: exit 1 within some seconds, nothing changed, and the message says to try again."""
    record(home)
    begin = time.monotonic()
    assert_says_locked(home, "settle", "3", "--applied")
    assert time.monotonic() - begin < 15
    assert rows(home, "SELECT status FROM ledger WHERE id = 3") == [("PENDING",)]


def test_note_cannot_play_with_the_terminal(home: Path) -> None:
    """What was typed is shown as text."""
    record(home)
    assert ledger(home, "settle", "3", "--applied", "--note", "\x1b[31mred").returncode == 0
    assert "\x1b" not in ledger(home, "show", "3").stdout
