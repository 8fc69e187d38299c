"""The commands that a prompt orders an agent to run; talk about commands is none."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_TEXT = 64 * 1024

_QUOTED = re.compile(r"`([^`\n]{1,2000})`")
_FENCED = re.compile(r"```(?:sh|bash|shell|console)?[ \t]*\n([^`]{1,8000})```")
# An order at the start of a sentence or behind a joining word, with what stands between it and the command.
_ORDER = re.compile(
    r"(?:^|[.;:!?,\n]\s*|\b(?:and|then|please|first|to|always|must|should|will)\s+)"
    r"(?:run|execute|exec|invoke|call|do|launch|use)\b",
    re.IGNORECASE,
)
# The same right in front of the command, wherever it stands in the sentence.
_DIRECT = re.compile(
    r"\b(?:run|execute|exec)(?:\s+(?:the|this|following|shell|command)\b){0,4}\s*:?\s*$", re.IGNORECASE
)
_NOT = re.compile(
    r"\b(?:never|not|don't|dont|won't|avoid|without|dangerous|remind|refuse|warn|explain|why|instead of|bad|mistake|"
    r"what happens|if (?:you|someone|anyone|somebody)|who|did|ran|says?|said|mentions?|contains?|search|look|find)\b",
    re.IGNORECASE,
)
_TALKED_ABOUT = re.compile(r"\s*(?:is|are|was|were|would|could|can|means|destroys|deletes)\b", re.IGNORECASE)
_RUN_LINE = re.compile(
    r"(?:^|[.!?\n]\s*)(?:please\s+)?(?:run|execute|exec)(?:\s+(?:the\s+)?(?:command|shell command))?\s*:?\s+"
    r"([^\n`]{2,2000})",
    re.IGNORECASE,
)
# In the middle of a sentence only what looks like a command: a word, and an option or a path behind it.
_RUN_INSIDE = re.compile(
    r"\b(?:run|execute)\s+(?:the\s+)?(?:shell\s+)?(?:command\s+)?((?:[a-z][\w.-]{0,30}\s+){1,2}[-/~$][^\n`]{0,2000})"
)
_PROSE = frozenset(
    "the a an this that it all my our your tests test some any each every daily weekly once when if only in on".split()
)


def commands_of(prompt: str) -> Iterator[str]:
    """The commands that a prompt orders to run: quoted ones behind an order, or all behind ``Execute:``."""
    prompt = prompt[:MAX_TEXT]
    for found in _FENCED.finditer(prompt):
        if _ordered(prompt[max(0, found.start() - 200) : found.start()]):
            yield found[1]
    for found in _QUOTED.finditer(prompt):
        start = max(prompt.rfind(". ", 0, found.start()), prompt.rfind("\n", 0, found.start()), found.start() - 200, 0)
        if _ordered(prompt[start : found.start()]) and not _TALKED_ABOUT.match(prompt, found.end()):
            yield found[1]
    seen = set()
    for found in _RUN_LINE.finditer(prompt):
        line = _line(found[1])
        if line:
            seen.add(found.start(1))
            yield line
    for found in _RUN_INSIDE.finditer(prompt):
        before = prompt[max(0, found.start() - 80) : found.start()]
        if found.start(1) not in seen and not _NOT.search(before) and (line := _line(found[1])):
            yield line


def _ordered(before: str) -> bool:
    return bool(_ORDER.search(before) or _DIRECT.search(before)) and not _NOT.search(before)


def _line(text: str) -> str:
    """A command without the quotes and the full stop of its sentence; '' where it is prose."""
    line = text.strip().strip("'\"")
    first = line.split(None, 1)[0] if line else ""
    if not re.fullmatch(r"[a-z0-9_./~-]+|[A-Z_]+=\S*", first) or first in _PROSE:
        return ""
    ends = line.endswith(".") and not line.endswith((" .", ".."))
    return line[:-1] if ends else line
