"""Brace expansion: {a,b} and {1..3}."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fields import MOST_WORDS
from .syntax import Literal, Part

if TYPE_CHECKING:
    pass

_HOLE = 0xE200  # first of the characters that stand for a part inside a brace expansion


def alternatives(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
    """The alternatives of a word with ``{a,b}`` or ``{1..3}``; quoted and expanded parts stay as they are."""
    kept: list[Part] = []
    text = ""
    for part in parts:
        if isinstance(part, Literal) and not part.quoted:
            text += part.text
        else:
            text += chr(_HOLE + len(kept))
            kept.append(part)
    if len(kept) > 200:
        return [parts]
    done: list[tuple[Part, ...]] = []
    for alternative in _choices(text):
        made: list[Part] = []
        plain = ""
        for char in alternative:
            at = ord(char) - _HOLE
            if 0 <= at < len(kept):
                if plain:
                    made.append(Literal(plain))
                    plain = ""
                made.append(kept[at])
            else:
                plain += char
        if plain:
            made.append(Literal(plain))
        done.append(tuple(made))
    return done


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
        return (
            [str(n) for n in range(low, high + step, step)][:MOST_WORDS] if abs(high - low) < 10_000 else [first, last]
        )
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        low, high = ord(first), ord(last)
        step = 1 if high >= low else -1
        return [chr(n) for n in range(low, high + step, step)]
    return []
