"""A recorder of what judges say, and commands made from example lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

from agent_ledger.policy.model import EFFECTS, GLOB, SOME, UNKNOWN, Command, Value

HOME, PROJECT = "/home/dev", "/home/dev/project"
Judge = Callable[[Command, "Recording"], None]


class Recording:
    """Notes everything that a judge says; ``said`` has it in order as (what, its arguments)."""

    def __init__(self, cwd: str = PROJECT) -> None:
        self.home, self.project, self.cwd = HOME, PROJECT, cwd
        self.kinds: list[str] = []
        self.whats: list[str] = []
        self.said: list[tuple[str, ...]] = []

    def effect(self, kind: str, what: str, target: str = "", why: str = "") -> None:
        assert kind in EFFECTS
        assert what and what.isprintable() and len(what) < 200, what
        self.kinds.append(kind)
        self.whats.append(what)

    def shell(self, text: Value | str, place: str = "here", arguments: Sequence[Value] = ()) -> Value:
        self.said.append(("shell", _text(text)))
        return Value(UNKNOWN)

    def argv(self, words: Sequence[Value | str], stdin: Value | None = None, place: str = "here") -> Value:
        self.said.append(("argv", *map(_text, words)))
        return Value(UNKNOWN)

    def code(self, language: str, text: Value | str) -> None:
        self.said.append(("code", language, _text(text)))

    def run_file(self, path: str, language: str = "", arguments: Sequence[Value] = ()) -> None:
        self.said.append(("run_file", path, language))

    def delete(self, path: Value | str, recursive: bool = True, filtered: bool = False) -> None:
        self.said.append(("delete", _text(path)))

    def read(self, path: Value | str, shown: bool = True) -> Value:
        self.said.append(("read", _text(path)))
        return Value(UNKNOWN)

    def write(self, path: Value | str, content: Value, append: bool = False) -> None:
        self.said.append(("write", _text(path)))

    def send(self, content: Value, destination: str) -> None:
        self.said.append(("send", destination))

    def fetched(self, path: Value | str) -> None:
        self.said.append(("fetched", _text(path)))


def _text(value: Value | str) -> str:
    return value if isinstance(value, str) else value.text


def resolved(line: str, cwd: str = PROJECT) -> Command:
    """The command of an example line: ``NAME=value ... program words [<<< input]``.

    ``$WORD`` is a value that is not known, ``$SOME`` one that is only known not to be empty, ``~`` the home.
    """
    line, _, stdin = line.partition(" <<< ")
    env: dict[str, Value] = {}
    words = shlex.split(line)
    while re.match(r"\w+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        env[name] = _value(value)
    return Command(
        words[0].rpartition("/")[2], [_value(word) for word in words[1:]], cwd, _value(stdin) if stdin else None, env
    )


def _value(word: str) -> Value:
    if word.startswith("~"):
        word = HOME + word[1:]
    word = word.replace("$SOME", SOME)
    return Value(re.sub(r"\$[A-Z_]+", UNKNOWN, word), GLOB if re.search(r"[*?\[]", word) else 0)


def judged(programs: dict[str, Judge], line: str, cwd: str = PROJECT) -> Recording:
    """What the judge of the line's program says."""
    command = resolved(line, cwd)
    recording = Recording(cwd)
    programs[command.name](command, recording)
    return recording


def lines(text: str) -> list[str]:
    """The example lines of a table, without empty ones and notes."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
