"""The second source: which calls of a conversation have their results in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_MOST_MESSAGES = 20_000
# Current hosts take the old names from a model, and call hooks with the new ones.
_NEW_NAMES = {
    "cronjob": "cronjob_manage",
    "process": "process_manage",
    "todo": "todo_list",
    "tour": "gui_tour",
    "tip": "show_tip",
}


@dataclass(frozen=True, slots=True)
class Told:
    """A call as the conversation shows it. ``tool_name`` is '' where only an answer without a name is left.
    ``arguments`` as the model wrote them, ``result`` None where there is none, ``disposition`` what current hosts note
    beside a result (``effect_disposition``)."""

    call_id: str
    tool_name: str
    arguments: object
    result: object | None
    disposition: object = None


def calls(history: object) -> list[Told]:
    """Every tool call of ``conversation_history``, in order, each with the tool message that answers it.

    Ids repeat in a conversation, so an answer belongs to a call of the last assistant message before it, and to no
    earlier call with that id. Messages of any shape are accepted; what is no call is passed over.
    """
    found: list[list[Any]] = []
    unanswered: dict[str, list[int]] = {}
    for message in messages(history):
        role = message.get("role")
        if role == "assistant":
            unanswered.clear()
            for call_id, name, arguments in _asked(message.get("tool_calls")):
                unanswered.setdefault(base_id(call_id), []).append(len(found))
                found.append([call_id, name, arguments, None, None])
        elif role == "tool":
            answered, content = message.get("tool_call_id"), message.get("content")
            if not isinstance(answered, str) or not answered:
                continue
            answer = [content if content is not None else "", message.get("effect_disposition")]
            waiting = unanswered.get(base_id(answered))
            tool = next((message[key] for key in ("name", "tool_name") if isinstance(message.get(key), str)), "")
            if waiting:
                entry = found[waiting.pop(0)]
                entry[3:] = answer
                if tool and _NEW_NAMES.get(entry[1]) == tool:
                    entry[1] = tool
            else:
                # Compaction may cut the question off and leave the answer, which need not name its tool.
                found.append([answered, tool, None, *answer])
    return [Told(*fields) for fields in found]


def base_id(call_id: str) -> str:
    """The part of a composite id that survives everywhere: ``call_9`` of ``call_9|fc_9``."""
    return call_id.partition("|")[0]


def text_of(content: object) -> str | None:
    """A tool message's content as text: as it is, or the text parts of a multimodal list. None where there is none."""
    if isinstance(content, str):
        return content
    if type(content) is list:
        parts = [part.get("text") for part in content if type(part) is dict]
        texts = [part for part in parts if isinstance(part, str)]
        return "\n".join(texts) if texts else None
    return None


def messages(history: object) -> Iterator[dict[str, Any]]:
    """The messages of a conversation that are well-formed, oldest first; a very long one is read from its end."""
    if isinstance(history, list | tuple):
        for message in history[-_MOST_MESSAGES:]:
            if type(message) is dict:
                yield message


def _asked(tool_calls: object) -> Iterator[tuple[str, str, object]]:
    if type(tool_calls) is not list:
        return
    for asked in tool_calls:
        if type(asked) is not dict:
            continue
        call_id, function = asked.get("id"), asked.get("function")
        if not isinstance(call_id, str) or not call_id or type(function) is not dict:
            continue
        name = function.get("name")
        if isinstance(name, str):
            yield call_id, *_unwrapped(name, function.get("arguments"))


def _unwrapped(name: str, arguments: object) -> tuple[str, object]:
    """The real tool and arguments of a call that went through the bridge for deferred tools: hooks see those alone."""
    if name != "tool_call":
        return name, arguments
    inner = arguments
    if isinstance(inner, str):
        try:
            inner = json.loads(inner)
        except (ValueError, RecursionError):
            return name, arguments
    if type(inner) is dict:
        calls = inner.get("calls")
        if type(calls) is list and len(calls) == 1 and type(calls[0]) is dict:
            inner = calls[0]
        real = inner.get("name")
        if isinstance(real, str) and real:
            return real, inner.get("arguments", {})
    return name, arguments
