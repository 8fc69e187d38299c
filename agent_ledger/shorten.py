"""Shorten plain JSON values to fit: long texts first, then long lists and dicts, keys and small values last."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .canonical import encode

_LEFT_OUT = re.compile(r"…\[\+(\d{1,15}) chars\]\Z")
_ITEMS_LEFT = re.compile(r"\[\+\d{1,15} items\]")
_KEYS_LEFT = re.compile(r"\[\+\d+ keys\]")


def left_out(text: str, size: int) -> str:
    """The first `size` characters of a longer text, and how many more there were (also before an earlier cut)."""
    earlier = _LEFT_OUT.search(text[-32:])
    whole = len(text) if not earlier else len(text) - len(earlier.group()) + int(earlier.group(1))
    return f"{text[:size]}…[+{whole - size} chars]"


def without_marks(value: Any) -> Any:
    """A shortened value without what stands in it for the rest. A cut text ends with its last whole word, since half a
    path is another path."""
    if isinstance(value, str):
        found = _LEFT_OUT.search(value[-32:])
        if found is None:
            return value
        kept = value[: -len(found.group())]
        return kept[: max(kept.rfind(" "), kept.rfind("\n"), 0)]
    if isinstance(value, dict):
        return {
            key: without_marks(one)
            for key, one in value.items()
            if key != "…" or not isinstance(one, str) or not _KEYS_LEFT.fullmatch(one)
        }
    if isinstance(value, list):
        rest = bool(value) and isinstance(value[-1], str) and _ITEMS_LEFT.fullmatch(value[-1]) is not None
        return [without_marks(one) for one in (value[:-1] if rest else value)]
    return value


def _shorten(value: Any, text: int, items: int, depth: int, key_text: int) -> Any:
    kind = type(value)
    if kind is str:
        return value if len(value) <= text else left_out(value, text)
    if kind is dict:
        if depth <= 0:
            return f"[{len(value)} keys]" if value else {}
        done: dict[str, Any] = {}
        keys = sorted(value)
        for key in keys[:items]:
            short = key if len(key) <= key_text else f"{key[:key_text]}…[+{len(key) - key_text} chars]"
            while short in done:
                short += "'"
            done[short] = _shorten(value[key], text, items, depth - 1, key_text)
        if len(keys) > items:
            done["…"] = f"[+{len(keys) - items} keys]"
        return done
    if kind is list or kind is tuple:
        if depth <= 0:
            return f"[{len(value)} items]" if value else []
        short_list = [_shorten(item, text, items, depth - 1, key_text) for item in value[:items]]
        if len(value) > items:
            short_list.append(f"[+{len(value) - items} items]")
        return short_list
    if kind is int and value.bit_length() > 200:
        digits = str(value)
        return value if len(digits) <= text else f"{digits[:text]}…[+{len(digits) - text} digits]"
    return value


_FORMS = ((60, 8, 200), (24, 6, 80), (10, 5, 60), (5, 4, 40), (3, 2, 24), (1, 1, 8))
_FLOOR = 24


def fit(value: Any, limit: int) -> str:
    """Canonical JSON of a plain value, shortened to at most `limit` characters: long texts first, then many items."""
    for items, depth, key_text in _FORMS:
        best = encode(_shorten(value, _FLOOR, items, depth, key_text))
        if len(best) > limit:
            continue
        low, low_size = _FLOOR, len(best)
        high, high_size = limit, 0
        for step in range(12):  # the longest texts that still fit, guessed from what the last guesses took
            if high - low <= 8 or limit - low_size <= 48:
                break
            if step > 4:
                middle = (low + high) // 2
            elif high_size:
                middle = low + (high - low) * (limit - low_size) // (high_size - low_size) - 4
            else:
                middle = low + limit - low_size
            middle = max(low + 1, min(middle, high - 1))
            text = encode(_shorten(value, middle, items, depth, key_text))
            if len(text) <= limit:
                best, low, low_size = text, middle, len(text)
            else:
                high, high_size = middle, len(text)
        return best
    return encode(f"[{type(value).__name__}]")


class Clip:
    """Copies the beginning of a huge plain value: its first items and the heads of its texts, within 20 levels.

    `head(text, window)` cuts one long text, and says in it how much it left out.
    """

    def __init__(self, text: int, items: int, head: Callable[[str, int], str]) -> None:
        self.text, self.items, self.head = text, items, head
        self.room = 8 * text

    def value(self, value: Any, depth: int = 0) -> Any:
        """The beginning of one value, with marks in place of what is left out."""
        kind = type(value)
        if kind is str:
            window = max(2048, min(self.text, self.room))
            self.room -= min(len(value), window)
            return value if len(value) <= window else self.head(value, window)
        if kind is dict:
            if depth > 20:
                return f"[{len(value)} keys]"
            keys = sorted(value) if len(value) <= 20_000 else list(value)[:20_000]
            done = {self.value(key): self.value(value[key], depth + 1) for key in keys[: self.items]}
            if len(value) > self.items:
                done["…"] = f"[+{len(value) - self.items} keys]"
            return done
        if kind is list or kind is tuple:
            if depth > 20:
                return f"[{len(value)} items]"
            short = [self.value(item, depth + 1) for item in value[: self.items]]
            if len(value) > self.items:
                short.append(f"[+{len(value) - self.items} items]")
            return short
        return value
