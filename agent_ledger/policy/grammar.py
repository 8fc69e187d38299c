"""Lists, pipelines and simple commands."""

from __future__ import annotations

import re

from . import plain
from .heredoc import REDIRECT, Redirections
from .lexer import ASSIGN, FAR
from .syntax import (
    Assignment,
    Command,
    Function,
    Item,
    Literal,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Word,
)

OPENERS = frozenset("( { [[ if while until for select case function coproc".split())
CLOSERS = frozenset("} then else elif fi do done esac".split())

_SPECIAL = OPENERS | CLOSERS | {"!", "time"}

# Words without quotes, expansions and the like, which are most of them.
_RUN = re.compile(r"(?:[ \t]*+[^ \t\r\n\\'\"`$;&|<>()#][^ \t\r\n\\'\"`$;&|<>()]*+(?![\\'\"`$<>(]))++")
_RUN_WORDS = re.compile(r"[^ \t]++")
_KEYWORD = re.compile(r"(?:[a-z]++|[{}!]|\[\[)(?=[ \t\r\n;&|<>()]|\Z)")
_PARENTHESES = re.compile(r"\([ \t]*\)")
# "time" with an option other than -p is the program of that name.
_TIME = re.compile(r"time(?:[ \t]+-p)?[ \t]+(?=[^-;&|<>)\s])")
_SEPARATOR = re.compile(r"&&|\|\||;(?![;&|])|&(?!>)[!|]?")
_BAR = re.compile(r"\|(?!\|)&?")


