"""Walks a script: lists, pipelines, loops, functions, redirections; hands each resolved command to its program."""

from __future__ import annotations

from . import expand, forks, simple
from .machine import Machine
from .model import ANYTHING, MOST_TEXT, NOTHING, Value
from .registry import SHELLS
from .syntax import (
    Arithmetic,
    Case,
    Command,
    Coprocess,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Substitution,
    Test,
    While,
)

_MOST_TURNS = 20  # of one loop
_MOST_NAMES = 64  # that one read fills
_TALKERS = frozenset({"nc", "ncat", "netcat", "so" "cat", "telnet", "openssl"})


def run_script(machine: Machine, script: Script, stdin: Value | None) -> Value:
    """Run a list of commands; returns what they print."""
    items = script.items
    if len(items) == 1:
        return run(machine, items[0].command, stdin)
    texts, marks = [], 0
    size = 0
    is_top = script is machine.top
    for item in items:
        if is_top:
            machine.budget.refill()
        printed = run(machine, item.command, stdin)
        if printed.text and size < MOST_TEXT:
            texts.append(printed.text)
            size += len(printed.text)
        marks |= printed.marks
    return Value("\n".join(texts)[:MOST_TEXT], marks) if texts or marks else NOTHING


def run(machine: Machine, node: Command, stdin: Value | None = None) -> Value:
    """Run one command of any kind; returns what it prints."""
    budget = machine.budget
    if not budget.step():
        return ANYTHING
    if type(node) is Simple:
        return simple.run_simple(machine, node, stdin)
    if not budget.enter():
        return ANYTHING
    try:
        return _run_other(machine, node, stdin)
    finally:
        budget.depth -= 1


def _run_other(machine: Machine, node: Command, stdin: Value | None) -> Value:
    if type(node) is Pipeline:
        return _pipeline(machine, node, stdin)
    if type(node) is Function:
        machine.scope.functions[node.name] = node.body
        return NOTHING
    if type(node) is Coprocess:
        return run(machine, node.command, stdin)
    redirects: tuple[Redirect, ...] = node.redirects  # type: ignore[union-attr]
    stdin = simple.inputs(machine, redirects, stdin)
    printed = _compound(machine, node, stdin)
    return simple.outputs(machine, redirects, printed)


def _compound(machine: Machine, node: Command, stdin: Value | None) -> Value:
    if isinstance(node, Group):
        if node.subshell:
            return machine.subshell(lambda: run_script(machine, node.body, stdin))
        return run_script(machine, node.body, stdin)
    if isinstance(node, If):
        printed = NOTHING
        for condition, body in node.branches:
            if condition is not None:
                run_script(machine, condition, stdin)
            printed = printed + run_script(machine, body, stdin)
        return printed
    if isinstance(node, For):
        return _for(machine, node, stdin)
    if isinstance(node, While):
        return _while(machine, node, stdin)
    if isinstance(node, Case):
        expand.one(machine, node.subject)
        printed = NOTHING
        for _, body in node.arms:
            printed = printed + run_script(machine, body, stdin)
        return printed
    if isinstance(node, Test):
        for word in node.words:
            for part in word.parts:
                if isinstance(part, Substitution):
                    machine.substitute(part.script)
                elif isinstance(part, Arithmetic):
                    expand.arithmetic(machine, part)
    return NOTHING


def _for(machine: Machine, node: For, stdin: Value | None) -> Value:
    if node.words is None:
        items = list(machine.scope.positional[1:]) or [ANYTHING]
    else:
        items = expand.words(machine, node.words)
    printed = NOTHING
    for item in items[:_MOST_TURNS] if node.name else [NOTHING]:
        if node.name:
            machine.scope.variables[node.name] = item
        printed = printed + run_script(machine, node.body, stdin)
    return printed


def _while(machine: Machine, node: While, stdin: Value | None) -> Value:
    forks.note_endless(machine, node)
    names = _read_names(node.condition)
    if names is None:
        run_script(machine, node.condition, stdin)
        return run_script(machine, node.body, stdin)
    source = stdin if stdin is not None else ANYTHING
    lines = source.text.split("\n")[:_MOST_TURNS] if source.known or "\n" in source.text else [source.text]
    printed = NOTHING
    for line in lines:
        if line or len(lines) == 1:
            assign_fields(machine, names, Value(line, source.marks))
            printed = printed + run_script(machine, node.body, None)
    return printed


def _read_names(condition: Script) -> list[str] | None:
    """The variables that a loop's ``read`` fills, None where its condition is another."""
    for item in condition.items[-1:]:
        if isinstance(item.command, Simple) and item.command.words and item.command.words[0].literal == "read":
            found = [word.literal or "" for word in item.command.words[1:]]
            return [name for name in found if name and not name.startswith("-")] or ["REPLY"]
    return None


def assign_fields(machine: Machine, names: list[str], line: Value) -> None:
    """What ``read`` does with a line."""
    rest = line.text.strip()
    del names[_MOST_NAMES:]
    for number, name in enumerate(names):
        if number == len(names) - 1:
            piece, rest = rest, ""
        else:
            piece, _, rest = rest.partition(" ")
            rest = rest.lstrip()
        machine.scope.variables[name] = Value(piece, line.marks)


def _pipeline(machine: Machine, node: Pipeline, stdin: Value | None) -> Value:
    commands = node.commands
    if len(commands) == 1:
        return run(machine, commands[0], stdin)
    data = stdin
    shell = -1
    for number, command in enumerate(commands):
        name = forks.name_of(command)
        if name.rpartition("/")[2] in SHELLS and not _has_option(command, "-c"):
            shell = number
        elif shell >= 0 and name.rpartition("/")[2] in _TALKERS:
            machine.effect("remote_shell", "connects a shell to another machine")
        data = machine.subshell(lambda command=command, data=data: run(machine, command, data))  # type: ignore[misc]
    return data if data is not None else NOTHING


def _has_option(command: Command, option: str) -> bool:
    return isinstance(command, Simple) and any(word.literal == option for word in command.words)


# --- simple commands


# --- redirections
