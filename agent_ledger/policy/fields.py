"""Fields under construction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .model import GLOB, Value

if TYPE_CHECKING:
    pass

SPECIAL = re.compile(r"[~*?\[{]")
GLOBS = re.compile(r"[*?\[]")
_SPACE = re.compile(r"[ \t\n]+")
MOST_WORDS = 64  # of one brace expansion, or one split
LONGEST = 65_536


class Fields:
    """Fields under construction. Unquoted white space ends one; a quoted part makes one even where it is empty."""

    __slots__ = ("done", "marks", "open", "text")

    def __init__(self) -> None:
        self.done: list[Value] = []
        self.text: list[str] = []
        self.marks = 0
        self.open = False

    def add(self, text: str, marks: int, quoted: bool) -> None:
        self.text.append(text)
        self.marks |= marks
        self.open = self.open or quoted or bool(text)

    def end(self) -> None:
        if self.open:
            self.done.append(Value("".join(self.text), self.marks))
        self.text, self.marks, self.open = [], 0, False

    def split(self, value: Value) -> None:
        text = value.text[:LONGEST]
        if not _SPACE.search(text):
            self.add(text, value.marks, False)
            return
        pieces = _SPACE.split(text)
        for number, piece in enumerate(pieces[:MOST_WORDS]):
            if number:
                self.end()
            self.add(piece, value.marks | (GLOB if GLOBS.search(piece) else 0), False)
