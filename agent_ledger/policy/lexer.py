"""Words and quotes of a command line, read once from left to right within fixed bounds."""

from __future__ import annotations

import re

from .syntax import Literal, Part, ProcessSubstitution, Redirect, Script, Word

# Beyond these the rest of the text is only split at operators (see `plain`). A word or quote that begins before FAR is
# read whole, so that a long document does not turn into commands.
FAR = 64 * 1024  # characters
WORDS = 2_000  # words and expansions
DEPTH = 32  # constructs within each other

NOTHING = Word(())
NO_SCRIPT = Script((), complete=False)

BLANKS = re.compile(r"(?:[ \t\r]++|\\\r?\n)*+(?:#[^\n]*+)?+")
ASSIGN = re.compile(r"([A-Za-z_]\w*(?:\[[^\]\n`(]{0,200}\])?)(\+?)=", re.A)
PLAIN = re.compile(r"[^ \t\r\n\\'\"`$;&|<>()]++")
IN_REGEX = re.compile(r"[^ \t\r\n\\'\"`$()]++")
IN_BRACES = re.compile(r"[^}\\'\"`$]++")
IN_QUOTED_BRACES = re.compile(r"[^}\\\"`$]++")
_QUOTED = re.compile(r'"([^"\\$`]*+)"')
_IN_QUOTES = re.compile(r'(?:[^"\\$`]++|\\.)++', re.S)
_IN_TEXT = re.compile(r"(?:[^\\$`]++|\\.)++", re.S)
_QUOTES_ESCAPE = re.compile(r'\\(?:\r?\n|([$`"\\]))')
_REST_OF_QUOTES = re.compile(r'(?:[^"\\]++|\\.)++', re.S)
_REST_OF_TEXT = re.compile(r".++", re.S)
_TEXT_ESCAPE = re.compile(r"\\(?:\r?\n|([$`\\]))")
_ANSI = re.compile(r"\$'((?:[^'\\]++|\\.)*+)('?)", re.S)
_ANSI_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.))", re.S
)
_ANSI_LETTERS = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


def _ansi_character(match: re.Match[str]) -> str:
    letter, octal, *hexadecimal, control = match.groups()
    if letter:
        return _ANSI_LETTERS[letter]
    if control:
        return chr(ord(control) & 0x1F)
    code = int(octal, 8) & 0xFF if octal else int(next(filter(None, hexadecimal)), 16)
    return chr(code) if code <= 0x10FFFF else "\ufffd"


def decode_ansi(text: str) -> str:
    """What ``$'text'`` stands for; as in bash, nothing that follows a NUL belongs to it."""
    return _ANSI_ESCAPE.sub(_ansi_character, text).partition("\0")[0] if "\\" in text else text


def merged(parts: list[Part]) -> tuple[Part, ...]:
    """The parts, with neighbouring literals of one kind joined."""
    if len(parts) < 2:
        return tuple(parts)
    result: list[Part] = []
    texts: list[str] = []
    quoted = False
    for part in parts:
        if isinstance(part, Literal):
            if texts and part.quoted is not quoted:
                result.append(Literal("".join(texts), quoted))
                texts = []
            quoted = part.quoted
            texts.append(part.text)
            continue
        if texts:
            result.append(Literal("".join(texts), quoted))
            texts = []
        result.append(part)
    if texts:
        result.append(Literal("".join(texts), quoted))
    return tuple(result)


