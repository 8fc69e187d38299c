"""What a ``role: tool`` message says when the host wrote it in place of a result.

A conversation has one tool message for each call, also where the host never saw a result: after an interrupt, a
timeout, a crash, or when compaction removed the text. A text counts only as a whole; what a tool printed is never
searched.
"""

from __future__ import annotations

import json
import re
from typing import Any

from . import summaries
from .host_texts import TEXTS, WRAPS_OUTPUT, Meaning, Reading

_HEAD = 4096  # characters: no text of the host is longer, lists of tool names apart

_RESULT = Reading(Meaning.RESULT)
_ERROR_RESULT = Reading(Meaning.RESULT, "tool_error")
_BLOCKED = Reading(Meaning.NEVER_STARTED, "blocked")
_DENIED = Reading(Meaning.NEVER_STARTED, "denied")
_INVALID = Reading(Meaning.NEVER_STARTED, "invalid_args")
_CANCELLED = Reading(Meaning.NOT_A_RESULT, "cancelled")

_OPENINGS = ("[", "{", "Error", "Skipped: ", "Tool ", "<untrusted_tool_result ")
# What the host appends to a tool message after the fact: a steer, a notice, hints about the folder.
_APPENDED = re.compile(
    r"\n\n\[(?:OUT-OF-BAND USER MESSAGE — |SYSTEM NOTICE — |Subdirectory context discovered: |Tool loop "
    r"|hermes note: )"
)
_WRAPPED = re.compile(
    r'<untrusted_tool_result source="[^"\n]{0,200}">\nThe following content was retrieved from an external source\. '
    r"[^\n]{0,600}\n\n([\s\S]*)\n</untrusted_tool_result>"
)
_DROPPED = TEXTS[[text.name for text in TEXTS].index("arguments_dropped")].pattern
_TOOL_RAISED = re.compile(r"Error executing tool '[^\n]{1,200}?': ")


def meaning(content: object, tool_name: object = "", disposition: object = None) -> Meaning:
    """What a tool message proves about its call; see ``read``."""
    return read(content, tool_name, disposition).meaning


def read(content: object, tool_name: object = "", disposition: object = None) -> Reading:
    """Read a tool message's content. ``disposition`` is the message's ``effect_disposition``, where it has one.

    Takes time linear in the length of the content, and never raises.
    """
    found = _RESULT
    if isinstance(content, str) and content.startswith(_OPENINGS):
        found = _read(content, tool_name if isinstance(tool_name, str) else "", 0)
    if found.meaning is Meaning.RESULT and isinstance(disposition, str) and disposition == "none":
        # A body that only another plugin's wording tells from a result: the host marks what was blocked. The mark on a
        # skipped call proves nothing, as Ctrl-C puts it on the call that was running, too.
        return _BLOCKED
    return found


def body(content: str) -> str:
    """A result without what the host wrapped around it or appended to it afterwards."""
    appended = _APPENDED.search(content)
    text = content[: appended.start()] if appended else content
    dropped = _DROPPED.match(text)
    if dropped and text[dropped.end() : dropped.end() + 1] == "\n":
        text = text[dropped.end() + 1 :]
    if text.startswith("<untrusted_tool_result ") and (inner := _WRAPPED.fullmatch(text)):
        return inner[1]
    return text


def _read(content: str, tool_name: str, depth: int) -> Reading:
    appended = _APPENDED.search(content, 0, _HEAD)
    text = content[: appended.start()] if appended else content
    if depth == 0 and (dropped := _DROPPED.match(text)) and text[dropped.end() : dropped.end() + 1] == "\n":
        return _read(text[dropped.end() + 1 :], tool_name, 1)
    if depth < 2 and text.startswith("<untrusted_tool_result "):
        inner = _WRAPPED.fullmatch(text) if len(text) <= 2 * _HEAD else None
        return _read(inner[1], tool_name, 2) if inner else _RESULT
    if text.startswith("{"):
        return _read_json(text) if len(text) <= _HEAD else _RESULT
    if len(text) > (_HEAD if not text.startswith("Tool '") else 16 * _HEAD):
        return _RESULT
    for known in TEXTS:
        if known.pattern.fullmatch(text):
            if known.name == "deduplicated" and tool_name.startswith(WRAPS_OUTPUT):
                return Reading(Meaning.NOT_A_RESULT)
            return Reading(known.meaning, known.word)
    if text.startswith("["):
        return summaries.read(text, tool_name) or _RESULT
    return _ERROR_RESULT if _TOOL_RAISED.match(text) else _RESULT


def _read_json(text: str) -> Reading:
    """The host's own JSON bodies for a call that it refused or gave up on."""
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        return _RESULT
    error = body.get("error") if type(body) is dict else None
    if type(error) is not str:
        return _RESULT
    keys = set(body)
    if (
        keys == {"error", "status"}
        and body["status"] == "cancelled"
        and re.match(r"Tool execution cancelled(?: by (?:user|keyboard) interrupt\Z|\. )", error)
    ):
        return _CANCELLED
    if (
        keys == {"error", "message"}
        and error == "Invalid tool arguments"
        and body["message"] == ("Tool arguments must be a valid JSON object; tool was not executed.")
    ):
        return _INVALID
    if error == "suspected_pruned_tool_arguments" and keys == {"error", "message", "argument_paths"}:
        return _BLOCKED
    if keys == {"error", "guardrail"} and type(body["guardrail"]) is dict and error.startswith("Blocked "):
        return _BLOCKED
    if keys == {"error"}:
        if error == "pre_tool_call plugin callback timed out or is still running" or re.match(
            r"pre_tool_call plugin callback [^\n]{1,300}? raised \w+: ", error
        ):
            return _BLOCKED
        if re.fullmatch(r"'[^'\n]{1,200}' is not available in this session\. Use tool_search [^\n]{1,100}", error):
            return _BLOCKED
        if error.startswith("Edit approval denied"):
            return _DENIED
    return _RESULT
