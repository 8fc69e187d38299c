"""One very large line of JSON into an object, without holding much more than the line.

A parser makes ten bytes of objects and more out of one byte of ``[],[],[],``. Here large values are checked and left
out, and of long texts only the beginning is kept.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from .parse import same

_MAX_PARSED = 65_536  # bytes of a value that is not a text
_MAX_TEXT = 1_200_000  # bytes of a text that are kept
_MAX_DEPTH = 900  # about what the parser allows for other lines
LEFT_OUT = "(large)"

_SPACE = re.compile(rb"[ \t\r]*+")
# Repeats have limits: an engine may remember something of each round.
_PART = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,2000}+')
_NUMBER = rb"-?(?:0|[1-9][0-9]{0,4299}+)(?![0-9])(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?"
_SCALAR = re.compile(_NUMBER + rb"|true|false|null")
# Many small values at one go; where this does not fit they are walked one by one.
_S = rb"[ \t\r]*+"
_TEXT = rb'"[^"\\\x00-\x1f]*+"'
_FLAT = rb"(?:" + _TEXT + rb"|" + _NUMBER + rb"|true|false|null)"
_MEMBER = _TEXT + _S + rb":" + _S + _FLAT + _S
_SMALL = (
    rb"(?:" + _FLAT
    + rb"|\[" + _S + rb"(?:" + _FLAT + _S + rb"(?:," + _S + _FLAT + _S + rb"){0,20}+)?+\]"
    + rb"|\{" + _S + rb"(?:" + _MEMBER + rb"(?:," + _S + _MEMBER + rb"){0,20}+)?+\})"
)  # fmt: skip
_ITEMS = re.compile(rb"(?:" + _S + _SMALL + _S + rb",){0,500}+")
_MEMBERS = re.compile(rb"(?:" + _S + _TEXT + _S + rb":" + _S + _SMALL + _S + rb",){0,500}+")
_CLOSING = {ord("["): b"]", ord("{"): b"}"}


def skim(data: bytearray) -> tuple[dict[str, Any], frozenset[str], bool]:
    """The object that ``data`` is, its own keys that stand there with different values, and whether its ``text`` was
    cut as all very long texts are; another large value is LEFT_OUT. Raises ValueError where it is no JSON."""
    found: dict[str, Any] = {}
    marks: dict[str, object] = {}
    twice: set[str] = set()
    cut = False
    at = _past(data, 0)
    if data[at : at + 1] != b"{":
        raise ValueError("no object")
    at = _past(data, at + 1)
    if data[at : at + 1] != b"}":
        while True:
            begin = _past(data, at)
            at = _key(data, begin)
            key = json.loads(data[begin : data.rindex(b'"', begin, at) + 1].decode("utf-8", "replace"))
            begin = _past(data, at)
            at = _value(data, begin)
            found[key], mark = _kept(data, begin, at)
            if key in marks and not same(marks[key], mark):
                twice.add(key)
            marks[key] = mark
            cut = at - begin > _MAX_TEXT if key == "text" else cut
            at = _past(data, at)
            if data[at : at + 1] != b",":
                break
            at += 1
    if data[at : at + 1] != b"}" or _past(data, at + 1) != len(data):
        raise ValueError("no end")
    return found, frozenset(twice), cut


def _kept(data: bytearray, begin: int, end: int) -> tuple[Any, object]:
    """(what is kept of a value, what tells it from another one under the same key)."""
    if end - begin <= _MAX_PARSED:
        value = json.loads(data[begin:end].decode("utf-8", "replace"))
        return value, [value]
    mark = hash(bytes(data[begin:end]))
    if data[begin : begin + 1] != b'"':
        return LEFT_OUT, mark
    part = _run(_PART, data, begin + 1, min(end - 1, begin + _MAX_TEXT))
    return json.loads(data[begin:part].decode("utf-8", "replace") + '"'), mark


def _past(data: bytearray, at: int) -> int:
    """The place behind the blanks that begin at ``at``."""
    return _SPACE.match(data, at).end()  # type: ignore[union-attr]


def _run(pattern: re.Pattern[bytes], data: bytearray, at: int, end: int = sys.maxsize) -> int:
    """The place behind all that ``pattern`` takes from ``at`` on, again and again."""
    while (to := pattern.match(data, at, end).end()) > at:  # type: ignore[union-attr]
        at = to
    return at


def _string(data: bytearray, at: int) -> int:
    """The end of the text that begins at ``at``."""
    if data[at : at + 1] != b'"':
        raise ValueError("no text")
    at = _run(_PART, data, at + 1)
    if data[at : at + 1] != b'"':
        raise ValueError("a text that does not end, or holds what it must not")
    return at + 1


def _key(data: bytearray, at: int) -> int:
    """The place behind the key at ``at`` and its colon."""
    at = _past(data, _string(data, _past(data, at)))
    if data[at : at + 1] != b":":
        raise ValueError("no colon")
    return at + 1


def _value(data: bytearray, at: int) -> int:
    """The end of the value that begins at ``at``. Without recursion, and nothing of it is kept."""
    stack = bytearray()
    while True:
        if stack[-1:] == b"[":
            at = _run(_ITEMS, data, at)
        at = _past(data, at)
        head = data[at : at + 1]
        if head == b"[" or head == b"{":
            inner = _past(data, at + 1)
            if data[inner : inner + 1] != _CLOSING[head[0]]:
                if len(stack) >= _MAX_DEPTH:
                    raise ValueError("nested too deeply")
                stack += head
                at = _key(data, _run(_MEMBERS, data, inner)) if head == b"{" else inner
                continue
            at = inner + 1
        elif head == b'"':
            at = _string(data, at)
        else:
            scalar = _SCALAR.match(data, at)
            if scalar is None:
                raise ValueError("no value")
            at = scalar.end()
        while stack:
            at = _past(data, at)
            head = data[at : at + 1]
            if head == b",":
                at = _key(data, _run(_MEMBERS, data, at + 1)) if stack[-1:] == b"{" else at + 1
                break
            if head != _CLOSING[stack[-1]]:
                raise ValueError("a container that does not end")
            del stack[-1]
            at += 1
        else:
            return at
