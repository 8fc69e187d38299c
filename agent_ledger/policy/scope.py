"""The state that a shell, a session and a machine have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .model import Effect, Value
from .syntax import Command as Node


@dataclass(slots=True)
class File:
    """What is known of a file: its content, whence it came, and what running it was once seen to do."""

    content: Value | None = None
    effects: tuple[Effect, ...] = ()


@dataclass(slots=True)
class Scope:
    """The state of one shell."""

    cwd: str
    variables: dict[str, Value] = field(default_factory=dict)
    arrays: dict[str, list[Value]] = field(default_factory=dict)
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)  # what later calls of the session get
    positional: tuple[Value, ...] = ()
    called: bool = False  # the positional parameters are those of a function or script that was called

    def child(self) -> Scope:
        """A subshell: what changes in it stays in it."""
        return Scope(
            self.cwd, dict(self.variables), dict(self.arrays), dict(self.functions), dict(self.aliases),
            set(self.exported), self.positional, self.called,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class World:
    """Where a call runs: absolute folders, and how a file of this machine is read and a link followed.

    ``read(path)``: at most MOST_TEXT characters of a regular file, None where there is none; ``real(path)``: the
    path with its symbolic links followed. ``guarded``: folders and files of the recorder itself; ``hermes``: the home
    of its host.
    """

    home: str
    project: str
    cwd: str
    read: Callable[[str], str | None] = lambda path: None
    real: Callable[[str], str] = lambda path: path
    guarded: tuple[str, ...] = ()
    hermes: str = ""
