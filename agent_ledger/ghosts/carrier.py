"""The turn whose user message carried a notice: found again in the conversation, and whether it was answered."""

from __future__ import annotations

import hashlib
from typing import Any

from .. import hostinfo
from ..model import Turn
from . import history, lineage

_MOST_LINES = 200
_LOST = ":lost"


def asked_by(turn: Turn) -> str:
    """What is kept of the turn that carries a notice, so that it is found again without storing its text: length and
    hash of its user message, and how many earlier messages of the conversation have the same text, since people say
    "continue" again and again. ``:lost`` stands behind it where the host is known to lose the notice."""
    return _fingerprint(turn.message, turn.history) + (_LOST if _is_lost(turn) else "")


def was_lost(asked: str) -> bool:
    """True where the host was known to lose the notice that this turn carried."""
    return asked.endswith(_LOST)


def answered_in(messages: object, asked: str, current: object) -> bool | None:
    """Whether the turn whose user message is the one that was ``asked`` got an answer; None where it is not shown.

    The current turn's own message may be the last one, and may have the same text; it is not the one looked for.
    """
    if was_lost(asked):
        return False
    parts = asked.split(":")
    if len(parts) != 3:
        return None
    size, wanted, earlier = int(parts[0]), parts[1], int(parts[2])
    found: bool | None = None
    for message in _before(messages, current):
        if _holds(message, size, wanted):
            earlier -= 1
            if earlier < 0:
                found = False
        elif message.get("role") == "assistant" and found is False:
            found = True
    return found


def _fingerprint(message: object, messages: object) -> str:
    text = history.text_of(message)
    if not text:
        return ""
    size, digest = len(text), _hash(text)
    earlier = sum(_holds(shown, size, digest) for shown in _before(messages, message))
    return f"{size}:{digest}:{earlier}"


def _is_lost(turn: Turn) -> bool:
    """True where the host is known to lose a notice on its way into this turn's message: it will merge that message
    into an unanswered one, or has compacted (and so rotated) since the turn began."""
    if hostinfo.loses_notice_after_compaction() and lineage.turn_session(turn.turn, turn.session):
        return True
    if not hostinfo.loses_notice_on_merge():
        return False
    before = _before(turn.history, turn.message)
    return bool(before) and before[-1].get("role") == "user"


def _before(messages: object, current: object) -> list[dict[str, Any]]:
    """The conversation without the message of the turn that is beginning, where it is in it already."""
    shown = list(history.messages(messages))
    if shown and shown[-1].get("role") == "user":
        text, now = history.text_of(shown[-1].get("content")), history.text_of(current)
        if text is not None and now is not None and text.endswith(now):
            before = text[: len(text) - len(now)].rstrip()
            return [*shown[:-1], {"role": "user", "content": before}] if before else shown[:-1]
    return shown


def _holds(message: dict[str, Any], size: int, wanted: str) -> bool:
    """True where a user message is, or has in it as its own lines, the text with this length and hash. Hosts put a
    notice behind it, and merge a message into an unanswered one before it."""
    if message.get("role") != "user":
        return False
    text = history.text_of(message.get("content"))
    if text is None:
        return False
    at, tries = 0, 0
    while tries < _MOST_LINES and at + size <= len(text):
        if _hash(text[at : at + size]) == wanted:
            return True
        at = text.find("\n", at) + 1
        tries += 1
        if at == 0:
            break
    return False


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
