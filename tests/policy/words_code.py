"""Examples of dangerous code with gaps, so that an installer's scan takes no test for an attack."""

from __future__ import annotations

GAP = "\u00a6"


def plain(text: str) -> str:
    """The text without its gaps."""
    return text.replace(GAP, "")
