"""What a file would do once it is run: for files that run by themselves, and for what a session may run later."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .filetypes import language_of
from .model import Effect, Value

if TYPE_CHECKING:
    from .machine import Machine

_CRON = re.compile(r"^\s*(?:@\w+|(?:[\d*/,LW#?-]+\s+){4}[\w*/,-]+)\s+(.+)$")
_UNIT = re.compile(r"^\s*(?:Exec\w*|ExecStart\w*)\s*=\s*[-@:+!]*(.+)$")
_PLIST = re.compile(r"<string>([^<]*)</string>")
_RC_LANGUAGES = {".vimrc": "", ".pythonrc": "python", ".irbrc": "ruby", ".gdbinit": "", ".inputrc": ""}


def effects_of(machine: Machine, where: str, content: Value) -> list[Effect]:
    """The dangerous effects of running this content, noted nowhere else."""
    kept, machine.effects = machine.effects, []
    steps = machine.commands
    machine.commands = []
    try:
        _run(machine, where, content)
        return [found for found in machine.effects if found.dangerous]
    finally:
        machine.effects = kept
        machine.commands = steps


def _run(machine: Machine, where: str, content: Value) -> None:
    if "cron" in where:
        lines = [found[1] for line in content.text.split("\n") if (found := _CRON.match(line))]
        if where.startswith("/etc/"):  # with the user in front
            lines += [line.partition(" ")[2].lstrip() for line in lines]
        for line in lines[:40]:
            machine.aside(Value(line, content.marks))
        if lines:
            return
    if where.endswith((".service", ".timer", ".desktop", ".path")):
        for line in content.text.split("\n")[:200]:
            if found := _UNIT.match(line):
                machine.aside(found[1])
        return
    if where.endswith(".plist"):
        words = _PLIST.findall(content.text)[:40]
        for word in words:
            machine.aside(word)
        return
    language = _RC_LANGUAGES.get(where.rpartition("/")[2])
    if language is None:
        language = language_of(where, content.text) or "shell"
    if language == "shell":
        machine.subshell(lambda: _as_login(machine, content))
    elif language:
        machine.code(language, content)


def _as_login(machine: Machine, content: Value) -> Value:
    """A start-up file: its commands, and the aliases and functions that somebody will use later."""
    before = set(machine.scope.aliases), set(machine.scope.functions)
    printed = machine.shell(content)
    for name in list(machine.scope.aliases):
        if name not in before[0]:
            machine.shell(machine.scope.aliases[name])
    for name in list(machine.scope.functions):
        if name not in before[1]:
            machine.argv([name])
    return printed
