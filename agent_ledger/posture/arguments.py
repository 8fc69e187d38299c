"""The arguments of a row as values again, also where they were cut."""

from __future__ import annotations

import json
import re
from typing import Any

_LEFT_OUT = re.compile(r"…\[\+\d{1,15} chars\]")
_MEMBER = re.compile(r'"([A-Za-z_]\w{0,60})"\s*:\s*"((?:[^"\\]|\\.)*)(?:"|\\?\Z)')


def parsed(text: str) -> tuple[dict[str, Any], bool]:
    """(the arguments, whether they are whole). Of text that is no JSON the named strings are still found."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {name: _unescaped(value) for name, value in _MEMBER.findall(text)}, False
    if not isinstance(found, dict):
        return {}, found is None
    return found, _LEFT_OUT.search(text) is None


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")


def path_in(text: str) -> str:
    """The path of a file tool's arguments, found without reading the rest; '' where there is none."""
    for name in ('"path":', '"file_path":', '"filename":'):
        at = text.rfind(name)
        if at >= 0:
            start = text.find('"', at + len(name))
            end = text.find('"', start + 1)
            if start >= 0:
                return text[start + 1 : end if end >= 0 else len(text)]
    return ""
