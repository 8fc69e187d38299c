"""What a request asks for, checked. Everything raises UsageError that says what is accepted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..cli.show import number
from ..errors import UsageError
from ..model import APPLIED, NONE

Query = Mapping[str, str]

MOST_ROWS = 200
MOST_IDS = 200
MOST_TEXT = 200  # characters of a filter
MOST_BODY = 8 * 1024  # bytes of a JSON body
_EFFECTS = {"applied": APPLIED, "not_applied": NONE}


def row_id(query: Query, name: str) -> int | None:
    """A call number, None where it is not given."""
    text = query.get(name, "")
    return number(text) if text else None


def whole_number(query: Query, name: str, default: int, most: int) -> int:
    text = query.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise UsageError(f"{name} needs a whole number, not {text[:40]!r}")
    return min(int(text), most)


def words(query: Query, name: str) -> str:
    text = query.get(name, "").strip()
    if len(text) > MOST_TEXT:
        raise UsageError(f"{name} has {len(text)} characters, at most {MOST_TEXT} are looked for")
    return text


def one_of(query: Query, name: str, known: Mapping[str, Any]) -> str:
    """A key of ``known``, its first where nothing is given."""
    text = query.get(name, "") or next(iter(known))
    if text not in known:
        raise UsageError(f"{name} is one of {', '.join(known)}, not {text[:40]!r}")
    return text


def ids(query: Query, name: str) -> list[int]:
    """Call numbers with commas between them."""
    found = [number(part) for part in query.get(name, "").split(",") if part]
    if len(found) > MOST_IDS:
        raise UsageError(f"{name} names {len(found)} calls, at most {MOST_IDS} are looked at")
    return found


def settlement(body: bytes) -> tuple[str, str]:
    """(effect, note) of ``{"effect": "applied" | "not_applied", "note": "..."}``; the note may be absent."""
    form = 'Send {"effect": "applied" or "not_applied", "note": text}'
    if len(body) > MOST_BODY:
        raise UsageError(f"the body has {len(body)} bytes, at most {MOST_BODY} are read. {form}")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise UsageError(f"the body is no JSON. {form}") from None
    if not isinstance(found, dict) or not found.keys() <= {"effect", "note"}:
        raise UsageError(f"the body is not what settling takes. {form}")
    effect, note = found.get("effect"), found.get("note", "")
    if not isinstance(effect, str) or effect not in _EFFECTS or not isinstance(note, str):
        raise UsageError(f"the body is not what settling takes. {form}")
    return _EFFECTS[effect], note
