"""What a hook's ids say about which session came out of which."""

from __future__ import annotations


def turn_session(turn_id: str, session_id: str) -> str:
    """The session under which this turn began, where that is another one than ``session_id``; else ''.

    A turn id is ``<session at the start>:<task>:<8 hex digits>`` and stays the same when compaction rotates the session
    inside the turn (contract section 1). A session id may hold colons itself.
    """
    if not turn_id or not session_id or turn_id.startswith(session_id + ":"):
        return ""
    parts = turn_id.rsplit(":", 2)
    return parts[0] if len(parts) == 3 and parts[0] and parts[0] != session_id else ""
