"""What the call of a row would do, read with the policy engine's parser. Nothing is executed and no file is looked at,
so the same row always gives the same."""

from __future__ import annotations

import posixpath
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..policy.judge import judge
from ..policy.machine import Machine
from ..policy.model import Command, Effect, Value
from ..policy.scope import File, Scope, World
from ..policy.session import Session
from . import arguments, hints, network, toolsets
from .rows import Row

_MOST_KEPT = 20_000
_DATA = "plugin-data/agent-ledger"
_DATA_PATH = re.compile(r"(/[^\s\"'\\;|&<>]{0,200})/" + _DATA)
_HOME = re.compile(r"/(?:home|Users)/[^/]+|/root")


@dataclass(frozen=True, slots=True)
class Facts:
    """What one call would do. ``effects`` and ``commands``: as the policy engine resolves them; ``written``, ``read``,
    ``ran``, ``fetched``: absolute paths; ``sends``: what goes to another machine, where to; ``gets``: something comes
    from another machine; ``whole``: False where the arguments were cut or are no JSON; ``args``: what was parsed."""

    effects: tuple[Effect, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    written: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    fetched: tuple[str, ...] = ()
    sends: tuple[str, ...] = ()
    gets: bool = False
    variables: tuple[str, ...] = ()
    whole: bool = True
    args: dict[str, Any] = field(default_factory=dict)

    def of_kind(self, *kinds: str) -> list[Effect]:
        """The dangerous effects of these kinds."""
        return [effect for effect in self.effects if effect.dangerous and effect.kind in kinds]


NOTHING = Facts()


class _Watching(Machine):
    """A machine that also notes what leaves it, what it runs, and under which variables."""

    def __init__(self, world: World, scope: Scope, files: dict[str, File], links: dict[str, str]) -> None:
        super().__init__(world, scope, files, links)
        self.sent: list[str] = []
        self.ran: list[str] = []
        self.got: list[str] = []
        self.variables: list[str] = []

    def send(self, content: Value, destination: str) -> None:
        self.sent.append(destination)
        super().send(content, destination)

    def fetched(self, path: Value | str) -> None:
        self.got.append(self.absolute(path if isinstance(path, str) else path.text))
        super().fetched(path)

    def run_file(self, path: str, language: str = "", arguments: Sequence[Value] = (), sourced: bool = False) -> None:
        self.ran.append(self.absolute(path))
        super().run_file(path, language, arguments, sourced)

    def resolved(self, name: str, args: Sequence[Value], stdin: Value | None, env: dict[str, Value]) -> Command:
        if env:
            self.variables.extend(f"{variable}={value.text}" for variable, value in env.items())
        return super().resolved(name, args, stdin, env)


class Reader:
    """Reads the calls of one ledger; what was read is kept, since agents repeat themselves."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str], Facts] = OrderedDict()
        self.unparsed = 0  # rows whose arguments could not be read as a whole
        self.parsed = 0

    def read(self, row: Row) -> Facts:
        """What the row's call would do. Raises nothing for any row."""
        key = (row.tool_name, row.args_sha256 or row.args_json, row.cwd)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = _read(row)
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        self.parsed += 1
        if not found.whole:
            self.unparsed += 1
        return found


def look_of(tool: str) -> Callable[[str], bool]:
    """The quick look at a tool's arguments: False where nothing in them can concern a rule about what a call does."""
    if tool in toolsets.WRITERS:
        return lambda text: hints.in_path(arguments.path_in(text))
    if tool in toolsets.SHELL or tool in toolsets.CODE:
        return hints.in_command
    if toolsets.is_foreign(tool):
        telling = toolsets.is_telling(tool)
        return lambda text: len(text) > 2 and (telling or hints.in_command(text))
    worth = tool in _ALSO
    return lambda text: worth


_ALSO = frozenset(("cronjob", "cronjob_manage", "process", "process_manage", "read_file", "search_files"))


def _read(row: Row) -> Facts:
    args, whole = arguments.parsed(row.args_json)
    tool = "patch" if row.tool_name == "edit_file" else row.tool_name
    machines: list[_Watching] = []

    def make(world: World, scope: Scope, files: dict[str, File], links: dict[str, str]) -> Machine:
        machines.append(_Watching(world, scope, files, links))
        return machines[-1]

    world = _world(row)
    session = Session(world=world, variables={"HERMES_HOME": Value(world.hermes)})
    judged = judge(tool, args, session, make)
    machine = machines[-1]
    sends = [*machine.sent, *(where for words in judged.commands if (where := network.sends_to(words)))]
    return Facts(
        judged.effects,
        judged.commands,
        tuple(sorted(machine.written)),
        tuple(judged.paths),
        tuple(machine.ran),
        tuple(machine.got),
        tuple(where for where in dict.fromkeys(sends) if not network.is_local(where)),
        any(network.gets_from(words) for words in judged.commands),
        tuple(machine.variables),
        whole,
        args,
    )


def _world(row: Row) -> World:
    """Where the call worked, as far as its row says: the home is taken from the folder."""
    cwd = row.cwd if row.cwd.startswith("/") else "/home/user/project"
    found = _HOME.match(cwd + "/")
    home = found.group() if found else "/home/user"
    hermes = posixpath.join(home, ".hermes")
    guarded = [posixpath.join(hermes, _DATA), posixpath.join(hermes, "plugins/agent-ledger")]
    if _DATA in row.args_json:
        guarded += [f"{above}/{_DATA}" for above in _DATA_PATH.findall(row.args_json)]
    return World(home, cwd if cwd != home else "", cwd, guarded=tuple(guarded), hermes=hermes)
