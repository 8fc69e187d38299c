"""Source text of script languages as tokens: strings and comments known as such, in one pass."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from .values import MAX_TEXT

MAX_TOKENS = 12_000

# Kinds of tokens.
WORD, NUMBER, STRING, COMMAND, TEMPLATE, OPERATOR, LINE = (
    "word",
    "number",
    "string",
    "command",
    "template",
    "op",
    "line",
)

# What of a string is text, and what is an expression to be put in.
Piece = tuple[bool, str]  # (is an expression, its text)


@dataclass(slots=True)
class Token:
    """One token. ``text``: of strings with a quote in front, so that none is taken for an operator; ``pieces``: of
    strings; ``at``: where it starts; ``partner``: the index of the closing bracket."""

    kind: str
    text: str
    at: int
    pieces: tuple[Piece, ...] = ()
    partner: int = -1

    @property
    def plain(self) -> str:
        """The text without that quote."""
        return self.text[1:] if self.kind in (STRING, COMMAND, TEMPLATE) else self.text


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a language writes things. Quote modes: raw, escape, interpolate, command, template."""

    name: str
    comments: tuple[str, ...] = ("//",)
    blocks: tuple[tuple[str, str], ...] = (("/*", "*/"),)
    quotes: dict[str, str] = field(default_factory=lambda: {"'": "escape", '"': "escape"})
    interpolation: str = ""  # '$' as in perl and php, '#' as in ruby, '' none
    sigils: str = ""
    concatenation: str = "+"
    members: tuple[str, ...] = (".", "?.")
    bare: frozenset[str] = frozenset()  # functions that are called without parentheses
    quote_words: bool = False  # q{}, qq{}, qx{}, qw{} of perl; %x{}, %q{} of ruby
    pairs: tuple[str, ...] = ("=>",)  # between the name and the value of an argument
    regexes: bool = True
    lines_end: bool = False  # a new line ends a statement
    functions: frozenset[str] = frozenset({"function"})
    ends: bool = False  # blocks end with the word ``end``

    def __hash__(self) -> int:
        return hash(self.name)


_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "\n": ""}
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/[a-z]*")
_BEFORE_REGEX = frozenset(
    "return typeof case in of and or not if unless while until split grep when puts print =~ do".split()
)
_HEREDOC = re.compile(r"<<(?:<|~|-)?[ ]?(?:'(\w+)'|\"(\w+)\"|(\w+))")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|.)", re.DOTALL)
_PERL_EXPRESSION = re.compile(
    r"\$\{\s*(\w+)\s*\}|\{(\$[^{}\n]{1,200})\}|(\$\w+(?:\{['\"]?\w+['\"]?\}|\[['\"]?\w+['\"]?\])?)"
)
_TEMPLATE_STOP = re.compile(r"[`\\{}]")


@cache
def _pattern(dialect: Dialect) -> re.Pattern[str]:
    comment = "|".join(re.escape(start) for start in dialect.comments)
    sigils = f"[{re.escape(dialect.sigils)}]*" if dialect.sigils else ""
    quotes = re.escape("".join(dialect.quotes))
    words = ""
    if dialect.quote_words:
        words = r"(?P<quoted>(?<![\w$@%])(?:qq|qx|qw|q|m|qr)(?=\s*[^\w\s,;=)])|%[qQwWxr](?=[\[({<|!/]))|"
    marked = r"(?:[!?](?=[\s(.)\]]|\Z))?" if dialect.name in ("ruby", "other") else ""
    return re.compile(
        rf"(?P<space>[ \t\r\f]+)|(?P<line>\n)|(?P<comment>(?:{comment})[^\n]*)|{words}"
        rf"(?P<word>{sigils}[A-Za-z_$\ue000][\w$\ue000]*{marked})|(?P<number>\d[\w.]*)|(?P<quote>[{quotes}])"
        r"|(?P<op>=>|->|\?\.|::|\.\.\.|\.\.|===|==|!=|<=|>=|&&|\|\||\?\?|\+=|\.=|=~|.)",
        re.DOTALL,
    )


