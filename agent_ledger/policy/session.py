"""What a conversation did that its later calls stand on: folder, variables, files it wrote, downloads, links."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..redact import redact_text
from .machine import Machine
from .model import REMOTE, SECRET, Effect, Value
from .scope import File, Scope, World
from .syntax import Command as Node

_MOST_FILES = 200
_MOST_TEXT = 1_000_000  # characters of file contents kept in memory
_MOST_STORED = 12_000  # characters of what one call leaves in its row
_KEPT_EFFECTS = 3
_KEPT_MARKS = REMOTE | SECRET

# Where the examples of rules work.
NOWHERE = World("/home/user", "/home/user/project", "/home/user/project")


@dataclass(slots=True)
class Session:
    """The memory of one conversation, built from what its calls left."""

    cwd: str = ""
    workdir: str = ""  # the folder that the host named when ``cwd`` was changed
    variables: dict[str, Value] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Node] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    world: World = NOWHERE  # of the call at hand
    pending: Callable[[], str] | None = None  # takes in what the call that was judged last does

    def folder(self, workdir: str) -> str:
        """Where a call works: where the session went, unless the host names another folder since."""
        return self.cwd if self.cwd and workdir == self.workdir else workdir

    def scope(self, workdir: str) -> Scope:
        """A shell as this session left it."""
        return Scope(
            self.folder(workdir), dict(self.variables), functions=dict(self.functions), aliases=dict(self.aliases)
        )

    def delta(self) -> str:
        """Take in what the call that was judged last does, since it will run; returns it as JSON for its row, '' where
        it leaves nothing."""
        pending, self.pending = self.pending, None
        return pending() if pending is not None else ""

    def forget(self) -> None:
        """The call that was judged last will not run."""
        self.pending = None

    def take(self, machine: Machine, workdir: str) -> str:
        """Remember what a call changed; returns it as JSON, '' where it changed nothing."""
        scope = machine.scope
        delta: dict[str, object] = {}
        if scope.cwd != self.folder(workdir):
            self.cwd, self.workdir = scope.cwd, workdir
            delta["cwd"], delta["workdir"] = scope.cwd, workdir
        changed = {
            name: scope.variables[name]
            for name in scope.exported
            if name in scope.variables and self.variables.get(name) != scope.variables[name]
        }
        if changed:
            self.variables.update(changed)
            delta["variables"] = {name: [redact_text(value.text[:400]), value.marks] for name, value in changed.items()}
        if scope.aliases != self.aliases:
            delta["aliases"] = {
                name: redact_text(text[:400]) for name, text in scope.aliases.items() if self.aliases.get(name) != text
            }
            self.aliases = dict(scope.aliases)
        self.functions = dict(scope.functions)
        if machine.links != self.links:
            delta["links"] = {link: target for link, target in machine.links.items() if self.links.get(link) != target}
            self.links = dict(machine.links)
        gone = [path for path in self.files if path not in machine.files]
        written = [path for path in machine.written if path in machine.files]
        if gone:
            delta["gone"] = gone[:50]
        if written:
            delta["files"] = {path: _noted(machine, path) for path in written[:50]}
        self.files = dict(machine.files)
        self._forget_old()
        if not delta:
            return ""
        text = json.dumps(delta, ensure_ascii=False, separators=(",", ":"))
        try:
            text.encode()
        except UnicodeEncodeError:  # a lone surrogate in a command: SQLite would refuse the row with it
            text = json.dumps(delta, separators=(",", ":"))
        return text if len(text) <= _MOST_STORED else ""

    def _forget_old(self) -> None:
        while len(self.files) > _MOST_FILES:
            del self.files[next(iter(self.files))]
        size = sum(len(file.content.text) for file in self.files.values() if file.content is not None)
        for file in self.files.values():
            if size <= _MOST_TEXT:
                return
            if file.content is not None:
                size -= len(file.content.text)
                file.content = None

    def load(self, deltas: Sequence[str]) -> None:
        """Take in what the calls of this conversation left in their rows, oldest first. Never raises."""
        for text in deltas:
            try:
                delta = json.loads(text)
                if isinstance(delta, dict):
                    self._apply(delta)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):  # a foreign or damaged row
                continue

    def _apply(self, delta: dict[str, Any]) -> None:
        if isinstance(cwd := delta.get("cwd"), str):
            self.cwd, self.workdir = cwd, str(delta.get("workdir", ""))
        for name, (text, marks) in _items(delta, "variables"):
            self.variables[name] = Value(str(text), int(marks))
        for name, text in _items(delta, "aliases"):
            self.aliases[name] = str(text)
        for name, text in _items(delta, "links"):
            self.links[name] = str(text)
        gone = delta.get("gone")
        for path in gone if isinstance(gone, list) else []:
            self.files.pop(path, None)
        for path, noted in _items(delta, "files"):
            marks = int(noted.get("marks", 0))
            effects = tuple(
                Effect(str(kind), str(what), str(target)) for kind, what, target in noted.get("effects", [])
            )
            self.files[path] = File(Value("\ue000", marks) if marks else None, effects)


def _items(delta: dict[str, Any], name: str) -> list[tuple[str, Any]]:
    found = delta.get(name)
    return list(found.items()) if isinstance(found, dict) else []


def _noted(machine: Machine, path: str) -> dict[str, object]:
    """What a row keeps of a file: whence it came, and what running it would do. Its content stands in the arguments."""
    from .planted import effects_of

    file = machine.files[path]
    noted: dict[str, object] = {}
    content = file.content
    if content is not None:
        if marks := content.marks & _KEPT_MARKS:
            noted["marks"] = marks
        if content.known and content.text.strip():
            file.effects = tuple(effects_of(machine, path, content))
    if file.effects:
        noted["effects"] = [
            [found.kind, redact_text(found.what), redact_text(found.target)] for found in file.effects[:_KEPT_EFFECTS]
        ]
    return noted
