"""Which policy is in force in a home: modes, changes while running, broken files, the last good copy, memory."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_ledger.policy import judge, load, session
from agent_ledger.policy.gate import Gate
from agent_ledger.policy.judge import Judgement
from agent_ledger.policy.model import Effect
from agent_ledger.policy.state import PolicyFiles, State
from agent_ledger.settings import Settings
from agent_ledger.store.keeper import Keeper
from tests.calls import call
from tests.simhost import SimHost

RULE: dict[str, Any] = {"id": "no-drop", "severity": "high", "reason": "r", "argument": {"name": "sql", "regex": "(?i)drop"}}
DROP = {"sql": "DROP everything"}


def pack(*rules: dict[str, Any]) -> str:
    return json.dumps({"version": 1, "rules": [*rules] or [RULE]})


class Folder:
    """The data folder of a home, with the files that a user writes there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / "plugin-data" / "agent-ledger"
        self.path.mkdir(parents=True, mode=0o700)

    def write(self, mode: str | None = "enforce", policy: str | None = None) -> None:
        for name, text in (("policy_mode", mode), ("policy.json", policy)):
            if text is not None:
                (self.path / name).write_text(text)
                (self.path / name).chmod(0o600)

    def files(self, **settings: Any) -> PolicyFiles:
        return PolicyFiles(str(self.home), Settings(**settings))

    def old(self) -> None:
        """Make the files older than the time in which two writes can look alike."""
        time.sleep(0.06)


@pytest.fixture
def folder(home: Path) -> Folder:
    return Folder(home)


def summary(state: State) -> tuple[str, int | None, str, bool]:
    return state.mode, None if state.policy is None else len(state.policy.rules), state.policy_from, state.broken


# --- modes


def test_no_files_is_off(folder: Folder) -> None:
    """Without a mode file nothing is judged, with a policy or without."""
    assert summary(folder.files().look()) == ("off", None, "", False)
    folder.write(None, pack())
    assert not folder.files().look().active


@pytest.mark.parametrize(("word", "active", "enforces"), [("off", False, False), ("dry_run\n", True, False), (" enforce ", True, True)])
def test_modes(folder: Folder, word: str, active: bool, enforces: bool) -> None:
    """The three modes, with or without a line end."""
    folder.write(word, pack())
    state = folder.files().look()
    assert (state.active, state.enforces, state.problems) == (active, enforces, ())


@pytest.mark.parametrize(("chosen", "mode"), [("off", "off"), ("dry_run", "dry_run"), ("enforce", "enforce"), ("file", "dry_run")])
def test_setting_wins_over_the_file(folder: Folder, chosen: str, mode: str) -> None:
    """The setting policy_mode decides where it does not say file."""
    folder.write("dry_run", pack())
    assert folder.files(policy_mode=chosen).look().mode == mode


def test_wrong_mode_keeps_the_last_good_one(folder: Folder) -> None:
    """A mode in the wrong case is told, and what was in force stays, also for the next process."""
    folder.write("enforce", pack())
    files = folder.files()
    files.look()
    folder.write("Enforce")
    for one in (files, folder.files()):
        state = one.look()
        assert state.mode == "enforce" and state.broken and "write enforce" in state.problems[0]


def test_wrong_mode_without_a_good_one_is_off(folder: Folder) -> None:
    """Nothing is judged under a mode that nobody knows, and that is told."""
    folder.write("On", pack())
    state = folder.files().look()
    assert state.mode == "off" and state.broken and state.problems


# --- picked up while running


def test_changes_are_seen_by_the_next_look(folder: Folder) -> None:
    """Mode and policy, written in place or replaced, count from the next call on."""
    files = folder.files()
    assert files.look().mode == "off"
    folder.write("dry_run", pack())
    assert summary(files.look()) == ("dry_run", 1, "file", False)
    folder.write(None, pack(RULE, {**RULE, "id": "b"}))
    assert summary(files.look())[1] == 2
    (folder.path / "new").write_text(pack(RULE, {**RULE, "id": "b"}, {**RULE, "id": "c"}))
    (folder.path / "new").chmod(0o600)
    os.replace(folder.path / "new", folder.path / "policy.json")
    assert summary(files.look())[1] == 3
    folder.write("off")
    assert not files.look().active
    (folder.path / "policy_mode").unlink()
    assert not files.look().active


