"""Replace secrets in text and in values: telling names, token shapes, key blocks, URLs, headers, assignments."""

from __future__ import annotations

import json
import re
from typing import Any

from . import lazily
from .redact_commands import redact_commands
from .redact_names import name_kind
from .redact_patterns import DSN_USER, KEY_BLOCK, KEY_BLOCK_END, KEY_LINE, MARK, RUN, TOKEN, TOKEN_ANYWHERE, URL_USER
from .redact_text import redact_named

MAX_DEPTH = 120
_DOCUMENT = 65_536  # characters; longer JSON texts are judged as text alone

_REFERENCE = lazily.pattern(r"\$\w+|\$\{\w+\}|\$\([^()]*\)|\{\{[^{}]*\}\}|%\w+%")
# Maps the bytes of token characters to "a", all others to a space: one search then finds long runs.
_RUNS = bytes(97 if chr(b).isalnum() and b < 128 or b in b"_-" else 32 for b in range(256))
_RUN = b"a" * RUN
_SHORT_FLAG = lazily.pattern(r"-[pPuUaAwXbS]")


def may_hold_secret(text: str, raw: bytes) -> bool:
    """False when nothing in `text` (`raw`: its UTF-8 bytes) can be a secret; errs on the safe side only."""
    low = text.lower()
    return (
        "key" in low
        or "pass" in low
        or "token" in low
        or "secret" in low
        or "auth" in low
        or "pwd" in low
        or "cred" in low
        or "cookie" in low
        or "bearer" in low
        or "sig=" in low
        or "signature=" in low
        or ("@" in text and ("://" in text or "@tcp(" in low or "@unix(" in low))
        or "identified" in low
        or "from-literal" in low
        or ("-" in text and _SHORT_FLAG.search(text) is not None)
        or (_RUN in raw.translate(_RUNS) and TOKEN_ANYWHERE.search(text) is not None)
    )


def _url_user(match: re.Match[str]) -> str:
    user, password, alone = match.groups()
    if alone:
        return f"{MARK}@" if any(char.isdigit() for char in alone) else match.group()
    if password == MARK or _REFERENCE.fullmatch(password) or not password.strip("*"):
        return match.group()
    return f"{user}:{MARK}@"


def _key_block_ends(text: str) -> str:
    """Drop the end of a key block whose beginning is not in the text (tail, sed): its lines of base64."""
    parts: list[str] = []
    kept = 0
    for match in KEY_BLOCK_END.finditer(text):
        start = match.start()
        while True:
            end = start
            while end > kept and (text[end - 1] in "\r\n" or text[end - 2 : end] in ("\\n", "\\r")):
                end -= 1 if text[end - 1] in "\r\n" else 2
            begin = max(kept, end - 82)
            line_at = 1 + max(text.rfind("\n", begin, end), text.rfind("\\n", begin, end) + 1)
            line_at = max(line_at, kept) if line_at > 0 else begin
            if end == start or not KEY_LINE.fullmatch(text, line_at, end):
                break
            start = line_at
        parts += (text[kept:start], MARK)
        kept = match.end()
    return "".join(parts) + text[kept:] if parts else text


def _tokens(text: str) -> str:
    """Replace known token shapes, looking only near the long runs that all of them hold."""
    runs = text.encode("ascii", "replace").translate(_RUNS)
    at = runs.find(_RUN)
    if at < 0:
        return text
    parts: list[str] = []
    kept = 0
    while at >= 0:
        end = runs.find(b" ", at)
        end = len(text) if end < 0 else end
        found = TOKEN.search(text, max(kept, at - 100), end + 256)
        if found:
            whole = TOKEN.match(text, found.start()) or found
            parts += (text[kept : whole.start()], MARK)
            kept = whole.end()
            end = max(kept, at + 1)
        at = runs.find(_RUN, end if end > at else at + 1)
    return "".join(parts) + text[kept:] if parts else text


def _once(text: str) -> str:
    if "PRIVATE KEY" in text or "PuTTY-User-Key" in text:
        text = _key_block_ends(KEY_BLOCK.sub(MARK, text))
    text = _tokens(text)
    if "@" in text:
        text = URL_USER.sub(_url_user, text)
        text = DSN_USER.sub(rf"\1:{MARK}@", text)
    return redact_commands(redact_named(text))


def redact_text(text: str) -> str:
    """The text with every secret replaced by a mark; names, schemes and harmless text stay."""
    if not may_hold_secret(text, text.encode("utf-8", "replace")):
        return text
    for _ in range(4):  # a replacement can join what surrounds it: go on until nothing changes
        done = _once(text)
        if done == text:
            break
        text = done
    return _document(text) if text.lstrip()[:1] in ("{", "[") and len(text) <= _DOCUMENT else text


