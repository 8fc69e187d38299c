"""The judgement of one call: what it would do, found without doing it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from . import registry
from .machine import Machine
from .model import Effect, Value
from .scope import File, Scope, World
from .session import Session
from .tools import judge_tool

_MOST_COMMAND = 1_000_000  # characters of a command that are looked at


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a call would do. ``commands``: the resolved words of each command; ``paths``: what is read or written."""

    effects: tuple[Effect, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    paths: tuple[str, ...] = ()


Make = Callable[[World, Scope, dict[str, File], dict[str, str]], Machine]


def judge(tool_name: str, args: object, session: Session, make: Make = Machine) -> Judgement:
    """Judge one call; ``session.delta()`` then takes in what it does, ``session.forget()`` does not. ``session.world``
    says where it works; ``make`` a machine that notes more. Raises nothing for any arguments."""
    registry.load()
    world = session.world
    workdir = world.cwd
    if tool_name == "terminal" and isinstance(args, dict) and isinstance(given := args.get("workdir"), str) and given:
        workdir = os.path.normpath(os.path.join(world.cwd, os.path.expanduser(given)))
        world = replace(world, cwd=workdir)
    machine = make(world, session.scope(workdir), dict(session.files), dict(session.links))
    try:
        if tool_name == "terminal":
            command = args.get("command") if isinstance(args, dict) else None
            if isinstance(command, str):
                machine.show(machine.shell(Value(command[:_MOST_COMMAND])))
        else:
            judge_tool(tool_name, args, machine)
    except RecursionError:  # the host was deep already: what was found so far counts
        pass

    session.pending = lambda: session.take(machine, workdir)
    return Judgement(tuple(machine.effects), tuple(machine.commands), tuple(machine.paths))
