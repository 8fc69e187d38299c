"""Patterns of words, tool names and paths. Each match takes at most pattern times text steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from .model import SOME, UNKNOWN

T = TypeVar("T")
REST = "..."  # in a pattern of words: any words, or none
ANY_FOLDERS = "**"


def known(text: str) -> bool:
    """True where nothing in a resolved text is unknown."""
    return UNKNOWN not in text and SOME not in text


def _along(pattern: Sequence[T], items: Sequence[T], many: T, same: Callable[[T, T], bool]) -> bool:
    """Match ``items`` as a whole, where ``many`` in the pattern stands for any number of them. It is enough to come
    back to the last ``many``, so this never takes more than pattern times items steps."""
    at = place = 0
    star, mark = -1, 0
    while place < len(items):
        if at < len(pattern) and pattern[at] == many:
            star, mark = at, place
            at += 1
        elif at < len(pattern) and same(pattern[at], items[place]):
            at += 1
            place += 1
        elif star >= 0:
            at = star + 1
            mark += 1
            place = mark
        else:
            return False
    while at < len(pattern) and pattern[at] == many:
        at += 1
    return at == len(pattern)


def wild(pattern: str, text: str) -> bool:
    """``*`` any characters, ``?`` one; the case counts."""
    if "*" not in pattern and "?" not in pattern:
        return pattern == text
    return _along(pattern, text, "*", lambda one, char: one in ("?", char))


def words(pattern: Sequence[tuple[str, ...]], argv: Sequence[str]) -> bool:
    """A pattern of resolved words: each place has its alternatives (``*`` and ``?`` are wild in them); ``(REST,)``
    stands for any words. The first is the program, compared by its base name."""
    if not argv:
        return False
    named = [os.path.basename(argv[0]) or argv[0], *argv[1:]]
    return _along(pattern, named, (REST,), _is_one_of)  # type: ignore[arg-type]


def _is_one_of(alternatives: tuple[str, ...], word: str) -> bool:
    return word in alternatives or any(wild(one, word) for one in alternatives if "*" in one or "?" in one)


class PathGlob:
    """A pattern of paths. It begins with ``/``, ``~/`` or ``**/``, or holds no slash and then names a file or folder
    anywhere. ``*`` and ``?`` stay within one name, ``**`` crosses folders. What matches covers everything below it."""

    __slots__ = ("_name", "_parts", "_plain", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        path = os.path.expanduser(text) if text[:1] == "~" else text
        path = path.rstrip("/") or "/"
        self._name = path if "/" not in path else ""
        self._plain = path if self._name == "" and "*" not in path and "?" not in path else ""
        parts = [part for part in path.split("/") if part]
        self._parts = parts if parts[-1:] == [ANY_FOLDERS] else [*parts, ANY_FOLDERS]

    @staticmethod
    def is_one(text: str) -> bool:
        return bool(text.strip("/")) and ("/" not in text or text.startswith(("/", "~/", "**/")))

    def covers(self, path: str) -> bool:
        """True where the pattern matches ``path`` or a folder above it."""
        if self._plain:
            return path == self._plain or path.startswith(self._plain + "/")
        parts = [part for part in _normal(path).split("/") if part]
        if self._name:
            return any(wild(self._name, part) for part in parts)
        return _along(self._parts, parts, ANY_FOLDERS, wild)

    def is_below(self, path: str) -> bool:
        """True where ``path`` is a folder above the one path that this pattern names."""
        return bool(self._plain) and (path == "/" or self._plain.startswith(path.rstrip("/") + "/"))


def _normal(path: str) -> str:
    return os.path.normpath(path) if "/." in path or "//" in path else path
