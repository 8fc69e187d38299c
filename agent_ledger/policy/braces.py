"""Brace expansion: {a,b} and {1..3}."""

from __future__ import annotations

import re

from .fields import MOST_WORDS
from .syntax import Literal, Part

_HOLE = 0xE200  # first of the characters that stand for a part inside a brace expansion
_MOST_PARTS = 200
_MOST_TEXT = 4096  # characters of a word that is expanded
_HOLES = re.compile(f"([{chr(_HOLE)}-{chr(_HOLE + _MOST_PARTS)}])")


def alternatives(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    """The alternatives of a word with ``{a,b}`` or ``{1..3}``; quoted and expanded parts stay as they are."""
    kept: list[Part] = []
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            texts.append(part.text)
        else:
            texts.append(chr(_HOLE + len(kept)))
            kept.append(part)
    if len(kept) > _MOST_PARTS:
        return [parts]
    text = "".join(texts)
    if len(text) > _MOST_TEXT:
        return [parts]
    if not kept:
        return [(Literal(alternative),) for alternative in _choices(text)]
    return [tuple(_filled(alternative, kept)) for alternative in _choices(text)]


def _filled(alternative: str, kept: list[Part]) -> list[Part]:
    """The text with the kept parts in the place of their holes."""
    made: list[Part] = []
    for piece in _HOLES.split(alternative):
        at = ord(piece) - _HOLE if len(piece) == 1 else -1
        if 0 <= at < len(kept):
            made.append(kept[at])
        elif piece:
            made.append(Literal(piece))
    return made


def _choices(text: str, depth: int = 0) -> list[str]:
    start = text.find("{")
    while start >= 0 and depth < 8:
        end, commas = _matching(text, start)
        if end < 0:
            return [text]
        inside = text[start + 1 : end]
        if commas:
            cuts = [start, *commas, end]
            choices = [text[a + 1 : b] for a, b in zip(cuts, cuts[1:], strict=False)]
        else:
            choices = _range(inside)
        if choices:
            tails = _choices(text[end + 1 :], depth + 1)
            head = text[:start]
            done = list[str]()
            for choice in choices:
                for inner in _choices(choice, depth + 1):
                    done.extend(head + inner + tail for tail in tails)
                    if len(done) >= MOST_WORDS:
                        return done[:MOST_WORDS]
            return done
        start = text.find("{", start + 1)
    return [text]


def _matching(text: str, start: int) -> tuple[int, list[int]]:
    level, commas = 0, list[int]()
    for at in range(start, min(len(text), start + 2000)):
        char = text[at]
        if char == "{":
            level += 1
        elif char == "}":
            level -= 1
            if level == 0:
                return at, commas
        elif char == "," and level == 1:
            commas.append(at)
    return -1, []


def _range(inside: str) -> list[str]:
    first, dots, last = inside.partition("..")
    if not dots:
        return []
    last = last.partition("..")[0]
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit() and len(first) < 9 and len(last) < 9:
        low, high = int(first), int(last)
        step = 1 if high >= low else -1
        return [str(n) for n in range(low, high + step, step)[:MOST_WORDS]]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        low, high = ord(first), ord(last)
        step = 1 if high >= low else -1
        return [chr(n) for n in range(low, high + step, step)]
    return []
