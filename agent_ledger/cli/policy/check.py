"""``policy check [FILE]``: is a policy valid, and does every rule do what its examples say?"""

from __future__ import annotations

import argparse
import contextlib
import os

from ...errors import UsageError
from ...home import data_folder
from ...policy import load
from ...policy.model import EFFECTS
from ...policy.state import POLICY_FILE
from .. import exits, where
from ..answer import Answer
from ..output import Screen
from ..text import plural, safe
from . import pack


def run(options: argparse.Namespace) -> Answer:
    given = options.ledger_file
    path = given if given is not None else os.path.join(data_folder(where.home_of(options.ledger_home)), POLICY_FILE)
    if given is None and not os.path.lexists(path):
        raise UsageError(
            f"there is no policy at {path}, so nothing is judged. Begin with the example: install -D -m 600"
            f" {pack.example_path()} {path}"
        )
    notes = _owner(path)
    if given is None and notes:  # it does not count, whatever it says
        problems, notes, policy = tuple(notes), [], None
    else:
        loaded = pack.parsed(path)
        problems, policy = loaded.problems, loaded.policy
    rules = policy.rules if policy is not None else ()
    bare = [kind for kind in EFFECTS if policy is not None and kind not in policy.effects]
    examples = sum(len(rule.examples) for rule in rules)
    data = {
        "path": path, "ok": not problems, "sha256": policy.sha256 if policy is not None else None, "rules": len(rules),
        "examples": examples, "problems": list(problems), "notes": notes, "effects_without_rule": bare,
    }  # fmt: skip

    def show(screen: Screen) -> None:
        for text in problems:
            screen.line(f"problem   {safe(text)}")
        if policy is not None:
            screen.line(f"policy    {safe(path)}: {plural(len(rules), 'rule')}, {plural(examples, 'example')} hold")
        for text in notes:
            screen.line(f"note      {safe(text)}")
        if bare:
            screen.line(f"note      no rule names {', '.join(bare)}")
        if problems:
            screen.line(f"{plural(len(problems), 'problem')}; what a broken policy means: hermes ledger policy mode")
        else:
            screen.line(f"valid; see what it would have refused: hermes ledger policy replay {safe(given)}".rstrip())

    return Answer(exits.PROBLEM if problems else exits.OK, data, show)


def _owner(path: str) -> list[str]:
    """Why the file would not count as the policy of a home: who may write it."""
    with contextlib.suppress(FileNotFoundError):
        try:
            load.read(path)
        except load.Broken as broken:
            return [str(broken)]
    return []