class Lists(Redirections):
    """Reads lists of commands; compound commands come from a subclass."""

    def compound(self, keyword: str) -> Command:
        """The command that one of OPENERS begins."""
        raise NotImplementedError

    def keyword(self) -> str:
        """The word at the position that could be a reserved one, ``(``, or ''."""
        match = _KEYWORD.match(self.text, self.blanks(), self.end)
        return match[0] if match is not None else "(" if self.at("(") else ""

    def whole(self) -> Script:
        script = self.script(inside=False)
        if self.cut >= 0:
            whole = script.items[:-1] if self.resume == self.item_at else script.items
            return Script((*whole, *plain.items(self.text[self.resume :])), complete=False)
        return Script(script.items, complete=False) if self.pending else script

    def script(self, inside: bool) -> Script:
        before, self.complete = self.complete, True
        items: list[Item] = []
        while True:
            self.newlines()
            start = self.pos
            if start >= self.end:
                break
            if start > FAR:
                self.stop(start)
                break
            if not inside:
                self.item_at = start
            keyword = _KEYWORD.match(self.text, start, self.end)
            if self.text[start] in "();" or (keyword is not None and keyword[0] in _SPECIAL):
                closer = self._closer()
                if closer and inside:
                    break
                if closer:
                    self.complete = False
                    self.pos = min(self.end, start + closer)
                    continue
                command = self._pipeline()
            else:
                command = self._pipeline(self._simple())
            if self.pos == start:  # a stray operator
                self.complete = False
                self.pos += 1
                continue
            items.append(Item(command, self._operator()))
        complete, self.complete = self.complete, self.complete and before
        return Script(tuple(items), complete)

    def _closer(self) -> int:
        """The length of what stands here if it may end a list: ``)``, a reserved word, the ``;;`` of a case; else 0."""
        if self.at(")"):
            return 1
        if self.text.startswith((";;", ";&", ";|"), self.pos, self.end):
            return 2
        keyword = self.keyword()
        return len(keyword) if keyword in CLOSERS else 0

    def _operator(self) -> str:
        """The operator behind a command. A line end is left to `newlines`, and what closes to who waits for it."""
        if self.pos >= self.end:
            return ""
        char = self.text[self.pos]
        if char == ")":
            return ""
        if char != "\n":
            match = _SEPARATOR.match(self.text, self.pos, self.end)
            if match is not None:
                self.pos = match.end()
                return "&" if match[0] in ("&|", "&!") else match[0]
            if not self._closer():
                self.complete = False
        return ";"

    def _prefix(self) -> tuple[bool, bool]:
        """Read ``!`` and ``time``; returns whether there was a ``!``, and whether they negate."""
        seen = negated = False
        while (keyword := self.keyword()) in ("!", "time"):
            if keyword == "!":
                seen, negated = True, not negated
                self.pos += 1
            elif (time := _TIME.match(self.text, self.pos, self.end)) is not None:
                self.pos = time.end()
            else:
                break
        return seen, negated

    def _pipeline(self, first: Command | None = None) -> Command:
        """A pipeline, or what follows its ``first`` command."""
        seen = negated = False
        if first is None:
            seen, negated = self._prefix()
            first = self.command()
        commands = [first]
        while self.at("|"):
            bar = _BAR.match(self.text, self.pos, self.end)
            if bar is None:
                break
            self.pos = bar.end()
            self.newlines()
            if self.pos >= self.end or self._closer():
                self.complete = False
                break
            self._prefix()
            commands.append(self.command())
        return Pipeline(tuple(commands), negated) if seen or len(commands) > 1 else commands[0]

    def command(self) -> Command:
        """One command and the blanks behind it; an empty simple one, and nothing read, where none begins."""
        keyword = self.keyword()
        if keyword not in OPENERS:
            return Simple() if keyword in CLOSERS else self._simple()
        if not self.enter():
            return Simple()
        command = self.compound(keyword)
        self.depth -= 1
        return command

    def _simple(self) -> Command:
        outer, self.command_at = self.command_at, self.pos
        command = self._simple_words()
        self.command_at = outer
        return command

    def _simple_words(self) -> Command:
        text = self.text
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        within_bounds = True
        while True:
            run = _RUN.match(text, self.pos, self.end) if within_bounds else None
            if run is not None:
                tokens = _RUN_WORDS.findall(run[0])
                within_bounds = run.end() <= FAR and len(tokens) <= self.budget
                if within_bounds:
                    self.budget -= len(tokens)
                    self.pos = run.end()
                    if not words and "=" in tokens[0]:
                        tokens = self._leading(tokens, assignments)
                    words += [Word((Literal(token),), token) for token in tokens]
            pos = self.blanks()
            if pos >= self.end or text[pos] in "\n;|)":
                break
            redirect = REDIRECT.match(text, pos, self.end)
            if redirect is not None:
                redirects.append(self.redirect(redirect))
            elif text[pos] == "&":
                break
            elif text[pos] == "(":
                parentheses = _PARENTHESES.match(text, pos, self.end)
                if parentheses is not None and len(words) == 1 and not assignments and not redirects:
                    self.pos = parentheses.end()
                    return self.function(words[0])
                break
            else:
                assign = None if words else ASSIGN.match(text, pos, self.end)
                if assign is None:
                    words.append(self.word())
                else:
                    self.pos = assign.end()
                    assignments.append(self._assignment(assign))
        return Simple(tuple(words), tuple(assignments), tuple(redirects))

    def _leading(self, tokens: list[str], assignments: list[Assignment]) -> list[str]:
        """Note the assignments before a command; returns the other tokens."""
        for count, token in enumerate(tokens):
            assign = ASSIGN.match(token)
            if assign is None:
                return tokens[count:]
            value = token[assign.end() :]
            assignments.append(Assignment(assign[1], Word((Literal(value),) if value else (), value), bool(assign[2])))
        return []

    def _assignment(self, assign: re.Match[str]) -> Assignment:
        if self.at("("):
            start = self.pos
            items = self.array()
            return Assignment(assign[1], Word((), self.text[start : self.pos]), bool(assign[2]), items)
        return Assignment(assign[1], self.word(), bool(assign[2]))

    def array(self) -> tuple[Word, ...]:
        self.pos += 1
        items: list[Word] = []
        while True:
            self.newlines()
            if self.pos >= self.end or self.at(")"):
                break
            start = self.pos
            word = self.word()
            if word.source:
                items.append(word)
            elif self.pos == start and self.cut < 0:
                self.complete = False
                self.pos += 1
        if self.pos < self.end:
            self.pos += 1
        else:
            self.complete = False
        return tuple(items)

    def function(self, name: Word) -> Function:
        """The definition whose body comes next."""
        self.newlines()
        if not self.enter():
            return Function(name.source, Simple())
        body = self.command()
        self.depth -= 1
        if body == Simple():
            self.complete = False
        return Function(name.source, body)
