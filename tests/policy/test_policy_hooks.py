"""Policy through the real hooks and a real ledger: what the host is told, and what the rows say."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_ledger.policy.judge import Judgement
from agent_ledger.policy.model import Effect
from agent_ledger.store.keeper import BREAK_S
from tests.cli.commands import ledger as command
from tests.simhost import PLUGIN_FOLDER, SimHost, turn_id

SQL = {"id": "no-drop", "severity": "high", "reason": "All rows would go.", "instead": "Delete the rows that are meant.", "argument": {"name": "sql", "regex": "(?i)drop"}}
READS = {"id": "no-keys", "severity": "high", "reason": "It is a key.", "argument": {"name": "path", "regex": "key$"}}
DISK = {"id": "disk", "severity": "critical", "reason": "r", "effect": "disk"}
TOOL, DROP, SELECT = "mcp__db__run", {"sql": "drop it all"}, {"sql": "select 1"}
KEY = {"path": "/srv/key"}
BLOCKED = {"status": "blocked", "error_type": "plugin_block", "result": '{"error": "blocked"}'}


@pytest.fixture
def policy(home: Path) -> Callable[..., None]:
    """``policy(mode, *rules)``: what a user writes into the data folder; a text in the place of rules as it is."""
    folder = home / "plugin-data" / "agent-ledger"

    def write(mode: str, *rules: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        text = rules[0] if rules and isinstance(rules[0], str) else json.dumps({"version": 1, "rules": rules or [SQL, READS]})
        for name, content in (("policy.json", text), ("policy_mode", mode)):
            (folder / name).write_text(content)
            (folder / name).chmod(0o600)

    return write


def rows(host: SimHost, what: str = "tool_name, status, effect, policy_decision, policy_rule") -> list[tuple[Any, ...]]:
    return host.sql(f"SELECT {what} FROM ledger ORDER BY id")  # noqa: S608


def flags(host: SimHost) -> list[set[str]]:
    return [set(found.split()) for (found,) in rows(host, "flags")]


def test_without_policy_files_nothing_of_policy_is_imported(child: Callable[..., Any], tmp_path: Path) -> None:
    """A call, its post, a read and a turn leave the policy modules out of the process."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom tests.simhost import in_process\n"
        "host = in_process(Path(sys.argv[1]))\nhost.run('terminal', {'command': 'make'})\nhost.run('read_file', {'path': 'a'})\nhost.turn()\n"
        "print([name for name in sys.modules if '.policy' in name and 'agent_ledger' in name])"
    )
    done = child(code, tmp_path)
    out, err = done.communicate(timeout=60)
    assert out.strip() == "[]", err


def test_refused_call_never_ran_and_says_why(any_host: SimHost, policy: Callable[..., None]) -> None:
    """The host is told to block with rule, reason and safer way; the row is ERROR:blocked, effect none, on every family."""
    policy("enforce")
    answer = any_host.pre(TOOL, DROP)
    assert answer is not None and answer["action"] == "block"
    assert all(text in answer["message"] for text in ("no-drop", "high", "drop it all", "All rows would go.", "Delete the rows"))
    assert rows(any_host) == [(TOOL, "ERROR:blocked", "none", "blocked", "no-drop")]
    ((sha, settled, error),) = rows(any_host, "policy_sha256, settled_ts, error_message")
    assert len(sha) == 64 and settled and "All rows would go" in error


def test_the_hosts_post_for_a_refusal_makes_no_second_row(any_host: SimHost, policy: Callable[..., None]) -> None:
    """Hosts report what they blocked; that is this row, and no alarm."""
    policy("enforce")
    any_host.pre(TOOL, DROP)
    any_host.post(TOOL, DROP, **BLOCKED)
    assert rows(any_host) == [(TOOL, "ERROR:blocked", "none", "blocked", "no-drop")] and "not_honoured" not in flags(any_host)[0]


