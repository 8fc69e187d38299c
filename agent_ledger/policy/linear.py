"""Regular expressions whose search takes time linear in the text, whatever the pattern: no rule can hang a hook.

``re`` only parses the pattern. It is matched as a set of states that moves along the text once, with every move
remembered, so that a second text of the same characters costs one look-up a character. What needs backtracking
(references to groups, looking ahead or behind, atomic groups) is refused when the policy loads.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Sequence
from typing import Any

MAX_PATTERN = 1000  # characters
MAX_TEXT = 8192  # characters of a text that are looked at
_MOST_NODES = 600
_MOST_WORK = 6000
_MOST_STATES = 500

# How the interpreter takes a pattern apart. Not public, and the same in every Python from 3.11 on: tests compare.
_parser: Any = importlib.import_module("re._parser")
_words: Any = importlib.import_module("re._constants")

_END = ""
_LAST_NEWLINE = "\n$"  # the symbol for a newline with nothing behind it, before which ``$`` holds


class PatternError(ValueError):
    """A pattern that is no regular expression, or one that cannot be matched in linear time."""


class OutOfTime(Exception):
    """The deadline passed before the end of the text."""


class _State:
    """The nodes that may be next, and what the character before them was."""

    __slots__ = ("before", "moves", "nodes")

    def __init__(self, nodes: frozenset[int], before: str) -> None:
        self.nodes = nodes
        self.before = before
        self.moves: dict[str, _State] = {}


_FOUND = _State(frozenset(), "")


class Linear:
    """A compiled pattern. Raises PatternError where it cannot be one."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._nodes: list[tuple[str, Any, Any]] = []  # (kind, what, where to): char, split, at, found
        self._work = 0
        if len(pattern) > MAX_PATTERN:
            raise PatternError(f"it is longer than {MAX_PATTERN} characters")
        try:
            re.compile(pattern)
            parsed = _parser.parse(pattern)
        except (re.error, RecursionError, OverflowError, ValueError) as error:
            raise PatternError(f"it is no regular expression: {error}") from error
        try:
            self._first = self._sequence(parsed, self._node("found", None, 0), parsed.state.flags)
        except RecursionError as error:
            raise PatternError("its groups are nested too deeply") from error
        self.needs = "" if parsed.state.flags & re.IGNORECASE else _longest_literal(parsed)
        self._states: dict[tuple[frozenset[int], str], _State] = {}
        self._start = self._state(frozenset((self._first,)), "")

    def search(self, text: str, deadline: float = float("inf")) -> bool:
        """True where the pattern matches somewhere in the first 8192 characters. ``deadline``: monotonic seconds;
        raises OutOfTime behind it."""
        if self.needs not in text:
            return False
        whole = len(text) <= MAX_TEXT
        if not whole:
            text = text[:MAX_TEXT]
        state, last = self._start, len(text) - 1
        for at, char in enumerate(text):
            if char == "\n" and at == last and whole:
                char = _LAST_NEWLINE
            state = state.moves.get(char) or self._move(state, char, deadline)
            if state is _FOUND:
                return True
        return whole and (state.moves.get(_END) or self._move(state, _END, deadline)) is _FOUND

    # --- matching

    def _state(self, nodes: frozenset[int], before: str) -> _State:
        if len(self._states) >= _MOST_STATES:  # a pattern with very many: remembered moves go, the result does not
            self._states.clear()
        key = (nodes, before)
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = _State(nodes, before)
        return found

    def _move(self, state: _State, symbol: str, deadline: float) -> _State:
        if time.monotonic() > deadline:
            raise OutOfTime
        waiting, seen, reached = list(state.nodes), set(state.nodes), {self._first}
        char = symbol[:1]
        target: _State | None = None
        while waiting:
            kind, what, to = self._nodes[waiting.pop()]
            if kind == "found":
                target = _FOUND
                break
            if kind == "char":
                if char and what(char):
                    reached.add(to)
                continue
            if kind == "at" and not what(state.before, symbol):
                continue
            for node in to:
                if node not in seen:
                    seen.add(node)
                    waiting.append(node)
        if target is None:
            target = self._state(frozenset(reached), char)
        if len(state.moves) < 2 * _MOST_STATES:
            state.moves[symbol] = target
        return target

    # --- building, from the end to the beginning

    def _node(self, kind: str, what: Any, to: Any) -> int:
        if len(self._nodes) >= _MOST_NODES:
            raise PatternError("it is too large, perhaps for a repetition like {500}")
        self._nodes.append((kind, what, to))
        return len(self._nodes) - 1

    def _sequence(self, items: Any, to: int, flags: int) -> int:
        for item in reversed(list(items)):
            to = self._item(item, to, flags)
        return to

    def _item(self, item: tuple[Any, Any], to: int, flags: int) -> int:
        self._work += 1
        if self._work > _MOST_WORK:
            raise PatternError("it is too large, perhaps for repetitions inside repetitions")
        kind, what = item
        if kind is _words.BRANCH:
            return self._node("split", None, tuple(self._sequence(one, to, flags) for one in what[1]))
        if kind is _words.SUBPATTERN:
            _, added, removed, inner = what
            return self._sequence(inner, to, (flags | added) & ~removed)
        if kind in (_words.MAX_REPEAT, _words.MIN_REPEAT):
            least, most, inner = what
            return self._repeat(least, most, inner, to, flags)
        if kind is _words.AT:
            return self._node("at", _position(what, flags), (to,))
        test = _characters(kind, what, flags)
        if test is None:
            raise PatternError(
                f"it uses {str(kind).lower().replace('_', ' ')}, which linear matching cannot do; an exception of the"
                " rule can often say the same"
            )
        return self._node("char", test, to)

    def _repeat(self, least: int, most: Any, inner: Any, to: int, flags: int) -> int:
        if most is _words.MAXREPEAT:
            loop = self._node("split", None, (to,))
            body = self._sequence(inner, loop, flags)
            self._nodes[loop] = ("split", None, (body, to))
            to = loop
        else:
            after = to
            for _ in range(int(most) - least):
                self._work += 1
                to = self._node("split", None, (self._sequence(inner, to, flags), after))
        for _ in range(least):
            to = self._sequence(inner, to, flags)
            self._work += 1
            if self._work > _MOST_WORK:
                raise PatternError("it is too large, perhaps for repetitions inside repetitions")
        return to


