"""``policy replay``: what a policy would have refused of a history that no policy judged."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from agent_ledger.cli import main
from tests.cli.commands import as_json, assert_needs_a_ledger, folder, ledger
from tests.cli.policies import DELETE, ETC, SAY, given, kept, pack, record, run, write
from tests.cli.test_policy_report import change
from tests.store.rows import filled


def refused(home: Path, *arguments: str) -> dict[str, list[int]]:
    return {rule["rule"]: rule["ids"] for rule in as_json(home, "policy", "replay", *arguments)["by_rule"]}


def test_a_history_without_policy_is_judged(home: Path, tmp_path: Path) -> None:
    """Grouped by rule, with row ids, tools and examples."""
    record(home, run("ls -l"), run(ETC), ("s2", *SAY, "ok"), run(f"echo {ETC}"))
    shown = as_json(home, "policy", "replay", given(tmp_path))
    assert {rule["rule"]: rule["ids"] for rule in shown["by_rule"]} == {"delete-tree": [2], "no-orders": [3]}
    assert (shown["refused"], shown["sessions_with_refusals"], shown["policy"]["origin"]) == (2, 2, "given")
    example = next(rule for rule in shown["by_rule"] if rule["rule"] == "delete-tree")["examples"][0]
    assert (example["tool"], example["ran"], "/etc" in example["what"]) == ("terminal", True, True)
    text = ledger(home, "policy", "replay", given(tmp_path)).stdout
    assert all(part in text for part in ("delete-tree: #2", "no-orders: #3", ETC, "would have been refused"))


def test_a_session_is_rebuilt(home: Path, tmp_path: Path) -> None:
    """What an earlier call of the conversation set counts for a later one, and for no other conversation."""
    record(
        home, run("export OLD=/etc"), run("cd /"), run("export OLD=/srv/a/b", "s2"), run("cd /srv", "s2"), run("rm -r $OLD"),
        run("rm -r etc"), run("rm -r $OLD", "s2"), run("rm -r etc", "s2"),
    )  # fmt: skip
    assert refused(home, given(tmp_path)) == {"delete-tree": [5, 6]}


def test_a_call_that_never_ran_leaves_nothing(home: Path, tmp_path: Path) -> None:
    """A blocked cd went nowhere."""
    record(home, run("cd /", outcome="blocked"), run("cd /srv/a"), run("rm -r etc"))
    assert refused(home, given(tmp_path)) == {}


def test_a_conversation_goes_on_under_another_session_id(home: Path, tmp_path: Path) -> None:
    """A rotation is the same conversation."""
    record(home, run("export OLD=/etc"), run("rm -r $OLD", "s9"))
    change(home, "INSERT INTO sessions VALUES ('s9', 's1', 'rotation', 'turn', '', '2026-01-01T00:00:00.000Z')")
    assert refused(home, given(tmp_path)) == {"delete-tree": [2]}
    assert refused(home, given(tmp_path), "--session", "s9") == {"delete-tree": [2]}


def test_calls_without_a_session_know_of_no_other(home: Path, tmp_path: Path) -> None:
    """Nobody knows whose they are."""
    record(home, run("cd /", ""), run("rm -r etc", ""), run(ETC, ""))
    assert refused(home, given(tmp_path)) == {"delete-tree": [3]}


def test_since_and_session_choose_what_counts_but_not_what_is_known(home: Path, tmp_path: Path) -> None:
    """Older calls still say where a session stands."""
    record(home, run("export OLD=/etc"), run("rm -r $OLD"), run("rm -r $OLD"), run(ETC, "s2"))
    change(home, "UPDATE ledger SET ts = '2020-01-02T03:04:05.678Z' WHERE id <= 2")
    policy = given(tmp_path)
    assert refused(home, policy) == {"delete-tree": [3, 4]}
    assert refused(home, policy, "--session", "s1") == {"delete-tree": [2, 3]}
    assert refused(home, policy, "--since", "2019-01-01") == {"delete-tree": [2, 3, 4]}
    assert ledger(home, "policy", "replay", policy, "--session", "nobody").returncode == 2


def test_cut_arguments_are_judged_as_far_as_they_are_there(home: Path, tmp_path: Path) -> None:
    """They are counted apart; half a path at the cut is no path."""
    long = "\n".join(f"echo line {number} of many" for number in range(400))
    record(home, run(f"{ETC}\n{long}"), run(f"{long}\n{ETC}"), run("rm -r /" + "srv" * 2000))
    shown = as_json(home, "policy", "replay", given(tmp_path))
    assert (shown["judged"], shown["judged_in_part"], shown["by_rule"][0]["ids"]) == (3, 3, [1])
    assert shown["by_rule"][0]["examples"][0]["in_part"]


def test_what_was_judged_whole_helps_where_arguments_were_cut(home: Path, tmp_path: Path) -> None:
    """Under a dry run the row keeps what a long script would do, and running it later is refused."""
    write(home, pack(), "dry_run")
    script = f"echo {'x' * 60}\n" * 100 + ETC + "\n"
    where = str(tmp_path / "gone" / "a.sh")
    record(home, run("cat > " + where + " <<'EOF'\n" + script + "EOF"), run(f"sh {where}"))
    assert refused(home) == {"delete-tree": [2]}


def test_hashed_arguments_cannot_be_judged(home: Path, tmp_path: Path) -> None:
    """They are counted with the reason, not taken for harmless."""
    record(home, run(ETC), run("ls /"), AGENT_LEDGER_STORE_ARGS="hash")
    shown = as_json(home, "policy", "replay", given(tmp_path))
    (why,) = shown["not_judged"]
    assert (shown["judged"], shown["not_judged"][why], "store_args: hash" in why) == (0, 2, True)
    assert "2 calls" in ledger(home, "policy", "replay", given(tmp_path)).stdout


def test_damaged_rows_are_counted(home: Path, tmp_path: Path) -> None:
    """Whatever stands in the column, nothing is raised and the rest is judged."""
    record(home, *[run("ls")] * 4, run(ETC))
    for row, text in enumerate(("{", "[1]", '{"[unreadable]":true}', '{"command": 5}'), 1):
        change(home, "UPDATE ledger SET args_json = ?, args_len = ? WHERE id = ?", text, len(text), row)
    shown = as_json(home, "policy", "replay", given(tmp_path))
    assert (sum(shown["not_judged"].values()), shown["judged"], shown["refused"]) == (3, 2, 1)


def test_secrets_of_full_arguments_are_not_printed(home: Path, tmp_path: Path) -> None:
    """With store_args: full the ledger holds them; a report is for other eyes."""
    secret = "ghp_" + "a1B2" * 9
    record(home, run(f"rm -r /etc/{secret} /etc"), AGENT_LEDGER_STORE_ARGS="full")
    done = ledger(home, "policy", "replay", given(tmp_path))
    assert "delete-tree" in done.stdout and secret not in done.stdout


def test_the_policy_of_the_home_comes_before_the_example(home: Path) -> None:
    """Also where the mode is off; a broken one is named, not replaced."""
    record(home, run(ETC))
    assert as_json(home, "policy", "replay")["policy"]["origin"] == "example"
    write(home, pack({**DELETE, "id": "mine"}))
    shown = as_json(home, "policy", "replay")
    assert (shown["policy"]["origin"], shown["by_rule"][0]["rule"]) == ("in force", "mine")
    write(home, "{")
    done = ledger(home, "policy", "replay")
    assert (done.returncode, "policy check" in done.stderr) == (2, True)


def test_check_is_1_where_something_would_be_refused(home: Path, tmp_path: Path) -> None:
    """So that a script switches only where nothing would."""
    record(home, run("ls /"))
    assert ledger(home, "policy", "replay", given(tmp_path), "--check").returncode == 0
    record(home, run(ETC))
    assert ledger(home, "policy", "replay", given(tmp_path)).returncode == 0
    assert ledger(home, "policy", "replay", given(tmp_path), "--check").returncode == 1


def test_a_replay_changes_nothing(home: Path, tmp_path: Path) -> None:
    """The history stays as it is."""
    record(home, run(ETC))
    before = kept(home)
    ledger(home, "policy", "replay", given(tmp_path))
    assert kept(home) == before


def test_a_ledger_of_an_older_plugin_is_judged(home: Path, tmp_path: Path) -> None:
    """Before policy came, rows had no memory of it."""
    record(home, run(ETC))
    change(home, "ALTER TABLE ledger DROP COLUMN policy_memory")
    change(home, "PRAGMA user_version = 1")
    assert refused(home, given(tmp_path)) == {"delete-tree": [1]}


def test_without_a_ledger_it_is_wrong_use(home: Path) -> None:
    """There is no history."""
    assert_needs_a_ledger(home, "policy", "replay")


def test_memory_stays_flat(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One conversation is in memory at a time, however many there are."""
    policy = given(tmp_path)
    peaks = []
    for _ in range(2):
        filled(home, 1500)
        tracemalloc.start()
        assert main.main(["policy", "replay", policy, "--since", "9999d", "--json"]) == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    shown = json.loads("{" + capsys.readouterr().out.rpartition("\n}\n{")[2])
    assert shown["judged"] + sum(shown["not_judged"].values()) == 3000
    assert peaks[1] < 1.3 * peaks[0] + 200_000


def test_ctrl_c_prints_what_was_found(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 130, and the part that is done is not lost."""
    from agent_ledger.policy.history import Conversation

    record(home, run(ETC), run("ls", "s2"))
    judge, seen = Conversation.judge, []

    def stopped(self: Conversation, call: object) -> object:
        seen.append(call)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return judge(self, call)  # type: ignore[arg-type]

    monkeypatch.setattr(Conversation, "judge", stopped)
    assert main.main(["policy", "replay", given(tmp_path)]) == 130
    assert "delete-tree: #1" in capsys.readouterr().out
    assert (folder(home) / "ledger.db").exists()