def _document(text: str) -> str:
    """Judge a text that is a JSON document by its structure too: nested values, lists of arguments, pairs."""
    try:
        value = json.loads(text)
        done = redact_value(value)
        return text if done == value else json.dumps(done, ensure_ascii=False)
    except (ValueError, RecursionError):  # no JSON after all
        return text


_SCHEMES = frozenset("none null basic bearer digest oauth oauth2 ntlm negotiate kerberos token apikey password".split())
_KEEP = lazily.pattern(r"\$\{[A-Z_][A-Z0-9_]*\}|\$[A-Z_][A-Z0-9_]{2,}|\$\{\{[^{}]*\}\}")
_FLAG = lazily.pattern(r"--?([A-Za-z][\w.-]{1,80})")
_LABELS = ("name", "key", "header", "field", "Name", "Key", "k", "variable", "var")
_CONTENTS = ("value", "Value", "val", "v", "content", "default", "data")


def _under(kind: str, value: Any) -> Any:
    """A value under a telling name. `auth` and `pass` are ambiguous: their containers, and counts, are walked."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        if not value or value == MARK or _KEEP.fullmatch(value) or (kind == "auth" and value.lower() in _SCHEMES):
            return value
        return MARK
    if isinstance(value, (dict, list, tuple, set, frozenset)) and not value:
        return value
    if (kind == "auth" and isinstance(value, dict)) or (kind == "pass" and isinstance(value, (int, float))):
        return _NOT_WHOLE
    return MARK


_NOT_WHOLE = object()


def _walk_dict(value: dict[Any, Any], depth: int, path: set[int]) -> dict[Any, Any]:
    done: dict[Any, Any] = {}
    for key, item in value.items():
        kind = name_kind(key) if type(key) is str else ""
        new = _under(kind, item) if kind else _NOT_WHOLE
        if new is _NOT_WHOLE:
            new = _walk(item, depth, path)
        done[redact_text(key) if type(key) is str else key] = new
    for label in _LABELS:
        name = value.get(label)
        if type(name) is str and (kind := name_kind(name)):
            for content in _CONTENTS:
                if content in value:
                    new = _under(kind, value[content])
                    if new is not _NOT_WHOLE:
                        done[content] = new
    return done


def _walk_list(value: list[Any] | tuple[Any, ...], depth: int, path: set[int]) -> list[Any]:
    done = [_walk(item, depth, path) for item in value]
    if len(done) < 2:
        return done
    if len(done) == 2 and type(value[0]) is str and (kind := name_kind(value[0])):  # a header as a pair
        new = _under(kind, value[1])
        if new is not _NOT_WHOLE:
            done[1] = new
        return done
    words = [item if type(item) is str else "" for item in value]
    for index in range(1, len(words)):
        flag = _FLAG.fullmatch(words[index - 1])
        if flag and name_kind(flag.group(1)) and words[index][:1] not in ("-", ""):
            new = _under("password", words[index])
            done[index] = new
    if any(len(word) > 1 and word[0] == "-" for word in words):
        _walk_argv(words, done)
    return done


def _walk_argv(words: list[str], done: list[Any]) -> None:
    """Short options of known programs in an argument list: judged as the command line that they make."""
    for index, word in enumerate(words):
        if word[:1] != "-" or word[:2] == "--" or len(word) < 2:
            continue
        program = " ".join(words[max(0, index - 40) : index])
        following = words[index + 1] if index + 1 < len(words) else ""
        if done[index] == word:
            head = f"{program} "
            new = redact_commands(head + word)
            if new.startswith(head):
                done[index] = new[len(head) :]
        if following and " " not in following and index + 1 < len(done) and done[index + 1] == following:
            head = f"{program} {word} "
            new = redact_commands(head + following)
            if new.startswith(head):
                done[index + 1] = new[len(head) :]


def _walk(value: Any, depth: int, path: set[int]) -> Any:
    kind = type(value)
    if kind is str:
        return redact_text(value)
    if kind in (int, float, bool) or value is None:
        return value
    if isinstance(value, (bytes, bytearray)):
        text = bytes(value).decode("latin-1")
        done = redact_text(text)
        return value if done == text else done.encode("latin-1")
    if not isinstance(value, (dict, list, tuple, set, frozenset)):
        return value
    if depth <= 0 or id(value) in path:
        return "[cycle]" if depth > 0 else "[too deep]"
    path.add(id(value))
    try:
        if isinstance(value, dict):
            return _walk_dict(value, depth - 1, path)
        if isinstance(value, (list, tuple)):
            items = _walk_list(value, depth - 1, path)
            return items if isinstance(value, list) else tuple(items)
        return type(value)(_walk(item, depth - 1, path) for item in value)
    finally:
        path.discard(id(value))


def redact_value(value: object) -> object:
    """A copy of the value in which every secret is replaced; containers keep their form, cycles are cut."""
    return _walk(value, MAX_DEPTH, set())
