"""Fields under construction."""

from __future__ import annotations

import re

from .model import GLOB, MOST_TEXT, Value

SPECIAL = re.compile(r"[~*?\[{]")
GLOBS = re.compile(r"[*?\[]")
_SPACE = re.compile(r"[ \t\n]+")
MOST_WORDS = 64  # of one brace expansion, or one split


class Fields:
    """Fields under construction. Unquoted white space ends one; a quoted part makes one even where it is empty."""

    __slots__ = ("done", "marks", "open", "size", "text")

    def __init__(self) -> None:
        self.done: list[Value] = []
        self.text: list[str] = []
        self.size = 0
        self.marks = 0
        self.open = False

    def add(self, text: str, marks: int, quoted: bool) -> None:
        if self.size < MOST_TEXT:
            self.text.append(text)
            self.size += len(text)
        self.marks |= marks
        self.open = self.open or quoted or bool(text)

    def end(self) -> None:
        if self.open:
            self.done.append(Value("".join(self.text)[:MOST_TEXT], self.marks))
        self.text, self.size, self.marks, self.open = [], 0, 0, False

    def split(self, value: Value) -> None:
        text = value.text
        if self.size >= MOST_TEXT:
            return
        if " " not in text and "\n" not in text and "\t" not in text:
            self.add(text, value.marks, False)
            return
        pieces = _SPACE.split(text)
        for number, piece in enumerate(pieces[:MOST_WORDS]):
            if number:
                self.end()
            self.add(piece, value.marks | (GLOB if GLOBS.search(piece) else 0), False)
