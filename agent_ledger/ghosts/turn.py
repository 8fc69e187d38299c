"""What one pre_llm_call does: settle what the conversation shows, claim the ghosts, say so once."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..model import OpenRow, now_iso
from ..store import ledger, notices, sessions
from ..store.keeper import Keeper
from . import history, notice, owner, reconcile


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation that is about to be sent to the model."""

    session: str
    turn: str
    parent: str
    message: object
    history: object


class Reconciler:
    """Turns of one home. ``owners``: the folder of lock files; ``me``: this process's owner id."""

    def __init__(self, keeper: Keeper, owners: str, me: str, store_args: str) -> None:
        self._keeper = keeper
        self._owners = owners
        self._me = me
        self._store_args = store_args

    def notice(self, turn: Turn, deadline: float) -> str | None:
        """The text for this turn's user message, None where there is nothing to say."""
        if not turn.session:
            return None
        if self._keeper.spool.waiting():
            self._keeper.catch_up(deadline)
        if turn.parent and turn.parent != turn.session:
            self._link_child(turn, deadline)
        found = self._keeper.look(lambda connection: self._look(connection, turn.session), deadline)
        if found is None:
            return None
        names, rows, told = found
        if not rows and told is None:
            return None
        again = self._unread(told, turn) if told else None
        ghosts = self._judge(names, rows, turn, deadline)
        if not ghosts and again is None:
            return None
        items = self._keeper.transact(lambda connection: self._claim(connection, turn, told, again, ghosts), deadline)
        return notice.compose(items) if items else None

    def _look(
        self, connection: sqlite3.Connection, session: str
    ) -> tuple[tuple[str, ...], list[OpenRow], notices.Notice | None]:
        names = sessions.conversation(connection, session)
        return names, ledger.pending(connection, names), notices.newest(connection, names)

    def _link_child(self, turn: Turn, deadline: float) -> None:
        known = self._keeper.look(
            lambda connection: sessions.has_edge(connection, turn.session, turn.parent), deadline
        )
        if known is False:
            self._keeper.add_edge(
                turn.session, turn.parent, sessions.DELEGATION, "parent_session_id", turn.turn, deadline
            )

    def _judge(
        self, names: Sequence[str], rows: list[OpenRow], turn: Turn, deadline: float
    ) -> list[reconcile.Ghost]:
        """Settle rows by the conversation; return those of the rest that are ghosts."""
        if not rows:
            return []
        told = history.calls(turn.history)
        if told:
            shown = {history.base_id(call.call_id) for call in told}
            candidates = [row for row in rows if history.base_id(row.tool_call_id) in shown]
            if candidates:
                settled = self._keeper.transact(
                    lambda connection: self._settle(connection, names, candidates, told), deadline
                )
                done = settled or set()
                rows = [row for row in rows if row.id not in done]
        alive = {row.owner: owner.is_alive(row.owner, self._owners) for row in rows}
        return reconcile.ghosts(rows, time.time(), alive)

    def _settle(
        self, connection: sqlite3.Connection, names: Sequence[str], rows: list[OpenRow], told: list[history.Told]
    ) -> set[int]:
        found = reconcile.settle_from_history(
            rows, told, lambda row: ledger.settled_with_same_id(connection, row, names), self._store_args
        )
        return {one.row.id for one in found if ledger.settle_from_history(connection, one.row, one.outcome, now_iso())}

    def _unread(self, told: notices.Notice, turn: Turn) -> bool | None:
        """True where the notice was not read and must be given again, False where it was, None where it may still be.

        Read means that the conversation shows an answer to the turn that carried it. Where that turn is missing from the
        conversation altogether, it was lost if the process that ran it is gone.
        """
        if told.turn_id == turn.turn and told.owner == self._me:
            return None
        answered = answered_in(turn.history, told.asked, turn.message)
        if answered is None:
            gone = told.owner != self._me and owner.is_gone(told.owner, self._owners)
            return True if gone else None
        return not answered

    def _claim(
        self,
        connection: sqlite3.Connection,
        turn: Turn,
        told: notices.Notice | None,
        again: bool | None,
        ghosts: list[reconcile.Ghost],
    ) -> list[notice.Item]:
        """One transaction: whoever gets it tells, everybody else has nothing to say."""
        ts = now_iso()
        repeated: list[int] = []
        if told and again is not None and notices.finish(connection, told.id, "again" if again else "read") and again:
            repeated = told.ghosts
        won = ledger.claim(connection, [(ghost.row.id, ghost.why) for ghost in ghosts], ts)
        if won:
            notices.add(connection, ts, turn.session, turn.turn, self._me, fingerprint(turn.message), won)
        return [
            notice.Item(*row) for row in ledger.reported(connection, [*repeated, *won])
        ]


def fingerprint(message: object) -> str:
    """Length and hash of a user message, so that its turn is found again without storing its text."""
    text = history.text_of(message)
    if text is None:
        return ""
    return f"{len(text)}:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def answered_in(messages: object, asked: str, current: object) -> bool | None:
    """Whether the turn whose user message has the fingerprint ``asked`` got an answer; None where it is not shown.

    The current turn's own message may be the last one, and may have the same text; it is not the one looked for. Hosts
    may show the message with the notice behind it, so its beginning is compared.
    """
    length, _, wanted = asked.partition(":")
    if not wanted or type(messages) not in (list, tuple):
        return None
    size, found = int(length), None
    shown = [message for message in messages if type(message) is dict]  # type: ignore[union-attr]
    if shown and shown[-1].get("role") == "user" and history.text_of(shown[-1].get("content")) == history.text_of(current):
        shown = shown[:-1]
    for message in shown:
        role = message.get("role")
        if role == "user":
            text = history.text_of(message.get("content"))
            if text is not None and len(text) >= size and fingerprint(text[:size]) == asked:
                found = False
        elif role == "assistant" and found is False:
            found = True
    return found

