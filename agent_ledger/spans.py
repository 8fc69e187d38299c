"""Spans, moments and sizes as people write them: ``90d``, ``2026-11-01``, ``500MB``."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from .errors import UsageError

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SIZES = {"": 1, "b": 1, "k": 1000, "kb": 1000, "m": 10**6, "mb": 10**6, "g": 10**9, "gb": 10**9,
          "kib": 1024, "mib": 1024**2, "gib": 1024**3}  # fmt: skip


_SPAN = re.compile(r"\s*(\d{1,9})\s*([smhdw])\s*", re.ASCII)
_LONGEST_S = 1000 * 366 * 86400
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()


def seconds(text: str) -> int:
    """A span such as ``45s``, ``30m``, ``12h``, ``90d``, ``2w`` in seconds. Raises UsageError."""
    found = _SPAN.fullmatch(text.lower())
    if not found:
        raise UsageError(f"{text!r} is no span of time. Write a number and s, m, h, d or w, such as 90d")
    span = int(found[1]) * _UNITS_S[found[2]]
    if span > _LONGEST_S:
        raise UsageError(f"{text!r} is longer than a thousand years. Write a shorter span, such as 90d")
    return span


def is_span(text: str) -> bool:
    """True for a span of at least a day."""
    try:
        return seconds(text) >= _UNITS_S["d"]
    except UsageError:
        return False


def moment(text: str, now: float) -> float:
    """Seconds since the epoch of a date, a time (UTC where it names no zone), or a span before ``now``. Raises
    UsageError."""
    if _SPAN.fullmatch(text.lower()):
        return now - seconds(text)
    try:
        found = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        raise UsageError(
            f"{text!r} is no moment. Write a date such as 2026-11-01, a time such as 2026-11-01T12:00Z, or a span such"
            " as 7d"
        ) from None
    moment = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    if not _EARLIEST <= moment <= _LATEST:
        raise UsageError(f"{text!r} is outside of the years 1 to 9999. Write a date such as 2026-11-01")
    return moment


def size(text: str) -> int:
    """A size such as ``500MB`` or ``1GiB`` in bytes. Raises UsageError."""
    found = re.fullmatch(r"\s*(\d{1,12})(?:\.(\d{1,3}))?\s*([kmg]?i?b?)\s*", text.lower(), re.ASCII)
    if not found or found[3] not in _SIZES:
        raise UsageError(f"{text!r} is no size. Write a number and KB, MB or GB, such as 500MB")
    return int(float(f"{found[1]}.{found[2] or 0}") * _SIZES[found[3]])