def test_refusal_inside_a_script_makes_no_second_row(any_host: SimHost, policy: Callable[..., None]) -> None:
    """A nested call has no ids; its refusal settles nothing else, and follows no outcome of its outer call."""
    policy("enforce")
    ids = {"session": "s0", "task": "t0", "turn": "", "call": ""}
    any_host.pre("execute_code", {"code": "x"}, call="x1")
    any_host.pre(TOOL, SELECT, **ids)
    any_host.pre(TOOL, DROP, **ids)
    if any_host.family.nested_posts:
        any_host.post(TOOL, DROP, **ids, **BLOCKED)
    any_host.post("execute_code", {"code": "x"}, '{"status": "success"}', call="x1")
    found = rows(any_host, "tool_name, status, policy_decision")
    assert found[0][1:] == ("CONFIRMED", "allow") and found[2] == (TOOL, "ERROR:blocked", "blocked") and len(found) == 3
    assert found[1][1] != "ERROR:blocked"


def test_allowed_call_runs_and_says_that_it_was_judged(any_host: SimHost, policy: Callable[..., None]) -> None:
    """It is PENDING, then CONFIRMED, under the policy's hash."""
    policy("enforce")
    assert any_host.pre(TOOL, SELECT) is None
    any_host.post(TOOL, SELECT)
    assert rows(any_host) == [(TOOL, "CONFIRMED", "applied", "allow", "")]
    assert len(rows(any_host, "policy_sha256")[0][0]) == 64


def test_dry_run_records_and_blocks_nothing(any_host: SimHost, policy: Callable[..., None]) -> None:
    """The row says would_block with the rule, and the call runs."""
    policy("dry_run")
    assert any_host.pre(TOOL, DROP) is None
    any_host.post(TOOL, DROP)
    assert rows(any_host) == [(TOOL, "CONFIRMED", "applied", "would_block", "no-drop")]


def test_off_judges_nothing(host: SimHost, policy: Callable[..., None]) -> None:
    """Mode off is as if there were no policy."""
    policy("off")
    assert host.pre(TOOL, DROP) is None
    assert rows(host) == [(TOOL, "PENDING", "unknown", "", "")]


def test_modes_are_picked_up_while_the_host_runs(host: SimHost, policy: Callable[..., None]) -> None:
    """From one call to the next: none, dry run, enforce, off, for calls that change something and for reads."""
    found = []
    for number, mode in enumerate(("", "dry_run", "enforce", "off", "enforce")):
        if mode:
            policy(mode)
        found.append([bool(host.pre(TOOL, DROP, call=f"a{number}")), bool(host.pre("read_file", KEY, call=f"b{number}"))])
    assert found == [[False] * 2, [False] * 2, [True] * 2, [False] * 2, [True] * 2]


def test_read_is_judged_and_recorded_only_when_refused(any_host: SimHost, policy: Callable[..., None]) -> None:
    """A read of a secret is refused and has a row; any other read has none, and is still counted as a look."""
    policy("enforce")
    assert any_host.pre("read_file", {"path": "/srv/a.txt"}, call="r1") is None
    any_host.post("read_file", {"path": "/srv/a.txt"}, call="r1")
    assert any_host.pre("read_file", KEY, call="r2") is not None
    any_host.post("read_file", KEY, call="r2", **BLOCKED)
    assert rows(any_host) == [("read_file", "ERROR:blocked", "none", "blocked", "no-keys")]
    assert rows(any_host, "reads") == [("read_file",)]


def test_dry_run_read_is_confirmed_and_never_told(any_host: SimHost, policy: Callable[..., None]) -> None:
    """Its row is settled by its post; one whose post was lost is no ghost."""
    policy("dry_run")
    any_host.run("read_file", KEY, call="r1")
    any_host.pre("read_file", KEY, call="r2")
    any_host.age(4000)
    assert any_host.turn() is None
    assert rows(any_host, "status, policy_decision") == [("CONFIRMED", "would_block"), ("PENDING", "would_block")]


def test_refused_call_is_no_ghost_and_no_repeat(host: SimHost, policy: Callable[..., None]) -> None:
    """Nothing of a refusal comes up in a turn; the same call, allowed later, is the first of its kind."""
    policy("enforce")
    host.pre(TOOL, DROP, call="a")
    host.age(4000)
    assert host.turn() is None
    policy("off")
    host.run(TOOL, DROP, call="b")
    assert "repeat" not in flags(host)[1]


