"""What the user may choose, and what is said about a wrong value."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent_ledger import settings

DEFAULTS = settings.Settings()


@pytest.fixture
def file(home: Path) -> Path:
    folder = home / "plugin-data" / "agent-ledger"
    folder.mkdir(parents=True)
    return folder / "settings.json"


def write(file: Path, value: Any, mode: int = 0o600) -> None:
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    file.chmod(mode)


def test_nothing_said_is_the_defaults(home: Path) -> None:
    """Without any source the defaults hold, and nothing is complained about."""
    assert settings.load(str(home), environ={}) == DEFAULTS


def test_file_counts(home: Path, file: Path) -> None:
    """settings.json in the data folder is read, and named as the source."""
    write(file, {"synchronous": "full", "grace": {"terminal": 60}, "read_only_tools": ["mcp__docs__*"]})
    found = settings.load(str(home), environ={})
    assert (found.synchronous, dict(found.grace), found.read_only_tools) == (
        "full",
        {"terminal": 60},
        ("mcp__docs__*",),
    )
    assert found.sources["synchronous"] == str(file)


def test_off_in_the_hosts_yaml_is_off(home: Path) -> None:
    """A plain off in YAML is False; where off is a choice, that is what was meant."""
    assert settings.load(str(home), lambda: {"policy_mode": False}, {}).policy_mode == "off"
    assert settings.load(str(home), lambda: {"synchronous": False}, {}).problems


def test_host_settings_win_over_the_file(home: Path, file: Path) -> None:
    """Where the host has settings, the file does not count."""
    write(file, {"synchronous": "full"})
    found = settings.load(str(home), lambda: {"store_args": "hash"}, {})
    assert found.values() == DEFAULTS.values() | {"store_args": "hash"}


def test_environment_wins(home: Path) -> None:
    """AGENT_LEDGER_* stands above everything."""
    found = settings.load(str(home), lambda: {"synchronous": "normal"}, {"AGENT_LEDGER_SYNCHRONOUS": "full"})
    assert found.synchronous == "full" and "AGENT_LEDGER_SYNCHRONOUS" in found.sources["synchronous"]


@pytest.mark.parametrize("text", ["terminal=60, mcp__x=5", '{"terminal": 60, "mcp__x": 5}'])
def test_table_from_the_environment(home: Path, text: str) -> None:
    """A table can be written as JSON or as name=seconds."""
    found = settings.load(str(home), environ={"AGENT_LEDGER_GRACE": text})
    assert dict(found.grace) == {"terminal": 60, "mcp__x": 5} and not found.problems


@pytest.mark.parametrize("text", ["a, b", '["a", "b"]'])
def test_names_from_the_environment(home: Path, text: str) -> None:
    """A list of tools can be written as JSON or with commas."""
    assert settings.load(str(home), environ={"AGENT_LEDGER_CHANGING_TOOLS": text}).changing_tools == ("a", "b")


@pytest.mark.parametrize(
    ("name", "value"),
    [("synchronous", "FULL!"), ("synchronous", True), ("store_args", None), ("unknown_tools", 1), ("grace", {"a": 0}),
     ("grace", {"a": True}), ("grace", {"a": 1.5}), ("grace", [1]), ("grace", {"a": 10**10}), ("changing_tools", "a"),
     ("changing_tools", [1]), ("read_only_tools", [""])],
)  # fmt: skip
def test_wrong_value_is_named_and_the_default_holds(home: Path, name: str, value: Any) -> None:
    """One message with the key, the value and what is accepted."""
    found = settings.load(str(home), lambda: {name: value}, {})
    (problem,) = found.problems
    assert name in problem and repr(value)[:20] in problem and "expected" in problem
    assert found.values() == DEFAULTS.values()


def test_value_that_holds_instead_of_a_wrong_one_is_named(home: Path, file: Path) -> None:
    """Below a wrong value of the environment stands the host's, or the file's; above a wrong one of theirs the
    environment's. Only where there is none the default holds."""
    write(file, {"synchronous": "full", "store_args": "maybe"})
    environ = {"AGENT_LEDGER_SYNCHRONOUS": "quick", "AGENT_LEDGER_STORE_ARGS": "hash", "AGENT_LEDGER_GRACE": "x"}
    found = settings.load(str(home), environ=environ)
    assert (found.synchronous, found.store_args, dict(found.grace)) == ("full", "hash", {})
    said = {next(name for name in ("synchronous", "store_args", "grace") if name in text): text for text in found.problems}
    assert said["synchronous"].endswith(f"'full' from {file} holds")
    assert said["store_args"].endswith("'hash' from environment variable AGENT_LEDGER_STORE_ARGS holds")
    assert said["grace"].endswith("The default holds")


