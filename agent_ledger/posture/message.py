"""Text for people in lines of styled spans: printed plain, and cut into messages in Telegram's HTML.

HTML and not MarkdownV2: three characters have to be escaped in it, everywhere alike, where MarkdownV2 has eighteen and
other rules inside code. What others wrote stands in ``code`` spans, where no address, name or command becomes a link.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..cli.text import safe
from .telegram import LIMIT, REPEAT_NOTE

MOST_STYLED = 90  # spans of a message: from the 101st on Telegram drops the style without a word
_HEAD_ROOM = 60  # for the line that numbers the parts
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Span(NamedTuple):
    """Text in one style: '' for none, else the name of a tag: b, i or code."""

    text: str
    style: str = ""


Line = tuple[Span, ...]


def line(*pieces: str | Span) -> Line:
    """A line of these pieces, each made safe: one line, and nothing that hides or reorders text."""
    spans = (piece if isinstance(piece, Span) else Span(piece) for piece in pieces)
    return tuple(Span(safe(span.text), span.style) for span in spans if span.text)


def plain(lines: Sequence[Line]) -> list[str]:
    """The lines without style."""
    return ["".join(span.text for span in spans) for spans in lines]


def units(text: str) -> int:
    """The length of ``text`` as Telegram counts: UTF-16 code units."""
    return len(text) + sum(char > "\uffff" for char in text)


def escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def html(spans: Line) -> str:
    """One line as Telegram reads it."""
    return "".join(
        f"<{span.style}>{escaped(span.text)}</{span.style}>" if span.style else escaped(span.text) for span in spans
    )


def parts(lines: Sequence[Line], title: str) -> list[str]:
    """The lines as messages, each whole by itself and, with all that may come before it, within LIMIT. Where there are
    several, each begins with ``title`` (a few words) and its number."""
    # Counted with tags and escapes: Telegram counts without them, so it never counts more.
    room = LIMIT - units(REPEAT_NOTE) - _HEAD_ROOM - units(html(line(title)))
    found: list[str] = []
    current: list[str] = []
    used = styled = 0
    for piece in (piece for spans in lines for piece in _fitting(spans, room)):
        text = html(piece)
        here, tags = units(text) + 1, sum(1 for span in piece if span.style)
        if current and (used + here > room or styled + tags > MOST_STYLED):
            found.append("\n".join(current))
            current, used, styled = [], 0, 0
        if text or current:  # no message begins with an empty line
            current.append(text)
            used, styled = used + here, styled + tags
    if any(current):
        found.append("\n".join(current))
    if len(found) < 2:
        return found
    many = len(found)
    return [f"{html(line(title))}, part {at} of {many}\n{part}" for at, part in enumerate(found, 1)]


def shortened(text: str, most: int) -> str:
    """The beginning of ``text`` in at most ``most`` characters, with a mark where it was cut."""
    if len(text) <= most:
        return text
    kept = ""
    for cluster in clusters(text):
        if len(kept) + len(cluster) >= most:
            break
        kept += cluster
    return kept + "…"


def clusters(text: str) -> Iterator[str]:
    """What a reader sees as one character: with its accents, skin tone or variation, and both halves of a flag.
    (Joiners are format characters, which ``line`` writes as escapes.)"""
    start = 0
    for at in range(1, len(text)):
        char = text[at]
        joins = unicodedata.category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff"
        if not joins and not (_regional(char) and at == start + 1 and _regional(text[start])):
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def _regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _fitting(spans: Line, room: int) -> Iterator[Line]:
    """The line, or its pieces where it is longer than ``room`` or has too many styles."""
    if units(html(spans)) < room and len(spans) <= MOST_STYLED:
        yield spans
        return
    piece: list[Span] = []
    used = 0
    for span in spans:
        tags = units(html((Span("", span.style),)))
        for text in (small for cluster in clusters(span.text) for small in _pieces(cluster, room - tags - 1)):
            size = units(escaped(text))
            opens = not piece or piece[-1].style != span.style
            if piece and (used + size + tags * opens >= room or (opens and len(piece) >= MOST_STYLED)):
                yield tuple(piece)
                piece, used, opens = [], 0, True
            if opens:
                piece.append(Span(text, span.style))
                used += tags + size
            else:
                piece[-1] = Span(piece[-1].text + text, span.style)
                used += size
    if piece:
        yield tuple(piece)


def _pieces(cluster: str, room: int) -> Iterator[str]:
    """The cluster; its characters where somebody piled up more accents than a message holds."""
    if units(escaped(cluster)) < room:
        yield cluster
    else:
        yield from cluster
