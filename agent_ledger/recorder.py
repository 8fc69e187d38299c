"""The flight recorder: what becomes of a pre_tool_call and a post_tool_call on their way to the keeper."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from . import digest, hostinfo, log, outcome, reads, tools
from .ghosts import footprint, lineage
from .model import FORK, READ, STARTED, Call, Outcome, Settlement, now_iso
from .settings import Settings
from .store import ledger, refusals, sessions
from .store.keeper import Keeper

if TYPE_CHECKING:
    from .policy.gate import Verdict

_MOST_OPEN = 4096
_MOST_SESSIONS = 2048
_MOST_KNOWN = 20_000
_SHORT = 200  # ids that together are no longer than this, and ASCII, are taken as they are


class Ids(NamedTuple):
    """The ids of one hook call as text, '' where the host gave none or no text."""

    session: str
    task: str
    turn: str
    call: str

    @classmethod
    def of(cls, session: object, task: object, turn: object, call: object) -> Ids:
        if type(session) is str and type(task) is str and type(turn) is str and type(call) is str:
            together = session + task + turn + call
            if len(together) < _SHORT and together.isascii():
                return cls(session, task, turn, call)
        clean = digest.clean_id
        return cls(clean(session), clean(task), clean(turn), clean(call))


class _Announced(NamedTuple):
    """A row of this process that is still open, so that its post need not search for it."""

    row_id: int
    ts: str
    args_key: object
    repeat: bool
    refused: bool = False


@dataclass(slots=True)
class _Known:
    """The calls of a conversation that were confirmed or are open, up to the row ``newest``."""

    newest: int = 0
    calls: set[tuple[str, str]] = field(default_factory=set)
    stale: bool = True


class Recorder:
    """Announces and settles calls of one home. Holds only what speeds things up: the truth is in the database."""

    def __init__(self, keeper: Keeper, settings: Settings, owner: str, key: bytes | None) -> None:
        self.keeper = keeper
        self.settings = settings
        self.owner = owner
        self._key = key
        self._hashes_only = settings.store_args == "hash"
        self.table = settings.tool_table()
        self.classify = self.table.classify  # (tool, arguments) -> READ_ONLY, CHANGES or UNKNOWN
        self._open: dict[tuple[str, str, str, str], list[_Announced]] = {}
        self._platforms: dict[str, str] = {}
        self._last_session: dict[str, str] = {}  # turn id -> the session it was last seen in
        self._lock = threading.Lock()
        # session -> the ids of its conversation, for those that are known to have several
        self.conversations: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, _Known] = {}
        self._folder = self._backend = ""
        self.look_around()

    # --- pre_tool_call

    def records(self, kind: tools.Kind) -> bool:
        """True where every call of this kind gets a row. ``kind``: see ``classify``."""
        return kind is tools.CHANGES or (kind is tools.UNKNOWN and self.settings.unknown_tools != "ignore")

    def announce(
        self, kind: tools.Kind, tool_name: str, args: object, ids: Ids, deadline: float, verdict: Verdict | None = None
    ) -> int:
        """Have a call on disk before the host runs it, or does not since policy refused it. Returns the row's id, 0
        where it went to the spool. ``verdict``: None where no policy is in force."""
        flags = "" if kind is tools.CHANGES else READ if kind is tools.READ_ONLY else "unknown_tool"
        self.follow(ids.session, ids.turn, deadline)
        arguments, key = digest.digest_args_with_key(args, self.settings.store_args)
        marks = [flags, *arguments.marks] if flags else [*arguments.marks]
        if outcome.is_background(tool_name, args):
            marks.append("background")
        if hostinfo.in_background_review():
            marks.append(FORK)
        refused = verdict is not None and verdict.message != ""
        repeat = False
        if ids.session and not refused:
            repeat = self._repeats(ids.session, (tool_name, arguments.sha256), deadline)
        if repeat:
            marks.append("repeat")
        if verdict is not None and verdict.flag:
            marks.append(verdict.flag)
        ts = now_iso()
        call = Call(
            ts=ts,
            session_id=ids.session,
            task_id=ids.task,
            turn_id=ids.turn,
            tool_call_id=ids.call,
            tool_name=tool_name,
            args_json=arguments.json,
            args_sha256=arguments.sha256,
            args_len=arguments.length,
            summary=self._summary(tool_name, args, arguments.clean),
            grace_s=self.table.grace_s(tool_name, args),
            owner=self.owner,
            cwd=self._folder or hostinfo.process_folder(),
            platform=self._platforms.get(ids.session, ""),
            backend=self._backend,
            reads=reads.take(ids.session),
            probe_json="" if self._hashes_only else footprint.of_call(tool_name, args, self._key),
            flags=" ".join(marks),
        )
        if verdict is not None:
            call = call._replace(
                policy_decision=verdict.decision, policy_rule=verdict.rule, policy_sha256=verdict.sha256,
                error_message=verdict.text if refused else "", policy_memory=verdict.memory,
            )  # fmt: skip
        row_id = self.keeper.announce(call, deadline)
        if (row_id and ids.call) or refused:
            announced = _Announced(row_id, ts, key, repeat, refused)
            self._remember((ids.session, ids.turn, ids.call, tool_name), announced)
        return row_id

    def _repeats(self, session: str, call: tuple[str, str], deadline: float) -> bool:
        """True where the same call was confirmed before in its conversation, or runs right now. What other processes
        did is asked for once a turn."""
        known = self._known.get(session)
        if known is None or known.stale:
            if known is None:
                if len(self._known) >= _MOST_SESSIONS:
                    self._known.clear()
                known = self._known[session] = _Known()
            names, after = self.conversations.get(session, (session,)), known.newest
            found = self.keeper.glance(lambda connection: ledger.known_calls(connection, names, after), deadline)
            if found is not None:
                known.newest, rows = found
                known.calls.update(rows)
                known.stale = False
        if call in known.calls:
            return True
        if len(known.calls) >= _MOST_KNOWN:
            known.calls.clear()
        known.calls.add(call)
        return False

    # --- post_tool_call

    def settle(
        self,
        tool_name: str,
        args: object,
        ids: Ids,
        deadline: float,
        result: object = None,
        status: object = None,
        error_type: object = None,
        error_message: object = None,
        duration_ms: object = None,
    ) -> None:
        """Record what the host says came of a call."""
        kind = self.classify(tool_name, args)
        known = self._take_known((ids.session, ids.turn, ids.call, tool_name), args)
        if known is None and not self.records(kind):
            return
        self.follow(ids.session, ids.turn, deadline)
        judged = outcome.judge(tool_name, args, result, status, error_type, error_message, duration_ms)
        ts = now_iso()
        if not judged.confirmed:
            self._known.pop(ids.session, None)  # a call that failed may be tried again: that is no repeat
        if known and known.refused and (not judged.ran or self._not_honoured(known, tool_name, judged, ts, deadline)):
            return
        # One statement does, unless other rows or the next notice hang on this outcome.
        simple = tool_name != "execute_code" and judged.effect != STARTED
        if known and simple and not known.refused and not (known.repeat and judged.confirmed):
            values = ledger.outcome_values(judged, ts, known.row_id, known.ts, ids.call)
            if self.keeper.settle_open(values, deadline):
                return
        arguments = digest.digest_args(args, self.settings.store_args)
        self.keeper.settle(
            Settlement(
                ts=ts,
                session_id=ids.session,
                task_id=ids.task,
                turn_id=ids.turn,
                tool_call_id=ids.call,
                tool_name=tool_name,
                args_json=arguments.json,
                args_sha256=arguments.sha256,
                args_len=arguments.length,
                args_empty=args is None or args == {} if type(args) in (dict, type(None)) else False,
                summary=self._summary(tool_name, args),
                owner=self.owner,
                outcome=judged,
                flags="unknown_tool" if kind is tools.UNKNOWN else "",
                probe_json=self._launch_footprint(result) if judged.effect == STARTED else "",
                cwd=self._folder or hostinfo.process_folder(),
                platform=self._platforms.get(ids.session, ""),
                backend=self._backend,
            ),
            deadline,
        )

    def _not_honoured(
        self, known: _Announced, tool_name: str, judged: Outcome, ts: str, deadline: float
    ) -> bool:
        """The host ran a call that policy refused: an alarm, in the log and in the row. False where the row cannot be
        had now."""
        log.warn("not_honoured", "the host ran a call of %s although policy refused it; see: hermes ledger status",
                 digest.clean_id(tool_name, 60))  # fmt: skip
        return known.row_id != 0 and bool(
            self.keeper.transact(
                lambda connection: refusals.not_honoured(connection, known.row_id, judged, ts), deadline
            )
        )

    def _launch_footprint(self, result: object) -> str:
        """What tells later whether a background command runs; a process id of another machine or container does not."""
        return footprint.of_launch(outcome.result_keys(result)) if self._backend in ("", "local") else ""

    def begin_turn(self, session: str, told: bool) -> None:
        """What other processes did in this conversation, and what became of its open calls, is looked up again."""
        if told:
            self._known.pop(session, None)
        elif (known := self._known.get(session)) is not None:
            known.stale = True

    def look_around(self) -> None:
        """Ask where the host's tools work; at the beginning of each turn, since the environment is slow to ask."""
        self._folder = hostinfo.terminal_folder()
        self._backend = hostinfo.terminal_backend()

    @property
    def place(self) -> tuple[str, str]:
        """Folder and backend of the host's terminal."""
        return self._folder or hostinfo.process_folder(), self._backend

    # --- which session came out of which

    def follow(self, session: str, turn: str, deadline: float) -> None:
        """Note a session id that rotated inside a turn, or since it began. Costs a look-up where nothing changed."""
        if not session or not turn:
            return
        last = self._last_session.get(turn)
        if last == session:
            return
        parent = last or lineage.turn_session(turn, session)
        if len(self._last_session) >= _MOST_SESSIONS:
            self._last_session.clear()
        self._last_session[turn] = session
        if parent:
            evidence = "turn" if last else "turn_id"
            names = self.keeper.add_edge(session, parent, sessions.ROTATION, evidence, turn, deadline)
            self.note_conversation(session, names)

    def note_conversation(self, session: str, names: tuple[str, ...]) -> None:
        """Remember a conversation of several session ids, so that a repeat is seen across a rotation."""
        if len(names) > 1:
            if len(self.conversations) >= _MOST_SESSIONS:
                self.conversations.clear()
            self.conversations[session] = names

    def note_platform(self, session: str, platform: object) -> None:
        """Remember the surface of a session: only the turn hooks carry it."""
        if session and isinstance(platform, str) and platform and self._platforms.get(session) != platform:
            if len(self._platforms) >= _MOST_SESSIONS:
                self._platforms.clear()
            self._platforms[session] = digest.clean_id(platform, 40)

    # --- memory

    def _remember(self, key: tuple[str, str, str, str], announced: _Announced) -> None:
        with self._lock:
            if len(self._open) >= _MOST_OPEN:  # calls that never got a post; the database still has them
                self._open.clear()
            self._open.setdefault(key, []).append(announced)

    def _take_known(self, key: tuple[str, str, str, str], args: object) -> _Announced | None:
        """The oldest remembered row of exactly this call, taken out; None where only the database can tell."""
        if key not in self._open:
            return None
        args_key = digest.args_key(args)
        if args_key is None:
            return None
        with self._lock:
            waiting = self._open.get(key, [])
            for number, announced in enumerate(waiting):
                if announced.args_key == args_key:
                    del waiting[number]
                    if not waiting:
                        self._open.pop(key, None)
                    return announced
        return None

    def _summary(self, tool_name: str, args: object, clean: bool = False) -> str:
        if self.settings.store_args == "hash":
            return digest.summarize(tool_name, ())
        return digest.summarize(tool_name, tools.summary_parts(tool_name, args), clean)
