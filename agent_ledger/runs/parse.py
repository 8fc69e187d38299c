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


# Objects come as tuples of their pairs: a dict would hide a key that stands there twice.
_decoder: Any = json.JSONDecoder(object_pairs_hook=tuple, parse_constant=_no_constant)
# What json.loads comes to after it has looked at the type and the encoding of its argument. Raises StopIteration where
# no value begins.
scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once


def whole(line: str, end: int) -> bool:
    """Whether nothing but blanks follows the value that ended at ``end``."""
    return end == len(line) or not line[end:].strip(_AROUND)


def plain(value: Any) -> Any:
    """``value``, in which objects are tuples of pairs, with dicts for them. Raises RecursionError for a deep one."""
    if type(value) is tuple:
        return {key: plain(item) for key, item in value}
    return [plain(item) for item in value] if type(value) is list else value


def same(one: object, other: object) -> bool:
    """Whether two values are written alike in JSON: for Python also False, 0 and 0.0 are equal."""
    try:
        return json.dumps(plain(one), sort_keys=True) == json.dumps(plain(other), sort_keys=True)
    except REFUSED:
        return False


def twice(pairs: tuple[tuple[str, Any], ...], found: dict[str, Any]) -> frozenset[str]:
    """The keys that stand in ``pairs`` with different values; ``found`` is the dict of them."""
    return frozenset(key for key, item in pairs if item is not found[key] and not same(item, found[key]))