@pytest.mark.parametrize("tool", [TOOL, "read_file"])
def test_host_that_does_not_honour_a_refusal_is_an_alarm(any_host: SimHost, policy: Callable[..., None], tool: str) -> None:
    """A post that says ok marks the row, its status says what happened, and status shows it."""
    policy("enforce")
    args = DROP if tool == TOOL else KEY
    any_host.pre(tool, args)
    any_host.post(tool, args)
    assert rows(any_host, "status, effect, policy_decision") == [("CONFIRMED", "applied", "blocked")]
    assert "not_honoured" in flags(any_host)[0]
    assert any_host.sql("SELECT from_status, to_status FROM transitions") == [("ERROR:blocked", "CONFIRMED")]
    told = command(any_host.home, "status")
    assert "1 refused call ran all the same" in told.stdout
    assert json.loads(command(any_host.home, "status", "--json").stdout)["policy"]["not_honoured"] == 1


def test_alarm_is_raised_by_another_copy_too(host: SimHost, policy: Callable[..., None]) -> None:
    """A plugin that was loaded anew between refusal and post finds the row by its ids."""
    policy("enforce")
    host.pre(TOOL, DROP)
    host.reload()
    host.post(TOOL, DROP)
    assert "not_honoured" in flags(host)[0] and len(rows(host)) == 1


@pytest.mark.parametrize("status", ["error", "cancelled", "timeout"])
def test_failed_post_of_a_refusal_is_no_alarm(host: SimHost, policy: Callable[..., None], status: str) -> None:
    """Only what shows that the tool ran is one."""
    policy("enforce")
    host.pre(TOOL, DROP)
    host.post(TOOL, DROP, status=status, result='{"error": "x"}')
    assert rows(host, "status") == [("ERROR:blocked",)] and "not_honoured" not in flags(host)[0]


