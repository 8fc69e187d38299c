"""One line of JSON into an object, strictly; and the keys that it gives twice with different values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

# An unreadable number, 5000 digits say, is a ValueError; too deep a nesting is a RecursionError.
REFUSED = (ValueError, RecursionError, StopIteration)
_AROUND = " \t\r"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decoder: Any = json.JSONDecoder(parse_constant=_no_constant)
# What json.loads comes to after it has looked at the type and the encoding of its argument. Raises StopIteration where
# no value begins.
scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once


def whole(line: str, end: int) -> bool:
    """Whether nothing but blanks follows the value that ended at ``end``."""
    return end == len(line) or not line[end:].strip(_AROUND)


def same(one: object, other: object) -> bool:
    """Whether two values are written alike in JSON: for Python also False, 0 and 0.0 are equal."""
    try:
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    except REFUSED:
        return False


def twice(line: str) -> tuple[dict[str, Any], frozenset[str]]:
    """The object in ``line``, which `scan` could read, and its own keys that stand there with different values."""
    outermost: list[tuple[str, Any]] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal outermost
        outermost = found  # the outermost object is finished last
        return dict(found)

    value, _ = json.JSONDecoder(object_pairs_hook=pairs).raw_decode(line)
    if len(value) == len(outermost):
        return value, frozenset()
    return value, frozenset(key for key, item in outermost if not same(item, value[key]))