def test_host_that_fails_leaves_the_file(home: Path, file: Path) -> None:
    """Nothing is said of defaults where the file counts."""
    write(file, {"synchronous": "full"})
    found = settings.load(str(home), lambda: ["synchronous"], {})
    assert found.synchronous == "full" and "default" not in found.problems[0]


@pytest.mark.parametrize(
    ("name", "entry"),
    [("changing_tools", "read_file:x"), ("changing_tools", "todo:write"), ("changing_tools", "mcp__*:get"),
     ("changing_tools", "cronjob:*"), ("changing_tools", ":x"), ("read_only_tools", "mcp__*_get"),
     ("read_only_tools", "cronjob:*")],
)  # fmt: skip
def test_entry_without_effect_is_named(home: Path, name: str, entry: str) -> None:
    """It changes nothing, as before, but somebody meant something by it. The other entries count."""
    found = settings.load(str(home), lambda: {name: ["deploy", entry]}, {})
    (problem,) = found.problems
    assert name in problem and repr(entry) in problem and "host settings" in problem
    assert found.tool_table().classify("deploy", {}) == ("changes" if name == "changing_tools" else "read_only")
    assert found.tool_table().classify("read_file", {"action": "x"}) == "read_only"


@pytest.mark.parametrize(
    "values",
    [{"changing_tools": ["read_file", "process:wait", "deploy:now", "spotify_*", "write_file:x"]},
     {"read_only_tools": ["mcp__docs__*", "cronjob:status", "mcp__db__query:select", "read_file:x"]}],
)  # fmt: skip
def test_entry_with_effect_is_not_complained_about(home: Path, values: dict[str, list[str]]) -> None:
    """A tool, an action of a tool that has some, a family."""
    assert settings.load(str(home), lambda: values, {}).problems == ()


def test_unknown_key_is_named(home: Path) -> None:
    """A key that does not exist is reported with the keys that do."""
    (problem,) = settings.load(str(home), lambda: {"sync": "full"}, {}).problems
    assert "'sync'" in problem and "synchronous" in problem


def test_right_values_beside_a_wrong_one_count(home: Path) -> None:
    """One wrong key spoils nothing else."""
    found = settings.load(str(home), lambda: {"synchronous": 1, "store_args": "hash"}, {})
    assert found.store_args == "hash" and len(found.problems) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"grace": {}, "grace": {}}', "[" * 100_000])
def test_file_that_is_no_object(home: Path, file: Path, text: str) -> None:
    """A file that is no JSON object, or says a key twice, is reported once; the defaults hold."""
    write(file, text)
    found = settings.load(str(home), environ={})
    assert len(found.problems) == 1 and str(file) in found.problems[0] and found.values() == DEFAULTS.values()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_file_that_others_may_write_does_not_count(home: Path, file: Path, mode: int) -> None:
    """A file that somebody else could have written decides nothing, and is named."""
    write(file, {"synchronous": "full"}, mode)
    found = settings.load(str(home), environ={})
    assert found.synchronous == "normal" and "chmod 600" in found.problems[0]


def test_file_that_is_a_folder(home: Path, file: Path) -> None:
    """A folder in the file's place is reported."""
    file.mkdir()
    assert len(settings.load(str(home), environ={}).problems) == 1


def test_pipe_in_the_files_place_blocks_nothing(home: Path, file: Path) -> None:
    """A named pipe is not opened."""
    os.mkfifo(file, 0o600)
    assert len(settings.load(str(home), environ={}).problems) == 1


def test_host_that_fails(home: Path) -> None:
    """An error in the host's configuration is reported; the defaults hold."""

    def fail() -> Any:
        raise RuntimeError("broken yaml")

    (problem,) = settings.load(str(home), fail, {}).problems
    assert "broken yaml" in problem


@pytest.mark.parametrize(
    "text", ["terminal=\u00b2", "terminal=" + "9" * 5000, "terminal=-5", "terminal", "=5", "{", "{" * 9999]
)
def test_odd_text_in_the_environment_never_raises(home: Path, text: str) -> None:
    """Whatever a variable holds, it is one message and the default."""
    found = settings.load(str(home), environ={"AGENT_LEDGER_GRACE": text})
    assert len(found.problems) == 1 and dict(found.grace) == {}


def test_schema_of_the_manifest_covers_every_setting() -> None:
    """plugin.yaml's config_schema is made of the same list."""
    assert set(settings.config_schema()) == {spec.name for spec in settings.SPECS}
    assert all(entry["description"] for entry in settings.config_schema().values())