def test_refusal_holds_where_the_ledger_cannot_be_written(host: SimHost, policy: Callable[..., None]) -> None:
    """The record waits in the spool and comes out as refused, marked spooled; the alarm finds it there."""
    policy("enforce")
    host.run(TOOL, SELECT, call="a")
    lock = sqlite3.connect(host.ledger, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    assert host.pre(TOOL, DROP, call="b") is not None
    lock.execute("ROLLBACK")
    lock.close()
    time.sleep(BREAK_S + 0.1)
    host.post(TOOL, DROP, call="b")
    host.turn()
    found = host.sql("SELECT status, policy_decision, flags FROM ledger WHERE tool_call_id = 'b'")
    assert len(found) == 1 and found[0][:2] == ("CONFIRMED", "blocked") and {"spooled", "not_honoured"} <= set(found[0][2].split())


def judged_by_word(host: SimHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judgement for tests: whatever holds ``wipe X`` does that to X."""

    def judge(tool: str, args: Any, session: object) -> Judgement:
        words = str(args).replace("'", " ").split()
        return Judgement(tuple(Effect("disk", "wipe " + after, after) for word, after in zip(words, words[1:], strict=False) if word == "wipe"))

    name = next(iter(host.contexts)) + ".agent_ledger.policy.judge"
    __import__(name)
    monkeypatch.setattr(sys.modules[name], "judge", judge)


def test_second_try_by_another_way_is_linked(host: SimHost, policy: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another tool, a wrapper: the row names the refusal before it, across a restart; another session's does not."""
    policy("enforce", DISK)
    judged_by_word(host, monkeypatch)
    host.pre("terminal", {"command": "wipe sdz"}, call="a")
    host.pre("terminal", {"command": "nice wipe sdz"}, call="b")
    host.pre("execute_code", {"code": "run( wipe sdz )"}, call="c")
    host.pre("terminal", {"command": "wipe sdy"}, call="d")
    host.pre("terminal", {"command": "wipe sdz"}, call="e", session="s1")
    assert [next((flag for flag in one if flag.startswith("retry_of_")), "") for one in flags(host)] == ["", "retry_of_1", "retry_of_2", "", ""]


def test_agent_hears_of_a_broken_policy_once(host: SimHost, policy: Callable[..., None]) -> None:
    """The next notice says it, within its bounds and beside what else there is to say; then it is told."""
    policy("enforce")
    host.pre(TOOL, SELECT)
    policy("enforce", "{")
    host.age(4000)
    text = host.turn()
    assert text is not None and "policy of this Hermes is broken; the last good one stays in force" in text
    assert "never confirmed" in text and len(text) <= 2000
    assert host.pre(TOOL, DROP, call="c9") is not None
    assert host.turn(turn=turn_id("s0", "t0", 11), history=[{"role": "user", "content": "please go on"}, {"role": "assistant", "content": "y"}, {"role": "user", "content": "z"}], message="z") is None


def test_broken_policy_alone_is_a_notice(host: SimHost, policy: Callable[..., None]) -> None:
    """With nothing else to say the notice is two lines, and names no call."""
    policy("enforce", "{")
    text = host.turn()
    assert text is not None and text.count("\n") == 1 and "#" not in text and "hermes ledger doctor" in text


def test_on_broken_policy_block(host: SimHost, policy: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the setting, nothing that changes something runs until the policy is mended; reads do."""
    monkeypatch.setenv("AGENT_LEDGER_ON_BROKEN_POLICY", "block")
    policy("enforce", "{")
    assert host.pre(TOOL, SELECT, call="a") is not None
    assert host.pre("read_file", {"path": "/srv/a"}, call="b") is None
    policy("enforce")
    assert host.pre(TOOL, SELECT, call="c") is None
    assert rows(host, "policy_decision, policy_rule") == [("blocked", "on_broken_policy"), ("allow", "")]


def test_environment_sets_the_mode(new_host: Callable[..., SimHost], policy: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """AGENT_LEDGER_POLICY_MODE stands above the file."""
    monkeypatch.setenv("AGENT_LEDGER_POLICY_MODE", "enforce")
    policy("off")
    host = new_host()
    assert host.pre(TOOL, DROP) is not None


def test_any_arguments_are_judged_or_run(host: SimHost, policy: Callable[..., None]) -> None:
    """Arguments of every kind neither raise nor block."""
    policy("enforce")
    for number, args in enumerate([None, [], "text", {"sql": b"\xff"}, {"sql": float("nan")}, {1: 2}, {"sql": {"a": [1]}}, {"sql": "x" * 100_000}]):
        assert host.pre(TOOL, args, call=f"c{number}") is None
    assert len(rows(host)) == 8


@pytest.mark.parametrize("mode", ["dry_run", "enforce"])
def test_lone_surrogates_cost_no_row(host: SimHost, policy: Callable[..., None], mode: str) -> None:
    """What judging keeps of a command can be stored whatever the command holds."""
    policy(mode)
    host.pre("terminal", {"command": "cd /srv && echo \ud800 > /srv/\ud800"}, call="c1")
    host.pre("terminal", {"command": "make"}, call="c2")
    assert [tool for tool, *_ in rows(host)] == ["terminal", "terminal"]


def test_status_and_doctor_show_the_policy(host: SimHost, policy: Callable[..., None]) -> None:
    """Mode, file, hash, number of rules; then what is wrong with it."""
    policy("dry_run")
    host.run(TOOL, SELECT)
    told = command(host.home, "status").stdout
    assert "policy    dry_run, 2 rules of " in told and "sha256" in told
    found = json.loads(command(host.home, "status", "--json").stdout)["policy"]
    assert (found["mode"], found["rules"], found["in_force"], found["problems"]) == ("dry_run", 2, "file", [])
    policy("dry_run", "{")
    told = command(host.home, "status").stdout
    assert "last-good" in told and "problem   " in told and "policy.json is not JSON" in told
    (check,) = [one for one in json.loads(command(host.home, "doctor", "--json").stdout)["checks"] if one["name"] == "policy"]
    assert check["state"] == "fail" and "policy.json" in check["detail"]


def test_example_pack_can_be_copied_as_the_documentation_says(host: SimHost, home: Path) -> None:
    """cp policy.example.json and a mode: it is in force."""
    folder = home / "plugin-data" / "agent-ledger"
    folder.mkdir(parents=True)
    (folder / "policy.json").write_bytes((PLUGIN_FOLDER / "policy.example.json").read_bytes())
    (folder / "policy_mode").write_text("enforce\n")
    assert host.pre("send_message", {"message": "@everyone the build is green"}) is not None
    assert host.pre("send_message", {"message": "the build is green"}, call="c2") is None
