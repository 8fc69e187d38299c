"""The fields of events, made safe: of the type that the contract gives them, and never longer than a limit."""

from __future__ import annotations

import json
from typing import Any

from .model import Result
from .parse import REFUSED, plain

MAX_ANSWER = 1_000_000  # characters of the answer that are kept
MAX_ERROR = 8_000
MAX_OUTPUT = 2_000
MAX_NAME = 200
MAX_WORD = 500
_MAX_ID = 120
_MOST_MS = 2**53

FLAGS = ("failed", "partial", "interrupted", "is_error")
DECIDING = ("exit_code", "error", "session_id", *FLAGS)
TOKENS = ("input", "output", "total", "cache_read", "cache_write")


def holds(value: object) -> bool:
    """Whether a field of the end record says anything: false, null, 0, "", [] and {} do not."""
    return bool(value)


def milliseconds(value: object) -> float | None:
    """``value`` as a time or a duration, None where it can be none."""
    if type(value) is not int and type(value) is not float:
        return None
    return value if 0 <= value <= _MOST_MS else None


def use_fields(found: dict[str, Any], small: bool) -> tuple[str, str, Any]:
    """The fields of a ToolUse."""
    get = found.get
    name, key, given = get("name"), get("tool_call_id"), get("input")
    if small:
        try:
            given = plain(given)
        except RecursionError:
            small = False
    return (
        name if type(name) is str and 0 < len(name) <= MAX_NAME else _name(name), _id(key) if key is not None else "",
        given if small else None,
    )  # fmt: skip


def done_fields(found: dict[str, Any]) -> tuple[str, str, bool, float | None, str]:
    """The fields of a ToolResult."""
    get = found.get
    name, key, output = get("name"), get("tool_call_id"), get("output")
    return (
        name if type(name) is str and 0 < len(name) <= MAX_NAME else _name(name), _id(key) if key is not None else "",
        get("is_error") is True, milliseconds(get("duration_ms")),
        output[:MAX_OUTPUT] if type(output) is str else "",
    )  # fmt: skip


def end_record(record: dict[str, Any], double: frozenset[str], cut: bool) -> Result:
    code, text, session = record.get("exit_code"), record.get("text"), record.get("session_id")
    tokens = as_dicts(record.get("tokens"))
    text = text if type(text) is str else ""
    return Result(
        code=code if type(code) is int else None,
        written=_written(code) if "exit_code" in record else "",
        session=_written(session),
        session_id=word(session),
        text=text[:MAX_ANSWER],
        cut=cut or len(text) > MAX_ANSWER,
        tokens={
            name: tokens[name] for name in TOKENS if type(tokens.get(name)) is int and 0 <= tokens[name] <= 2**64
        } if type(tokens) is dict else {},
        duration_ms=milliseconds(record.get("duration_ms")),
        error=_said(record.get("error")),
        flags=tuple(f"{name} {_written(record[name])}" for name in FLAGS if holds(record.get(name))),
        twice=tuple(name for name in DECIDING if name in double),
    )  # fmt: skip


def _said(error: object) -> str:
    if not holds(error):
        return ""
    return (error if type(error) is str else _written(error))[:MAX_ERROR]


def _written(value: object) -> str:
    try:
        text = json.dumps(plain(value))
    except REFUSED:  # nested more deeply than it can be written
        return "a nested value"
    return text if len(text) <= MAX_WORD else f"{text[:MAX_WORD]}..."


def as_dicts(value: object) -> Any:
    """``value`` with dicts for its objects; None where it is nested too deeply for that."""
    try:
        return plain(value)
    except RecursionError:
        return None


def _name(value: object) -> str:
    return word(value, MAX_NAME) or "?"


def word(value: object, most: int = MAX_WORD) -> str:
    return value[:most] if type(value) is str else ""


def _id(value: object) -> str:
    """A call's id as text; '' for none. Long ones stand for themselves by their hash, so that none is held."""
    if type(value) is not str:
        if type(value) is bool or (not value and value != 0):
            return ""
        try:
            value = json.dumps(plain(value), sort_keys=True)
        except REFUSED:
            return ""
    return value if len(value) <= _MAX_ID else f"{value[:_MAX_ID]}#{hash(value)}"
