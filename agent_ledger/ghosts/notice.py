"""The text that the next user message carries: facts about calls that nobody confirmed, one piece of advice."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .. import redact, tools

MAX_CHARS = 2000
MAX_CALLS = 10
_MAX_IDENTIFIER = 60
_SAFE = re.compile(r"[A-Za-z0-9_./:@-]{1,60}")
_SAFE_NAME = re.compile(r"[A-Za-z0-9_./:@-]{1,64}")


@dataclass(frozen=True, slots=True)
class Item:
    """One call in the notice. ``nested``: how many calls ran inside it."""

    id: int
    ts: str
    tool_name: str
    args_json: str
    args_sha256: str
    why: str
    nested: int = 0


def compose(ghosts: Sequence[Item]) -> str:
    """The notice for unconfirmed calls: at most 2000 characters, the same bytes for the same facts.

    It speaks inside the user's message, so nothing that a model or a tool wrote may speak through it: a call is named by
    row id, tool and one typed identifier of safe characters; everything else is this module's own words.
    """
    lines = [_line(item) for item in ghosts[:MAX_CALLS]]
    while True:
        text = _text(lines, len(ghosts), ghosts[0].id)
        if len(text) <= MAX_CHARS or len(lines) == 1:
            return text[:MAX_CHARS]
        lines.pop()


def _text(lines: list[str], total: int, first: int) -> str:
    calls = "1 call" if total == 1 else f"{total} calls"
    was = "was" if total == 1 else "were"
    parts = [
        "[agent-ledger] Note from the agent-ledger plugin of this Hermes, added to this message automatically; the user"
        f" did not write it. {calls} of this conversation {was} issued and never confirmed. Whether the effect happened"
        " is unknown. Check before relying on it or issuing it again:",
        *lines,
    ]
    if total > len(lines):
        parts.append(f"- and {total - len(lines)} more, not listed here.")
    parts.append(f"The user can see the record with: hermes ledger show {first}")
    return "\n".join(parts)


def _line(item: Item) -> str:
    issued = item.ts[:19].replace("T", " ") + " UTC"
    inside = ""
    if item.nested:
        inside = f" {item.nested} call{'' if item.nested == 1 else 's'} inside it {'is' if item.nested == 1 else 'are'} open too."
    return (
        f"- #{item.id} {_name(item.tool_name)} {identifier(item.tool_name, item.args_json, item.args_sha256)}, issued"
        f" {issued}: {item.why}.{inside} To check: {tools.read_check(item.tool_name)}."
    )


def identifier(tool_name: str, args_json: str, args_sha256: str) -> str:
    """The one typed identifier of a call, or a short hash of its arguments where that is not made of safe characters."""
    try:
        found = tools.identifier(tool_name, json.loads(args_json))
    except (ValueError, RecursionError):
        found = ""
    if found and _SAFE.fullmatch(found) and redact.redact_text(found) == found:
        return found
    return f"args:{args_sha256[:8]}" if args_sha256 else "args:none"


def _name(tool_name: str) -> str:
    if _SAFE_NAME.fullmatch(tool_name) and redact.redact_text(tool_name) == tool_name:
        return tool_name
    return "(tool with an unusual name)"
