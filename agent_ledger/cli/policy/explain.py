"""``policy explain CALL``: what a call would do, which rules it hits, and what the agent would read. Nothing of it is
run."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from typing import Any

from ...errors import LedgerError, UsageError
from ...policy import judge as judgement
from ...policy.decide import decide, shown
from ...policy.rules import Called, Hit, Rule, Subject
from ...policy.session import Session
from ...policy.world import Worlds
from .. import exits, guard, where
from ..answer import Answer
from ..output import Screen
from ..text import safe
from . import pack

MAX_CALL = 4_000_000  # characters
_MOST_HITS = 5  # of one rule
_MOST_SHOWN = 40


def run(options: argparse.Namespace) -> Answer:
    tool, args = call_of(_text(options.ledger_call), options.ledger_tool)
    home = where.home_of(options.ledger_home)
    settings = where.settings_of(home)
    chosen = pack.chosen(home, settings, options.ledger_pack)
    mode = guard.look(home, settings, {}).state.mode
    session = Session()
    world = Worlds(home).of(_folder(options.ledger_workdir), "")
    session.world = world = dataclasses.replace(world, read=lambda path: None) if options.ledger_blind else world
    try:
        found = judgement.judge(tool, args, session)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise LedgerError(f"the call cannot be judged ({told}), so it would run. Report this error") from error
    call = Called(tool, args, found.paths)
    decision = decide(found.effects, found.commands, call, chosen.policy)
    subject = Subject(call, found.effects, found.commands)
    hits = [(rule, hit) for rule in chosen.policy.rules for hit in _hits(rule, subject)]
    data: dict[str, Any] = {
        "tool": tool,
        "args": args,
        "cwd": world.cwd,
        "home": world.home,
        "project": world.project,
        "commands": [[shown(word) for word in words] for words in found.commands],
        "paths": [shown(path) for path in found.paths],
        "effects": [
            {"kind": one.kind, "what": shown(one.what), "target": shown(one.target), "why": shown(one.why),
             "dangerous": one.dangerous}
            for one in found.effects
        ],
        "hits": [
            {"rule": rule.id, "severity": rule.severity, "denies": rule.denies, "what": shown(hit.what),
             "target": shown(hit.target)}
            for rule, hit in hits
        ],
        "refused": decision.refuses,
        "rule": decision.rule or None,
        "message": decision.message if decision.refuses else None,
        "mode": mode,
        "policy": chosen.as_json(),
    }  # fmt: skip

    def show(screen: Screen) -> None:
        screen.line(f"call      {safe(tool)} {safe(shown(_in_short(args)))}")
        screen.line(f"where     in {safe(world.cwd)}; project {safe(world.project) or 'none'}; home {safe(world.home)}")
        for words in data["commands"][:_MOST_SHOWN]:
            screen.line(f"command   {' '.join(_word(word) for word in words)}")
        for path in dict.fromkeys(data["paths"][:_MOST_SHOWN]):
            screen.line(f"path      {safe(path)}")
        for one in data["effects"]:
            what = safe(one["what"]) + (f" ({safe(one['why'])})" if one["why"] else "")
            target = f" [{safe(one['target'])}]" if one["target"] else ""
            harm = "" if one["dangerous"] else "; no danger in itself"
            screen.line(f"effect    {one['kind']}: {what}{target}{harm}")
        if not found.effects:
            screen.line("effect    none of those that a rule can name")
        for one in data["hits"]:
            verb = "denies" if one["denies"] else "allows"
            screen.line(f"rule      {safe(one['rule'])} ({one['severity']}) {verb} it: {safe(one['what'])}")
        screen.line(f"policy    {chosen.said}")
        for text in chosen.problems:
            screen.line(f"problem   {safe(text)}")
        screen.line(f"so        {_verdict(decision.refuses, decision.rule, mode, chosen.origin)}")
        for line in decision.message.splitlines() if decision.refuses else ():
            screen.line(f"          {safe(line)}")

    return Answer(exits.PROBLEM if decision.refuses else exits.OK, data, show)


def call_of(text: str, tool: str | None) -> tuple[str, dict[str, Any]]:
    """The tool and the arguments behind CALL: a command line, an object of arguments, or ``{"tool", "args"}``. Raises
    UsageError."""
    try:
        found = json.loads(text) if text.lstrip()[:1] == "{" else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        inner = found.get("args")
        if set(found) == {"tool", "args"} and isinstance(found["tool"], str) and isinstance(inner, dict):
            return tool or found["tool"], inner
        return tool or "terminal", found
    if tool not in (None, "terminal"):
        raise UsageError(f'{safe(tool)} takes a JSON object of arguments, such as {{"path": "notes.txt"}}')
    if not text.strip():
        raise UsageError("there is no call to explain. Give a command line in quotes, or - to read it from a pipe")
    return "terminal", {"command": text}


def _text(given: str) -> str:
    if given != "-":
        return given
    text = sys.stdin.buffer.read(MAX_CALL + 1).decode("utf-8", "replace")
    if len(text) > MAX_CALL:
        raise UsageError(f"the call has more than {MAX_CALL} characters; that is the most")
    return text.removesuffix("\n")


def _folder(given: str | None) -> str:
    if given is not None:
        return os.path.abspath(os.path.expanduser(given))
    try:
        return os.getcwd()
    except OSError as gone:
        raise UsageError("the current folder is gone. Go to another one, or name one with --workdir") from gone


def _hits(rule: Rule, subject: Subject) -> list[Hit]:
    return [hit for _, hit in zip(range(_MOST_HITS), rule.hits(subject), strict=False)]


def _in_short(args: dict[str, Any]) -> str:
    command = args.get("command")
    return command if len(args) == 1 and isinstance(command, str) else json.dumps(args)


def _word(word: str) -> str:
    """A resolved word for people: quoted where one could not see where it ends."""
    text = safe(word)
    return text if text and not set(text) & set(" '\"\\|&;<>()$`*?[]#~") else "'" + text.replace("'", "'\\''") + "'"


def _verdict(refused: bool, rule: str, mode: str, origin: str) -> str:
    if not refused:
        return "allowed" + (f" by rule {safe(rule)}" if rule else "; no rule denies it")
    if origin not in (pack.IN_FORCE, pack.LAST_GOOD):
        return "this policy refuses it; the agent would read:"
    words = {"enforce": "it is refused; the agent reads:", "dry_run": "it would be refused, but the mode is dry_run:"}
    return words.get(mode, "this policy refuses it, but the mode is off; the agent would read:")
