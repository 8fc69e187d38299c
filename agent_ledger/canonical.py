"""Canonical JSON of any Python value: surveyed within a budget, made plain where it is odd."""

from __future__ import annotations

import dataclasses
import json
import json.encoder
import re
from collections.abc import Callable, Mapping
from typing import Any

MAX_DEPTH = 100  # a constant, not the interpreter's limit: the same value gives the same text at any stack depth
MAX_NODES = 1_200_000  # what is encoded in full; more takes too long in front of a tool call
PLAIN_NODES = 60_000  # what is made plain node by node, when it is odd or more than MAX_NODES
MAX_INT_BITS = 13_000  # below Python's limit of 4300 digits

_SCALARS = frozenset((int, bool, type(None)))
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def _refuse(value: object) -> Any:
    raise TypeError("not JSON")


def _make_encode() -> Callable[[Any], str]:
    options: dict[str, Any] = dict(
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
        check_circular=False,
        allow_nan=False,
        default=_refuse,
    )
    slow: Callable[[Any], str] = json.JSONEncoder(**options).encode
    try:
        # JSONEncoder.encode builds this very object anew on each call, which costs as much as a small encoding.
        fast = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
            None, _refuse, json.encoder.encode_basestring, None, ":", ",", True, False, False
        )
        join = "".join

        def encode(value: Any) -> str:
            return join(fast(value, 0))

        probe: Any = {"b": [1, None, True, "é\n\u2028"], "a": {"x": 1.5}}
        if encode(probe) == slow(probe):
            return encode
    except Exception:  # noqa: S110 - another interpreter: the public way does
        pass
    return slow


encode: Callable[[Any], str] = _make_encode()
"""Canonical JSON of a plain value: sorted keys, no spaces, not limited to ASCII. Raises on anything odd."""


def survey(value: object, limit: int = MAX_NODES) -> tuple[int, int, bool]:
    """(characters of the strings, nodes, odd): how much there is, looking at `limit` nodes at most.

    `odd`: something is no plain JSON (a subclass, a non-string key, too deep, ...), to be made plain first.
    """
    chars = nodes = 0
    odd = False
    level: list[Any] = [value]
    depth = 0
    while level:
        if depth > MAX_DEPTH:
            return chars, nodes, True
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                nodes += len(item)
                for key, inner in item.items():
                    if type(key) is not str:
                        odd = True
                    else:
                        chars += len(key)
                    kind = type(inner)
                    if kind is str:
                        chars += len(inner)
                    elif kind not in _SCALARS:
                        below.append(inner)
            elif kind is list or kind is tuple:
                nodes += len(item)
                if nodes <= limit:
                    for inner in item:
                        kind = type(inner)
                        if kind is str:
                            chars += len(inner)
                        elif kind not in _SCALARS:
                            below.append(inner)
            elif kind is str:
                chars += len(item)
            elif kind is not float and kind not in _SCALARS:
                odd = True
            if nodes > limit or len(below) > limit:
                return chars, nodes, odd
        level = below
        depth += 1
    return chars, nodes, odd


