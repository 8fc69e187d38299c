"""Which policy a command works with: the one that is named, the one in force, or the example pack of the plugin."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError
from ...policy import load
from ...policy.load import Loaded
from ...policy.rules import Policy
from ...policy.state import DRY_RUN, FROM_LAST_GOOD, PolicyFiles, State
from ...settings import Settings
from ..text import safe

EXAMPLE_FILE = "policy.example.json"
GIVEN, IN_FORCE, LAST_GOOD, EXAMPLE = "given", "in force", "last good", "example"


@dataclass(frozen=True, slots=True)
class Pack:
    """A usable policy. ``origin``: given, in force, last good or example; ``problems`` of rules that were refused, or
    of the file in whose place the last good one stands."""

    policy: Policy
    path: str
    origin: str
    problems: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """For people: which policy this is."""
        words = {GIVEN: "", IN_FORCE: " (in force)", LAST_GOOD: " (the last good one)", EXAMPLE: " (the example pack)"}
        rules = len(self.policy.rules)
        return f"{safe(self.path)}{words[self.origin]}, {rules} rule{'' if rules == 1 else 's'}"

    def as_json(self) -> dict[str, object]:
        return {
            "path": self.path, "origin": self.origin, "sha256": self.policy.sha256, "rules": len(self.policy.rules),
            "problems": list(self.problems),
        }  # fmt: skip


def chosen(home: str, settings: Settings, given: str | None) -> Pack:
    """The policy to work with. Raises UsageError where the one that is meant cannot be used."""
    if given is not None:
        return _usable(given, GIVEN)
    files, state = look(home, settings)
    if state.policy is not None:
        origin = LAST_GOOD if state.policy_from == FROM_LAST_GOOD else IN_FORCE
        path = files.path + load.LAST_GOOD if origin == LAST_GOOD else files.path
        return Pack(state.policy, path, origin, state.problems)
    if os.path.lexists(files.path):
        raise UsageError(f"{_told(state.problems)}. Correct it or name another; see: hermes ledger policy check")
    return _usable(example_path(), EXAMPLE)


def look(home: str, settings: Settings) -> tuple[PolicyFiles, State]:
    """The policy of a home as it would be in force, also where the mode is off now."""
    files = PolicyFiles(home, dataclasses.replace(settings, policy_mode=DRY_RUN), remembers=False)
    return files, files.look()


def example_path() -> str:
    """The example pack: beside the package in a checkout, in it where pip installed it."""
    package = Path(__file__).resolve().parents[2]
    beside = package.parent / EXAMPLE_FILE
    return str(beside if beside.is_file() else package / EXAMPLE_FILE)


def parsed(path: str) -> Loaded:
    """A policy file that somebody names: who may write it does not matter here. Raises UsageError."""
    try:
        if not os.path.isfile(path):
            raise UsageError(f"there is no file {safe(path)}. Give the path of a policy, such as policy.json")
        with open(path, "rb") as file:
            raw = file.read(load.MAX_FILE + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{safe(path)} cannot be read ({error}). Give the path of a policy") from error
    if len(raw) > load.MAX_FILE:
        raise UsageError(f"{safe(path)} has more than {load.MAX_FILE} bytes; that is the most for a policy")
    return load.parse(raw, path)


def _usable(path: str, origin: str) -> Pack:
    loaded = parsed(path)
    if loaded.policy is None:
        raise UsageError(f"{_told(loaded.problems)}. Correct it; see: hermes ledger policy check {path}")
    return Pack(loaded.policy, path, origin, loaded.problems)


def _told(problems: tuple[str, ...]) -> str:
    more = f"; and {len(problems) - 2} more" if len(problems) > 2 else ""
    return "; ".join(problems[:2]) + more
