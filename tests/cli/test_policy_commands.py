"""What all commands over the policy have in common, and what of them a chat has."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_ledger.cli import chat, main, parser
from tests.cli.commands import as_json, folder, ledger, snapshot
from tests.cli.policies import ETC, pack, record, run, write

COMMANDS = ("check", "explain", "report", "replay", "score", "mode")


def commands_of(tree: object, name: str) -> dict[str, object]:
    return next(action for action in tree._actions if action.dest == name).choices  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples_exit_codes_and_a_json_shape(command: str) -> None:
    """--help is enough to use a command."""
    inner = commands_of(commands_of(parser.build(), "ledger_command")["policy"], "ledger_policy")
    assert tuple(inner) == COMMANDS
    text = inner[command].format_help()  # type: ignore[attr-defined]
    assert all(part in text for part in (f"agent-ledger policy {command}", "example", "exit codes:", "JSON:", "--json"))


def test_policy_alone_says_what_is_in_force(home: Path) -> None:
    """As `policy mode` does; the host's way in is the same."""
    write(home, pack(), "dry_run")
    assert as_json(home, "policy") == as_json(home, "policy", "mode")
    options = parser.build("hermes ledger").parse_args(["policy", "mode"])
    assert all(name.startswith("ledger_") for name in vars(options))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(
        st.one_of(st.text(max_size=12), st.sampled_from([*COMMANDS, "--json", "--since", "--session", "--policy", "ls"])),
        max_size=4,
    )
)
def test_no_argument_makes_a_traceback(home: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is typed, the command ends with a documented exit code."""
    try:
        code = main.main(["policy", *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code in (0, 1, 2)


def test_a_chat_answers_in_short(home: Path) -> None:
    """What is in force, what was refused, and what a command would do; the ledger may be absent."""
    assert "off" in chat.answer("policy")
    write(home, pack(), "dry_run")
    record(home, run(ETC))
    assert "dry_run, 2 rules" in chat.answer("policy mode")
    assert "valid" in chat.answer("policy check")
    assert "delete-tree" in chat.answer("policy report") and chat.answer("policy report").count("\n") < 30
    assert "delete-tree (critical) denies it" in chat.answer(f"policy explain cd / && '{ETC.split()[0]}' -r etc")


def test_a_chat_switches_nothing(home: Path) -> None:
    """A message may come from the agent: only a terminal has the switch."""
    write(home, pack(), "enforce")
    before = snapshot(home)
    for text in ("policy mode off", "policy  mode  off", "POLICY MODE off", "policy explain --policy /etc/hostname ls"):
        assert "```" not in chat.answer(text)
    assert snapshot(home) == before and (folder(home) / "policy_mode").read_text() == "enforce"


def test_a_chat_shows_no_file(home: Path, tmp_path: Path) -> None:
    """What a command would read of this machine stays unknown: others may write in a chat."""
    (tmp_path / "diary.txt").write_text("dear diary")
    command = f"echo $(cat {tmp_path / 'diary.txt'})"
    assert "dear diary" in ledger(home, "policy", "explain", command).stdout
    assert "dear diary" not in chat.answer(f"policy explain {command}")


@pytest.mark.parametrize("text", ["policy dance", "policy explain", "policy replay", "policy score x"])
def test_a_chat_says_what_it_has(home: Path, text: str) -> None:
    """Long work takes a terminal."""
    assert "policy" in chat.answer(text) and "```" not in chat.answer(text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.text(max_size=40))
def test_a_chat_never_raises(home: Path, raw: str) -> None:
    """Hosts print a handler's exception as it stands."""
    assert isinstance(chat.answer(f"policy explain {raw}"), str) and isinstance(chat.answer(f"policy {raw}"), str)
