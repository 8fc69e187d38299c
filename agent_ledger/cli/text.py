"""Stored text made safe for a terminal, and times, ages and sizes made readable."""

from __future__ import annotations

import unicodedata
from datetime import datetime

from ..model import parse_iso

# Control, format (bidi marks, zero-width, tags), surrogate, private use, unassigned, line and paragraph separators.
_UNSAFE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def safe(value: object) -> str:
    """``value`` as one line that a terminal shows and never obeys: what could move the cursor, change colours, reorder
    or hide text is written as an escape (``\\x1b``). What a model or a tool stored is not to be trusted."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(char) if unicodedata.category(char) in _UNSAFE else char for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if known:
        return known
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` columns, with a mark where it was cut."""
    if columns(text) <= width:
        return text
    kept, used = [], 1
    for char in text:
        used += columns(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept) + "…"


def columns(text: str) -> int:
    """How many terminal columns ``text`` takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def age(seconds: float | None) -> str:
    """A span in one unit: ``3 s``, ``5 min``, ``2 h``, ``9 d``."""
    if seconds is None:
        return "?"
    span = abs(seconds)
    for limit, unit, size in ((100, "s", 1), (6000, "min", 60), (172_800, "h", 3600)):
        if span < limit:
            return f"{int(span // size)} {unit}"
    return f"{int(span // 86_400)} d"


def ago(stamp: str | None, now: float) -> str:
    """``3 min ago``, ``in 2 h`` where a clock was set back, '' where there is no time."""
    moment = parse_iso(stamp) if stamp else None
    if moment is None:
        return ""
    return f"in {age(moment - now)}" if moment > now + 1 else f"{age(now - moment)} ago"


def local(stamp: str | None) -> str:
    """A ledger time in local time for people; as it stands where it is none."""
    if not stamp:
        return ""
    moment = parse_iso(stamp)
    if moment is None:
        return safe(stamp)
    try:
        return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return safe(stamp)


def when(stamp: str | None, now: float) -> str:
    """Local time and age: ``2026-11-30 18:20:01 (3 min ago)``."""
    if not stamp:
        return "never"
    relative = ago(stamp, now)
    return f"{local(stamp)} ({relative})" if relative else local(stamp)


def duration(milliseconds: object) -> str:
    """``1.2 s`` or ``340 ms``, '' where the host measured none."""
    if type(milliseconds) is not int:
        return ""
    return f"{milliseconds} ms" if abs(milliseconds) < 1000 else f"{milliseconds / 1000:.1f} s"


def size(count: int) -> str:
    """Bytes for people, in powers of 1024."""
    number = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024 or unit == "GiB":
            break
        number /= 1024
    return f"{count} bytes" if unit == "bytes" else f"{number:.1f} {unit}"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
