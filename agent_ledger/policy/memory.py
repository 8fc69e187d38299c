"""What the gate remembers of each session: what its calls did so far, and what of them was refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Any

from ..store.refusals import Memory
from . import session as sessions

MAX_DELTA = 32 * 1024  # characters of what one call leaves; what is longer is not remembered
_MOST_SESSIONS = 500
_MOST_REFUSED = 500
_MOST_TARGET = 300

Key = tuple[str, str]  # kind and target of what was refused


class Remembered:
    """One conversation. ``session`` is what the judgement works with; a refused call must leave no trace in it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.session = sessions.Session()
        self.newest = -1  # the last row that was looked at; -1: none was yet
        self.stale = True
        self._refused: dict[Key, int] = {}

    def take_in(self, memories: Iterable[Memory]) -> None:
        """What rows of other processes, or of an earlier one, left."""
        deltas: list[str] = []
        for one in memories:
            if one.refused:
                for key in _keys(one.text):
                    self._note(key, one.id)
            else:
                deltas.append(one.text)
        if deltas:
            self.session.load(deltas)

    def allowed(self) -> str:
        """Take in what the call that was judged last does; returns it as text for its row."""
        delta = self.session.delta()
        return delta if len(delta) <= MAX_DELTA else ""

    def undo(self) -> None:
        """The call that was judged last will not run."""
        self.session.forget()

    def refused(self, keys: Iterable[Key], row_id: int) -> None:
        for key in keys:
            self._note(key, row_id)

    def earlier(self, keys: Iterable[Key]) -> int:
        """The row of an earlier refusal of the same kind and target; 0 where there is none."""
        return max((self._refused.get(key, 0) for key in keys), default=0)

    def _note(self, key: Key, row_id: int) -> None:
        if len(self._refused) >= _MOST_REFUSED:
            self._refused.clear()
        self._refused[key] = row_id


class Sessions:
    """The conversations of one home in this process."""

    def __init__(self) -> None:
        self._found: dict[str, Remembered] = {}

    def of(self, session: str) -> Remembered:
        """What is remembered of a session; without an id nothing is, since nobody knows whose call it is."""
        if not session:
            nobody = Remembered()
            nobody.stale = False
            return nobody
        found = self._found.get(session)
        if found is None:
            if len(self._found) >= _MOST_SESSIONS:  # the ledger has it all
                self._found.clear()
            found = self._found.setdefault(session, Remembered())
        return found

    def begin_turn(self, session: str) -> None:
        """Other processes may have gone on with this conversation since its last turn."""
        if (found := self._found.get(session)) is not None:
            found.stale = True


def key(kind: str, target: str) -> Key:
    """What two calls that do the same to the same have in common."""
    return kind, target[:_MOST_TARGET]


def written(keys: Iterable[Key]) -> str:
    """The keys of a refusal as text for its row."""
    return json.dumps({"refused": list(keys)})


def _keys(text: str) -> list[Key]:
    try:
        listed: Any = json.loads(text)["refused"]
        return [(kind, target) for kind, target in listed if isinstance(kind, str) and isinstance(target, str)]
    except (ValueError, TypeError, KeyError, RecursionError):  # somebody wrote into the column
        return []
