"""Parameters: what $NAME and ${NAME op word} give."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING

from . import expand, secret_paths
from .fields import GLOBS, Fields
from .model import ANYTHING, GLOB, MOST_TEXT, NOTHING, SECRET, SOME, TREE, UNKNOWN, Value
from .syntax import Variable

if TYPE_CHECKING:
    from .machine import Machine

_NUMBERS = frozenset(
    {"$", "!", "?", "#", "RANDOM", "UID", "EUID", "PPID", "SECONDS", "BASHPID", "EPOCHSECONDS", "LINENO"}
)

_MOST_TRIMMED = 128  # characters of a text that any pattern is tried on


def lookup(machine: Machine, name: str) -> Value:
    """The value of a variable; UNKNOWN where this session did not set it, secret where its name says so."""
    scope = machine.scope
    found = scope.variables.get(name)
    if found is not None:
        return found
    if name.isdigit():
        at = int(name)
        return scope.positional[at] if at < len(scope.positional) else (NOTHING if scope.called else ANYTHING)
    if name == "HOME":
        return Value(machine.home)
    if name == "PWD":
        return Value(machine.cwd)
    if name in ("TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR"):
        return Value("/tmp")
    if name == "IFS":
        return Value(" \t\n")
    if name in _NUMBERS:
        return Value(SOME)
    if name in ("USER", "LOGNAME"):
        return Value(machine.home.rpartition("/")[2] or SOME)
    if name in ("SHELL", "BASH"):
        return Value("/bin/bash")
    return Value(UNKNOWN, SECRET) if secret_paths.is_secret_variable(name) else ANYTHING


def add_variable(machine: Machine, part: Variable, out: Fields, split: bool) -> None:
    if out.size >= MOST_TEXT:
        return
    scope = machine.scope
    if (part.name in ("@", "*") or part.index in ("@", "*")) and not part.op.startswith("#len"):
        if part.name in ("@", "*"):
            items = list(scope.positional[1:]) if scope.called or len(scope.positional) > 1 else [ANYTHING]
        else:
            items = scope.arrays.get(part.name) or [lookup(machine, part.name)]
        if part.op == ":" and part.arg is not None:
            items = items[_number(expand.one(machine, part.arg).text.partition(":")[0]) - (part.name in ("@", "*")) :]
        star = part.name == "*" or part.index == "*"
        if part.quoted and star or not split:
            out.add(" ".join([item.text for item in items]), _all_marks(items), part.quoted)
            return
        for number, item in enumerate(items[: expand.MOST_FIELDS]):
            if number:
                out.end()
            if part.quoted:
                out.add(item.text, item.marks, True)
            else:
                out.split(item)
        return
    value = _variable(machine, part)
    if part.quoted or not split:
        quoted_marks = value.marks if value.marks & TREE else value.marks & ~GLOB
        out.add(value.text, quoted_marks if part.quoted else value.marks, part.quoted)
    else:
        if GLOBS.search(value.text):
            value = Value(value.text, value.marks | GLOB)
        out.split(value)


def _all_marks(items: list[Value]) -> int:
    marks = 0
    for item in items:
        marks |= item.marks
    return marks


def _variable(machine: Machine, part: Variable) -> Value:
    name, op = part.name, part.op
    if part.index and name in machine.scope.arrays:
        items = machine.scope.arrays[name]
        at = _number(part.index)
        value = items[at] if -len(items) <= at < len(items) else NOTHING
    else:
        value = lookup(machine, name)
    if not op:
        return value
    if op == "#len":
        return Value(SOME)
    if op == "!":
        return lookup(machine, value.text) if value.known else ANYTHING
    known = value is not ANYTHING and UNKNOWN not in value.text
    if op in (":-", "-", ":=", "="):
        if known and (value.text or op in ("-", "=")):
            return value
        value = expand.one(machine, part.arg)
        if "=" in op:
            machine.scope.variables[name] = value
        return value
    if op in (":?", "?"):
        if part.arg is not None:
            expand.one(machine, part.arg)
        return value if known and value.text else Value(value.text.replace(UNKNOWN, SOME) or SOME, value.marks)
    if op in (":+", "+"):
        return expand.one(machine, part.arg)
    if not known:
        return value
    edited = _edited(value.text, op, expand.one(machine, part.arg).text)[:MOST_TEXT]
    if len(edited) > 256:
        machine.budget.spend(len(edited))
    return Value(edited, value.marks)


def _edited(text: str, op: str, arg: str) -> str:
    """Parameter operators that cut or change a known text."""
    if op == ":":
        start, _, length = arg.partition(":")
        begin = _number(start)
        begin = max(0, len(text) + begin) if begin < 0 else begin
        if not length:
            return text[begin:]
        size = _number(length)
        return text[begin : begin + size] if size >= 0 else text[begin:size]
    if op in ("^", "^^", ",", ",,"):
        change = str.upper if op[0] == "^" else str.lower
        return change(text) if len(op) == 2 else change(text[:1]) + text[1:]
    if len(text) > 2048 or len(arg) > 256:
        return text
    if op in ("#", "##", "%", "%%"):
        return _trimmed(text, op, arg)
    if op[0] == "/":
        old, _, new = arg.partition("/")
        if not old or GLOBS.search(old):
            return text
        if op == "//":
            return text.replace(old, new)
        if op == "/#":
            return new + text[len(old) :] if text.startswith(old) else text
        if op == "/%":
            return text[: -len(old)] + new if text.endswith(old) else text
        return text.replace(old, new, 1)
    return text


def _trimmed(text: str, op: str, pattern: str) -> str:
    """The text without what the pattern matches at its beginning (``#``) or end (``%``), the longest where doubled."""
    front = op[0] == "#"
    star, plain = (pattern[:1], pattern[1:]) if front else (pattern[-1:], pattern[:-1])
    if not GLOBS.search(pattern):
        return text.removeprefix(pattern) if front else text.removesuffix(pattern)
    if star == "*" and plain and not GLOBS.search(plain):  # ${path##*/}, ${name%.*}
        found = text.find(plain) if op in ("#", "%%") else text.rfind(plain)
        if found < 0:
            return text
        return text[found + len(plain) :] if front else text[:found]
    if len(text) > _MOST_TRIMMED:
        return text
    matches = re.compile(fnmatch.translate(pattern)).match
    ends = range(len(text) + 1)
    for end in ends if len(op) == 1 else reversed(ends):
        piece = text[:end] if front else text[len(text) - end :]
        if matches(piece):
            return text[end:] if front else text[: len(text) - end]
    return text


def _number(text: str) -> int:
    try:
        return int(text.strip() or 0)
    except ValueError:
        return 0
