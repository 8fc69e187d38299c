"""``policy mode``: what is in force, and the operator's switch."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from agent_ledger.policy.judge import judge
from agent_ledger.policy.session import Session
from tests.cli.commands import as_json, folder, ledger, snapshot
from tests.cli.policies import DELETE, pack, write


def test_without_files_it_is_off_and_says_how_to_begin(home: Path) -> None:
    """Looking makes nothing."""
    done = ledger(home, "policy", "mode")
    assert done.returncode == 0 and "off" in done.stdout and "policy.example.json" in done.stdout
    assert snapshot(home) == {}


@pytest.mark.parametrize("mode", ["off", "dry_run", "enforce"])
def test_the_switch_is_a_private_file(home: Path, mode: str) -> None:
    """0600 in a folder of 0700, whole, with what follows from it; nothing is left beside it."""
    write(home, pack())
    shown = as_json(home, "policy", "mode", mode)
    path = folder(home) / "policy_mode"
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (f"{mode}\n", 0o600)
    assert stat.S_IMODE(folder(home).stat().st_mode) == 0o700
    assert (shown["mode"], shown["rules"]) == (mode, 0 if mode == "off" else 2)
    assert sorted(one.name for one in folder(home).iterdir()) == ["policy.json", "policy_mode"]
    assert as_json(home, "policy", "mode")["mode"] == mode


def test_the_switch_works_in_a_fresh_home(home: Path) -> None:
    """No folder is needed before; a dry run without a policy says what is missing."""
    done = ledger(home, "policy", "mode", "dry_run")
    assert done.returncode == 0 and "there is no policy" in done.stdout and "policy.example.json" in done.stdout


@pytest.mark.parametrize(
    ("policy", "named"), [(None, "Copy one first"), ("{", "policy check"), (pack({**DELETE, "effect": "x"}), "'effect'")]
)
def test_enforce_needs_a_policy_that_counts(home: Path, policy: str | None, named: str) -> None:
    """Absent or broken: exit 2 with the next step, and the mode stays as it was."""
    write(home, policy, "dry_run")
    before = snapshot(home)
    done = ledger(home, "policy", "mode", "enforce")
    assert (done.returncode, done.stdout, snapshot(home)) == (2, "", before)
    assert named in done.stderr


def test_a_broken_policy_is_not_enforced_by_its_last_good_copy(home: Path) -> None:
    """Who switches to enforce means the file that is there."""
    write(home, "{", "dry_run")
    (folder(home) / "policy.json.last-good").write_text(pack())
    (folder(home) / "policy.json.last-good").chmod(0o600)
    assert ledger(home, "policy", "mode", "enforce").returncode == 2


def test_off_is_always_possible(home: Path) -> None:
    """Also with a broken policy and a broken mode."""
    write(home, "{", "nonsense")
    assert ledger(home, "policy", "mode", "off").returncode == 0
    assert as_json(home, "policy", "mode")["mode"] == "off"


def test_a_setting_that_wins_is_named(home: Path) -> None:
    """The switch would have no effect, so it is not thrown."""
    write(home, pack())
    done = ledger(home, "policy", "mode", "enforce", AGENT_LEDGER_POLICY_MODE="off")
    assert done.returncode == 2 and "AGENT_LEDGER_POLICY_MODE" in done.stderr
    assert not (folder(home) / "policy_mode").exists()


def test_an_unknown_mode_is_2(home: Path) -> None:
    """The message lists the modes."""
    done = ledger(home, "policy", "mode", "on")
    assert done.returncode == 2 and "off, dry_run, enforce" in done.stderr


def test_a_folder_in_the_place_of_the_file_is_told(home: Path) -> None:
    """Exit 1, no traceback, and no half-made file."""
    write(home, pack())
    (folder(home) / "policy_mode").mkdir()
    done = ledger(home, "policy", "mode", "dry_run")
    assert done.returncode == 1 and "cannot write" in done.stderr
    assert sorted(one.name for one in folder(home).iterdir()) == ["policy.json", "policy_mode"]


@pytest.mark.parametrize(
    "call",
    [
        "hermes ledger policy mode off",
        "hermes -p work ledger --home /srv/hermes policy mode off",
        "agent-ledger --home /srv/hermes policy mode dry_run",
        "python3 -m agent_ledger.cli policy mode off",
    ],
)
def test_an_agent_that_switches_is_tampering(call: str) -> None:
    """By any way in; looking is not."""
    assert [one.kind for one in judge("terminal", {"command": call}, Session()).effects] == ["tampering"]
    assert judge("terminal", {"command": call.rpartition(" ")[0]}, Session()).effects == ()
