"""What the ledger stores of arguments and results: redacted canonical JSON, hashes, one-line summaries."""

from __future__ import annotations

import hashlib
import re
from typing import Any, NamedTuple

from .canonical import MAX_NODES, Plain, encode, survey
from .redact import may_hold_secret, redact_text, redact_value
from .shorten import Clip, fit, left_out

MAX_ARGS = 4000
MAX_SUMMARY = 120
MAX_RESULT = 300
LARGE = 262_144  # characters; above it the hash is over the raw text, and only what is stored is redacted
KEY_INLINE = 8192

_WINDOW = 12_000  # of a large text: what redaction sees
_MARGIN = 512  # left out at the end of a redacted window, where half a secret may stand
_AHEAD = 100  # looked at behind a cut, so that a secret which begins before it is known as one
_ITEMS = 120

_sha256 = hashlib.sha256


class ArgsDigest(NamedTuple):
    """The stored form of arguments: `json` (at most MAX_ARGS characters, valid JSON), hash and length of the whole.

    `marks` holds `odd_args` when something was not JSON, `large` when the hash is over the raw, unredacted text.
    """

    json: str
    sha256: str
    length: int
    marks: tuple[str, ...]
    clean: bool = False  # nothing in the arguments can be a secret, so neither in anything taken from them


def _head(text: str, window: int, redact: bool = True) -> str:
    """The redacted head of a long text; half a secret at the end of the window does not stay."""
    if not redact:
        return left_out(text, window - _MARGIN)
    head = redact_text(text[:window])
    return f"{head[: max(0, len(head) - _MARGIN)]}…[+{len(text) - window + _MARGIN} chars]"


def _prepare(args: object) -> tuple[Any, str, bool, bool]:
    """(plain value, its canonical JSON, odd, large) of anything at all."""
    chars, nodes, odd = survey(args)
    large = chars > LARGE or nodes > MAX_NODES
    plain: Any = args
    if not odd and nodes <= MAX_NODES:
        try:
            text = encode(args)
            text.encode()
            return plain, text, False, large or len(text) > LARGE
        except Exception:  # NaN, lone surrogates, huge ints, a dict that another thread changes: made plain below
            odd = True
    maker = Plain()
    plain = maker.value(args)
    text = encode(plain)
    return plain, text, maker.odd, large or maker.cut or len(text) > LARGE


def _digest(args: object, mode: str) -> tuple[ArgsDigest, object | None]:
    plain, text, odd, large = _prepare(args)
    raw = text.encode()
    sha = _sha256(raw).hexdigest()
    key: object | None = None if odd else text if len(text) < KEY_INLINE else _long_key(args) or (sha, len(text))
    length = len(text)
    marks = (("odd_args",) if odd else ()) + (("large",) if large else ())
    redact = mode != "full"
    if large:
        stored = Clip(_WINDOW, _ITEMS, _head if redact else lambda t, w: _head(t, w, False)).value(plain)
        if redact:
            stored = redact_value(stored)
        text = fit(stored, MAX_ARGS)
    else:
        stored = plain
        if redact and may_hold_secret(text, raw):
            stored = redact_value(plain)
            redacted = encode(stored)
            if redacted != text:
                text = redacted
                sha, length = _sha256(text.encode()).hexdigest(), len(text)
        if length > MAX_ARGS:
            text = fit(stored, MAX_ARGS)
    if mode == "hash":
        names = sorted(redact_text(name[:200])[:80] for name in list(plain)[:200]) if isinstance(plain, dict) else []
        text = fit({"keys": names}, MAX_ARGS)
    return ArgsDigest(text, sha, length, marks), key


def digest_args_with_key(args: object, mode: str = "redacted") -> tuple[ArgsDigest, object | None]:
    """The digest of any arguments, and their `args_key`, with the work done once. Never raises."""
    try:
        if type(args) is dict and 0 <= _flat_size(args) <= MAX_ARGS:
            text = encode(args)
            raw = text.encode()
            if len(text) <= MAX_ARGS and mode != "hash" and (mode == "full" or not may_hold_secret(text, raw)):
                clean = mode != "full"
                return ArgsDigest(text, _sha256(raw).hexdigest(), len(text), (), clean), text
    except Exception:  # noqa: S110 - whatever is odd goes the careful way
        pass
    try:
        return _digest(args, mode)
    except Exception:  # a hook goes on, whatever this was
        text = '{"[unreadable]":true}'
        return ArgsDigest(text, _sha256(text.encode()).hexdigest(), len(text), ("odd_args",)), None


def digest_args(args: object, mode: str = "redacted") -> ArgsDigest:
    """The digest of any arguments. Modes: `redacted`, `full` (no redaction), `hash` (names only). Never raises."""
    return digest_args_with_key(args, mode)[0]


