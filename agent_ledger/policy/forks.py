"""Processes that multiply without end: loops and functions that start themselves."""

from __future__ import annotations

from collections.abc import Iterator

from .machine import Machine
from .syntax import (
    Command,
    For,
    Group,
    If,
    Pipeline,
    Script,
    Simple,
    While,
)


def note_endless(machine: Machine, node: While) -> None:
    """An endless loop that starts background processes and never waits for one."""
    condition = [name_of(item.command) for item in node.condition.items]
    if len(condition) != 1 or condition[0] not in (("false",) if node.until else ("true", ":", "1", "/bin/true")):
        return
    names = set()
    background = False
    for command, behind in _inner(node.body):
        if not behind:
            names.add(name_of(command))
        background = background or behind
    if background and not names & {"wait", "sleep", "break", "read", "inotifywait", "exit", "return"}:
        machine.effect("fork_bomb", "starts background processes in an endless loop")


def name_of(command: Command) -> str:
    return (command.words[0].literal or "") if isinstance(command, Simple) and command.words else ""


def _inner(script: Script) -> Iterator[tuple[Command, bool]]:
    """The commands of a list and of the lists in it, each with whether it goes to the background."""
    for item in script.items:
        behind = item.operator == "&"
        yield item.command, behind
        if isinstance(item.command, Pipeline):
            for command in item.command.commands:
                yield command, behind
        elif isinstance(item.command, (Group, For, While)):
            yield from _inner(item.command.body)
        elif isinstance(item.command, If):
            for _, body in item.command.branches:
                yield from _inner(body)


def multiplies(body: Command, name: str) -> bool:
    """True where a function calls itself through a pipe or in the background, so that it never ends and multiplies."""
    script = body.body if isinstance(body, Group) else Script()
    for command, behind in _inner(script):
        if (
            isinstance(command, Pipeline)
            and len(command.commands) > 1
            and sum(name_of(c) == name for c in command.commands) > 1
        ):
            return True
        if behind and (
            name_of(command) == name
            or (isinstance(command, Pipeline) and any(name_of(c) == name for c in command.commands))
        ):
            return True
    return False
