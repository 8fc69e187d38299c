"""The documentation of policy says what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

from agent_ledger.policy import load, validate
from agent_ledger.policy.rules import SEVERITIES
from tests.cli.test_policy_commands import COMMANDS
from tests.policy import documented

README = documented.PAGE.parents[1] / "README.md"


def page() -> str:
    return documented.PAGE.read_text(encoding="utf-8")


def test_the_table_of_effects_is_current() -> None:
    """It is made from the code; the page says how."""
    assert page() == documented.current(page()) and "`fork_bomb`" in page()


def test_every_key_mode_and_severity_is_described() -> None:
    """Whoever writes a rule finds all that may stand in it."""
    for name in (*validate._RULE_KEYS, *load.MODES, *SEVERITIES):
        assert f"`{name}`" in page(), name


def test_every_command_is_described() -> None:
    """On the page and in the README."""
    for name in COMMANDS:
        assert f"`policy {name}" in page() and f"policy {name}" in README.read_text(encoding="utf-8")


def test_the_policy_of_the_readme_holds() -> None:
    """It can be copied as it stands: valid, and true to its examples."""
    (shown,) = re.findall(r"```\n(\{\"version\": 1.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    loaded = load.parse(shown.encode(), "README")
    assert loaded.problems == () and loaded.policy is not None and len(loaded.policy.rules) == 2
    assert json.loads(shown)["version"] == validate.VERSION


def test_the_page_names_only_files_that_are_there() -> None:
    """What it links to exists."""
    for name in ("policy.example.json", "docs/policy.md"):
        assert (Path(README.parent) / name).is_file()
