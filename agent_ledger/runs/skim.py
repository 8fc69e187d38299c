"""One very large line of JSON into an object, without holding much more than the line.

A parser makes ten bytes of objects and more out of one byte of ``[],[],[],``. Here large values are checked and left
out, and of long texts only the beginning is kept.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from typing import Any

from .parse import same

_MAX_PARSED = 65_536  # bytes of a value that is not a text
_MAX_TEXT = 1_200_000  # bytes of a text that are kept
_MAX_DEPTH = 900  # about what the parser allows for other lines
_MOST_ITEMS = 250_000
_SELDOM = 1_000
_CLOSING = {ord("["): b"]", ord("{"): b"}"}
LEFT_OUT = "(large)"

_SPACE = re.compile(rb"[ \t\r]*+")
# Repeats have limits: an engine may remember something of each round.
_PART = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,2000}+')
_NUMBER = rb"-?(?:0|[1-9][0-9]{0,4299}+)(?![0-9])(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?"
_S = rb"[ \t\r]*+"
_TEXT = rb'"[^"\\\x00-\x1f]*+"'
_MEMBER = _TEXT + _S + rb":" + _S
_SCALAR = re.compile(_NUMBER + rb"|true|false|null")


def _small(depth: int) -> bytes:
    """What matches a value of few levels and few members."""
    if not depth:
        return rb"(?:" + _TEXT + rb"|" + _NUMBER + rb"|true|false|null)"
    inner = _small(depth - 1) + _S
    return (
        _small(0)[:-1]
        + rb"|\[" + _S + rb"(?:" + inner + rb"(?:,(?!" + _S + rb"\])" + _S + rb"|(?=\]))){0,50}+\]"
        + rb"|\{" + _S + rb"(?:" + _MEMBER + inner + rb"(?:,(?!" + _S + rb"\})" + _S + rb"|(?=\}))){0,50}+\})"
    )  # fmt: skip


@functools.cache
def _runs(members: bool) -> re.Pattern[bytes]:
    """Many small values, of a list or with the keys of an object, at one go. Made when needed: it takes a while."""
    return re.compile(rb"(?:" + _S + (_MEMBER if members else b"") + _small(4) + _S + rb",){0,500}+")


def is_light(data: bytearray) -> bool:
    """Whether an ordinary parser, which is quicker, would not make very much more of a line than it is."""
    if sum(_count(data, byte) for byte in b",[{") > _MOST_ITEMS:
        return False
    # One character beyond U+FFFF, and every other one takes four bytes too, in the line and once more in the value.
    return not any(byte in data for byte in range(0xF0, 0xF8))


def _count(data: bytearray, byte: int) -> int:
    """How often ``byte`` is there. Where that is seldom, to search is much quicker than to count."""
    at = -1
    for found in range(_SELDOM):
        at = data.find(byte, at + 1)
        if at < 0:
            return found
    return data.count(byte)


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
            at = _run(_runs(False), data, at)
        at = _past(data, at)
        head = data[at : at + 1]
        if head == b"[" or head == b"{":
            inner = _past(data, at + 1)
            if data[inner : inner + 1] != _CLOSING[head[0]]:
                if len(stack) >= _MAX_DEPTH:
                    raise ValueError("nested too deeply")
                stack += head
                at = _key(data, _run(_runs(True), data, inner)) if head == b"{" else inner
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
                at = _key(data, _run(_runs(True), data, at + 1)) if stack[-1:] == b"{" else at + 1
                break
            if head != _CLOSING[stack[-1]]:
                raise ValueError("a container that does not end")
            del stack[-1]
            at += 1
        else:
            return at