def test_same_size_and_time_is_seen_too(folder: Folder) -> None:
    """A second write in the same instant, of the same length, is not missed."""
    files = folder.files()
    for number in range(60):
        folder.write("dry_run", pack({**RULE, "id": f"r{number % 10}"}))
        policy = files.look().policy
        assert policy is not None and policy.rules[0].id == f"r{number % 10}"


def test_nothing_is_parsed_twice(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that did not change is only asked for its metadata."""
    folder.write("enforce", pack())
    parsed = []
    parse = load.parse
    monkeypatch.setattr(load, "parse", lambda *args: (parsed.append(1), parse(*args))[1])
    files = folder.files()
    for _ in range(5):
        files.look()
    folder.old()
    files.look()
    os.utime(folder.path / "policy.json")
    files.look()
    assert parsed == [1]


def test_a_look_is_quick(folder: Folder) -> None:
    """Two stat and a comparison: some microseconds."""
    folder.write("enforce", pack())
    files = folder.files()
    files.look()
    folder.old()
    files.look()
    times = []
    for _ in range(500):
        began = time.perf_counter()
        files.look()
        times.append(time.perf_counter() - began)
    assert sorted(times)[50] < 60e-6


# --- broken policies


def truncated(path: Path) -> None:
    path.write_text(pack()[:-5])


def unreadable_rule(path: Path) -> None:
    path.write_text(pack({**RULE, "severity": "High"}))


def open_to_all(path: Path) -> None:
    path.chmod(0o666)


def gone(path: Path) -> None:
    path.unlink()


def folder_there(path: Path) -> None:
    path.unlink()
    path.mkdir()


def huge(path: Path) -> None:
    path.write_text(pack() + " " * 5_000_000)


BREAKS = [truncated, unreadable_rule, open_to_all, gone, folder_there, huge]


@pytest.mark.parametrize("broken", BREAKS)
def test_broken_policy_leaves_the_last_good_one(folder: Folder, broken: Callable[[Path], None], caplog: pytest.LogCaptureFixture) -> None:
    """What was in force stays, in this process and the next, and status and log say why."""
    folder.write("enforce", pack())
    files = folder.files()
    files.look()
    broken(folder.path / "policy.json")
    for one in (files, folder.files()):
        state = one.look()
        assert summary(state) == ("enforce", 1, "last good", True)
        assert "policy.json" in state.problems[0]
    assert "last good policy stays in force" in caplog.text


@pytest.mark.parametrize("broken", BREAKS)
def test_broken_policy_from_the_start_judges_nothing(folder: Folder, broken: Callable[[Path], None]) -> None:
    """Without a last good one none is in force, and that is told."""
    folder.write("enforce", pack())
    broken(folder.path / "policy.json")
    state = folder.files().look()
    assert summary(state) == ("enforce", None, "", True) and state.problems


def test_mended_policy_is_in_force_again(folder: Folder) -> None:
    """Also where only its permissions were wrong."""
    folder.write("enforce", pack())
    files = folder.files()
    for broken in (open_to_all, truncated, gone):
        broken(folder.path / "policy.json")
        assert files.look().broken
        folder.write(None, pack())
        assert summary(files.look()) == ("enforce", 1, "file", False)


def test_rule_refused_by_its_examples_leaves_the_others(folder: Folder) -> None:
    """The policy is in force without it, the problem is told, and such a file is no last good one."""
    folder.write("enforce", pack(RULE, {**RULE, "id": "bad", "examples": {"block": [{"tool": "x", "args": {"sql": "select"}}]}}))
    state = folder.files().look()
    assert summary(state) == ("enforce", 1, "file", False) and "'bad'" in state.problems[0]
    assert not (folder.path / "policy.json.last-good").exists()


def test_a_command_looks_without_leaving_anything(folder: Folder) -> None:
    """status and doctor keep no copies."""
    folder.write("enforce", pack())
    PolicyFiles(str(folder.home), Settings(), remembers=False).look()
    assert sorted(os.listdir(folder.path)) == ["policy.json", "policy_mode"]


# --- judging


@pytest.fixture
def new_gate(folder: Folder) -> Iterator[Callable[..., Gate]]:
    """``new_gate(owner, **settings)``: the gate of a process of its own, over one ledger."""

    def make(owner: str = "me", **settings: Any) -> Gate:
        keeper = Keeper(str(folder.path / "ledger.db"), owner, "normal", lambda name: False)
        return Gate(str(folder.home), Settings(**settings), keeper, owner)

    yield make


def ask(gate: Gate, tool: str = "mcp__db__run", args: Any = None, session: str = "s0", changes: bool = True) -> Any:
    return gate.judge(gate.look(), tool, DROP if args is None else args, session, (session,), changes, time.monotonic() + 1)


@pytest.mark.parametrize(("mode", "decision", "told"), [("off", "", False), ("dry_run", "would_block", False), ("enforce", "blocked", True)])
def test_verdict_by_mode(folder: Folder, new_gate: Callable[..., Gate], mode: str, decision: str, told: bool) -> None:
    """Only enforce refuses."""
    folder.write(mode, pack())
    found = ask(new_gate())
    assert (found.decision, bool(found.message)) == (decision, told)


@pytest.mark.parametrize(
    ("mode", "setting", "changes", "decision"),
    [("enforce", "block", True, "blocked"), ("enforce", "block", False, ""), ("enforce", "keep", True, ""), ("dry_run", "block", True, "")],
)  # fmt: skip
def test_broken_policy_blocks_only_where_asked(folder: Folder, new_gate: Callable[..., Gate], mode: str, setting: str, changes: bool, decision: str) -> None:
    """on_broken_policy: block refuses every call that changes something, while policy is enforced."""
    folder.write(mode, "{")
    found = ask(new_gate(on_broken_policy=setting), changes=changes)
    assert found.decision == decision and (decision == "" or "broken" in found.message)


def test_judgement_that_fails_lets_the_call_run(folder: Folder, new_gate: Callable[..., Gate], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """The call runs unjudged, the log has one line, and the ledger keeps the error for status."""
    folder.write("enforce", pack())

    def failing(*_: Any) -> Judgement:
        raise RecursionError("too deep")

    monkeypatch.setattr(judge, "judge", failing)
    gate = new_gate()
    assert [ask(gate).decision for _ in range(3)] == ["", "", ""]
    assert caplog.text.count("could not be judged") <= 1


class Notes(session.Session):
    """A session that remembers the commands it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.last = ""

    def load(self, deltas: list[str]) -> None:
        self.seen += [json.loads(delta)["saw"] for delta in deltas]

    def delta(self) -> str:
        self.seen.append(self.last)
        return json.dumps({"saw": self.last})

    def forget(self) -> None:
        self.last = ""


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Judging notes what each session had seen before; a command that begins with ``bad`` has an effect."""
    before: list[list[str]] = []

    def noting(tool: str, args: Any, of: Notes) -> Judgement:
        before.append(list(of.seen))
        text = str(args.get("command", ""))
        of.last = text
        return Judgement(effects=(Effect("disk", text, text[-1:]),) if "bad" in text else ())

    monkeypatch.setattr(session, "Session", Notes)
    monkeypatch.setattr(judge, "judge", noting)
    return before


DISK = {"id": "disk", "severity": "high", "reason": "r", "effect": "disk"}


def run(gate: Gate, command: str, session: str = "s0") -> Any:
    """Judge a call and record it as the recorder does."""
    args = {"command": command}
    verdict = ask(gate, "terminal", args, session)
    row = gate._keeper.announce(
        call(args, session_id=session, tool_name="terminal", owner=gate._owner, policy_decision=verdict.decision, policy_memory=verdict.memory, flags=verdict.flag),
        time.monotonic() + 1,
    )
    gate.refused(session, verdict, row)
    return verdict


def test_session_is_remembered_by_the_next_process(folder: Folder, new_gate: Callable[..., Gate], notes: list[list[str]]) -> None:
    """What calls left is read from the ledger, in order, for this session alone."""
    folder.write("enforce", pack(DISK))
    first = new_gate("one")
    run(first, "a")
    run(first, "x", "other")
    run(first, "b")
    run(new_gate("two"), "c")
    assert notes[-1] == ["a", "b"]


def test_other_process_is_followed_at_the_next_turn(folder: Folder, new_gate: Callable[..., Gate], notes: list[list[str]]) -> None:
    """What another process did in the same session counts from the next turn on, once."""
    folder.write("enforce", pack(DISK))
    one, two = new_gate("one"), new_gate("two")
    run(one, "a")
    run(two, "b")
    for _ in range(2):
        one.begin_turn("s0")
        run(one, "c")
    assert notes[-1] == ["a", "b", "c"]


def test_refused_call_leaves_no_trace(folder: Folder, new_gate: Callable[..., Gate], notes: list[list[str]]) -> None:
    """It never ran, so neither this process nor the next remembers what it would have done."""
    folder.write("enforce", pack(DISK))
    gate = new_gate("one")
    run(gate, "a")
    assert run(gate, "bad 1").decision == "blocked"
    run(gate, "b")
    assert notes[-1] == ["a"]
    run(new_gate("two"), "c")
    assert notes[-1] == ["a", "b"]


def test_second_try_is_linked(folder: Folder, new_gate: Callable[..., Gate], notes: list[list[str]]) -> None:
    """The same effect on the same target names the row of the refusal, also in the next process; another target does not."""
    folder.write("enforce", pack(DISK))
    gate = new_gate("one")
    assert run(gate, "bad 1").flag == ""
    assert run(gate, "wrapped bad 1").flag == "retry_of_1"
    assert run(gate, "bad 2").flag == ""
    assert run(gate, "bad 1", "other").flag == ""
    assert run(new_gate("two"), "again bad 1").flag == "retry_of_2"


def test_without_a_session_nothing_is_remembered(folder: Folder, new_gate: Callable[..., Gate], notes: list[list[str]]) -> None:
    """Nobody knows whose call it is."""
    folder.write("enforce", pack(DISK))
    gate = new_gate("one")
    run(gate, "a", "")
    run(gate, "b", "")
    assert notes[-1] == []


def test_trouble_is_told_once_a_conversation(folder: Folder, new_gate: Callable[..., Gate]) -> None:
    """The next notice of each conversation says that the policy is broken, and again when it broke anew."""
    folder.write("enforce", pack())
    gate = new_gate()
    assert gate.begin_turn("s0") == ""
    folder.write(None, "{")
    assert "broken" in gate.begin_turn("s0") and gate.begin_turn("s0") == "" and "broken" in gate.begin_turn("s1")
    folder.write(None, pack())
    assert gate.begin_turn("s0") == ""
    folder.write(None, "{")
    assert "last good one stays" in gate.begin_turn("s0")


def test_a_turn_reads_only_rows_that_are_new(folder: Folder, new_gate: Callable[..., Gate], notes: list[list[str]]) -> None:
    """What this process wrote itself is not read again, however long the conversation is."""
    folder.write("enforce", pack(DISK))
    gate = new_gate("one")
    for number in range(5):
        run(gate, f"a{number}")
    gate.begin_turn("s0")
    run(gate, "b")
    remembered = gate._sessions.of("s0")
    assert remembered.newest == 5 and not remembered.stale


def test_policy_files_are_looked_at_once_a_call(host: SimHost, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two questions to the file system for each judged call: one for the mode, one for the policy."""
    data = home / "plugin-data" / "agent-ledger"
    data.mkdir(parents=True, mode=0o700)
    (data / "policy.json").write_text(json.dumps({"version": 1, "rules": []}))
    (data / "policy_mode").write_text("dry_run")
    for path in data.iterdir():
        path.chmod(0o600)
    host.run("terminal", {"command": "ls"})
    time.sleep(0.1)  # files that young are read again
    host.run("terminal", {"command": "ls"})
    name = next(iter(host.contexts)) + ".agent_ledger.policy.state"
    asked: list[str] = []
    stamp = sys.modules[name]._stamp
    monkeypatch.setattr(sys.modules[name], "_stamp", lambda path: (asked.append(path), stamp(path))[1])
    host.pre("terminal", {"command": "ls"})
    assert sorted(os.path.basename(path) for path in asked) == ["policy.json", "policy_mode"]