def _unescape(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        body = found[1]
        if body[0] in "xu" and len(body) > 1:
            number = int(body.strip("xu{}"), 16)
            return chr(number) if number < 0x110000 else ""
        return _ESCAPES.get(body, body)

    return _ESCAPE.sub(one, text) if "\\" in text else text


def _pieces(body: str, mode: str, dialect: Dialect) -> tuple[Piece, ...]:
    """What stands in a quoted text."""
    if mode == "raw":
        return ((False, body.replace("\\'", "'").replace("\\\\", "\\")),)
    style = "`" if mode == "template" else dialect.interpolation if mode in ("interpolate", "command") else ""
    if style == "$":
        found, at = [], 0
        for each in _PERL_EXPRESSION.finditer(body):
            if body[max(0, each.start() - 1) : each.start()] == "\\":
                continue
            found.append((False, _unescape(body[at : each.start()])))
            found.append((True, f"${each[1]}" if each[1] else each[2] or each[3]))
            at = each.end()
        return (*found, (False, _unescape(body[at:])))
    if style in ("#", "`"):
        return _braced(body, "#{" if style == "#" else "${")
    return ((False, _unescape(body)),)


def _braced(body: str, opening: str) -> tuple[Piece, ...]:
    found: list[Piece] = []
    at = 0
    while (start := body.find(opening, at)) >= 0 and len(found) < 200:
        depth, end = 1, start + 2
        while end < len(body) and depth:
            depth += {"{": 1, "}": -1}.get(body[end], 0)
            end += 1
        found += [(False, _unescape(body[at:start])), (True, body[start + 2 : end - (depth == 0)])]
        at = end
    return (*found, (False, _unescape(body[at:])))


def _template_end(text: str, at: int) -> int:
    """The place of the backquote that ends a template; braces inside may hold anything."""
    depth = 0
    size = len(text)
    while at < size:
        found = _TEMPLATE_STOP.search(text, at)
        if found is None:
            return size
        at = found.end()
        if found[0] == "\\":
            at += 1
        elif found[0] == "{":
            depth += bool(depth) or text[found.start() - 1] == "$"
        elif found[0] == "}":
            depth -= bool(depth)
        elif not depth:
            return found.start()
    return size


def _quoted_end(text: str, at: int, quote: str) -> int:
    """The place of the quote that ends a string which starts before ``at``."""
    size = len(text)
    while True:
        end = text.find(quote, at)
        if end < 0:
            return size
        back = end - 1
        while back >= at and text[back] == "\\":
            back -= 1
        if (end - back) % 2:
            return end
        at = end + 1


def _delimited(text: str, at: int) -> tuple[str, int]:
    """The text between the delimiter at ``at`` and its partner, and the place behind it."""
    opening = text[at]
    closing = _CLOSING.get(opening, opening)
    if opening == closing:
        end = _quoted_end(text, at + 1, closing)
        return text[at + 1 : end], end + 1
    depth, place = 1, at + 1
    size = len(text)
    while place < size and depth:
        char = text[place]
        depth += (char == opening) - (char == closing)
        place += 1
    return text[at + 1 : place - (depth == 0)], place


def tokenize(text: str, dialect: Dialect) -> list[Token]:
    """The tokens of a text, with the partners of its brackets. Linear; nothing is raised."""
    text = text[:MAX_TEXT]
    pattern = _pattern(dialect)
    tokens: list[Token] = []
    skips: dict[int, int] = {}  # where a heredoc's body starts -> where it ends
    at, size = 0, len(text)
    budget = 4 * size + 4096  # searches for ends that are not there
    while at < size and len(tokens) < MAX_TOKENS and budget > 0:
        block = next((pair for pair in dialect.blocks if text.startswith(pair[0], at)), None)
        if block is not None:
            end = text.find(block[1], at + len(block[0]))
            at = size if end < 0 else end + len(block[1])
            continue
        found = pattern.match(text, at)
        if found is None:
            break
        start, at = at, found.end()
        kind = found.lastgroup or ""
        if kind in ("space", "comment"):
            continue
        if kind == "line":
            tokens.append(Token(LINE, "\n", start))
            at = skips.pop(at, at)
        elif kind == "quote":
            at = _quote(text, start, dialect, tokens)
        elif kind == "quoted":
            at = _quote_word(text, start, found[0], dialect, tokens)
        elif kind == "op":
            at = _operator(text, start, found[0], dialect, tokens, skips)
        else:
            tokens.append(Token(WORD if kind == "word" else NUMBER, found[0], start))
        budget -= at - start
    _pair(tokens)
    return tokens


def _quote(text: str, start: int, dialect: Dialect, tokens: list[Token]) -> int:
    quote = text[start]
    mode = dialect.quotes[quote]
    end = _template_end(text, start + 1) if mode == "template" else _quoted_end(text, start + 1, quote)
    kind = COMMAND if mode == "command" else TEMPLATE if mode == "template" else STRING
    tokens.append(Token(kind, text[start:end], start, _pieces(text[start + 1 : end], mode, dialect)))
    return end + 1


def _quote_word(text: str, start: int, word: str, dialect: Dialect, tokens: list[Token]) -> int:
    """``q{..}``, ``qx(..)``, ``%x{..}`` and their like."""
    at = start + len(word)
    while at < len(text) and text[at].isspace():
        at += 1
    if at >= len(text):
        return at
    body, end = _delimited(text, at)
    letter = word.lstrip("%")
    if letter in ("qx", "x"):
        tokens.append(Token(COMMAND, "`" + body, start, _pieces(body, "command", dialect)))
    elif letter in ("m", "qr", "r"):
        tokens.append(Token(NUMBER, "0", start))
    else:
        mode = "interpolate" if letter in ("qq", "Q", "W") else "raw"
        tokens.append(Token(STRING, '"' + body, start, _pieces(body, mode, dialect)))
    return end


def _operator(
    text: str, start: int, operator: str, dialect: Dialect, tokens: list[Token], skips: dict[int, int]
) -> int:
    previous = tokens[-1] if tokens else None
    if operator == "/" and dialect.regexes:
        closes = previous is not None and (
            previous.kind in (NUMBER, STRING, TEMPLATE)
            or (previous.kind == WORD and previous.text not in _BEFORE_REGEX)
            or (previous.kind == OPERATOR and previous.text in ")]}")
        )
        found = None if closes else _REGEX.match(text, start)
        if found:
            tokens.append(Token(NUMBER, "0", start))
            return found.end()
    if operator == "<" and dialect.interpolation and (found := _HEREDOC.match(text, start)):
        line = text.find("\n", start)
        name = found[1] or found[2] or found[3]
        if line >= 0 and line + 1 not in skips:
            body, end = _heredoc(text, line + 1, name)
            mode = "raw" if found[1] else "interpolate"
            tokens.append(Token(STRING, '"' + body, start, _pieces(body, mode, dialect)))
            skips[line + 1] = end
            return found.end()
    if operator == "[" and dialect.name == "lua" and text.startswith("[[", start):
        end = text.find("]]", start)
        end = len(text) if end < 0 else end
        tokens.append(Token(STRING, text[start + 1 : end], start, ((False, text[start + 2 : end]),)))
        return end + 2
    tokens.append(Token(OPERATOR, operator, start))
    return start + len(operator)


def _heredoc(text: str, start: int, name: str) -> tuple[str, int]:
    at = start
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text[at:end].strip().rstrip(";") == name:
            return text[start:at], end
        at = end + 1
    return text[start:], len(text)


def _pair(tokens: list[Token]) -> None:
    stack: list[int] = []
    for place, token in enumerate(tokens):
        if token.kind != OPERATOR:
            continue
        if token.text in ("(", "[", "{"):
            stack.append(place)
        elif token.text in (")", "]", "}") and stack:
            tokens[stack.pop()].partner = place
    for place in stack:
        tokens[place].partner = len(tokens)
