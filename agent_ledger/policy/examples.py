"""The examples of each rule, judged when a policy loads: a rule that does not do what it says of itself is refused."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import judge as judgement
from . import registry
from .judge import Judgement
from .rules import Called, Example, Rule, Subject
from .session import Session

Judge = Callable[[str, Mapping[str, Any], Session], Judgement]

# A command line in the text of a safer way.
_COMMAND = re.compile(r"`([^`\n]{1,200})`")


def check(
    rules: Sequence[Rule], budget_s: float = float("inf"), judge: Judge | None = None
) -> tuple[list[Rule], list[str]]:
    """(the rules that hold, what is wrong with the others). Behind ``budget_s`` the rest counts as holding: a hook
    waits for this."""
    ask = judge or judgement.judge
    registry.load()  # here, before the time counts, so that neither an example nor the first judged call waits for it
    until = time.monotonic() + budget_s
    kept, problems = [], []
    for rule in rules:
        wrong = ""
        for example in rule.examples:
            if time.monotonic() > until:
                break
            wrong = _wrong(rule, example, ask)
            if wrong:
                break
        wrong = wrong or (_instead(rule, rules, ask) if time.monotonic() <= until else "")
        if wrong:
            problems.append(f"rule {rule.id!r}: {wrong}. This rule is refused, the others are in force")
        else:
            kept.append(rule)
    return kept, problems


def _wrong(rule: Rule, example: Example, ask: Judge) -> str:
    must_hit = example.blocks == rule.denies
    try:
        hit = next(rule.hits(_subject(example.tool, example.args, ask)), None)
    except Exception as error:
        return f"key {example.place!r}: it could not be judged ({type(error).__name__}: {error})"
    if must_hit and hit is None:
        return f"key {example.place!r}: the rule does not match it"
    if not must_hit and hit is not None:
        return f"key {example.place!r}: the rule matches it, by {hit.what[:100]!r}"
    return ""


def _instead(rule: Rule, rules: Sequence[Rule], ask: Judge) -> str:
    """A safer way must itself be allowed by the policy."""
    for command in _COMMAND.findall(rule.instead):
        try:
            subject = _subject("terminal", {"command": command}, ask)
            denied = next((other for other in rules if other.denies and next(other.hits(subject), None)), None)
        except Exception as error:
            return f"key 'instead': {command!r} could not be judged ({type(error).__name__}: {error})"
        if denied is not None:
            return f"key 'instead': {command!r} is denied by rule {denied.id!r}"
    return ""


def _subject(tool: str, args: Mapping[str, Any], ask: Judge) -> Subject:
    found = ask(tool, args, Session())
    return Subject(Called(tool, args, found.paths), found.effects, found.commands)
