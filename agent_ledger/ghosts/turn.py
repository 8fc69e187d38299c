"""What one pre_llm_call does: settle what the conversation shows, claim what is to be told, say it once."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..model import FORK, GHOST_REPORTED, READ, UNKNOWN, OpenRow, Turn, now_iso
from ..store import ledger, news, notices, recalls, sessions, turns
from ..store.keeper import Keeper
from . import carrier, evidence, history, launched, lineage, owner, recall, reconcile, telling
from .notice import MAX_CALLS, Content, compose

_MOST_PROBED = MAX_CALLS
_MOST_SESSIONS = 500
END_UNSEEN = "end_unseen"
_UNTOLD = frozenset({FORK, READ})  # marks of calls that no conversation is told of
_CHILD = "subagent"  # the platform of a delegated session


@dataclass(slots=True)
class _Seen:
    """What the ledger holds for a conversation at the beginning of a turn."""

    names: tuple[str, ...]
    pending: list[OpenRow]
    told: notices.Notice | None
    untold: list[int]
    launched: list[turns.Launched]
    elsewhere: list[str]
    has_rows: bool


@dataclass(slots=True)
class _Plan:
    """What this turn wants to tell; one transaction then claims what nobody else has told."""

    ghosts: list[tuple[int, str, str]] = field(default_factory=list)
    told: notices.Notice | None = None
    again: bool | None = None
    untold: list[int] = field(default_factory=list)
    ends: list[tuple[turns.Launched, str]] = field(default_factory=list)
    mark: recalls.Mark | None = None
    gone: list[int] = field(default_factory=list)
    next_mark: recalls.Mark | None = None

    def __bool__(self) -> bool:
        return bool(self.ghosts or self.again is not None or self.untold or self.ends or self.next_mark)


class Reconciler:
    """Turns of one home. ``owners``: the folder of lock files; ``me``: this process's owner id; ``key``: the probe
    key."""

    def __init__(self, keeper: Keeper, home: str, owners: str, me: str, key: bytes | None, store_args: str) -> None:
        self._keeper = keeper
        self._home = home
        self._owners = owners
        self._me = me
        self._key = key
        self._store_args = store_args
        self._host = lineage.HostStore(home)
        self._parents: dict[str, str] = {}  # delegated session -> who delegated, as the host's store says
        self._visible: dict[str, frozenset[int]] = {}  # session -> confirmed calls that its last turn showed

    def notice(self, turn: Turn, deadline: float, policy: str = "") -> tuple[str | None, tuple[str, ...]]:
        """(the text for this turn's user message or None, the session ids of its conversation). ``policy``: what is to
        be said of a policy that has problems."""
        content, names = self._content(turn, deadline)
        if policy:
            content = content or Content()
            content.policy = policy
        return (compose(content) if content else None), names

    def _content(self, turn: Turn, deadline: float) -> tuple[Content | None, tuple[str, ...]]:
        if not turn.session:
            return None, ()
        if self._keeper.spool.waiting():
            self._keeper.catch_up(deadline)
        seen = self._look(turn, deadline)
        if seen is None:
            return None, ()
        plan = self._plan(turn, seen, deadline)
        if not plan:
            return None, seen.names
        names = seen.names
        content = self._keeper.transact(lambda connection: self._claim(connection, turn, names, plan), deadline)
        return content, names

    # --- looking

    def _look(self, turn: Turn, deadline: float) -> _Seen | None:
        parent = turn.parent or (self._parent_of_child(turn.session) if turn.platform == _CHILD else "")
        if parent and parent != turn.session:
            self._link_child(turn, parent, deadline)
        seen = self._keeper.look(lambda connection: _read(connection, turn.session), deadline)
        if seen is None:
            return seen
        if not seen.elsewhere and (self._host.knows(turn.session) or not turn.has_history):
            return seen
        # Rows elsewhere may be this conversation under an id that rotated between two turns; or this id is new, and a
        # compaction made it. Only the host's own session store knows.
        edges = self._host.continuations(turn.session, seen.elsewhere)
        if not edges:
            return seen
        for child, parent in edges:
            if child in seen.names and parent in seen.names:
                continue
            self._keeper.add_edge(child, parent, sessions.ROTATION, "host", "", deadline)
        return self._keeper.look(lambda connection: _read(connection, turn.session), deadline)

    def _link_child(self, turn: Turn, parent: str, deadline: float) -> None:
        known = self._keeper.look(lambda connection: sessions.has_edge(connection, turn.session, parent), deadline)
        if known is False:
            evidence_of_it = "parent_session_id" if turn.parent else "host"
            self._keeper.add_edge(turn.session, parent, sessions.DELEGATION, evidence_of_it, turn.turn, deadline)

    def _parent_of_child(self, session: str) -> str:
        """Who delegated to this session, asked once: a session's origin does not change."""
        if session not in self._parents:
            if len(self._parents) >= _MOST_SESSIONS:
                self._parents.clear()
            self._parents[session] = self._host.delegated_by(session)
        return self._parents[session]

    # --- judging

    def _plan(self, turn: Turn, seen: _Seen, deadline: float) -> _Plan:
        plan = _Plan(told=seen.told, untold=seen.untold)
        told = history.calls(turn.history) if turn.has_history else []
        if seen.told is not None:
            plan.again = self._unread(seen.told, turn)
            if plan.again:
                self._settle_told(seen, told, deadline)
        if seen.pending:
            plan.ghosts = self._ghosts(seen, told, deadline)
        plan.ends = self._ends(seen.launched, told, turn)
        if turn.has_history:
            self._recall(plan, turn, seen, told, deadline)
        return plan

    def _ghosts(self, seen: _Seen, told: list[history.Told], deadline: float) -> list[tuple[int, str, str]]:
        """Settle rows by the conversation; (id, why, effect) of those of the rest that are ghosts."""
        done = self._settle(seen.names, seen.pending, told, deadline)
        rows = [row for row in seen.pending if row.id not in done]
        alive = {name: owner.is_alive(name, self._owners) for name in {row.owner for row in rows}}
        found = reconcile.ghosts(rows, time.time(), alive)
        if not found:
            return []
        ids = [ghost.row.id for ghost in found[:_MOST_PROBED]]
        subjects = self._keeper.look(lambda connection: turns.subjects(connection, ids), deadline) or []
        findings = evidence.look([evidence.Subject(*subject) for subject in subjects], self._home, self._key)
        judged = []
        for ghost in found:
            finding = findings.get(ghost.row.id)
            why = f"{ghost.why}; {finding.saw}" if finding else ghost.why
            judged.append((ghost.row.id, why, finding.effect if finding else UNKNOWN))
        return judged

    def _settle_told(self, seen: _Seen, told: list[history.Told], deadline: float) -> None:
        """Before ghosts are told once more: the conversation may show by now what came of them."""
        ids = seen.told.told.ghosts if seen.told else []
        rows = self._keeper.look(lambda connection: [ledger.open_row(connection, row_id) for row_id in ids], deadline)
        ghosts = [row for row in rows or () if row is not None and row.status == GHOST_REPORTED]
        self._settle(seen.names, ghosts, told, deadline)

    def _settle(self, names: Sequence[str], rows: list[OpenRow], told: list[history.Told], deadline: float) -> set[int]:
        """Settle rows whose results the conversation shows; returns their ids."""
        shown = {history.base_id(call.call_id) for call in told}
        candidates = [row for row in rows if row.tool_call_id and history.base_id(row.tool_call_id) in shown]
        if not candidates:
            return set()
        # Hashing what the model wrote takes its time: not while other processes wait for the write lock.
        hashes = reconcile.hashes(told, candidates, self._store_args)

        def settle(connection: sqlite3.Connection) -> set[int]:
            found = reconcile.settle_from_history(
                candidates,
                told,
                hashes,
                explained=lambda row: turns.settled_with_same_id(connection, row, names),
                alone=lambda row: turns.is_alone(connection, row, names),
            )
            ts = now_iso()
            return {one.row.id for one in found if turns.settle_from_history(connection, one.row, one.outcome, ts)}

        return self._keeper.transact(settle, deadline) or set()

    def _unread(self, told: notices.Notice, turn: Turn) -> bool | None:
        """True where the notice was not read and must be given again, False where it was, None where it may still be.

        Read means that the conversation shows an answer to the turn that carried it. Where that turn is missing from
        the conversation altogether, it was lost if the process that ran it is gone.
        """
        answered = carrier.answered_in(turn.history, told.asked, turn.message)
        if answered is None:
            return True if told.owner != self._me and owner.is_gone(told.owner, self._owners) else None
        return not answered

    def _ends(
        self, rows: list[turns.Launched], told: list[history.Told], turn: Turn
    ) -> list[tuple[turns.Launched, str]]:
        """Launches to mark: their end is shown, or their process is gone and no end is shown."""
        marks = []
        for row in rows:
            if launched.end_is_shown(launched.handle(row.result_digest), told, turn.history):
                marks.append((row, "end_seen"))
            elif owner.is_gone(row.owner, self._owners):
                marks.append((row, END_UNSEEN))
        return marks

    def _recall(self, plan: _Plan, turn: Turn, seen: _Seen, told: list[history.Told], deadline: float) -> None:
        if not seen.has_rows:
            return
        found = self._keeper.look(lambda connection: _done(connection, seen.names), deadline)
        if found is None:
            return
        mark, rows = found
        ours = [row for row in rows if not _UNTOLD & set(row.flags.split())]
        gone, visible = recall.split(ours, told, lambda arguments: reconcile.hash_of(arguments, self._store_args))
        seen_before = self._visible.get(turn.session, frozenset())
        if gone:
            ghosts = {row_id for row_id, _, _ in plan.ghosts}
            gone = recall.lost(
                gone,
                visible,
                compacted=recall.was_compacted(turn.history),
                current_session=turn.session,
                seen_before=seen_before,
                ghost_turns={row.turn_id for row in seen.pending if row.id in ghosts},
            )
        self._remember_visible(turn.session, visible)
        if gone:
            plan.mark, plan.next_mark = mark, recall.next_mark(mark, gone, visible)
            ends = {row.id for row, _ in plan.ends}
            plan.gone = [row.id for row in gone if row.id not in ends]

    def _remember_visible(self, session: str, visible: Sequence[recalls.Done]) -> None:
        if len(self._visible) >= _MOST_SESSIONS:
            self._visible.clear()
        self._visible[session] = frozenset(row.id for row in visible if row.tool_call_id)

    # --- telling

    def _claim(self, connection: sqlite3.Connection, turn: Turn, names: Sequence[str], plan: _Plan) -> Content | None:
        """One transaction: whoever gets it tells, everybody else has nothing to say."""
        ts = now_iso()
        before = notices.Told()
        if plan.told and plan.again is not None and notices.finish(connection, plan.told.id, plan.again) and plan.again:
            before = plan.told.told
        recalled: list[int] = []
        if plan.next_mark is not None and recalls.mark(connection, names) == plan.mark:
            recalls.move(connection, turn.session, plan.next_mark, ts)
            recalled = plan.gone
        now = notices.Told(
            ghosts=turns.claim(connection, plan.ghosts, ts),
            launched=[
                row.id
                for row, mark in plan.ends
                if turns.mark_launched(connection, row.id, mark) and mark == END_UNSEEN
            ],
            news=news.take(connection, plan.untold, ts),
            recalled=recalled[-MAX_CALLS:],
            recalled_in_all=len(recalled),
        )
        # What the host lost on its way was never given: telling it now is its first time.
        given = telling.joined(before, now) if plan.told and carrier.was_lost(plan.told.asked) else now
        if given.ghosts or given.launched or given.news or given.recalled:
            notices.add(connection, ts, turn.session, turn.turn, self._me, carrier.asked_by(turn), given)
        return telling.content(connection, names, before, now)


def _read(connection: sqlite3.Connection, session: str) -> _Seen:
    names = sessions.conversation(connection, session)
    return _Seen(
        names=names,
        pending=[row for row in turns.pending(connection, names) if not _UNTOLD & set(row.flags.split())],
        told=notices.newest(connection, names),
        untold=news.untold(connection, names),
        launched=turns.launched(connection, names),
        elsewhere=turns.unsettled_elsewhere(connection, names),
        has_rows=turns.has_rows(connection, names),
    )


def _done(connection: sqlite3.Connection, names: Sequence[str]) -> tuple[recalls.Mark, list[recalls.Done]]:
    mark = recalls.mark(connection, names)
    return mark, recalls.confirmed_since(connection, names, mark)
