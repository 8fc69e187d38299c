"""The scan for what lies beyond the bounds: only words, and commands split at operators."""

from __future__ import annotations

import re

from .lexer import ASSIGN
from .syntax import (
    Assignment,
    Command,
    Item,
    Literal,
    Part,
    Pipeline,
    Redirect,
    Simple,
    Variable,
    Word,
)

COMMANDS = 5_000
COMMAND_WORDS = 200  # of one command; what follows them is passed over

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]++|\\\r?\n|\#[^\n]*+)
    |(?P<operator>(?:[;&|\n(){}`]|\$[({])++)
    |(?P<redirect>[0-9]*+(?:[<>]++[&|]?))
    |(?P<word>(?:[^ \t\r\n;&|()`'"\\$<>]++|\\.|'[^']*+'?|"(?:[^"\\]++|\\.)*+"?|\$(?![({])|\\\Z)++)""",
    re.X | re.S,
)
_PIECE = re.compile(r"""'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.?)|\$([A-Za-z_]\w*|[0-9@*#?$!-])|([^'"\\$]+|\$)""", re.S)
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*|[0-9@*#?$!-])")
_ESCAPE = re.compile(r'\\([$`"\\])')
_LEADING = frozenset("if then elif else while until do ! time { } fi done esac function coproc".split())


def _parts(source: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    for single, double, escaped, name, plain in _PIECE.findall(source):
        if plain:
            parts.append(Literal(plain))
        elif name:
            parts.append(Variable(name))
        elif double:
            for count, text in enumerate(_VARIABLE.split(double)):
                parts.append(Variable(text, quoted=True) if count % 2 else Literal(_ESCAPE.sub(r"\1", text), True))
        else:
            parts.append(Literal(single or escaped, True))
    return tuple(parts)


class _Collector:
    """Gathers the words of one command after another."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.pipeline: list[Command] = []
        self.words: list[Word] = []
        self.assignments: list[Assignment] = []
        self.redirects: list[Redirect] = []
        self.redirecting = ""
        self.count = 0

    def word(self, source: str) -> None:
        assign = None if self.words else ASSIGN.match(source)
        if self.redirecting:
            self.redirects.append(Redirect(self.redirecting, Word(_parts(source), source)))
            self.redirecting = ""
        elif assign is not None:
            value = source[assign.end() :]
            self.assignments.append(Assignment(assign[1], Word(_parts(value), value), bool(assign[2])))
        elif len(self.words) < COMMAND_WORDS and (self.words or source not in _LEADING):
            self.words.append(Word(_parts(source), source))

    def operator(self, operator: str) -> None:
        if self.words or self.assignments or self.redirects:
            self.count += 1
            self.pipeline.append(Simple(tuple(self.words), tuple(self.assignments), tuple(self.redirects)))
            self.words, self.assignments, self.redirects = [], [], []
        self.redirecting = ""
        if operator not in ("|", "|&") and self.pipeline:
            single = len(self.pipeline) == 1
            self.items.append(Item(self.pipeline[0] if single else Pipeline(tuple(self.pipeline)), ";"))
            self.pipeline = []


def items(text: str) -> list[Item]:
    """The simple commands of a text, each with its redirections, and pipelines of them.

    Of a huge text, only the first COMMANDS commands are found.
    """
    found = _Collector()
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "operator":
            found.operator(token)
            if found.count >= COMMANDS:
                break
        elif kind == "blank":
            continue
        elif kind == "redirect":
            found.redirecting = token.lstrip("0123456789")
        elif kind == "word" and len(found.words) < COMMAND_WORDS:
            found.word(token)
    found.operator("")
    return found.items
