"""Reads programs of the script languages: expressions from left to right, values as far as they are known.

Control flow is not followed: every statement counts as run, a function where it is called or handed on. What the calls
do is said by a language's own table of functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model import ANYTHING, SECRET, UNKNOWN, Actions, Value
from .tokens import COMMAND, LINE, NUMBER, OPERATOR, STRING, TEMPLATE, WORD, Dialect, Token, tokenize
from .values import MAX_TEXT, NAMED, Thing, joined, marks_of, outer, text_of

MAX_STEPS = 12_000
MAX_DEPTH = 40
_PREFIXES = frozenset("! - + ~ ... & \\ * @ % ++ -- ?".split())
_PREFIX_WORDS = frozenset(
    "new await typeof void yield return throw delete not local my our let const var static defined".split()
)
_ENDS = frozenset("if unless while until do for foreach and or then end rescue ensure else elsif".split())
# What takes a function without calling it.
_KEEPS = frozenset("assign freeze seal promisify defineProperty bind memoize export".split())
_DEFINES = frozenset({"def", "sub", "function"})


@dataclass(slots=True)
class Function:
    """A function of the program: its parameters and the tokens of its body."""

    parameters: tuple[str, ...]
    start: int
    end: int
    tokens: list[Token]
    text: str


@dataclass(frozen=True, slots=True)
class Language:
    """A dialect and what its functions do. ``call``: handles a call, or returns NotImplemented."""

    dialect: Dialect
    call: Callable[[Reader, Thing, list[Any]], Any]
    names: Mapping[str, Any] = field(default_factory=dict)  # what stands for something though nothing binds it
    nullary: frozenset[str] = frozenset()  # methods that are called without parentheses


class Reader:
    """One run over one program."""

    def __init__(self, text: str, language: Language, act: Actions, arguments: Sequence[Value] = ()) -> None:
        self.text = text[:MAX_TEXT]
        self.language = language
        self.dialect = language.dialect
        self.act = act
        self.arguments = list(arguments)
        self.tokens = tokenize(self.text, self.dialect)
        self.variables: dict[str, Any] = {}
        self.functions: dict[str, Function] = {}
        self.facts: set[str] = set()
        self.printed: list[Value] = []
        self.steps = MAX_STEPS
        self.depth = 0

    def run(self) -> Value:
        """Read the whole program; what it prints."""
        self.block(0, len(self.tokens), top=True)
        return joined(self.printed)

    # --- statements

    def block(self, start: int, end: int, top: bool = False) -> None:
        """Read the tokens from ``start`` to ``end``."""
        at = start
        while at < end and self.steps > 0:
            token = self.tokens[at]
            self.steps -= 1
            if token.kind in (LINE, OPERATOR) and token.text not in ("(", "[", "!", "<"):
                if token.text == "{" and (past := self._destructure(at, end)):
                    at = past
                else:
                    at += 1
                continue
            if token.kind == WORD and (past := self._defines(at, end)):
                at = past
                continue
            value, past = self.expression(at, end)
            if top and past > at and self.dialect.name == "node":
                self._thrown_away(at, value)
            at = max(past, at + 1)

    def _thrown_away(self, at: int, value: Any) -> None:
        """A value of the top level that nothing takes: ``-p`` would print it."""
        first = self.tokens[at]
        if isinstance(value, Thing) and "()" not in value.name:
            value = value.value  # the environment as a whole
        if isinstance(value, Value) and value.marks & SECRET and first.text not in ("const", "let", "var", "my"):
            following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
            if following is None or following.text != "=":
                self.act.effect("credential_read", "shows a secret")

    def _defines(self, at: int, end: int) -> int:
        """Past the definition of a function, or an import; 0 where none starts here."""
        word = self.tokens[at].text
        if word == "import":
            return self._import(at, end)
        if word not in _DEFINES or at + 1 >= end or self.tokens[at + 1].kind != WORD:
            return 0
        name, place = self.tokens[at + 1].text, at + 2
        while place < end and self.tokens[place].text in (".", ":") and place + 1 < end:
            name += "." + self.tokens[place + 1].text
            place += 2
        parameters: tuple[str, ...] = ()
        if place < end and self.tokens[place].text == "(":
            close = min(self.tokens[place].partner, end)
            parameters = tuple(t.text for t in self.tokens[place + 1 : close] if t.kind == WORD)
            place = close + 1
        while place < end and self.tokens[place].text in (":", "|") and not self.dialect.ends:
            place += 2  # the type of the result
        stop = self._body_end(at, place, end)
        if stop < 0:
            return 0
        self.functions[name] = Function(parameters, place, stop, self.tokens, self.text)
        return stop + 1

    def _body_end(self, at: int, place: int, end: int) -> int:
        """The end of a function's body, -1 where it cannot be found."""
        if not self.dialect.ends:
            while place < end and self.tokens[place].kind == LINE:
                place += 1
            return min(self.tokens[place].partner, end) if place < end and self.tokens[place].text == "{" else -1
        line = self.text.rfind("\n", 0, self.tokens[at].at) + 1
        indent = self.text[line : self.tokens[at].at]
        if indent.strip():
            return -1
        stop = self.text.find(f"\n{indent}end", self.tokens[at].at)
        if stop < 0:
            return -1
        low, high = place, end
        while low < high:  # the token at that place
            middle = (low + high) // 2
            if self.tokens[middle].at < stop + 1 + len(indent):
                low = middle + 1
            else:
                high = middle
        return low if low < end else -1

    def _import(self, at: int, end: int) -> int:
        """``import a, {b as c} from 'x'``, ``import * as a from 'x'``."""
        stop = at
        while (
            stop < end
            and stop < at + 200
            and self.tokens[stop].kind != STRING
            and self.tokens[stop].text not in (";", "(")
        ):
            stop += 1
        if stop >= end or self.tokens[stop].kind != STRING:
            return 0
        module = Thing(_module(self.tokens[stop].plain))
        names = [token for token in self.tokens[at + 1 : stop] if token.kind in (WORD, OPERATOR)]
        inside = False
        place = 0
        while place < len(names):
            text = names[place].text
            if text in "{}":
                inside = text == "{"
            elif names[place].kind == WORD and text not in ("from", "as", "type"):
                alias = names[place + 2].text if place + 2 < len(names) and names[place + 1].text == "as" else text
                self.variables[alias] = Thing(f"{module.name}.{text}") if inside else module
                place += 2 if alias != text else 0
            place += 1
        return stop + 1

    def _destructure(self, at: int, end: int) -> int:
        """``{a, b: c} = value``: past it, 0 where it is none."""
        close = self.tokens[at].partner
        if close + 1 >= end or self.tokens[close + 1].text != "=":
            return 0
        value, past = self.expression(close + 2, end)
        words = [token.text for token in self.tokens[at + 1 : close] if token.kind == WORD or token.text in (":", ",")]
        place = 0
        while place < len(words):
            if words[place] not in (":", ","):
                name = words[place]
                alias = words[place + 2] if place + 2 < len(words) and words[place + 1] == ":" else name
                self.variables[alias] = self.member(value, name)
                place += 2 if alias != name else 0
            place += 1
        return past

    # --- expressions

    def expression(self, at: int, end: int) -> tuple[Any, int]:
        """The value of the expression at a place, and the place behind it."""
        self.steps -= 1
        if self.depth >= MAX_DEPTH or self.steps <= 0 or at >= end:
            return ANYTHING, max(at, end) if self.steps <= 0 else at + 1
        self.depth += 1
        try:
            value, at = self.operand(at, end)
            while at < end:
                operator = self.tokens[at]
                if operator.kind == LINE and self._continues(at, end):
                    at += 1
                    continue
                if operator.kind != OPERATOR and operator.text not in ("or", "and"):
                    break
                text = operator.text
                if text == self.dialect.concatenation:
                    right, at = self.operand(self._skip_lines(at + 1, end), end)
                    value = _joined(value, right)
                elif text in (
                    "||",
                    "??",
                    "or",
                    "?",
                    "&&",
                    "and",
                    "==",
                    "===",
                    "!=",
                    "<=",
                    ">=",
                    "=~",
                    "*",
                    "/",
                    "<",
                    ">",
                    ":",
                ):
                    if text == ":" and not self.facts & {"ternary"}:
                        break
                    if text == "?":
                        self.facts.add("ternary")
                    right, at = self.operand(self._skip_lines(at + 1, end), end)
                    value = _either(value, right, text)
                else:
                    break
            return value, at
        finally:
            self.depth -= 1

    def _continues(self, at: int, end: int) -> bool:
        """Whether the line after a new line goes on with the expression."""
        place = self._skip_lines(at, end)
        return (
            place < end
            and self.tokens[place].text in (self.dialect.concatenation, *self.dialect.members)
            and (self.tokens[place].text != "+" or not self.dialect.lines_end)
        )

    def _skip_lines(self, at: int, end: int) -> int:
        while at < end and self.tokens[at].kind == LINE:
            at += 1
        return at

    def operand(self, at: int, end: int) -> tuple[Any, int]:
        """A primary with what is applied to it: members, calls, subscripts."""
        if self.depth >= MAX_DEPTH:
            return ANYTHING, at + 1
        self.depth += 1
        try:
            value, at = self._primary(at, end)
            while at < end:
                token = self.tokens[at]
                text = token.text
                place = at
                if token.kind == LINE and self._continues(at, end):
                    place = self._skip_lines(at, end)
                    text = self.tokens[place].text
                if self.tokens[place].kind == OPERATOR and text in self.dialect.members and place + 1 < end:
                    following = self.tokens[place + 1]
                    if following.kind == WORD:
                        value = self.member(value, following.text)
                        at = place + 2
                        if at < end and self._starts_bare_call(value, at, end):
                            value, at = self._bare_call(value, at, end)
                        elif following.text in self.language.nullary and (at >= end or self.tokens[at].text != "("):
                            value = self.call(value, [])
                        continue
                    if following.text in ("(", "["):
                        at = place + 1
                        continue
                    return value, place + 1
                if token.kind == TEMPLATE and isinstance(value, Thing):
                    value = self.call(value, [self.string(token)])
                    at += 1
                elif text == "(" and isinstance(value, (Thing, Function)):
                    close = min(token.partner, end)
                    value = self.call(value, self.items(at + 1, close))
                    at = close + 1
                elif text == "{" and at + 1 < end and self.tokens[at + 1].text == "|" and isinstance(value, Thing):
                    at = self._block_with_parameters(value, at, end)
                elif text == "(" and isinstance(value, Value) and self._is_called(value, at):
                    close = min(token.partner, end)
                    value = self.call(Thing(value.text), self.items(at + 1, close))
                    at = close + 1
                elif text in ("[", "{") and token.kind == OPERATOR and self._subscripted(value, text, at):
                    close = min(token.partner, end)
                    keys = self.items(at + 1, close)
                    value = self.item(value, keys[0] if keys else ANYTHING)
                    at = close + 1
                elif text == "=" and token.kind == OPERATOR and isinstance(value, (Thing, Value, list, dict)):
                    return self._assign(at, end, value)
                elif text in ("+=", ".=") and token.kind == OPERATOR:
                    name = self.tokens[at - 1].text
                    right, at = self.expression(at + 1, end)
                    value = self.variables[name] = _joined(self.variables.get(name, value), right)
                else:
                    break
            return value, at
        finally:
            self.depth -= 1

    def _is_called(self, value: Value, at: int) -> bool:
        """``$name(..)`` of PHP: the function that the variable names."""
        return self.dialect.name == "php" and value.known and self.tokens[at - 1].text.startswith("$")

    def _block_with_parameters(self, value: Thing, at: int, end: int) -> int:
        """``call { |a, b| ... }`` of ruby: past it; the block is called with what the receiver holds."""
        close = min(self.tokens[at].partner, end)
        place = at + 2
        names: list[str] = []
        while place < close and self.tokens[place].text != "|":
            if self.tokens[place].kind == WORD:
                names.append(self.tokens[place].text)
            place += 1
        self.hand_over(Function(tuple(names), place + 1, close, self.tokens, self.text), value, None)
        return close + 1

    def _subscripted(self, value: Any, text: str, at: int) -> bool:
        if text == "{":  # $ENV{HOME}
            return self.tokens[at - 1].kind == WORD and self.tokens[at - 1].text.startswith("$")
        return (
            self.tokens[at].at == self.tokens[at - 1].at + len(self.tokens[at - 1].text) or not self.dialect.lines_end
        )

    def _assign(self, at: int, end: int, target: Any) -> tuple[Any, int]:
        name = self.tokens[at - 1].text if self.tokens[at - 1].kind == WORD else ""
        plain = name and (at < 2 or self.tokens[at - 2].text not in self.dialect.members)
        value, past = self.expression(self._skip_lines(at + 1, end), end)
        if plain:
            self.variables[name] = value
        elif isinstance(target, Thing) and isinstance(value, (Function, Thing)):
            self.variables[target.name] = value
        return value, past

    def _primary(self, at: int, end: int) -> tuple[Any, int]:
        if at >= end:
            return ANYTHING, at
        token = self.tokens[at]
        text = token.text
        if token.kind in (STRING, TEMPLATE):
            return self.string(token), at + 1
        if token.kind == COMMAND:
            return self.act.shell(outer(self.string(token))), at + 1
        if token.kind == NUMBER:
            digits = text.replace("_", "")
            return (
                int(digits) if digits.isdecimal() and digits.isascii() and len(digits) < 16 else Value(UNKNOWN)
            ), at + 1
        if token.kind == LINE:
            return ANYTHING, at
        if token.kind == OPERATOR:
            return self._bracket(at, end)
        if text in _PREFIX_WORDS and at + 1 < end and self.tokens[at + 1].kind != LINE:
            following = self.tokens[at + 1]
            if following.kind != OPERATOR or following.text in ("(", "[", "{", "!", "-", "\\"):
                if following.text == "{" and (past := self._destructure(at + 1, end)):
                    return ANYTHING, past
                return self.expression(at + 1, end) if text == "return" else self.operand(at + 1, end)
        if text in ("function", "sub", "fn", "async", "lambda"):
            return self._anonymous(at, end)
        if at + 1 < end and self.tokens[at + 1].text == "=>" and self.dialect.name == "node":
            return self._arrow((text,), at + 2, end)
        value = self.name(text)
        if self._starts_bare_call(value, at + 1, end):
            return self._bare_call(value, at + 1, end)
        return value, at + 1

    def _bracket(self, at: int, end: int) -> tuple[Any, int]:
        token = self.tokens[at]
        close = min(token.partner, end) if token.partner >= 0 else end
        if token.text == "(":
            if self.dialect.name == "node" and close + 1 < end and self.tokens[close + 1].text == "=>":
                return self._arrow(tuple(t.text for t in self.tokens[at + 1 : close] if t.kind == WORD), close + 2, end)
            found = self.items(at + 1, close)
            return (found[-1] if len(found) == 1 else found if found else ANYTHING), close + 1
        if token.text == "[":
            return self.items(at + 1, close), close + 1
        if token.text == "{":
            return self._braces(at, close), close + 1
        if token.text == "<" and at + 2 < end and self.tokens[at + 2].text == ">":  # <FILE> of perl
            return text_of(self.variables.get(self.tokens[at + 1].text, ANYTHING)), at + 3
        if token.text == "<" and self.dialect.name == "perl":  # <*.txt>
            stop = next((place for place in range(at + 1, min(end, at + 30)) if self.tokens[place].text == ">"), 0)
            if stop:
                return Value(self.text[token.at + 1 : self.tokens[stop].at]), stop + 1
        if token.text in _PREFIXES:
            return self.operand(at + 1, end)
        return ANYTHING, at + 1

    def _braces(self, at: int, close: int) -> Any:
        """An object, or else a block."""
        first = at + 1
        while first < close and self.tokens[first].kind == LINE:
            first += 1
        if first >= close:
            return {}
        following = self.tokens[first + 1].text if first + 1 < close else "}"
        if (
            self.tokens[first].kind in (WORD, STRING, NUMBER)
            and following in (":", "=>", ",", "}")
            or self.tokens[first].text == "..."
        ):
            return self._object(first, close)
        self.block(first, close)
        return ANYTHING

    def _object(self, at: int, close: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while at < close and self.steps > 0:
            token = self.tokens[at]
            if token.text == "...":
                value, at = self.operand(at + 1, close)
                found.update(value if isinstance(value, dict) else {f"...{len(found)}": value})
            elif token.kind in (WORD, STRING, NUMBER):
                key = token.plain
                following = self.tokens[at + 1].text if at + 1 < close else ""
                if following in (":", "=>"):
                    value, at = self.expression(self._skip_lines(at + 2, close), close)
                    found[key] = value
                elif following == "(":
                    at = self.tokens[at + 1].partner + 1
                else:
                    found[key] = self.name(key)
                    at += 1
            else:
                at += 1
        return found

    def items(self, at: int, close: int) -> list[Any]:
        """The values between commas."""
        found: list[Any] = []
        named: dict[str, Any] = {}
        while at < close and self.steps > 0:
            token = self.tokens[at]
            if token.kind == LINE or token.text in (",", ";"):
                at += 1
                continue
            following = self.tokens[at + 1].text if at + 1 < close else ""
            if token.kind in (WORD, STRING) and following in self.dialect.pairs:
                value, past = self.expression(at + 2, close)
                named[token.plain] = value
            else:
                value, past = self.expression(at, close)
                if token.kind == WORD and following == "=" and self.dialect.name == "other":
                    named[token.plain] = value
                else:
                    found.append(value)
            at = max(past, at + 1)
            while at < close and self.tokens[at].text not in (",", ";") and self.tokens[at].kind != LINE:
                # What the expression did not take: read on, but as part of the same item.
                rest, past = self.expression(at, close)
                at = max(past, at + 1)
                if found and text_of(rest).marks:
                    found[-1] = Value(UNKNOWN, marks_of([found[-1], rest]))
        if named:
            found.append(named)
        return found[:200]

    def _arrow(self, parameters: tuple[str, ...], at: int, end: int) -> tuple[Function, int]:
        at = self._skip_lines(at, end)
        if at < end and self.tokens[at].text == "{":
            close = min(self.tokens[at].partner, end)
            return Function(parameters, at + 1, close, self.tokens, self.text), close + 1
        start = at
        while at < end:  # one expression: up to the comma or bracket that ends it
            token = self.tokens[at]
            if token.kind == OPERATOR and token.text in ("(", "[", "{"):
                at = min(token.partner, end)
            elif token.kind == LINE or (token.kind == OPERATOR and token.text in (",", ";", ")", "]", "}")):
                break
            at += 1
        at = min(at, end)
        return Function(parameters, start, at, self.tokens, self.text), at

    def _anonymous(self, at: int, end: int) -> tuple[Any, int]:
        place = at + 1
        if self.tokens[at].text == "async":
            return self.operand(place, end)
        parameters: tuple[str, ...] = ()
        while place < end and self.tokens[place].text != "{":
            if self.tokens[place].text == "(":
                close = min(self.tokens[place].partner, end)
                parameters = parameters or tuple(t.text for t in self.tokens[place + 1 : close] if t.kind == WORD)
                place = close
            elif self.tokens[place].text in (";", ",", ")") or self.tokens[place].kind == STRING:
                return ANYTHING, place
            place += 1
            if self.dialect.ends and parameters is not None and place < end and self.tokens[place - 1].text == ")":
                return ANYTHING, place  # the body is read as it stands
        if place >= end:
            return ANYTHING, place
        close = min(self.tokens[place].partner, end)
        return Function(parameters, place + 1, close, self.tokens, self.text), close + 1

    # --- calls

    def _starts_bare_call(self, value: Any, at: int, end: int) -> bool:
        """Whether arguments without parentheses follow."""
        if not isinstance(value, Thing) or at >= end or not self.dialect.bare:
            return False
        if value.name.rpartition(".")[2] not in self.dialect.bare:
            return False
        token = self.tokens[at]
        if token.kind in (STRING, COMMAND, NUMBER):
            return True
        if token.kind == WORD:
            return token.text not in _ENDS
        return token.text in ("[", "\\", "<", "-", "*") or (token.text == "{" and self.dialect.name == "lua")

    def _bare_call(self, value: Thing, at: int, end: int) -> tuple[Any, int]:
        stop = at
        while stop < end:
            token = self.tokens[stop]
            if token.kind == OPERATOR and token.text in ("(", "[", "{"):
                stop = min(token.partner, end)
            elif self._ends_arguments(stop, at):
                break
            stop += 1
        stop = min(stop, end)
        return self.call(value, self.items(at, stop)), stop

    def _ends_arguments(self, place: int, start: int) -> bool:
        token = self.tokens[place]
        if token.kind == OPERATOR:
            return token.text in (";", "}", ")", "]", "&&", "||")
        if token.kind == LINE:
            return place == start or self.tokens[place - 1].text != ","
        return token.kind == WORD and token.text in _ENDS

    def call(self, function: Any, args: list[Any]) -> Any:
        """Call anything."""
        self.steps -= 5
        if isinstance(function, Function):
            return self.apply(function, args)
        if not isinstance(function, Thing):
            return ANYTHING
        own = self.functions.get(function.name) or self.variables.get(function.name)
        if isinstance(own, Function):
            return self.apply(own, args)
        result = self.language.call(self, function, args)
        if result is NotImplemented:
            marks = function.value.marks & ~NAMED if "()" in function.name else 0
            first = function.first if function.first is not None else args[0] if args else None
            result = Thing(f"{function.name}()"[-300:], Value(UNKNOWN, marks), first)
        if function.name.rpartition(".")[2] not in _KEEPS:
            for arg in args:
                if isinstance(arg, Function):
                    self.hand_over(arg, function, result)
        return result

    def hand_over(self, function: Function, to: Thing, result: Any) -> None:
        """A function that was handed to a call is called by it."""
        items = to.first if isinstance(to.first, list) and to.name.endswith((".forEach", ".map", ".each")) else None
        for item in (items or [Value(UNKNOWN, to.value.marks)])[:8]:
            self.apply(function, [item])

    def apply(self, function: Function, args: Sequence[Any]) -> Any:
        """Run a function of the program."""
        if self.depth >= MAX_DEPTH // 2 or self.steps <= 0:
            return ANYTHING
        kept = {name: self.variables.get(name) for name in function.parameters}
        for place, name in enumerate(function.parameters):
            self.variables[name] = args[place] if place < len(args) else ANYTHING
        here = self.tokens, self.text
        self.tokens, self.text = function.tokens, function.text
        self.depth += 6
        try:
            if function.start < function.end and self.tokens[function.start - 1].text == "=>":
                return self.expression(function.start, function.end)[0]
            self.block(function.start, function.end)
            return ANYTHING
        finally:
            self.depth -= 6
            self.tokens, self.text = here
            for name, value in kept.items():
                if value is None:
                    self.variables.pop(name, None)
                else:
                    self.variables[name] = value

    # --- names and values

    def name(self, text: str) -> Any:
        """What a name stands for."""
        if text in self.variables:
            return self.variables[text]
        if text in self.language.names:
            return self.language.names[text]
        return Thing(text)

    def member(self, value: Any, name: str) -> Any:
        """``value.name``."""
        if isinstance(value, Thing):
            full = f"{value.name}.{name}"
            if full in self.variables:
                return self.variables[full]
            if full in self.language.names:
                return self.language.names[full]
            return Thing(full, value.value, value.first)
        if isinstance(value, dict) and name in value:
            return value[name]
        if isinstance(value, (list, dict)):
            return Thing(f"list.{name}", Value(UNKNOWN, text_of(value).marks), value)
        return Thing(f"text.{name}", text_of(value), value)

    def item(self, value: Any, key: Any) -> Any:
        """``value[key]``."""
        if isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            return value[key]
        if isinstance(key, Thing):
            key = Value(key.name)
        if isinstance(key, Value) and key.known and not isinstance(value, list):
            result = self.language.call(self, Thing("[]", first=value), [key])
            return self.member(value, key.text) if result is NotImplemented else result
        return Value(UNKNOWN, text_of(value).marks)

    def string(self, token: Token) -> Value:
        """The value of a string with what is put into it."""
        parts = [text_of(self.inner(piece)) if is_expression else Value(piece) for is_expression, piece in token.pieces]
        return joined(parts)

    def inner(self, source: str) -> Any:
        """The value of an expression inside a string."""
        if source in self.variables:
            return self.variables[source]
        if self.depth >= MAX_DEPTH // 2 or len(source) > 2000:
            return ANYTHING
        outer_tokens, outer_text = self.tokens, self.text
        self.text, self.tokens = source, tokenize(source, self.dialect)
        self.depth += 8
        try:
            return self.expression(0, len(self.tokens))[0]
        finally:
            self.depth -= 8
            self.tokens, self.text = outer_tokens, outer_text

    def show(self, values: Sequence[Any], end: str = "") -> None:
        """Values reach the output."""
        if marks_of(values) & (SECRET | NAMED):
            self.act.effect("credential_read", "prints a secret")
        if len(self.printed) < 500:
            self.printed.extend(outer(text_of(value)) for value in values)
        if end:
            self.printed.append(Value(end))


def _module(name: str) -> str:
    return name.removeprefix("node:")


def _joined(left: Any, right: Any) -> Any:
    whole = text_of(left) + text_of(right)
    return Value(whole.text[:MAX_TEXT], whole.marks)


def _either(left: Any, right: Any, operator: str) -> Any:
    if operator in ("||", "??", "or"):
        return left if not isinstance(left, Thing) and text_of(left).known else right
    if operator in ("?", ":", "&&", "and"):
        return right
    return ANYTHING
