"""From the words of a command to the strings it gets: variables, braces, tilde, substitutions, field splitting."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING

from . import paths
from .model import ANYTHING, GLOB, NOTHING, SECRET, SOME, UNKNOWN, Value
from .syntax import Arithmetic, Literal, Part, ProcessSubstitution, Substitution, Variable, Word

if TYPE_CHECKING:
    from .machine import Machine

_SPECIAL = re.compile(r"[~*?\[{]")
_GLOB = re.compile(r"[*?\[]")
_SPACE = re.compile(r"[ \t\n]+")
_MOST_WORDS = 64  # of one brace expansion, or one split
_LONGEST = 65_536
_HOLE = 0xE200  # first of the characters that stand for a part inside a brace expansion
_NUMBERS = frozenset({"$", "!", "?", "#", "RANDOM", "UID", "EUID", "PPID", "SECONDS", "BASHPID", "EPOCHSECONDS", "LINENO"})


def words(machine: Machine, found: tuple[Word, ...]) -> list[Value]:
    """All fields of these words."""
    done: list[Value] = []
    for word in found:
        parts = word.parts
        if len(parts) == 1:
            part = parts[0]
            if type(part) is Literal and (part.quoted or not _SPECIAL.search(part.text)):
                done.append(Value(part.text))
                continue
        done.extend(fields(machine, word))
        if len(done) > 4096:
            break
    return done


def one(machine: Machine, word: Word | None) -> Value:
    """A word that is not split: an assignment, a redirection's target, the body of a heredoc."""
    if word is None:
        return NOTHING
    text = word.literal
    if text is not None and "~" not in text[:1]:
        marks = GLOB if any(isinstance(p, Literal) and not p.quoted and _GLOB.search(p.text) for p in word.parts) else 0
        return Value(text, marks)
    found = _expand(machine, word.parts, split=False)
    return found[0] if found else NOTHING


def fields(machine: Machine, word: Word) -> list[Value]:
    """The fields that one word becomes: none, one or several."""
    parts = word.parts
    if any(isinstance(part, Literal) and not part.quoted and "{" in part.text for part in parts):
        done: list[Value] = []
        for alternative in _braces(parts):
            done.extend(_expand(machine, alternative, split=True))
        return done
    return _expand(machine, parts, split=True)


class _Fields:
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
        text = value.text[:_LONGEST]
        if not _SPACE.search(text):
            self.add(text, value.marks, False)
            return
        pieces = _SPACE.split(text)
        for number, piece in enumerate(pieces[:_MOST_WORDS]):
            if number:
                self.end()
            self.add(piece, value.marks | (GLOB if _GLOB.search(piece) else 0), False)


def _expand(machine: Machine, parts: tuple[Part, ...], split: bool) -> list[Value]:
    out = _Fields()
    for number, part in enumerate(parts):
        if isinstance(part, Literal):
            text = part.text
            if part.quoted:
                out.add(text, 0, True)
                continue
            if number == 0 and text[:1] == "~":
                text = _tilde(machine, text)
            out.add(text, GLOB if _GLOB.search(text) else 0, False)
        elif isinstance(part, Variable):
            _add_variable(machine, part, out, split)
        elif isinstance(part, Substitution):
            value = machine.substitute(part.script)
            if part.quoted or not split:
                out.add(value.text, value.marks, part.quoted)
            else:
                out.split(value)
        elif isinstance(part, ProcessSubstitution):
            out.add(machine.process_file(part.script, part.direction), 0, True)
        else:
            arithmetic(machine, part)
            out.add(SOME, 0, part.quoted)
    out.end()
    return out.done


def arithmetic(machine: Machine, part: Arithmetic) -> None:
    for script in part.scripts:
        machine.substitute(script)


def _tilde(machine: Machine, text: str) -> str:
    name, slash, rest = text[1:].partition("/")
    if not name:
        return machine.home + slash + rest
    if name == "+":
        return machine.cwd + slash + rest
    if name == "-":
        return lookup(machine, "OLDPWD").text + slash + rest
    if name == "root":
        return "/root" + slash + rest
    if re.fullmatch(r"[a-z_][a-z0-9_-]*", name):
        return f"/home/{name}{slash}{rest}"
    return text


