"""Find secrets in free text by the name that announces them: assignments, headers, flags, JSON, YAML, queries."""

from __future__ import annotations

import re

from . import lazily
from .redact_names import name_kind
from .redact_patterns import MARK, REFERENCE

# A stem of a telling name with the rest of the name; what stands before it is looked up in the text.
_STEM = lazily.pattern(
    r"(?:pass|pwd|secret|token|key|cred|auth|cookie|sig|jwt|bearer)[\w.-]{0,48}+", re.IGNORECASE | re.ASCII
)
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
# What joins a name to its value.
_SEPARATOR = lazily.pattern(
    r"(?P<close>\\{0,4}[\"'])?\]?(?P<space>[ \t]{0,20}+)(?P<sign>:=|=>|[:=>](?![=:])|,(?=[ \t]*\\{0,4}[\"']))?"
    r"(?P<after>[ \t]{0,20}+)"
)
_QUOTE = lazily.pattern(r"[bBrRuUfF]{0,2}\$?(?P<quote>\\{0,8}(?:\"\"\"|'''|[\"'`]))")
# Code that names where the value comes from, and types: no secret is written there.
_EXPRESSION = lazily.pattern(
    r"(?:self|this|os|process|config|cfg|settings|args|opts|options|request|req|params|ctx|secrets|vars|var|local|"
    r"(?:get)?[eE][nN][vV]|data|module|import|await|None|null|nil|true|false|True|False|undefined|str|string|bytes|int|"
    r"bool|boolean|number|any|Any|Optional|Option|String|SecretStr|function|lambda|required|optional)(?![\w-])|"
    r"[A-Za-z_][\w.]{0,60}[(\[]",
    re.ASCII,
)
_WORD = lazily.pattern(r"(?:[^\s\"'`;&|<>\\]|\\(?![nrt\"'\\])[^\t\r\n]?)+")
_QUERY_WORD = lazily.pattern(r"[^\s\"'`&#<>\\;]+")
_SCHEME = lazily.pattern(r"(?:bearer|basic|token|apikey|api-key|negotiate|ntlm|key|jwt)\\?[ \t]+", re.IGNORECASE)
_LINE_END = lazily.pattern(r"[\r\n]|\\[nr]|\Z")
_ENDS_LINE = lazily.pattern(r"[ \t,]{0,40}(?:[#;\r\n]|\\[nr]|//|\Z)")
_BLOCK = lazily.pattern(r"[|>][+-]?\d?[ \t]*\n(?P<block>(?:[ \t]+\S[^\n]*+\n?)+)")
_KEY_FOLLOWS = lazily.pattern(r"\\{0,8}[\"'][ \t]{0,20}:")
# After a quote that closes a text: "password: " + value
_CODE_TAIL = lazily.pattern(r"(?:[ \t]+[+%.,]|[)\],][ \t,.)])")
_BARE_SCHEME = lazily.pattern(r"(?:bearer|basic|token|digest)\b(?![ \t]+[\w$+/~.=\[<{%-])", re.IGNORECASE | re.ASCII)
_IDENTIFIER = lazily.pattern(r"[a-z_]{1,48}(?=[,)\]};\s]|\Z)|[a-z]{1,24}[A-Z][A-Za-z]{1,24}(?=[,)\]};\s]|\Z)")
_EXPANSION = lazily.pattern(r":?[-=](?P<value>[^{}\n]*)")
_DEFAULT = lazily.pattern(r"\$\{\w+:?[-=+](?P<value>[^{}\n]*)")
_BEARER = lazily.pattern(r"(?<![\w-])(bearer[ \t]+)(?!\[redacted\])([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE)
_LIMIT = 20_000


def _head(text: str, start: int) -> str:
    """The part of a name that stands before its stem."""
    before = text[max(0, start - 64) : start]
    head = before[len(before.rstrip(_NAME_CHARS)) :]
    if head[:1] in ("n", "r", "t") and before[: -len(head)].endswith("\\"):  # an escape of JSON, no letter of the name
        return head[1:]
    return head


def _balanced(text: str, start: int, limit: int) -> int | None:
    """The end of the bracket that opens at `start`; None where it is not closed within `limit` characters."""
    depth, at, end = 0, start, min(len(text), start + limit)
    quote = ""
    while at < end:
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote or char == "\n":
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "{[(":
            depth += 1
        elif char in "}])":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def _bracket(text: str, name: str, at: int, close: str | None) -> tuple[int, int] | None:
    """The span of a list or dict under a telling name: in JSON whatever it is, in code a plural name's short one."""
    if close:
        return at, _balanced(text, at, _LIMIT) or len(text)
    end: int | None = _balanced(text, at, 2000) if name[-1:] in "sS" else None
    return (at, end) if end and ('"' in text[at:end] or "'" in text[at:end] or ":" in text[at:end]) else None


def _closing(text: str, start: int, quote: str) -> int:
    """Where the quoted text that begins at `start` ends, before its closing quote; the end of the text without one."""
    at = start
    while (at := text.find(quote, at)) >= 0:
        if quote[0] == "\\" or quote[0] == "`":
            return at
        slashes = at
        while slashes > start and text[slashes - 1] == "\\":
            slashes -= 1
        if (at - slashes) % 2 == 0:
            return at
        at += 1
    return len(text)


def _quoted(text: str, at: int, quote: str, start: int) -> tuple[int, int] | None:
    """The span of a quoted secret; None where it holds nothing or a reference only."""
    end = _closing(text, start, quote)
    inner = text[start:end]
    if not inner.strip() or inner == MARK or _CODE_TAIL.match(inner):
        return None
    known = REFERENCE.fullmatch(inner) if len(inner) < 300 else None
    if known and not (quote == "'" and inner[:1] == "$" and inner[:2] not in ("${", "$(")):
        return None
    scheme = _SCHEME.match(inner)
    if scheme:
        rest = inner[scheme.end() :]
        if rest == MARK or (len(rest) < 300 and REFERENCE.fullmatch(rest)):
            return None
        start += scheme.end()
    if start == end:
        return None
    return start, end


def _word(text: str, at: int, query: bool) -> tuple[int, int] | None:
    """The span of an unquoted word that is a secret; None for references, code and nothing at all."""
    if text.startswith(MARK, at) or _EXPRESSION.match(text, at):
        return None
    known = REFERENCE.match(text, at)
    if known and (known.end() >= len(text) or text[known.end()] in " \t\r\n\"'`;&|,)}]>\\@/:"):
        return None
    match = (_QUERY_WORD if query else _WORD).match(text, at)
    return match.span() if match else None


def _telling(word: str) -> bool:
    """True for a word that looks made up: with a digit or a sign inside, or a long one."""
    word = word.strip(",.;:)(}]")
    return len(word) >= 4 and (any(c.isdigit() or c in "!@#$%^&*+~-/=" for c in word) or len(word) >= 20)


def _line_value(text: str, at: int, opened: str) -> tuple[int, int]:
    """The rest of the line, up to the quote that was opened before the name."""
    found = _LINE_END.search(text, at)
    end = found.start() if found else len(text)
    if opened and (close := text.find(opened, at, end)) >= 0:
        end = close
    return at, at + len(text[at:end].rstrip(" \t\\"))


def _starts_line(text: str, name_at: int) -> bool:
    before = text[max(0, name_at - 80) : name_at].rstrip(" \t-\"'")
    return not before or before[-1] in "\r\n" or before.endswith("\\n")


def _value(text: str, name: str, kind: str, name_at: int, sep: re.Match[str]) -> tuple[int, int] | None:
    """The span of the secret that follows a telling name, or None."""
    at = sep.end()
    if text[name_at - 2 : name_at] == "${":
        default = _EXPANSION.match(text, name_at + len(name))
        return default.span("value") if default and default["value"] not in ("", MARK) else None
    sign, close = sep.group("sign"), sep.group("close")
    opened = text[name_at - 1] if name_at and text[name_at - 1] in "\"'" else ""
    flag = name[:1] == "-"
    if at >= len(text):
        return None
    if sign is None:
        if not flag:
            if kind == "password" and not close and sep.end() > sep.start() and text[at] == "'" and name.isalpha():
                return _quoted(text, at, "'", at + 1)
            return None
        if sep.end() == sep.start() or text[at] in "-<>|&;\r\n" or name.endswith("."):
            return None
    if sign == "," and not (close and (flag or kind in ("authorization", "cookie") or name.lower().startswith("x-"))):
        return None
    if sign == ">" and (close or not name_at or text[name_at - 1] not in "<:"):
        return None
    if sign == ">":
        end = text.find("<", at)
        end = len(text) if end < 0 else end
        return (at, end) if text[at:end].strip() and not REFERENCE.fullmatch(text[at:end][:300]) else None
    quote = _QUOTE.match(text, at)
    if sign == "," and quote:  # a pair of a list; where a colon follows, it is the next key of a dict
        end = _closing(text, quote.end(), quote["quote"])
        if _KEY_FOLLOWS.match(text, end):
            return None
    if quote and not (opened and quote.group("quote") == opened and not close):
        return _quoted(text, at, quote.group("quote"), quote.end())
    if text[at] in "{[" and not text.startswith((MARK, "{{"), at):
        return _bracket(text, name, at, close) if kind != "auth" else None
    if text[at] in "\r\n":
        return None
    if text[at] == "(":
        if text[at + 1 : at + 2] not in ("'", '"'):
            return None
        closed = _balanced(text, at, 2000)
        return at + 1, closed - 1 if closed else len(text)
    default = _DEFAULT.match(text, at)
    if default:
        return default.span("value") if default["value"] not in ("", MARK) else None
    if sign == ":" and kind in ("authorization", "cookie", "auth"):
        if kind == "auth" and not opened:
            return None
        scheme = _SCHEME.match(text, at)
        if kind != "cookie" and (scheme or _BARE_SCHEME.match(text, at)):
            return (
                _word(text, scheme.end(), False) if scheme and text[scheme.end() : scheme.end() + 1].isascii() else None
            )
        if text.startswith(MARK, at):
            return None
        line = _line_value(text, at, opened)
        known = REFERENCE.fullmatch(text[line[0] : line[1]][:300])
        return line if line[0] < line[1] and not known else None
    scheme = _SCHEME.match(text, at) if sign else None
    if scheme and kind in ("authorization", "token", "password"):
        inner = _word(text, scheme.end(), False)
        if inner and (kind == "authorization" or _telling(text[inner[0] : inner[1]])):
            return inner
    query = name_at > 0 and text[name_at - 1] in "?&" and sign == "="
    block = _BLOCK.match(text, at) if sign == ":" else None
    if block:
        return block.span("block")
    span = _word(text, at, query)
    if span is None:
        return None
    word = text[span[0] : span[1]]
    variable = _IDENTIFIER.match(text, at)
    if variable and not name.isupper() and name_kind(variable.group()):  # refresh_token=refresh_token
        return None
    if kind == "pass" and word.isdigit():  # a count of tests
        return None
    if sign == "=" and not sep.group("space") and not sep.group("after"):
        if word[:1] in "/~." and name.lower().endswith(("credentials", "key", "keys")):
            return None
        return span
    if sign is None:
        return span
    single = _ENDS_LINE.match(text, span[1]) is not None
    if sign != ":":
        return span if single and _telling(word) else None
    if not sep.group("after") and not opened:
        return span if _telling(word) else None
    if opened or _telling(word):
        whole = kind == "password" and not opened and _starts_line(text, name_at)
        return _line_value(text, at, opened) if whole else span
    starts = _starts_line(text, name_at)
    if kind == "password" and starts:
        return _line_value(text, at, opened)
    if kind == "password":  # "the secret: nothing" is prose
        return None if name.lower() in ("secret", "secrets", "credential", "credentials") else span
    return span if single and starts and kind == "token" and len(word) > 3 else None


_QUERY_NAMES = frozenset(("sig", "signature", "key", "x-amz-signature", "x-goog-signature"))


def _kind_in_place(name: str, before: str) -> str:
    """The kind of a name that is telling in its place only: ?sig= in a query, ;Pwd= in a connection string."""
    if before and before in "?&":
        return "token" if name in _QUERY_NAMES else ""
    return "password" if name == "pwd" and before == ";" else ""


def redact_named(text: str) -> str:
    """Replace values that a telling name announces: NAME=VALUE, headers, flags, JSON, YAML, query strings."""
    parts: list[str] = []
    kept = position = 0
    while match := _STEM.search(text, position):
        position = match.end()
        name = _head(text, match.start()) + match.group()
        name_at = match.end() - len(name)
        if name_at < kept:
            name = name[kept - name_at :]
            name_at = kept
        kind = name_kind(name)
        if not kind:
            kind = _kind_in_place(name.lower(), text[name_at - 1] if name_at else "")
            if not kind:
                continue
        sep = _SEPARATOR.match(text, match.end())
        span = _value(text, name, kind, name_at, sep) if sep else None
        if span is None:
            continue
        parts += (text[kept : span[0]], MARK)
        kept = position = span[1]
    if parts:
        text = "".join(parts) + text[kept:]
    if "earer" in text or "EARER" in text:
        text = _BEARER.sub(lambda m: m[1] + MARK if _telling(m[2]) and any(c.isdigit() for c in m[2]) else m[0], text)
    return text
