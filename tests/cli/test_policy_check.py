"""``policy check``: what is wrong with a policy, by file, rule and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import as_json, folder, ledger, snapshot
from tests.cli.policies import DELETE, ETC, given, pack, write


def test_a_valid_policy_is_0_and_says_what_holds(home: Path) -> None:
    """Rules and examples are counted, and effects that no rule names are told."""
    write(home, pack({**DELETE, "examples": {"block": [ETC], "allow": ["ls"]}}))
    shown = as_json(home, "policy", "check")
    assert (shown["ok"], shown["rules"], shown["examples"], shown["problems"]) == (True, 1, 2, [])
    assert "disk" in shown["effects_without_rule"] and "recursive_delete" not in shown["effects_without_rule"]
    assert ledger(home, "policy", "check").returncode == 0


@pytest.mark.parametrize(
    ("policy", "named"),
    [
        (pack({**DELETE, "effect": "recursive_delet"}), ("'delete-tree'", "'effect'", "recursive_delete")),
        (pack({**DELETE, "severty": "high"}), ("'delete-tree'", "severty", "severity")),
        (pack({**DELETE, "examples": {"allow": [ETC]}}), ("'delete-tree'", "examples.allow[0]")),
        (pack(DELETE)[:-3], ("not JSON", "cut off")),
        ("[]", ("a JSON object is expected",)),
    ],
)
def test_a_problem_names_file_rule_and_key(home: Path, tmp_path: Path, policy: str, named: tuple[str, ...]) -> None:
    """In the home or anywhere: exit 1, and the message says where to look."""
    path = tmp_path / "broken.json"
    path.write_text(policy)
    for arguments in (["policy", "check", str(path)], ["policy", "check"]):
        write(home, policy)
        done = ledger(home, *arguments)
        assert done.returncode == 1 and done.stderr == ""
        assert all(text in done.stdout for text in (*named, ".json"))


def test_a_policy_that_others_may_write_does_not_count(home: Path, tmp_path: Path) -> None:
    """In the home that is a problem; elsewhere it is a note, since the file is not in force."""
    write(home, pack())
    (folder(home) / "policy.json").chmod(0o666)
    assert ledger(home, "policy", "check").returncode == 1
    path = given(tmp_path)
    Path(path).chmod(0o666)
    done = ledger(home, "policy", "check", path)
    assert (done.returncode, "chmod 600" in done.stdout) == (0, True)


@pytest.mark.parametrize("arguments", [[], ["/does/not/exist.json"], ["/"]])
def test_no_file_is_wrong_use(home: Path, arguments: list[str]) -> None:
    """Exit 2, one line that says what to do, and nothing is made."""
    done = ledger(home, "policy", "check", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n"), snapshot(home)) == (2, "", 1, {})


def test_stored_text_cannot_reach_the_terminal_raw(home: Path, tmp_path: Path) -> None:
    """A policy from elsewhere may hold anything."""
    path = given(tmp_path, {**DELETE, "id": "\x1b[2J"})
    assert "\x1b" not in ledger(home, "policy", "check", path).stdout
