"""Answers as JSON that every browser reads, with stored text that only shows."""

from __future__ import annotations

import json
import math
from typing import Any

from ..cli.text import safe

_DEEPEST = 20


def text(value: Any) -> str:
    """``value`` as JSON in plain ASCII. Strings are escaped as the commands print them: what would reorder or hide text
    cannot, and lone surrogates, NaN or bytes in a ledger that another program wrote do no harm."""
    return json.dumps(_shown(value, 0), ensure_ascii=True, allow_nan=False)


def _shown(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < _DEEPEST:
        if isinstance(value, dict):
            return {safe(key): _shown(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [_shown(inner, depth + 1) for inner in value]
    return safe(value)