def _is_word(char: str, flags: int) -> bool:
    if char[:1].isascii():
        return char[:1].isalnum() or char[:1] == "_"
    return not flags & re.ASCII and (char.isalnum() or char == "_")


def _position(kind: Any, flags: int) -> Any:
    """A test of (the character before or '' at the start, the symbol behind)."""
    if kind is _words.AT_BEGINNING_STRING or (kind is _words.AT_BEGINNING and not flags & re.MULTILINE):
        return lambda before, behind: before == ""
    if kind is _words.AT_BEGINNING:
        return lambda before, behind: before in ("", "\n")
    if kind is _words.AT_END_STRING:
        return lambda before, behind: behind == _END
    if kind is _words.AT_END:
        if flags & re.MULTILINE:
            return lambda before, behind: behind in (_END, "\n", _LAST_NEWLINE)
        return lambda before, behind: behind in (_END, _LAST_NEWLINE)
    if kind is _words.AT_BOUNDARY:
        return lambda before, behind: _is_word(before, flags) != _is_word(behind, flags)
    return lambda before, behind: _is_word(before, flags) == _is_word(behind, flags)


def _characters(kind: Any, what: Any, flags: int) -> Any:
    """A test of one character; None where the item is none for one character."""
    if kind is _words.ANY:
        return (lambda char: True) if flags & re.DOTALL else (lambda char: char != "\n")
    if kind is _words.LITERAL:
        source = re.escape(chr(what))
    elif kind is _words.NOT_LITERAL:
        source = f"[^{re.escape(chr(what))}]"
    elif kind is _words.IN:
        source = f"[{''.join(_source(*one) for one in what)}]"
    else:
        return None
    # One character at a time cannot backtrack, so ``re`` itself may say what a class, a case or a category holds.
    return re.compile(source, flags & (re.IGNORECASE | re.ASCII)).match


def _source(kind: Any, what: Any) -> str:
    if kind is _words.NEGATE:
        return "^"
    if kind is _words.LITERAL:
        return re.escape(chr(what))
    if kind is _words.RANGE:
        return f"{re.escape(chr(what[0]))}-{re.escape(chr(what[1]))}"
    return _CATEGORIES[what]


_CATEGORIES = {
    _words.CATEGORY_DIGIT: r"\d",
    _words.CATEGORY_NOT_DIGIT: r"\D",
    _words.CATEGORY_SPACE: r"\s",
    _words.CATEGORY_NOT_SPACE: r"\S",
    _words.CATEGORY_WORD: r"\w",
    _words.CATEGORY_NOT_WORD: r"\W",
}


def _longest_literal(items: Sequence[Any]) -> str:
    """The longest text that every match holds: looked for first, since that is far quicker."""
    best = run = ""
    for kind, what in items:
        if kind is _words.LITERAL:
            run += chr(what)
            best = max(best, run, key=len)
            continue
        run = ""
        if kind is _words.SUBPATTERN and not what[1] & re.IGNORECASE:
            best = max(best, _longest_literal(what[3]), key=len)
    return best