class Lexer:
    """A position in a text, the bounds, and how to read a word there.

    ``end`` is where reading stops; once a bound is met it moves to the current position for good, so that everything
    open closes there, and ``cut`` tells where the rest begins.
    """

    def __init__(self, text: str, depth: int = 0, budget: int = WORDS) -> None:
        self.text = text
        self.pos = 0
        self.end = len(text)
        self.depth = depth
        self.budget = budget
        self.complete = True
        self.cut = -1
        self.resume = 0  # where the plain scan goes on: at the command that was cut
        self.command_at = 0
        self.item_at = -1  # where the last item of the whole script begins
        # Heredocs whose bodies begin on the next line: redirection, delimiter, strip tabs, delimiter was quoted.
        self.pending: list[tuple[Redirect, str, bool, bool]] = []

    def dollar(self, quoted: bool) -> Part | None:
        """The expansion at ``$``; None where the dollar stands for itself."""
        raise NotImplementedError

    def backquoted(self, quoted: bool) -> Part:
        raise NotImplementedError

    def parenthesis(self) -> Script:
        """The script from behind an opening parenthesis through the closing one."""
        raise NotImplementedError

    def array(self) -> tuple[Word, ...]:
        """The words of ``( ... )``."""
        raise NotImplementedError

    def stop(self, pos: int, in_command: bool = False) -> None:
        """A bound is met: nothing from ``pos`` on is read here."""
        self.pos = self.end = self.cut = pos
        self.resume = self.command_at if in_command else pos
        self.complete = False

    def enter(self) -> bool:
        """One level deeper; False, and everything is cut here, where that is too deep. The caller goes up again."""
        if self.depth >= DEPTH:
            self.stop(self.pos)
            return False
        self.depth += 1
        return True

    def blanks(self) -> int:
        """Skip blanks, line continuations and a comment; returns the new position."""
        match = BLANKS.match(self.text, self.pos, self.end)
        if match is not None:
            self.pos = match.end()
        return self.pos

    def at(self, token: str) -> bool:
        return self.text.startswith(token, self.pos, self.end)

    def word(self, run: re.Pattern[str] = PLAIN, quoted: bool = False) -> Word:
        """The word at the position: empty, and nothing read, where none begins. ``run``: what is plain text in it."""
        text = self.text
        start = pos = self.pos
        self.budget -= 1
        if self.budget < 0 or start > FAR:
            self.stop(start, in_command=True)
            return NOTHING
        parts: list[Part] = []
        open_globs = 0  # of @(a|b), where blanks and bars are text
        while pos < self.end:
            plain = run.match(text, pos, self.end)
            if plain is not None:
                parts.append(Literal(plain[0], quoted))
                pos = plain.end()
                if pos >= self.end:
                    break
            char = text[pos]
            if pos > FAR:
                self.stop(pos, in_command=True)
                break
            if char in "'\"\\`$":
                pos = self._special(char, pos, parts, quoted)
            elif char == "(" and (open_globs or (pos > start and text[pos - 1] in "?*+@!")):
                open_globs += 1
                parts.append(Literal(char))
                pos += 1
            elif open_globs and char not in "\n;":
                open_globs -= char == ")"
                parts.append(Literal(char))
                pos += 1
            elif char in "<>(" and run is PLAIN:
                self.pos = pos
                if not self._parenthesized(start, parts):
                    break
                pos = self.pos
            elif char in "()" and run is IN_REGEX:
                open_globs += char == "("
                parts.append(Literal(char))
                pos += 1
            else:
                break
        self.pos = pos
        return Word(merged(parts), text[start:pos])

    def _special(self, char: str, pos: int, parts: list[Part], quoted: bool) -> int:
        """Read what a quote, backslash, dollar or backquote at ``pos`` begins; returns the position behind it."""
        text = self.text
        if char == "'":
            close = text.find("'", pos + 1, self.end)
            if close < 0:
                self.complete = False
                close = self.end
            parts.append(Literal(text[pos + 1 : close], True))
            return min(close + 1, self.end)
        if char == '"':
            simple = _QUOTED.match(text, pos, self.end)
            if simple is not None:
                parts.append(Literal(simple[1], True))
                return simple.end()
            self.pos = pos + 1
            parts.extend(self.quoted('"'))
            return self.pos
        if char == "\\":
            if text.startswith(("\n", "\r\n"), pos + 1, self.end):
                return pos + (2 if text[pos + 1] == "\n" else 3)
            parts.append(Literal(text[pos + 1 : pos + 2] if pos + 1 < self.end else char, True))
            return min(pos + 2, self.end)
        if self.budget < 0:
            self.stop(pos, in_command=True)
            return pos
        self.pos = pos
        if char == "`":
            parts.append(self.backquoted(quoted))
            return self.pos
        ansi = None if quoted else _ANSI.match(text, pos, self.end)
        if ansi is not None:
            self.complete = self.complete and bool(ansi[2])
            parts.append(Literal(decode_ansi(ansi[1]), True))
            return ansi.end()
        if not quoted and text.startswith('"', pos + 1, self.end):
            return pos + 1
        part = self.dollar(quoted)
        if part is None:
            part = Literal("$", quoted)
            self.pos = pos + 1
        parts.append(part)
        return self.pos

    def _parenthesized(self, start: int, parts: list[Part]) -> bool:
        """Read ``<(script)``, ``>(script)``, ``=(script)`` or the ``(items)`` of ``name=``; False where none stands."""
        text, pos = self.text, self.pos
        if text[pos] in "<>":
            if not text.startswith("(", pos + 1, self.end):
                return False
            self.pos = pos + 2
            parts.append(ProcessSubstitution(self.parenthesis(), text[pos]))
            return True
        if pos == start + 1 and text[start] == "=":  # of zsh: the name of a file that holds what the script prints
            self.pos = pos + 1
            parts[:] = [ProcessSubstitution(self.parenthesis(), "<")]
            return True
        assign = ASSIGN.match(text, start, pos)
        if assign is None or assign.end() != pos:
            return False
        parts.append(Literal("("))
        for count, item in enumerate(self.array()):
            parts.extend((Literal(" "), *item.parts) if count else item.parts)
        parts.append(Literal(")"))
        return True

    def quoted(self, close: str) -> list[Part]:
        """The parts up to ``close`` (``"``), or up to the end where that is '': a heredoc, an arithmetic text."""
        text = self.text
        run, escape = (_IN_QUOTES, _QUOTES_ESCAPE) if close else (_IN_TEXT, _TEXT_ESCAPE)
        parts: list[Part] = []
        while self.pos < self.end:
            if self.budget < 0:  # the rest is still text, and must not become commands
                self.complete = False
                run = _REST_OF_QUOTES if close else _REST_OF_TEXT
            plain = run.match(text, self.pos, self.end)
            if plain is not None:
                parts.append(Literal(escape.sub(r"\1", plain[0]) if "\\" in plain[0] else plain[0], True))
                self.pos = plain.end()
                continue
            char = text[self.pos]
            if char == close:
                self.pos += 1
                return parts or [Literal("", True)]
            part: Part | None = None
            if char == "$":
                part = self.dollar(True)
            elif char == "`":
                part = self.backquoted(True)
            if part is None:
                part = Literal(char, True)
                self.pos += 1
            parts.append(part)
        self.complete = self.complete and not close
        return parts or [Literal("", True)]

    def within(self, start: int, stop: int) -> tuple[Part, ...]:
        """The parts of a text that is known to reach from ``start`` to ``stop``; the position is behind it then."""
        end = self.end
        self.pos, self.end = start, stop
        parts = merged(self.quoted(""))
        if self.cut < 0:
            self.pos, self.end = stop, end
        return parts
