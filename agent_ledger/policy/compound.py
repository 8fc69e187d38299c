"""Compound commands: groups, conditions, loops, tests, functions and coprocesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from .grammar import OPENERS, Lists
from .lexer import IN_REGEX
from .syntax import (
    Case,
    Command,
    Coprocess,
    For,
    Function,
    Group,
    If,
    Literal,
    Script,
    Simple,
    Test,
    While,
    Word,
)


class Grammar(Lists):
    """Reads a whole script. Whatever does not close is closed where the text, or what is around it, ends."""

    def compound(self, keyword: str) -> Command:
        self.pos += len(keyword)
        return self._readers[keyword](self)

    def word_end(self, keyword: str) -> bool:
        """Read a reserved word, if it is the next one."""
        self.newlines()
        if self.keyword() != keyword:
            return False
        self.pos += len(keyword)
        return True

    def expect(self, keyword: str) -> None:
        if not self.word_end(keyword):
            self.complete = False

    def _parentheses(self) -> Command:
        if self.at("("):
            start = self.pos + 1
            parts = self.arithmetic(start)
            if parts is not None:
                return Test((Word(parts, self.text[start : self.pos - 2]),), self.redirects())
        script = self.script(inside=True)
        return Group(self.closed(script, ")"), True, self.redirects())

    def _group(self) -> Command:
        script = self.script(inside=True)
        self.expect("}")
        return Group(script, False, self.redirects())

    def _if(self) -> Command:
        branches: list[tuple[Script | None, Script]] = []
        while True:
            condition = self.script(inside=True)
            self.expect("then")
            branches.append((condition, self.script(inside=True)))
            if not self.word_end("elif"):
                break
        if self.word_end("else"):
            branches.append((None, self.script(inside=True)))
        self.expect("fi")
        return If(tuple(branches), self.redirects())

    def _loop_body(self) -> Script:
        """``do list done``, or the braces that bash and zsh take in its place."""
        self.newlines()
        if self.at(";"):
            self.pos += 1
        if self.word_end("{"):
            script = self.script(inside=True)
            self.expect("}")
            return script
        self.expect("do")
        script = self.script(inside=True)
        self.expect("done")
        return script

    def _while(self, until: bool = False) -> Command:
        condition = self.script(inside=True)
        body = self._loop_body()
        return While(condition, body, until, self.redirects())

    def _until(self) -> Command:
        return self._while(until=True)

    def _for(self) -> Command:
        self.blanks()
        if self.at("(("):
            start = self.pos + 2
            parts = self.arithmetic(start)
            if parts is not None:
                head = Word(parts, self.text[start : self.pos - 2])
                self.blanks()
                return For("", (head,), self._loop_body(), self.redirects())
        name = self.word().source
        words: tuple[Word, ...] | None = None
        self.blanks()
        if self.at("("):  # of zsh
            words = self.array()
        elif self.word_end("in"):
            words = self._words()
        return For(name, words, self._loop_body(), self.redirects())

    def _words(self) -> tuple[Word, ...]:
        """Words up to the end of the command."""
        words: list[Word] = []
        while self.blanks() < self.end:
            word = self.word()
            if not word.source:
                break
            words.append(word)
        return tuple(words)

    def _case(self) -> Command:
        self.blanks()
        subject = self.word()
        self.expect("in")
        arms: list[tuple[tuple[Word, ...], Script]] = []
        while True:
            self.newlines()
            if self.pos >= self.end or self.keyword() == "esac":
                break
            patterns = self._patterns()
            if patterns is None:
                break
            arms.append((patterns, self.script(inside=True)))
            for token in (";;&", ";;", ";&", ";|"):
                if self.at(token):
                    self.pos += len(token)
                    break
            else:
                break
        self.expect("esac")
        return Case(subject, tuple(arms), self.redirects())

    def _patterns(self) -> tuple[Word, ...] | None:
        """``[(] word [| word]... )``; None where that is not what stands here."""
        if self.at("("):
            self.pos += 1
        patterns: list[Word] = []
        while True:
            self.blanks()
            patterns.append(self.word())
            self.blanks()
            if self.at(")"):
                self.pos += 1
                return tuple(patterns)
            if not self.at("|"):
                return None
            self.pos += 1

    def _test(self) -> Command:
        """``[[ ... ]]``: its operators are words too."""
        words: list[Word] = []
        while True:
            self.newlines()
            if self.pos >= self.end or self.at(";"):
                self.complete = False
                break
            if self.at("]]"):
                self.pos += 2
                break
            after_match = bool(words) and words[-1].source == "=~"
            word = self.word(IN_REGEX) if after_match else self.word()
            if not word.source and self.cut < 0:
                operator = self.text[self.pos : self.pos + (2 if self.text.startswith(("&&", "||"), self.pos) else 1)]
                self.pos += len(operator)
                word = Word((Literal(operator),), operator)
            words.append(word)
        return Test(tuple(words), self.redirects())

    def _function(self) -> Function:
        self.blanks()
        name = self.word()
        self.blanks()
        if self.at("("):
            self.pos += 1
            self.blanks()
            if self.at(")"):
                self.pos += 1
        return self.function(name)

    def _coprocess(self) -> Command:
        """``coproc [NAME] command``: a name only stands before a compound command."""
        keyword = self.keyword()
        start = self.pos
        if keyword not in OPENERS:
            self.word()
            if self.keyword() not in OPENERS:
                self.pos = start
        command = self.command()
        if command == Simple():
            self.complete = False
        return Coprocess(command)

    _readers: ClassVar[dict[str, Callable[[Grammar], Command]]] = {
        "(": _parentheses,
        "{": _group,
        "[[": _test,
        "if": _if,
        "while": _while,
        "until": _until,
        "for": _for,
        "select": _for,
        "case": _case,
        "function": _function,
        "coproc": _coprocess,
    }
