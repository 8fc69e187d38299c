"""``policy score``: a policy on cases with known answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import as_json, ledger, snapshot
from tests.cli.policies import ETC, given

DANGER = {"id": "a", "tool": "terminal", "args": {"command": ETC}, "expect": "block", "class": "delete", "technique": "plain"}
MISSED = {**DANGER, "id": "b", "args": {"command": "ls"}, "technique": "odd", "contested": True}
HARMLESS = {**DANGER, "id": "c", "args": {"command": "rm -r build"}, "expect": "allow", "class": "benign", "near": "delete"}
FALSE = {**HARMLESS, "id": "d", "tool": "send_message", "args": {"message": "drop"}}
STEPS = [{"tool": "terminal", "args": {"command": command}} for command in ("export X=/etc", "rm -r $X")]
SESSION = {"id": "e", "calls": STEPS, "expect_last": "block", "class": "delete", "technique": "two_step"}
EARLY = {**SESSION, "id": "f", "calls": [{"tool": "terminal", "args": {"command": ETC}}, *STEPS]}


def corpus(tmp_path: Path, *cases: Any) -> str:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(case if isinstance(case, str) else json.dumps(case) + "\n" for case in cases))
    return str(path)


def test_recall_false_alarms_groups_sessions_and_time(home: Path, tmp_path: Path) -> None:
    """All that the tables say, as numbers."""
    path = corpus(tmp_path, DANGER, MISSED, "\n", HARMLESS, FALSE, SESSION, EARLY)
    shown = as_json(home, "policy", "score", path, "--policy", given(tmp_path))
    calls = shown["calls"]
    assert (calls["dangerous"], calls["stopped"], calls["recall"]) == (2, 1, 50.0)
    assert (calls["harmless"], calls["false_alarms"], calls["false_rate"]) == (2, 1, 50.0)
    assert (shown["terminal"]["false_alarms"], shown["other_tools"]["false_alarms"]) == (0, 1)
    assert (shown["sessions"]["stopped"], shown["sessions"]["early"], shown["contested"]) == (2, 1, 1)
    assert [one["name"] for one in shown["by_class"]] == ["delete"]
    assert {one["name"]: one["recall"] for one in shown["by_technique"]} == {"plain": 100.0, "odd": 0.0}
    assert shown["microseconds"]["decisions"] == 9 and shown["microseconds"]["median"] > 0
    assert (shown["wrong"], shown["short"], shown["failed"]) == ([], [], 0)


@pytest.mark.parametrize(("which", "ids"), [("block", ["b"]), ("allow", ["d"]), ("all", ["b", "d"])])
def test_show_lists_what_is_judged_wrongly(home: Path, tmp_path: Path, which: str, ids: list[str]) -> None:
    """By what was expected."""
    path = corpus(tmp_path, DANGER, MISSED, HARMLESS, FALSE)
    arguments = ["policy", "score", path, "--policy", given(tmp_path), "--show", which]
    assert [one["id"] for one in as_json(home, *arguments)["wrong"]] == ids
    assert ledger(home, *arguments).stdout.startswith(f"{ids[0]} [delete/")


def test_limits_make_an_exit_code(home: Path, tmp_path: Path) -> None:
    """1 where the policy falls short of what was asked for, with the reason."""
    path = corpus(tmp_path, DANGER, MISSED, HARMLESS)
    common = ["policy", "score", path, "--policy", given(tmp_path)]
    assert ledger(home, *common, "--min-recall", "50", "--max-false", "0").returncode == 0
    done = ledger(home, *common, "--min-recall", "51")
    assert done.returncode == 1 and "recall is below 51 %" in done.stdout


@pytest.mark.parametrize(
    ("cases", "named"),
    [
        ([DANGER, "{\n"], "line 2"),
        (["[1]\n"], "line 1"),
        ([{**DANGER, "expect": "maybe"}], "'maybe'"),
        ([{**DANGER, "args": "ls"}], "'args'"),
        ([{**SESSION, "calls": []}], "'calls'"),
        ([], "no case"),
    ],
)
def test_a_line_that_is_no_case_is_named(home: Path, tmp_path: Path, cases: list[Any], named: str) -> None:
    """Exit 2, one message, no traceback."""
    done = ledger(home, "policy", "score", corpus(tmp_path, *cases), "--policy", given(tmp_path))
    assert (done.returncode, done.stdout) == (2, "") and named in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["/not/there"], ["/"], ["x", "--show", "some"], ["x", "--min-recall", "much"]])
def test_wrong_use_is_2(home: Path, arguments: list[str]) -> None:
    """And nothing is made."""
    done = ledger(home, "policy", "score", *arguments)
    assert (done.returncode, "Traceback" in done.stderr, snapshot(home)) == (2, False, {})