def _flat_size(args: dict[object, object]) -> int:
    """Characters in the values of arguments that hold nothing but text, numbers without a fraction, truth values and
    null under text names; -1 for others."""
    size = 0
    for name, value in args.items():
        if type(name) is not str:
            return -1
        if type(value) is str:
            size += len(value)
        elif value is not None and type(value) is not bool and type(value) is not int:
            return -1
    return size


def _long_key(args: object) -> object | None:
    """The fingerprint of flat arguments too long to be kept; None for others. Python caches the hash of a text, and the
    host hands the same text objects to pre and post: the second time costs nothing."""
    if type(args) is not dict:
        return None
    items: list[object] = []
    for name in sorted(args):
        value = args[name]
        if type(value) is str:
            items.append((name, len(value), hash(value)))
        elif value is None or type(value) in (bool, int):
            items.append((name, value))
        else:
            return None
    return tuple(items)


def args_key(args: object) -> object | None:
    """A hashable fingerprint of the raw arguments, for comparison within this process; None when they are odd."""
    try:
        if type(args) is dict and (size := _flat_size(args)) >= 0:
            if size >= KEY_INLINE:
                return _long_key(args)
            text = encode(args)
            if len(text) < KEY_INLINE:
                if not text.isascii():
                    text.encode()
                return text
            return _long_key(args)
        _, text, odd, _ = _prepare(args)
        if odd:
            return None
        return text if len(text) < KEY_INLINE else (_sha256(text.encode()).hexdigest(), len(text))
    except Exception:  # odd in a new way
        return None


# Control characters, line separators, direction marks and what else is not seen.
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e0fff]+"
)
_SPACES = re.compile(r"\s{2,}|[^\S ]")


def _one_line(text: str) -> str:
    if text.isprintable() and "  " not in text:
        return text.strip()
    text = _UNSEEN.sub(" ", text)
    if not text.isprintable():  # private use, unassigned, odd spaces
        text = "".join([char if char.isprintable() else " " for char in text])
    return _SPACES.sub(" ", text).strip()


def _short(text: str, limit: int, known_clean: bool = False) -> str:
    """One redacted line of at most `limit` characters of a text of any length."""
    size = len(text)
    if known_clean and text.isprintable() and "  " not in text:
        return text if size <= limit else text[: limit - 1] + "…"
    head = text if size <= limit + _AHEAD else text[: limit + _AHEAD]
    clean = not may_hold_secret(head, head.encode("utf-8", "replace"))
    # A secret that begins before the cut shows its shape or its name within the head.
    if clean and head.isprintable() and "  " not in head:
        return head if size <= limit else head[: limit - 1] + "…"
    # Joining lines and spaces moves the cut further down: the whole window must be clean.
    head = redact_text(text[:_WINDOW])
    if size > _WINDOW:
        head = head[: max(0, len(head) - _MARGIN)]
    cut = size > _WINDOW
    line = _one_line(head)
    line = redact_text(line)  # what was in the way of a pattern may be gone now
    if len(line) > limit or cut:
        return line[: limit - 1] + "…"
    return line


def summarize(tool_name: str, parts: tuple[str, ...], clean: bool = False) -> str:
    """One line, at most MAX_SUMMARY characters, redacted: the tool's name and the parts that say what it does.

    `clean`: the arguments that the parts come from are known to hold no secret.
    """
    try:
        words = [part[:_WINDOW] for part in parts if isinstance(part, str) and part]
        if isinstance(tool_name, str) and tool_name and (not words or words[0] != tool_name):
            words.insert(0, tool_name)
        return _short(" ".join(words), MAX_SUMMARY, clean)
    except Exception:  # a summary is a convenience
        return ""


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if type(value) is str:
        return value
    if isinstance(value, BaseException):
        try:
            text = str(value)
            return f"{type(value).__name__}: {text}" if text else type(value).__name__
        except BaseException:  # a hostile exception
            return type(value).__name__
    if isinstance(value, (bytes, bytearray)):
        return bytes(value[: 2 * _WINDOW]).decode("utf-8", "backslashreplace")
    plain = Plain(budget=400, text_limit=2 * _WINDOW).value(value)
    if isinstance(plain, str):
        return plain
    return encode(redact_value(Clip(2048, 60, _head).value(plain)))


def digest_result(result: object) -> str:
    """At most MAX_RESULT characters of a result of any type and size, redacted, on one line. Never raises."""
    try:
        return _short(_as_text(result), MAX_RESULT)
    except Exception:  # the outcome counts, not its text
        return ""


def clean_error(message: object) -> str:
    """An error message of any type, redacted, on one line, at most MAX_RESULT characters. Never raises."""
    return digest_result(message)


def clean_id(value: object, limit: int = 200) -> str:
    """An id from the host as text: a str cut to `limit`, an int's digits, '' for anything else. Never raises."""
    if type(value) is str:
        if len(value) > limit:
            value = value[:limit]
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if type(value) is int and value.bit_length() < 256:
        return str(value)[:limit]
    try:
        return clean_id(str.__str__(value), limit) if isinstance(value, str) else ""
    except BaseException:  # a hostile subclass
        return ""
