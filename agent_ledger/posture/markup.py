"""HTML and SVG from plain values: what is not markup already is escaped, so that stored text stays text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Union

from ..cli.text import safe

Child = Union["Markup", str, int, float, None, Iterable["Child"]]
Value = str | int | float | bool | None

_VOID = frozenset(("meta", "link", "br"))
_ATTRIBUTE = re.compile(r"[a-zA-Z][a-zA-Z0-9:-]*")


class Markup(str):
    """Text that is HTML already. Only `el`, `join` and `trusted` make it."""

    __slots__ = ()


def trusted(text: str) -> Markup:
    """``text`` of this package, taken as HTML as it stands. Never for anything from a ledger."""
    return Markup(text)


def escaped(value: object) -> str:
    """One line of text for content and quoted attributes: markup and characters that hide or reorder text are shown."""
    return html.escape(safe(value), quote=True)


def join(*children: Child) -> Markup:
    """The children one after the other. None is left out; lists are taken apart."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            parts.append(child)
        elif isinstance(child, str | int | float):
            parts.append(escaped(child))
        else:
            parts.append(join(*child))
    return Markup("".join(parts))


def el(tag: str, /, *children: Child, **attributes: Value) -> Markup:
    """One element. ``class_`` gives ``class``, ``aria_label`` ``aria-label``; True a bare attribute, None none."""
    opening = [tag]
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if not _ATTRIBUTE.fullmatch(attribute):
            raise ValueError(f"{attribute!r} is no attribute name")
        if value is True:
            opening.append(attribute)
        elif value is not None and value is not False:
            opening.append(f'{attribute}="{escaped(value)}"')
    start = f"<{' '.join(opening)}>"
    return Markup(start if tag in _VOID else f"{start}{join(*children)}</{tag}>")


def number(value: int | float) -> str:
    """``12,345`` or ``1.25``: grouped, at most two decimals, none that say nothing."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")
