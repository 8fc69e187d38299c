"""What the readers of source code know of a program's values, and the functions that they can work out themselves."""

from __future__ import annotations

import base64
import binascii
import codecs
import gzip
import posixpath
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ... import redact_names
from ..model import ANYTHING, DECODED, GLOB, SECRET, UNKNOWN, Value

MAX_TEXT = 64 * 1024
# Marks that never leave the code room.
NAMED = 1 << 16  # one environment variable with the name of a secret: using it is fine, printing it is not
TREE = 1 << 17  # names anything in a tree, however deep
OUTER = NAMED - 1
EVERYTHING = Value("*", GLOB)


@dataclass(slots=True)
class Thing:
    """A module, function or object by its dotted name: ``os.path``, ``sqlite3.connect().cursor``.

    ``value``: its content, or its path; ``first``: the first argument of the call that made the oldest of its chain.
    """

    name: str
    value: Value = ANYTHING
    first: Any = None
    fields: dict[str, Any] = field(default_factory=dict)


def text_of(value: Any, depth: int = 0) -> Value:
    """Any value as text, with the marks of all that is in it."""
    if isinstance(value, Value):
        return value
    if isinstance(value, bytes):
        return Value(value.decode("utf-8", "replace"))
    if isinstance(value, (int, float)):
        try:
            return Value(str(value))
        except ValueError:  # a number with more digits than may be written
            return ANYTHING
    if isinstance(value, Thing):
        if value.name == "os.environ":
            return Value(UNKNOWN, SECRET)
        return value.value if value.name == "Path" else Value(UNKNOWN, value.value.marks)
    if isinstance(value, (list, tuple, dict)):
        marks = 0
        if depth < 8:
            for item in list(value.values() if isinstance(value, dict) else value)[:200]:
                marks |= text_of(item, depth + 1).marks
        return Value(UNKNOWN, marks)
    return ANYTHING


def marks_of(values: Sequence[Any]) -> int:
    """The marks of all of these together."""
    marks = 0
    for value in values:
        marks |= text_of(value).marks
    return marks


def joined(values: Sequence[Value], glue: str = "") -> Value:
    """The texts one behind another up to the bound, with the marks of all."""
    parts: list[str] = []
    marks, size = 0, 0
    for value in values:
        marks |= value.marks
        if size < MAX_TEXT:
            parts.append(value.text)
            size += len(value.text) + len(glue)
    return Value(glue.join(parts)[:MAX_TEXT], marks)


def outer(value: Value) -> Value:
    """The value with the marks that other rooms know."""
    return value if value.marks <= OUTER else Value(value.text, value.marks & OUTER)


def join_paths(parts: Sequence[Value]) -> Value:
    """``os.path.join``: an absolute part starts again."""
    text, marks = "", 0
    for part in parts:
        if part.text.startswith("/") or not text:
            text = part.text
        else:
            text = text + part.text if text.endswith("/") else text + "/" + part.text
        marks |= part.marks
    return Value(text[:MAX_TEXT], marks)


def expand_home(path: Value, home: str) -> Value:
    """``~`` at the start of a path is the user's home."""
    if path.text == "~" or path.text.startswith("~/"):
        return Value(home + path.text[1:], path.marks)
    return path


def environment(name: Value, home: str, cwd: str, default: Any = None) -> Any:
    """The value of one environment variable."""
    known = {"HOME": home, "USERPROFILE": home, "PWD": cwd, "TMPDIR": "/tmp", "TEMP": "/tmp", "SHELL": "/bin/sh"}  # noqa: S108
    if name.text in known:
        return Value(known[name.text])
    if name.text in ("USER", "LOGNAME"):
        return Value(posixpath.basename(home))
    secret = bool(redact_names.name_kind(name.text)) if name.known else False
    if default is not None and not secret:
        return default
    return Value(UNKNOWN, NAMED if secret else 0)


# --- decoders


def _bytes(value: Any) -> bytes | None:
    if isinstance(value, bytes):
        return value
    if isinstance(value, Value) and value.known:
        return value.text.encode("utf-8", "replace")
    return None


def _inflate(wbits: int) -> Callable[[bytes], bytes]:
    def inflate(data: bytes) -> bytes:
        worker = zlib.decompressobj(wbits)
        found = worker.decompress(data, MAX_TEXT)
        if not worker.eof:
            raise ValueError("too long, or cut short")
        return found

    return inflate


def _base64(data: bytes) -> bytes:
    return base64.b64decode(data + b"=" * (-len(data) % 4))


DECODERS: Mapping[str, Callable[[bytes], bytes]] = {
    "base64.b64decode": _base64,
    "base64.standard_b64decode": _base64,
    "base64.decodebytes": _base64,
    "base64.urlsafe_b64decode": lambda data: base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4)),
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": lambda data: base64.b16decode(data, casefold=True),
    "base64.a85decode": base64.a85decode,
    "base64.b85decode": base64.b85decode,
    "binascii.a2b_base64": binascii.a2b_base64,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.unhexlify,
    "bytes.fromhex": lambda data: bytes.fromhex(data.decode()),
    "bytearray.fromhex": lambda data: bytes.fromhex(data.decode()),
    "zlib.decompress": _inflate(zlib.MAX_WBITS),
    "gzip.decompress": _inflate(31),
}
_CODECS = {"rot13": "rot13", "rot_13": "rot13", "base64": "base64", "hex": "hex", "zip": "zip", "utf-8": "", "utf8": ""}
# What comes out of these is not worked out.
OPAQUE_DECODERS = frozenset({
    "marshal.loads", "lzma.decompress", "bz2.decompress", "Fernet().decrypt", "cryptography.fernet.Fernet().decrypt",
})  # fmt: skip


