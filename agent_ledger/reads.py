"""Names of the read-only tools that a session called since its last row: they leave no row of their own."""

from __future__ import annotations

MAX_READS = 20
_MOST_SESSIONS = 2048
_MOST_NAME = 80

_names: dict[str, list[str]] = {}


def note(session: object, tool_name: str) -> None:
    """Remember that ``session`` called a read-only tool. This is all that a hook does for such a call."""
    if type(session) is not str:
        return
    names = _names.get(session)
    if names is None:
        if len(_names) >= _MOST_SESSIONS:
            _names.clear()
        names = _names.setdefault(session, [])
    elif names and names[-1] == tool_name:
        return
    if tool_name in names:
        names.remove(tool_name)
    names.append(tool_name[:_MOST_NAME])
    del names[:-MAX_READS]


def take(session: str) -> str:
    """The names since the session's last row, oldest first, separated by spaces; they count from there anew."""
    names = _names.pop(session, None)
    return " ".join(names) if names else ""