# --- variables ----------------------------------------------------------------------------------------------------


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
    return Value(UNKNOWN, SECRET) if paths.is_secret_variable(name) else ANYTHING


def _add_variable(machine: Machine, part: Variable, out: _Fields, split: bool) -> None:
    scope = machine.scope
    if (part.name in ("@", "*") or part.index in ("@", "*")) and not part.op.startswith("#len"):
        if part.name in ("@", "*"):
            items = list(scope.positional[1:]) if scope.called or len(scope.positional) > 1 else [ANYTHING]
        else:
            items = list(scope.arrays.get(part.name) or [lookup(machine, part.name)])
        if part.op == ":" and part.arg is not None:
            items = items[_number(one(machine, part.arg).text.partition(":")[0]) - (part.name in ("@", "*")) :]
        star = part.name == "*" or part.index == "*"
        if part.quoted and star or not split:
            out.add(" ".join(i.text for i in items), _all_marks(items), part.quoted)
            return
        for number, item in enumerate(items):
            if number:
                out.end()
            if part.quoted:
                out.add(item.text, item.marks, True)
            else:
                out.split(item)
        return
    value = _variable(machine, part)
    if part.quoted or not split:
        out.add(value.text, value.marks & ~GLOB if part.quoted else value.marks, part.quoted)
    else:
        if _GLOB.search(value.text):
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
        value = one(machine, part.arg)
        if "=" in op:
            machine.scope.variables[name] = value
        return value
    if op in (":?", "?"):
        if part.arg is not None:
            one(machine, part.arg)
        return value if known and value.text else Value(value.text.replace(UNKNOWN, SOME) or SOME, value.marks)
    if op in (":+", "+"):
        return one(machine, part.arg)
    if not known:
        return value
    return Value(_edited(machine, value.text, op, one(machine, part.arg).text)[:_LONGEST], value.marks)


def _edited(machine: Machine, text: str, op: str, arg: str) -> str:
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
        matches = re.compile(fnmatch.translate(arg)).match
        ends = range(len(text) + 1)
        for end in ends if len(op) == 1 else reversed(ends):
            piece = text[:end] if op[0] == "#" else text[len(text) - end :]
            if matches(piece):
                return text[end:] if op[0] == "#" else text[: len(text) - end]
        return text
    if op[0] == "/":
        old, _, new = arg.partition("/")
        if not old or _GLOB.search(old):
            return text if old else text
        if op == "//":
            return text.replace(old, new)
        if op == "/#":
            return new + text[len(old) :] if text.startswith(old) else text
        if op == "/%":
            return text[: -len(old)] + new if text.endswith(old) else text
        return text.replace(old, new, 1)
    return text


def _number(text: str) -> int:
    try:
        return int(text.strip() or 0)
    except ValueError:
        return 0


# --- braces -------------------------------------------------------------------------------------------------------


def _braces(parts: tuple[Part, ...]) -> list[tuple[Part, ...]]:
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
    done = []
    for alternative in _alternatives(text):
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


def _alternatives(text: str, depth: int = 0) -> list[str]:
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
            tails = _alternatives(text[end + 1 :], depth + 1)
            head = text[:start]
            done = []
            for choice in choices:
                for inner in _alternatives(choice, depth + 1):
                    done.extend(head + inner + tail for tail in tails)
                    if len(done) >= _MOST_WORDS:
                        return done[:_MOST_WORDS]
            return done
        start = text.find("{", start + 1)
    return [text]


def _matching(text: str, start: int) -> tuple[int, list[int]]:
    level, commas = 0, []
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
        return [str(n) for n in range(low, high + step, step)][:_MOST_WORDS] if abs(high - low) < 10_000 else [first, last]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        low, high = ord(first), ord(last)
        step = 1 if high >= low else -1
        return [chr(n) for n in range(low, high + step, step)]
    return []