def decode(name: str, args: Sequence[Any]) -> Any:
    """The result of a decoder: bytes where its input is known, else a value marked DECODED."""
    data = _bytes(args[0]) if args else None
    marks = text_of(args[0]).marks if args else 0
    if data is not None and name in DECODERS and len(data) <= MAX_TEXT:
        try:
            return DECODERS[name](data)
        except (ValueError, zlib.error, gzip.BadGzipFile, UnicodeError, AssertionError, OverflowError):
            pass
    return Value(UNKNOWN, marks | DECODED)


def decode_codec(value: Any, codec: str) -> Any:
    """``bytes.decode(codec)`` and ``codecs.decode(value, codec)``."""
    known = _CODECS.get(codec.lower())
    if known == "rot13":
        text = text_of(value)
        return (
            Value(codecs.decode(text.text, "rot13"), text.marks) if text.known else Value(UNKNOWN, text.marks | DECODED)
        )
    if known in ("base64", "hex", "zip"):
        return decode({"base64": "base64.b64decode", "hex": "bytes.fromhex", "zip": "zlib.decompress"}[known], [value])
    return text_of(value)


# --- methods of strings

_STRIP = {"strip": str.strip, "lstrip": str.lstrip, "rstrip": str.rstrip}
_CASE = {
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "capitalize": str.capitalize,
    "swapcase": str.swapcase,
}
# Their results tell nothing of what was read.
TELLS_NOTHING = frozenset(
    "startswith endswith isdigit isalpha count find index rfind keys __contains__ isspace isalnum hexdigest".split()
)


def string_method(value: Value, method: str, args: Sequence[Any]) -> Any:
    """The result of a method of a string: the text where all is known, else UNKNOWN with the same marks."""
    text, marks = value.text, value.marks
    texts = [text_of(arg) for arg in args]
    all_marks = marks
    for each in texts:
        all_marks |= each.marks
    if method in TELLS_NOTHING:
        return ANYTHING
    if method in ("encode", "__str__"):
        return value
    if method == "decode":
        return decode_codec(value, texts[0].text) if texts else value
    if method == "join" and args and isinstance(args[0], (list, tuple)):
        whole = joined([text_of(item) for item in args[0]], text[:MAX_TEXT])
        return Value(whole.text, whole.marks | all_marks)
    if method in ("split", "rsplit", "partition", "rpartition", "splitlines"):
        return _split(value, method, texts)
    if method == "format":
        return Value(_format(text, texts)[:MAX_TEXT], all_marks)
    if method in _CASE:
        return Value(_CASE[method](text)[:MAX_TEXT], marks)
    if not value.known and method in _STRIP:
        return value
    if value.known and all(each.known for each in texts):
        try:
            if method in _STRIP:
                return Value(_STRIP[method](text, *[each.text for each in texts[:1]]), marks)
            if method == "replace" and len(texts) > 1 and (texts[0].text or len(text) < 100):
                return Value(text.replace(texts[0].text, texts[1].text)[:MAX_TEXT], all_marks)
            if method == "removeprefix" and texts:
                return Value(text.removeprefix(texts[0].text), marks)
            if method == "removesuffix" and texts:
                return Value(text.removesuffix(texts[0].text), marks)
        except (ValueError, MemoryError):
            pass
    return Value(UNKNOWN, all_marks)


def _split(value: Value, method: str, texts: Sequence[Value]) -> list[Any]:
    separator = texts[0].text if texts else None
    if not value.known or (texts and not texts[0].known):
        if separator in ("=", ":"):  # the name stands before it, the secret behind it
            return [ANYTHING, Value(UNKNOWN, value.marks)]
        return [Value(UNKNOWN, value.marks)]
    if method == "splitlines":
        parts = value.text.splitlines()
    elif method == "partition":
        parts = list(value.text.partition(separator or " "))
    else:
        parts = value.text.split(separator or None)
    return [Value(part, value.marks) for part in parts[:1000]]


def _format(template: str, texts: Sequence[Value]) -> str:
    """``str.format`` with positions; a named or odd field is UNKNOWN."""
    out: list[str] = []
    at, count, size = 0, 0, len(template)
    while at < size:
        char = template[at]
        if char in "{}" and template[at : at + 2] == char * 2:
            out.append(char)
            at += 2
            continue
        end = template.find("}", at) if char == "{" else -1
        if end < 0:
            out.append(char)
            at += 1
            continue
        name = template[at + 1 : end].partition(":")[0].partition("!")[0]
        place = int(name) if name.isdigit() and len(name) < 4 else count if not name else -1
        count += not name
        out.append(texts[place].text if 0 <= place < len(texts) else UNKNOWN)
        at = end + 1
    return "".join(out)


def percent(template: Value, given: Any) -> Value:
    """``template % given``."""
    items = list(given) if isinstance(given, (list, tuple)) else [given]
    texts = [text_of(item) for item in items]
    pieces = template.text.split("%")
    out, count, at = pieces[0], 0, 1
    marks = template.marks
    for each in texts:
        marks |= each.marks
    while at < len(pieces):
        piece = pieces[at]
        if not piece:  # %% is one per cent sign
            out += "%" + (pieces[at + 1] if at + 1 < len(pieces) else "")
            at += 2
            continue
        body = piece.lstrip("0123456789.-+ #")
        out += (texts[count].text if count < len(texts) and not body.startswith("(") else UNKNOWN) + body[1:]
        count += 1
        at += 1
    return Value(out[:MAX_TEXT], marks)
