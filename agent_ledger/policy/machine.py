"""The machine that runs a call in thought: nothing is executed, every effect is noted."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence

from . import host_settings, paths, scan, secret_paths, watched_paths
from .budget import Budget
from .effects import places
from .model import ANYTHING, DECODED, DUMP, GLOB, MOST_TEXT, NOTHING, REMOTE, SECRET, SOME, TREE, UNKNOWN, Effect, Value
from .model import Command as Resolved
from .scope import File, Scope, World
from .syntax import Script

MOST_EFFECTS = 40
_MOST_LINKS = 100
_LONG = 3000  # characters of a command line that may be beyond the bounds of the scanner
_MOST_LOOKS = 200  # paths whose links are followed on disk


class Machine:
    """One judgement: implements model.Actions. What it changes of a session: ``files``, ``links`` and ``scope``."""

    def __init__(self, world: World, scope: Scope, files: dict[str, File], links: dict[str, str]) -> None:
        self.world = world
        self.home = world.home
        self.project = world.project
        self.scope = scope
        self.files = files
        self.links = links
        self.written: set[str] = set()  # paths whose File is new
        self.effects: list[Effect] = []
        self.commands: list[tuple[str, ...]] = []
        self.paths: list[str] = []  # read or written
        self.mounts: tuple[tuple[str, str], ...] = ()  # (inside a container, here)
        self.place = "here"
        self.origin = ""  # what was read last of what is secret
        self.calling: list[str] = []
        self.opened: set[str] = set()  # descriptors that are connected to another machine
        self.budget = Budget()
        self.top: Script | None = None  # the command line of the call itself
        self.partial = False  # a script beyond the bounds of the scanner: what is not known may just not have been read
        self._pipes: dict[str, Value] = {}
        self._files_run: list[str] = []
        self._looks = 0

    # --- where

    @property
    def cwd(self) -> str:
        return self.scope.cwd

    def absolute(self, path: str) -> str:
        """The path from the root; links that this session made are followed, and what a container mounts."""
        path = paths.absolute(path, self.scope.cwd)
        for inside, outside in self.mounts:
            if path == inside or path.startswith(inside.rstrip("/") + "/"):
                return posixpath.normpath(outside.rstrip("/") + path[len(inside.rstrip("/")) :] or "/")
        if self.links and self.place == "here":
            for link, target in self.links.items():
                if path.startswith(link + "/"):
                    path = posixpath.normpath(target + path[len(link) :])
        return path

    # --- noting

    def effect(self, kind: str, what: str, target: str = "", why: str = "", dangerous: bool = True) -> None:
        if len(self.effects) < MOST_EFFECTS:
            found = Effect(kind, _readable(what), _readable(target), dangerous, why)
            if found not in self.effects:
                self.effects.append(found)

    # --- running

    def shell(
        self, text: Value | str, place: str = "here", arguments: Sequence[Value] = (), stdin: Value | None = None
    ) -> Value:
        """Run a command line in the current scope."""
        value = text if isinstance(text, Value) else Value(text)
        if not value.text.strip(UNKNOWN + SOME + " \n"):
            self.unseen(value)
            return ANYTHING
        if value.marks & (REMOTE | DECODED) and not value.known:
            self.unseen(value)
        return self._inside(value.text, place, arguments, stdin)

    def unseen(self, value: Value) -> None:
        """Code runs that nobody has seen."""
        if value.marks & REMOTE:
            self.effect("download_and_run", "runs what it downloads, unseen")
        elif value.marks & DECODED:
            self.effect("unknown_code", "runs code that it decodes from what cannot be read here")

    def _inside(self, text: str, place: str, arguments: Sequence[Value], stdin: Value | None) -> Value:
        from .walk import run_script

        if self.top is not None:
            text = text[:MOST_TEXT]
            if not self.budget.spend(3 * len(text)):  # reading it costs more than making it
                return ANYTHING
        if not self.budget.enter():
            return ANYTHING
        script = scan.parse(text)
        if not script.complete and len(text) > _LONG:
            self.partial = True
        if self.top is None:
            self.top = script
        scope, before = self.scope, self.place
        if arguments:
            kept = scope.positional, scope.called
            scope.positional, scope.called = tuple(arguments), True
        if place != "here":
            self.place = place
        try:
            return run_script(self, script, stdin)
        finally:
            self.budget.depth -= 1
            self.place = before
            if arguments:
                scope.positional, scope.called = kept

    def argv(
        self,
        words: Sequence[Value | str],
        stdin: Value | None = None,
        place: str = "here",
        env: dict[str, Value] | None = None,
    ) -> Value:
        """Run a program with these words, without a shell."""
        from .simple import execute

        values = [word if isinstance(word, Value) else Value(word) for word in words]
        if not values:
            return ANYTHING
        before = self.place
        if place != "here":
            self.place = place
        try:
            return execute(self, values, stdin, env or {})
        finally:
            self.place = before

    def code(self, language: str, text: Value | str, arguments: Sequence[Value] = ()) -> Value:
        """Run source code in a scope of its own; returns what it prints as far as that is known."""
        from . import code

        value = text if isinstance(text, Value) else Value(text)
        if value.marks & (REMOTE | DECODED) and not value.known:
            self.unseen(value)
        if not value.text.strip(UNKNOWN + SOME + " \n"):
            return ANYTHING
        if language == "shell":
            return self.subshell(lambda: self.shell(value, arguments=arguments))
        if not self.budget.spend(len(value.text)) or not self.budget.enter():
            return ANYTHING
        try:
            return self.subshell(lambda: code.run(language, value, self, arguments))
        finally:
            self.budget.depth -= 1

    def subshell(self, work: Callable[[], Value]) -> Value:
        """Run ``work`` in a scope of its own."""
        outer = self.scope
        self.scope = outer.child()
        try:
            return work()
        finally:
            self.scope = outer

    def aside(
        self,
        text: Value | str,
        place: str = "here",
        arguments: Sequence[Value] = (),
        stdin: Value | None = None,
    ) -> Value:
        """Run a command line in a shell of its own."""
        return self.subshell(lambda: self.shell(text, place, arguments, stdin))

    def substitute(self, script: Script) -> Value:
        """What ``$(script)`` gives."""
        from .walk import run_script

        if not self.budget.enter():
            return ANYTHING
        try:
            value = self.subshell(lambda: run_script(self, script, None))
        finally:
            self.budget.depth -= 1
        return Value(value.text.rstrip("\n"), value.marks)

    def process_file(self, script: Script, direction: str) -> str:
        """The name of the pipe that ``<(script)`` stands for."""
        name = f"/dev/fd/{63 - len(self._pipes)}"
        self._pipes[name] = NOTHING
        self._pipes[name] = self.substitute(script) if direction == "<" else NOTHING
        return name

    # --- files

    def content(self, path: str) -> Value:
        """What is in a file, as far as it is known; not read for anybody to see."""
        if path in self._pipes:
            return self._pipes[path]
        path = self.absolute(path)
        marks = SECRET if secret_paths.is_secret(path, self.home) or secret_paths.is_secret_folder(path) else 0
        if marks:
            self.origin = path
        if self.place == "here" or self.mounts:
            known = self.files.get(path)
            if known is not None and known.content is not None:
                return Value(known.content.text, known.content.marks | marks)
            if known is None and not marks and UNKNOWN not in path and SOME not in path:
                text = self.world.read(path)
                if text is not None:
                    return Value(text[:MOST_TEXT])
        return Value(UNKNOWN, marks)

    def read(self, path: Value | str, shown: bool = True) -> Value:
        """The content of a file; where it is shown, a secret counts as read."""
        name = self._named(path)
        value = self.content(name)
        self.paths.append(self.absolute(name))
        if shown and value.marks & SECRET:
            self.show(value)
        return value

    def show(self, value: Value) -> None:
        """A value reaches the output, or a copy."""
        if value.marks & SECRET:
            self.effect("credential_read", f"shows {self.origin or 'a secret'}", self.origin)

    def run_file(self, path: str, language: str = "", arguments: Sequence[Value] = (), sourced: bool = False) -> None:
        """Run or source a file."""
        from .filetypes import language_of

        value = self._pipes.get(path)
        where = path if value is not None else self.absolute(path)
        if where in self._files_run or len(self._files_run) > 6:
            return
        known = self.files.get(where)
        if value is None:
            value = self.content(path)
        if value.marks & REMOTE and not value.known:
            self.effect("download_and_run", f"runs {where}, which it has downloaded unseen", where)
            return
        if value.marks & DECODED and not value.known:
            self.effect("unknown_code", f"runs {where}, decoded from what cannot be read here", where)
            return
        if known is not None and known.content is None:
            for found in known.effects:
                self.effect(found.kind, found.what, found.target, found.why)
            return
        if not value.text or value.text == UNKNOWN:
            return
        language = language or language_of(where, value.text)
        self._files_run.append(where)
        try:
            if language == "shell" and sourced:
                self.shell(value, arguments=arguments)
            elif language == "shell":
                self.subshell(lambda: self.shell(value, arguments=(Value(where), *arguments[1:])))
            elif language:
                self.code(language, value, arguments[1:])
        finally:
            self._files_run.pop()

    def write(self, path: Value | str, content: Value, append: bool = False) -> None:
        """Write a file."""
        name = self._named(path)
        if name.startswith(("/dev/tcp/", "/dev/udp/")):
            self.send(content, name.split("/")[3] if name.count("/") > 3 else name)
            return
        if (
            name in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
            or name in self._pipes
            or name.startswith("/dev/fd/")
        ):
            return
        where = self.absolute(name)
        self.paths.append(where)
        if places.is_device(where):
            self.effect("disk", f"writes to {where} itself", where)
            return
        if self.touches_guarded(where) or self._disarms(where, content, append):
            self.effect("tampering", f"writes to {where}", where)
        if watched_paths.is_account_file(where):
            self.effect("account", f"changes {where}", where)
        elif watched_paths.starts_by_itself(where):
            self._plant(where, content, append)
        elif not append and paths.is_vital(where, self.home) and (not content.text or paths.is_kept_whole(where)):
            self.effect("overwrite", f"{'overwrites' if content.text else 'empties'} {where}", where)
        if content.marks & SECRET and not where.startswith(self.project + "/"):
            self.show(content)
        if UNKNOWN in where or self.place != "here":
            return
        if append:
            before = self.content(where)
            head = before.text if before.known and self.budget.spend(len(before.text)) else ""
            between = "\n" if head and not head.endswith("\n") else ""
            content = Value(head + between + content.text, before.marks | content.marks)
        self.files[where] = File(Value(content.text[:MOST_TEXT], content.marks & ~(GLOB | TREE)))
        self.written.add(where)

    def _disarms(self, where: str, content: Value, append: bool) -> bool:
        hermes = self.world.hermes
        if not hermes or not where.startswith(hermes + "/"):
            return False
        origin, before = self.origin, self.content(where)
        self.origin = origin
        return host_settings.disarms(where, before, content, append, hermes)

    def _plant(self, where: str, content: Value, append: bool) -> None:
        """A file that runs by itself: dangerous where its content is, or where it is emptied."""
        if not append and not content.text.strip():
            self.effect("overwrite", f"empties {where}", where)
            return
        from .planted import effects_of

        for found in effects_of(self, where, content):
            self.effect("persistence", f"plants in {where}, which runs by itself: {found.what}", where, found.why)
            return

    def fetched(self, path: Value | str) -> None:
        """A file now holds what came from the network."""
        name = path if isinstance(path, str) else path.text
        self.write(name, Value(UNKNOWN, REMOTE))

    def send(self, content: Value, destination: str) -> None:
        """Send a value to another machine."""
        if content.marks & SECRET:
            self.effect(
                "exfiltration", f"sends {self.origin or 'a secret'} to {destination or 'another machine'}", destination
            )
        elif content.marks & DUMP:
            self.effect("exfiltration", f"sends a whole database to {destination or 'another machine'}", destination)

    def delete(self, path: Value | str, recursive: bool = True, filtered: bool = False) -> None:
        """Delete a path, or with TREE in its marks all that lies below a folder."""
        text, marks = self._named(path), path.marks if isinstance(path, Value) else 0
        if not text:  # nothing is deleted
            return
        if marks & TREE:
            marks |= GLOB
        if not marks & GLOB and "*" in text:
            text = text.replace("*", SOME)
        below = text[-1:] == "/" or marks & GLOB
        where = self.absolute(text)
        if below and where in self.links:
            where = self.links[where]
        looks = self.place == "here" and not self.mounts and where.startswith("/") and UNKNOWN not in where
        if looks and recursive and below:
            folder, _, last = where.rpartition("/")
            where = (
                f"{self._real(folder or '/')}/{last}".replace("//", "/") if marks & GLOB else self._real(where)
            )
        recursive = recursive or bool(marks & TREE)
        if self.touches_guarded(where) or (recursive and self.holds_guarded(where)):
            self.effect("tampering", f"deletes {where}", where)
        here = self.place == "here" or bool(self.mounts)
        why = paths.danger_of_deleting(
            where, self.home if here else "", self.project if here else "", recursive, "here" if here else self.place
        )
        if self.partial and UNKNOWN in where:
            why = ""
        if why and filtered and not why.startswith(("the repository", "its target")):
            why = ""
        what = f"deletes {where}" + (" and all in it" if recursive else "")
        if why:
            self.effect("recursive_delete", what, where, why)
        elif recursive:
            self.effect("recursive_delete", what, where, dangerous=False)
        self.files.pop(where, None)
        self.links.pop(where, None)

    def move(self, source: Value, target: Value) -> None:
        """Move a path away from where it is needed."""
        where = self.absolute(source.text if source.marks & GLOB else source.text)
        why = paths.danger_of_deleting(where, self.home, self.project, True, self.place)
        outside = not where.startswith(self.home + "/") or paths.covers_everything(where.rpartition("/")[2])
        if why and (outside or target.text == "/dev/null" or "/.git" in where) and UNKNOWN not in where:
            self.effect("overwrite", f"moves {where} away", where, why)
        if self.touches_guarded(where):
            self.effect("tampering", f"moves {where} away", where)

    def _real(self, path: str) -> str:
        """The path with its links on disk followed."""
        self._looks += 1
        return self.world.real(path) if self._looks <= _MOST_LOOKS else path

    def _named(self, path: Value | str) -> str:
        """The text of a path; the tools of the host take a tilde for the home, too."""
        if isinstance(path, Value):
            return path.text
        return self.home + path[1:] if path.startswith("~/") else path

    def link(self, path: str, target: str) -> None:
        """A symbolic link was made."""
        self.links[path] = target
        if len(self.links) > _MOST_LINKS:
            del self.links[next(iter(self.links))]

    def touches_guarded(self, path: str) -> bool:
        """True for the recorder's own files and those in its folders."""
        return any(path == guarded or path.startswith(guarded + "/") for guarded in self.world.guarded)

    def holds_guarded(self, path: str) -> bool:
        """True for a folder above the recorder's own."""
        return (
            any(guarded.startswith(path.rstrip("/") + "/") for guarded in self.world.guarded) if path != "/" else False
        )

    def resolved(self, name: str, args: Sequence[Value], stdin: Value | None, env: dict[str, Value]) -> Resolved:
        """The form in which judges get a command."""
        return Resolved(name, args, self.scope.cwd, stdin, env, self.place)


def _readable(text: str) -> str:
    """Text for a person: what is not known stands as three dots, and it is short."""
    text = text.replace(UNKNOWN, "…").replace(SOME, "…")
    return text if len(text) <= 200 else text[:199] + "…"
