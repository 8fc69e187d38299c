"""Which session came out of which: what a hook's ids say, and what the host's own session store says."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable

_MOST_STEPS = 200
_MOST_OTHERS = 20
_STORE_WAIT_S = 0.02
# A continuation begins when its parent ends; clocks are read one after the other.
_SLACK_S = 1.0


def turn_session(turn_id: str, session_id: str) -> str:
    """The session under which this turn began, where that is another one than ``session_id``; else ''.

    A turn id is ``<session at the start>:<task>:<8 hex digits>`` and stays the same when compaction rotates the session
    inside the turn. A session id may hold colons itself.
    """
    if not turn_id or not session_id or turn_id.startswith(session_id + ":"):
        return ""
    parts = turn_id.rsplit(":", 2)
    return parts[0] if len(parts) == 3 and parts[0] and parts[0] != session_id else ""


class HostStore:
    """The host's session store, ``<home>/state.db``, read-only. It alone knows of rotations between two turns."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "state.db")
        # session -> its parent by compression, '' for none; what is there never changes
        self._known: dict[str, str] = {}

    def knows(self, session_id: str) -> bool:
        """True where this session's origin was already looked up and found."""
        return session_id in self._known

    def delegated_by(self, session_id: str) -> str:
        """The session that delegated to this one, '' where the store does not say. Hosts before 0.20 tell no hook."""
        if not os.path.isfile(self._path):
            return ""
        try:
            with contextlib.ExitStack() as stack:
                row = (
                    _Lazily(self._path, stack)
                    .connection()
                    .execute(
                        "SELECT parent_session_id FROM sessions WHERE id = ? AND source = 'subagent'", (session_id,)
                    )
                    .fetchone()
                )
        except sqlite3.Error:
            return ""
        return row[0] if row and isinstance(row[0], str) else ""

    def continuations(self, session_id: str, others: Iterable[str]) -> list[tuple[str, str]]:
        """Edges (session, parent) by which ``session_id`` continues others, or ``others`` continue it.

        Empty where the store is missing, locked or of another form; then the next turn asks again.
        """
        if not os.path.isfile(self._path):
            return []
        try:
            with contextlib.ExitStack() as stack:
                store = _Lazily(self._path, stack)
                edges = self._ancestors(store, session_id)
                for other in list(others)[:_MOST_OTHERS]:
                    above = self._ancestors(store, other)
                    if any(parent == session_id for _, parent in above):
                        edges += above
                return edges
        except sqlite3.Error:
            return []

    def _ancestors(self, store: _Lazily, session_id: str) -> list[tuple[str, str]]:
        edges: list[tuple[str, str]] = []
        seen = {session_id}
        while len(edges) < _MOST_STEPS:
            parent = self._parent(store, session_id)
            if not parent or parent in seen:
                break
            edges.append((session_id, parent))
            seen.add(parent)
            session_id = parent
        return edges

    def _parent(self, store: _Lazily, session_id: str) -> str:
        """The session that compaction ended and this one continues. A delegated child has a parent too, but it began
        while the parent went on; a branch is a sibling."""
        if session_id in self._known:
            return self._known[session_id]
        row = (
            store.connection()
            .execute(
                "SELECT child.source, child.started_at, parent.id, parent.ended_at, parent.end_reason"
                " FROM sessions AS child"
                " LEFT JOIN sessions AS parent ON parent.id = child.parent_session_id WHERE child.id = ?",
                (session_id,),
            )
            .fetchone()
        )
        if row is None:
            return ""
        source, started, parent, ended, reason = row
        continues = (
            reason == "compression"
            and source != "subagent"
            and isinstance(parent, str)
            and isinstance(started, (int, float))
            and isinstance(ended, (int, float))
            and started >= ended - _SLACK_S
        )
        if len(self._known) > 5000:
            self._known.clear()
        self._known[session_id] = parent if continues else ""
        return self._known[session_id]


class _Lazily:
    """The store's connection, opened when something has to be asked that is not known yet; closed by ``stack``."""

    def __init__(self, path: str, stack: contextlib.ExitStack) -> None:
        self._path = path
        self._stack = stack
        self._opened: sqlite3.Connection | None = None

    def connection(self) -> sqlite3.Connection:
        if self._opened is None:
            from ..store import readonly  # most hooks follow their session by its ids alone

            opened = readonly.connect(self._path, _STORE_WAIT_S)
            self._opened = self._stack.enter_context(contextlib.closing(opened))
        return self._opened