class Plain:
    """Turns any value into plain JSON types, within a budget of nodes, and notes whether anything was odd."""

    def __init__(self, budget: int = PLAIN_NODES, text_limit: int | None = None) -> None:
        self.budget = budget
        self.text_limit = text_limit  # characters kept of what is no plain string (bytes, objects)
        self.odd = False
        self.cut = False  # the budget was too small
        self._path: set[int] = set()

    def value(self, value: object, depth: int = 0) -> Any:
        """The plain form of one value. Never raises."""
        kind = type(value)
        if kind is str:
            return self._text(value)  # type: ignore[arg-type]
        if value is None or kind is bool:
            return value
        if kind is int:
            return self._int(value)  # type: ignore[arg-type]
        if kind is float:
            return self._float(value)  # type: ignore[arg-type]
        try:
            if (
                kind is dict
                or kind is list
                or kind is tuple
                or isinstance(value, (dict, list, tuple, set, frozenset, Mapping))
            ):
                return self._container(value, depth)
            return self._other(value)
        except RecursionError:
            self.odd = True
            return "[too deep]"
        except BaseException:  # a hostile object runs its own code here, and may raise anything
            self.odd = True
            return f"[{_type_name(value)}]"

    def _text(self, text: str) -> str:
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            self.odd = True
            return text.encode("utf-8", "backslashreplace").decode()

    def _int(self, number: int) -> Any:
        if -(1 << 63) <= number < 1 << 63 or number.bit_length() <= MAX_INT_BITS:
            return number
        self.odd = True
        return f"[int of {number.bit_length()} bits, mod 2**64 = {number & 0xFFFFFFFFFFFFFFFF}]"

    def _float(self, number: float) -> Any:
        if number - number == 0:
            return number
        self.odd = True
        return "[NaN]" if number != number else "[Infinity]" if number > 0 else "[-Infinity]"

    def _container(self, value: Any, depth: int) -> Any:
        if depth >= MAX_DEPTH:
            self.odd = True
            return "[too deep]"
        mark = id(value)
        if mark in self._path:
            self.odd = True
            return "[cycle]"
        self._path.add(mark)
        try:
            if isinstance(value, (set, frozenset)):
                self.odd = True
                if len(value) > self.budget:  # which items come first depends on the process
                    self.cut = True
                    return f"[set of {len(value)}]"
                return sorted(self._items(value, depth), key=encode)
            if isinstance(value, (list, tuple)):
                return self._items(value, depth)
            if not isinstance(value, dict):
                self.odd = True
            return self._dict(value, depth)
        finally:
            self._path.discard(mark)

    def _items(self, value: Any, depth: int) -> list[Any]:
        """The items that the budget allows; the number of the others stands at the end."""
        done: list[Any] = []
        for item in value:
            if self.budget <= 0:
                self.cut = True
                done.append(f"[+{len(value) - len(done)} more]")
                break
            self.budget -= 1
            done.append(self.value(item, depth + 1))
        return done

    def _dict(self, value: Any, depth: int) -> dict[str, Any]:
        done: dict[str, Any] = {}
        seen = 0
        for key, item in value.items():
            if self.budget <= 0:
                self.cut = True
                done["[more]"] = len(value) - seen
                break
            self.budget -= 1
            seen += 1  # noqa: SIM113 - the loop may end before its first item counts
            if type(key) is str:
                name = self._text(key)
            else:
                self.odd = True
                plain_key = self.value(key, depth + 1)
                name = plain_key if isinstance(plain_key, str) else encode(plain_key)
            plain = self.value(item, depth + 1)
            if name in done:  # 1 and "1" are two keys here and one in JSON
                done[name], plain = sorted((done[name], plain), key=encode)
                number = 2
                while f"{name}#{number}" in done:
                    number += 1
                name = f"{name}#{number}"
            done[name] = plain
        return done

    def _other(self, value: Any) -> Any:
        if isinstance(value, str):  # a subclass: its text, whatever its methods say
            return self._text(str.__str__(value))
        if isinstance(value, int):
            return self._int(int.__int__(value))
        if isinstance(value, float):
            return self._float(float.__float__(value))
        self.odd = True
        if isinstance(value, (bytes, bytearray, memoryview)):
            raw = bytes(value)
            head = raw if self.text_limit is None else raw[: self.text_limit]
            return f"[bytes {len(raw)}] " + head.decode("utf-8", "backslashreplace")
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
            return self._container(fields, 1)
        kind: Any = type(value)
        if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
            return f"[{_type_name(value)}]"
        text = str(value)
        if self.text_limit is not None:
            text = text[: self.text_limit]
        return self._text(_ADDRESS.sub("", str.__str__(text)))  # an address differs in every process


def _type_name(value: object) -> str:
    try:
        return str.__str__(type(value).__name__)[:80].encode("utf-8", "backslashreplace").decode()
    except BaseException:  # a metaclass may refuse too
        return "object"
