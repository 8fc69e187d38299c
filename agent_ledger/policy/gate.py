"""The gate of one home: each call is judged before it runs, under the policy that is in force at that moment."""

from __future__ import annotations

import time
from typing import NamedTuple

from .. import digest, log
from ..model import now_iso
from ..settings import Settings
from ..store import counters, refusals
from ..store.keeper import Keeper
from . import judge as judgement
from . import memory
from .decide import ALLOW, BLOCKED, NOT_JUDGED, Decision, decide, shown
from .memory import Remembered, Sessions
from .rules import Called, Policy
from .state import PolicyFiles, State
from .world import Worlds

_LOCK_S = 0.05
_NOTE_EVERY_S = 60.0
_MOST_TOLD = 500

# The id that stands in a row which no rule refused, but the state of the policy.
BROKEN_RULE = "on_broken_policy"
_BROKEN_MESSAGE = (
    "Refused: the policy of this Hermes is broken, and its setting on_broken_policy says that nothing may be changed"
    " until it is mended. The user can see what is wrong with: hermes ledger doctor"
)


class Verdict(NamedTuple):
    """What becomes of a call, and what its row says of it. ``message``: for the agent, '' where the call runs;
    ``text``: the same for the row; ``memory``: what the row keeps for later calls; ``flag``: a mark of the row, ''
    for none; ``refused``: kinds and targets of what was refused."""

    decision: str = NOT_JUDGED
    rule: str = ""
    sha256: str = ""
    message: str = ""
    text: str = ""
    memory: str = ""
    flag: str = ""
    refused: frozenset[memory.Key] = frozenset()

    @property
    def needs_row(self) -> bool:
        """True where even a call that only reads gets a row."""
        return self.decision not in (NOT_JUDGED, ALLOW)


RUNS = Verdict()


class Gate:
    """Judges the calls of one home. Nothing here raises: where judging fails, the call runs."""

    def __init__(self, home: str, settings: Settings, keeper: Keeper, owner: str) -> None:
        self.files = PolicyFiles(home, settings)
        self._blocks_when_broken = settings.on_broken_policy == "block"
        self._keeper = keeper
        self._owner = owner
        self._sessions = Sessions()
        self._worlds = Worlds(home)
        self._told: dict[str, tuple[str, ...]] = {}
        self._noted = -_NOTE_EVERY_S

    def judge(
        self,
        state: State,
        tool: str,
        args: object,
        session: str,
        names: tuple[str, ...],
        changes: bool,
        deadline: float,
        folder: str = "",
        backend: str = "",
    ) -> Verdict:
        """The verdict on one call under the ``state`` that ``look`` gave for it.

        ``names``: the session ids of its conversation; ``changes``: it may change something, so that its row stands in
        any case; ``folder`` and ``backend``: where the host's terminal works.
        """
        try:
            if state.broken and self._blocks_when_broken and state.enforces and changes:
                return Verdict(BLOCKED, BROKEN_RULE, _sha256(state), _BROKEN_MESSAGE, _BROKEN_MESSAGE)
            policy = state.policy
            if policy is None:
                return RUNS
            remembered = self._sessions.of(session)
            if not remembered.lock.acquire(timeout=_LOCK_S):  # judged without what the session did before
                remembered = Remembered()
                remembered.stale = False
                remembered.lock.acquire()
            try:
                if remembered.stale:
                    self._recall(remembered, names, deadline)
                remembered.session.world = self._worlds.of(folder, backend)
                return _judged(policy, state.enforces, tool, args, remembered)
            finally:
                remembered.lock.release()
        except Exception as error:
            self._failed(tool, error)
            return RUNS

    def refused(self, session: str, verdict: Verdict, row_id: int) -> None:
        """Note the row of a refusal, so that a second try is linked with it."""
        if row_id and verdict.refused:
            self._sessions.of(session).refused(verdict.refused, row_id)

    def begin_turn(self, session: str) -> str:
        """At the beginning of a turn; returns what its notice must say of the policy, '' for nothing: once for each
        trouble and conversation."""
        self._sessions.begin_turn(session)
        state = self.look()
        if not state.problems:
            self._told.pop(session, None)
            return ""
        if self._told.get(session) == state.problems:
            return ""
        if len(self._told) >= _MOST_TOLD:
            self._told.clear()
        self._told[session] = state.problems
        return trouble(state, self._blocks_when_broken)

    def look(self) -> State:
        """What is in force now: asked once for each call."""
        try:
            return self.files.look()
        except Exception as error:
            self._failed("policy", error)
            return State()

    def _recall(self, remembered: Remembered, names: tuple[str, ...], deadline: float) -> None:
        """Read what calls of the conversation left: all of it the first time, later what other processes added."""
        but_of = self._owner if remembered.newest >= 0 else ""
        after = max(0, remembered.newest)
        found = self._keeper.look(lambda connection: refusals.of_session(connection, names, after, but_of), deadline)
        if found is None:  # the ledger does not answer: the next call asks again
            return
        remembered.newest, rows = found
        remembered.take_in(rows)
        remembered.stale = False

    def _failed(self, tool: str, error: Exception) -> None:
        """Log once a minute that judging failed, and leave it where `status` finds it."""
        log.warn(f"judge:{type(error).__name__}", "%s could not be judged (%s: %s); the call runs",
                 digest.clean_id(tool, 60), type(error).__name__, digest.clean_error(error))  # fmt: skip
        now = time.monotonic()
        if now - self._noted < _NOTE_EVERY_S:
            return
        self._noted = now
        told = f"{now_iso()} {digest.clean_id(tool, 60)}: {digest.clean_error(error)}"
        self._keeper.transact(lambda connection: counters.note(connection, "policy_error", told), now + _LOCK_S)


def _judged(policy: Policy, enforce: bool, tool: str, args: object, remembered: Remembered) -> Verdict:
    try:
        found = judgement.judge(tool, args, remembered.session)
        decision = decide(found.effects, found.commands, Called(tool, args, found.paths), policy, enforce)
    except Exception:
        remembered.undo()
        raise
    keys = {memory.key(effect.kind, effect.target) for effect in found.effects}
    if decision.kind:
        keys.add(memory.key(decision.kind, decision.target))
    earlier = remembered.earlier(keys)
    verdict = Verdict(
        decision.decision,
        decision.rule,
        policy.sha256,
        text=_reason(decision) if decision.refuses else "",
        flag=f"retry_of_{earlier}" if earlier else "",
    )
    if decision.decision != BLOCKED:
        return verdict._replace(memory=remembered.allowed())
    remembered.undo()
    refused = frozenset([memory.key(decision.kind, decision.target)])
    return verdict._replace(message=decision.message, memory=memory.written(refused), refused=refused)


def trouble(state: State, blocks: bool = False) -> str:
    """What is said of a policy with problems, in this module's own words."""
    if not state.broken:
        return "Some rules of this Hermes' policy were refused by their own examples and are not in force."
    if blocks and state.enforces:
        return "The policy of this Hermes is broken: calls that change something are refused until it is mended."
    if state.policy is not None:
        return "The policy of this Hermes is broken; the last good one stays in force."
    return "The policy of this Hermes is broken, and none is in force."


def _reason(decision: Decision) -> str:
    return digest.clean_error(f"{decision.severity}: {shown(decision.what)}; {decision.reason}")


def _sha256(state: State) -> str:
    return state.policy.sha256 if state.policy is not None else ""


