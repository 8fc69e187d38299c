"""Redirections, and the heredoc bodies that follow the line they stand on."""

from __future__ import annotations

import re

from .expansions import Expansions
from .syntax import Literal, Part, Redirect, Word

REDIRECT = re.compile(r"([0-9]+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\())", re.A)
_SPACE = re.compile(r"(?:[ \t\r]++|\\\r?\n|#[^\n]*+)*+")
_LINES = re.compile(r"(?:[ \t\r\n]++|\\\r?\n|#[^\n]*+)*+")
_TABS = re.compile(r"^\t+", re.M)


class Redirections(Expansions):
    """Reads redirections, and whatever may stand between two commands."""

    def redirect(self, match: re.Match[str]) -> Redirect:
        """The redirection that a match of REDIRECT begins."""
        self.pos = match.end()
        self.blanks()
        target = self.word()
        if not target.source:
            self.complete = False
        redirect = Redirect(match[2], target, match[1] or "")
        if match[2] in ("<<", "<<-") and target.source:
            quoted = any(char in target.source for char in "'\"\\")
            delimiter = target.source if target.literal is None else target.literal
            object.__setattr__(redirect, "target", Word((Literal("", quoted),)))
            self.pending.append((redirect, delimiter, match[2] == "<<-", quoted))
        return redirect

    def redirects(self) -> tuple[Redirect, ...]:
        """The redirections behind a compound command."""
        found: list[Redirect] = []
        while (match := REDIRECT.match(self.text, self.blanks(), self.end)) is not None:
            found.append(self.redirect(match))
        return tuple(found)

    def newlines(self) -> None:
        """Skip blanks, comments and line ends, and read the heredocs that wait for a line end."""
        while self.pending and (match := _SPACE.match(self.text, self.pos, self.end)) is not None:
            self.pos = match.end()
            if not self.at("\n"):
                return
            self.pos += 1
            self._bodies()
        if (match := _LINES.match(self.text, self.pos, self.end)) is not None:
            self.pos = match.end()

    def _bodies(self) -> None:
        pending, self.pending = self.pending, []
        for redirect, delimiter, strip, quoted in pending:
            start = self.pos
            stop, behind = self._body(delimiter, strip)
            body = self.text[start:stop]
            parts: tuple[Part, ...]
            if quoted:
                parts = (Literal(_TABS.sub("", body) if strip else body, True),)
            else:
                parts = self.within(start, stop)
                if strip:
                    parts = tuple(Literal(_TABS.sub("", p.text), True) if isinstance(p, Literal) else p for p in parts)
            # The redirection was made before its line ended; its body belongs to it all the same.
            object.__setattr__(redirect, "target", Word(parts, body))
            if self.cut >= 0:
                return
            self.pos = behind

    def _body(self, delimiter: str, strip: bool) -> tuple[int, int]:
        """Where the body that begins here ends, and where the text goes on: on the line behind the delimiter."""
        text, start = self.text, self.pos
        while start < self.end:
            stop = text.find("\n", start, self.end)
            line = text[start : self.end if stop < 0 else stop].rstrip("\r")
            line = line.lstrip("\t") if strip else line
            if line == delimiter:
                return start, (self.end if stop < 0 else stop + 1)
            if self.depth and line.startswith(delimiter) and line[len(delimiter) :].lstrip().startswith(")"):
                return start, text.find(delimiter, start) + len(delimiter)
            if stop < 0:
                break
            start = stop + 1
        self.complete = False
        return self.end, self.end
