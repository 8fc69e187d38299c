"""What a file holds after a patch: replaced text, or the sections of a patch with ``*** Update File`` headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .model import UNKNOWN, Value

MAX_TEXT = 256 * 1024
_HEADING = re.compile(r"\*\*\* (Update|Add|Delete) File: ?(.{1,4096})")
_MOVE = re.compile(r"\*\*\* Move to: ?(.{1,4096})")


@dataclass(slots=True)
class Section:
    """What a patch does to one file. ``kind``: update, add, delete; ``lines``: its lines with their first character."""

    kind: str
    path: str
    target: str = ""
    lines: list[str] = field(default_factory=list)


def replaced(content: Value, old: str, new: str, everywhere: bool = False) -> Value:
    """The content with ``old`` made ``new``; of content that is not known, what is put in is."""
    text = content.text
    if old and old in text and len(text) <= MAX_TEXT:
        result = text.replace(old, new) if everywhere else text.replace(old, new, 1)
        return Value(result[:MAX_TEXT], content.marks)
    return Value(f"{UNKNOWN}\n{new}\n{UNKNOWN}", content.marks)


def sections(patch: str) -> Iterator[Section]:
    """The files of a patch, in order; text without a heading gives none."""
    current: Section | None = None
    for line in patch[:MAX_TEXT].splitlines():
        if line.startswith("*** "):
            if found := _HEADING.fullmatch(line):
                if current is not None:
                    yield current
                current = Section(found[1].lower(), found[2].strip())
            elif current is not None and (moved := _MOVE.fullmatch(line)):
                current.target = moved[1].strip()
            continue
        if current is not None:
            current.lines.append(line)
    if current is not None:
        yield current


def applied(section: Section, content: Value) -> Value:
    """The content of a section's file afterwards; hunks that are not found leave what they add."""
    if section.kind == "add":
        return Value("\n".join(line[1:] for line in section.lines if line.startswith("+")) + "\n")
    for old, new in _hunks(section.lines):
        content = replaced(content, old, new)
    return content


def _hunks(lines: list[str]) -> Iterator[tuple[str, str]]:
    old: list[str] = []
    new: list[str] = []
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if old or new:
                yield "\n".join(old), "\n".join(new)
            old, new = [], []
        elif line.startswith("+"):
            new.append(line[1:])
        elif line.startswith("-"):
            old.append(line[1:])
        else:
            old.append(line[1:])
            new.append(line[1:])
