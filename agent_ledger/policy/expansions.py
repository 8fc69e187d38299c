"""What begins with a dollar or a backquote: variables, substitutions, arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .lexer import IN_BRACES, IN_QUOTED_BRACES, NO_SCRIPT, Lexer
from .syntax import Arithmetic, Part, Script, Substitution, Variable, Word

_ARITHMETIC_LENGTH = 4_096  # a "((" whose "))" is farther away opens two subshells

_NAME = re.compile(r"\$([A-Za-z_]\w*|[0-9@*#?$!-])", re.A)
# `${`, flags and modifiers of zsh, length or indirection, name, subscript.
_BRACES = re.compile(
    r"\$\{(?:\([^)}\n]{0,40}\))?[=~^]?([#!]?)([A-Za-z_]\w*|[0-9]+|[@*#?!-]|\$(?![{(\w]))(?:\[([^\]\n]{0,200})\])?", re.A
)
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//|/[#%]?|\^\^?|,,?|@|:")
_BACKQUOTED = re.compile(r"`((?:[^`\\]++|\\.)*+)(`?)", re.S)
_BACKQUOTE_ESCAPE = re.compile(r"\\([$`\\])")
_QUOTED_BACKQUOTE_ESCAPE = re.compile(r"\\([$`\\\"])")
_NESTING = re.compile(r"[()]|\\.|'[^'\n]*+'|\"(?:[^\"\\]++|\\.)*+\"", re.S)
_BRACKETED = re.compile(r"\$\[([^\]\n]{0,200})\]")


def scripts_in(parts: Iterable[Part]) -> Iterator[Script]:
    """The scripts that run while these parts are expanded."""
    for part in parts:
        if isinstance(part, Arithmetic):
            yield from part.scripts
        elif isinstance(part, Variable):
            if part.arg is not None:
                yield from scripts_in(part.arg.parts)
        elif hasattr(part, "script"):
            yield part.script


class Expansions(Lexer):
    """A lexer that can read every expansion, given one that reads scripts."""

    unclosed_arithmetic = False  # once one does not close, nothing behind it is worth the search

    def script(self, inside: bool) -> Script:
        """The commands up to the end or, ``inside`` of something, up to what may close it."""
        raise NotImplementedError

    def whole(self) -> Script:
        """The script that the text is, beyond the bounds as well."""
        raise NotImplementedError

    def dollar(self, quoted: bool) -> Part | None:
        self.budget -= 1
        start = self.pos
        name = _NAME.match(self.text, start, self.end)
        if name is not None:
            self.pos = name.end()
            return Variable(name[1], quoted=quoted)
        if self.text.startswith("((", start + 1, self.end):
            arithmetic = self.arithmetic(start + 3)
            if arithmetic is not None:
                return Arithmetic(self.text[start + 3 : self.pos - 2], tuple(scripts_in(arithmetic)), quoted)
        if self.text.startswith("(", start + 1, self.end):
            self.pos = start + 2
            return Substitution(self.parenthesis(), quoted)
        if self.text.startswith("{", start + 1, self.end):
            return self._braces(quoted)
        bracketed = _BRACKETED.match(self.text, start, self.end)
        if bracketed is None:
            return None
        parts = self.within(bracketed.start(1), bracketed.end(1))
        if self.cut < 0:
            self.pos = bracketed.end()
        return Arithmetic(bracketed[1], tuple(scripts_in(parts)), quoted)

    def parenthesis(self) -> Script:
        if not self.enter():
            return NO_SCRIPT
        outer, self.pending = self.pending, []
        script = self.script(inside=True)
        self.pending = outer
        self.depth -= 1
        return self.closed(script, ")")

    def closed(self, script: Script, token: str) -> Script:
        """The script, once the token behind it is read; not complete where it is missing."""
        if self.at(token):
            self.pos += len(token)
            return script
        self.complete = False
        return Script(script.items, complete=False)

    def backquoted(self, quoted: bool) -> Part:
        self.budget -= 1
        match = _BACKQUOTED.match(self.text, self.pos, self.end)
        if match is None or not self.enter():
            return Substitution(NO_SCRIPT, quoted)
        escape = _QUOTED_BACKQUOTE_ESCAPE if quoted else _BACKQUOTE_ESCAPE
        inner = type(self)(escape.sub(r"\1", match[1]) if "\\" in match[1] else match[1], self.depth, self.budget)
        script = inner.whole()
        self.budget = inner.budget
        self.complete = self.complete and script.complete and bool(match[2])
        self.depth -= 1
        self.pos = match.end()
        return Substitution(script, quoted)

    def arithmetic(self, start: int) -> tuple[Part, ...] | None:
        """The parts of the text from ``start`` to its ``))``; None, and nothing read, where it has none.

        As in a shell, ``((`` opens an arithmetic text only where the two parentheses close together.
        """
        if self.unclosed_arithmetic:
            return None
        depth = 2
        for match in _NESTING.finditer(self.text, start, min(self.end, start + _ARITHMETIC_LENGTH)):
            depth += (match[0] == "(") - (match[0] == ")")
            if depth == 1:
                if not self.text.startswith(")", match.end(), self.end):
                    return None
                if not self.enter():
                    return ()
                parts = self.within(start, match.start())
                self.depth -= 1
                if self.cut < 0:
                    self.pos = match.end() + 1
                return parts
        self.unclosed_arithmetic = True
        return None

    def _braces(self, quoted: bool) -> Part:
        """``${...}``"""
        if not self.enter():
            return Variable("", "!", quoted=quoted)
        part = self._function_substitution(quoted) or self._parameter(quoted)
        self.depth -= 1
        return part

    def _function_substitution(self, quoted: bool) -> Part | None:
        """``${ commands; }`` and ``${|commands; }``."""
        if not self.text.startswith((" ", "\t", "\n", "|"), self.pos + 2, self.end):
            return None
        self.pos += 3
        return Substitution(self.closed(self.script(inside=True), "}"), quoted)

    def _parameter(self, quoted: bool) -> Part:
        match = _BRACES.match(self.text, self.pos, self.end)
        name, op, index, arg = "", "!", "", None  # a name that is itself expanded, as zsh allows: nobody knows which
        if match is None:
            self.pos += 2
        else:
            self.pos = match.end()
            name, index = match[2], match[3] or ""
            operator = _OPERATOR.match(self.text, self.pos, self.end)
            op = {"": "", "#": "#len", "!": "!"}[match[1]]
            if op == "!" and self.text.startswith(("*}", "@}"), self.pos, self.end):
                self.pos += 1
            elif operator is not None:
                op = op or operator[0]
                self.pos = operator.end()
        if not self.at("}"):
            text_only = quoted and op[-1:] in "-=?+"
            arg = self.word(IN_QUOTED_BRACES if text_only else IN_BRACES, text_only)
        elif index and ("$(" in index or "`" in index):
            close = self.pos
            assert match is not None  # noqa: S101
            arg = Word(self.within(*match.span(3)), index)
            if self.cut < 0:
                self.pos = close
        if self.at("}"):
            self.pos += 1
        else:
            self.complete = False
        return Variable(name, op, arg, quoted, index)
