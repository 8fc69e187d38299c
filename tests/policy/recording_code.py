"""Actions that only remember what was noted, for the tests of the rooms that read code and tools."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any

from agent_ledger.policy.model import NOTHING, SECRET, UNKNOWN, Value

SECRETS = (".env", "id_rsa", "credentials", ".pem", "id_ed25519", "shadow")


def text_of(value: Value | str) -> str:
    """The text of a value, with ``?`` for what is not known."""
    return (value.text if isinstance(value, Value) else value).replace(UNKNOWN, "?")


class Recorder:
    """Notes each act as one line of ``notes``: 'delete / recursive', 'shell ls', 'effect fork_bomb', 'send secret'."""

    def __init__(self, files: dict[str, str] | None = None) -> None:
        self.home, self.project, self.cwd = "/home/dev", "/home/dev/project", "/home/dev/project"
        self.notes: list[str] = []
        self.files = {self._at(path): content for path, content in (files or {}).items()}
        self.results: dict[str, Value] = {}
        self.places: list[str] = []
        self.cwds: list[str] = []

    def _at(self, path: Value | str) -> str:
        return posixpath.normpath(posixpath.join(self.cwd, text_of(path)))

    def _note(self, *words: Any) -> None:
        self.notes.append(" ".join(str(word) for word in words if word))

    def effect(self, kind: str, what: str, target: str = "", why: str = "") -> None:
        self._note("effect", kind)

    def shell(self, text: Value | str, place: str = "here", arguments: Sequence[Value] = ()) -> Value:
        marks = text.marks if isinstance(text, Value) else 0
        self._note("shell", text_of(text), f"marks={marks}" if marks else "")
        self.places.append(place)
        self.cwds.append(self.cwd)
        return self.results.get(text_of(text), Value(UNKNOWN))

    def argv(self, words: Sequence[Value | str], stdin: Value | None = None, place: str = "here") -> Value:
        self._note("argv", *[text_of(word) for word in words])
        self.places.append(place)
        self.cwds.append(self.cwd)
        return Value(UNKNOWN)

    def code(self, language: str, text: Value | str) -> Value:
        marks = text.marks if isinstance(text, Value) else 0
        self._note("code", language, text_of(text), f"marks={marks}" if marks else "")
        return Value(UNKNOWN)

    def run_file(self, path: str, language: str = "", arguments: Sequence[Value] = ()) -> None:
        self._note("run_file", path, language)

    def delete(self, path: Value | str, recursive: bool = True, filtered: bool = False) -> None:
        self._note("delete", text_of(path), "recursive" if recursive else "", "filtered" if filtered else "")

    def read(self, path: Value | str, shown: bool = True) -> Value:
        self._note("read", text_of(path), "shown" if shown else "")
        secret = any(word in text_of(path).rpartition("/")[2] for word in SECRETS)
        known = self.files.get(self._at(path))
        return Value(UNKNOWN if known is None else known, SECRET if secret else 0)

    def write(self, path: Value | str, content: Value, append: bool = False) -> None:
        self._note("write", text_of(path), repr(text_of(content)), f"marks={content.marks}" if content.marks else "")
        self.files[self._at(path)] = content.text

    def send(self, content: Value, destination: str) -> None:
        self._note("send", "secret" if content.marks & SECRET else "plain", "to", text_of(destination))

    def fetched(self, path: Value | str) -> None:
        self._note("fetched", text_of(path))


__all__ = ["NOTHING", "Recorder", "text_of"]
