"""Background commands and delegations: launched by a process that is gone, and whether the conversation shows their
end."""

from __future__ import annotations

import json
import re
from typing import Any

from . import history

_HANDLE = re.compile(r"\b(?:proc|deleg)_[0-9a-f]{4,32}\b")
_PROCESS_TOOLS = frozenset({"process", "process_manage"})
# What the process tool calls a process that runs no more (tools/process_registry.py of each host).
_ENDED = frozenset({"exited", "already_exited", "killed", "not_found", "completed", "failed"})
_GOES_ON = ("matched", "is still running", "output", "heartbeat")


def handle(result_digest: str) -> str:
    """The id that a launch got from the host (``proc_...``, ``deleg_...``), '' where its result shows none."""
    found = _HANDLE.search(result_digest)
    return found[0] if found else ""


def end_is_shown(name: str, told: list[history.Told], messages: object) -> bool:
    """True where the conversation shows that the launched thing ended: a process result that says so, or the host's own
    message about it (``Background process X completed``, ``ASYNC DELEGATION COMPLETE``). ``told``: the
    conversation's calls, read once for all launches."""
    if not name:
        return False
    for call in told:
        if call.tool_name in _PROCESS_TOOLS and _says_ended(name, call):
            return True
    for message in history.messages(messages):
        if message.get("role") not in ("user", "system"):
            continue
        text = history.text_of(message.get("content")) or ""
        at = text.find(name)
        if at >= 0 and not text[at + len(name) :].lstrip(" :]").startswith(_GOES_ON):
            return True
    return False


def _says_ended(name: str, call: history.Told) -> bool:
    text = history.text_of(call.result)
    if text is None:
        return False
    try:
        result = json.loads(text)
        asked = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
    except (ValueError, RecursionError):
        return False
    if not isinstance(result, dict):
        return False
    about = asked.get("session_id") if isinstance(asked, dict) else None
    if name in (about, result.get("session_id")) and _ended(result):
        return True
    listed = result.get("processes")
    return isinstance(listed, list) and any(
        isinstance(one, dict) and one.get("session_id") == name and _ended(one) for one in listed
    )


def _ended(result: dict[str, Any]) -> bool:
    return result.get("status") in _ENDED or type(result.get("exit_code")) is int
