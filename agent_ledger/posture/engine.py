"""One pass over the rows of a ledger: each row gets its marks, and each rule the rows whose marks it asks for."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from .. import digest
from ..model import BLOCKED, CONFIRMED, ERROR_PREFIX, PENDING
from ..redact import redact_text
from ..redact_patterns import MARK
from . import rules, toolsets
from .commands import NOTHING, Reader, look_of
from .model import Finding
from .rows import Clock, Row
from .rules import base
from .rules.asi01 import ORDERS, may_order
from .rules.asi10 import Rate
from .rules.asi11 import OverBudget
from .rules.base import Call, Context, Rule

_ARGS_LIMIT = 4000
_DIGEST_LIMIT = 300
_MOST_PLACES = 50_000
_MOST_TOOLS = 5000
_MOST_ERRORS = 1000  # of one rule; then it is asked no more


@dataclass(slots=True)
class Seen:
    """What was counted on the way."""

    rows: int = 0
    first_id: int = 0
    last_id: int = 0
    first_ts: str = ""
    last_ts: str = ""
    gaps: int = 0
    pending: int = 0
    args_cut: int = 0
    digests_full: int = 0
    policy_sha256: str = ""
    statuses: dict[str, int] = field(default_factory=dict)


class Engine:
    """One look at a ledger. ``findings`` and ``errors`` are complete after ``end``."""

    def __init__(self, context: Context, chosen: Iterable[type[Rule]] = rules.ALL) -> None:
        self.reader = Reader()
        self.clock = Clock()
        self.seen = Seen()
        self.errors: dict[str, str] = {}
        context.facts = self.reader.read
        self._context = context
        self._failed: dict[str, int] = {}
        self.rules = [rule for kind in chosen if (rule := self._made(kind)) is not None]
        self._by_marks: dict[int, list[tuple[Rule, Callable[[Call], None]]]] = {}
        self._watching = [(rule.watched, rule, rule.see) for rule in self.rules if rule.watched != ()]
        self._tools: dict[str, tuple[int, Callable[[str], bool]]] = {}
        self._places: dict[str, int] = {}
        self._over = next((rule for rule in self.rules if isinstance(rule, OverBudget)), None)

    @property
    def findings(self) -> list[Finding]:
        return self._context.findings

    def take(self, batch: Sequence[Row]) -> None:
        """The next rows, in the order of ids."""
        clock, places, budget = self.clock, self._places, self._context.budget
        watching, by_marks = self._watching, self._by_marks
        if batch:
            self._count(batch)
        for row in batch:
            at = clock.at(row.ts)
            session = row.session_id
            place = places.get(session, 0) + 1
            places[session] = place
            marks = self._marks(row)
            call = Call(row, at, place, marks, self._context)
            if marks & base.TOLD:
                self._tell(call)
            asked = by_marks.get(call.marks)
            if asked is None:
                asked = self._asked(call.marks)
            for rule, see in asked:
                try:
                    see(call)
                except Exception as error:
                    self._note(rule, error, row.id)
            for watched, rule, see in watching:
                if session in watched and not rule.on & call.marks:
                    try:
                        see(call)
                    except Exception as error:
                        self._note(rule, error, row.id)
            if place == budget + 1 and budget and self._over is not None:
                self._over.see(call)
        if len(places) > _MOST_PLACES:
            for name in list(places)[: len(places) - _MOST_PLACES // 2]:
                del places[name]

    def _count(self, batch: Sequence[Row]) -> None:
        seen, first, last = self.seen, batch[0], batch[-1]
        if not seen.rows:
            seen.first_id, seen.first_ts = first.id, first.ts
        elif first.id != seen.last_id + 1:
            seen.gaps += 1
        if last.id - first.id + 1 != len(batch):
            seen.gaps += sum(after.id != before.id + 1 for before, after in itertools.pairwise(batch))
        seen.rows += len(batch)
        seen.last_id, seen.last_ts = last.id, last.ts
        for status, many in Counter(row.status for row in batch).items():
            seen.statuses[status] = seen.statuses.get(status, 0) + many

    def end(self) -> None:
        """The last row was seen."""
        rate = next((rule for rule in self.rules if isinstance(rule, Rate)), None)
        if rate is not None:
            rate.rows = self.seen.rows
        for rule in self.rules:
            try:
                rule.end()
            except Exception as error:
                self._note(rule, error, self.seen.last_id)

    def _marks(self, row: Row) -> int:
        seen, tool, status = self.seen, row.tool_name, row.status
        marks, is_worth = self._tools.get(tool) or self._of_tool(tool)
        if status != CONFIRMED:
            if status.startswith(ERROR_PREFIX):
                marks |= base.ERROR
                if status == BLOCKED:
                    marks |= base.REFUSED
            else:
                marks |= base.OPEN
                if status == PENDING:
                    seen.pending += 1
        if row.reads:
            marks |= base.READS
            if any(toolsets.is_untrusted(name) for name in row.reads.split()):
                marks |= base.UNTRUSTED
        if row.flags:
            marks |= base.MARKED
        if row.policy_decision:
            marks |= base.JUDGED
        if row.policy_sha256:
            seen.policy_sha256 = row.policy_sha256
        text = row.args_json
        if row.args_len > _ARGS_LIMIT or len(text) >= _ARGS_LIMIT:
            seen.args_cut += 1
        if MARK in text or (_has_shape(text) and redact_text(text) != text):
            marks |= base.LITERAL
        result = row.result_digest
        if len(result) >= _DIGEST_LIMIT:
            seen.digests_full += 1
        if result and may_order(result) and ORDERS.search(result):
            marks |= base.PHRASE
        if is_worth(text):
            marks |= base.TOLD
        return marks

    def _tell(self, call: Call) -> None:
        """Parse what is worth it, and mark what comes out."""
        try:
            facts = call.facts
        except Exception as error:  # a fault of the parser must not hide what other rules see
            self.errors.setdefault("parser", f"{type(error).__name__}: {digest.clean_error(error)} (row {call.row.id})")
            call.known = NOTHING
            self.reader.unparsed += 1
            return
        if facts.sends or facts.of_kind("exfiltration"):
            call.marks |= base.EGRESS
        if facts.gets or facts.fetched:
            call.marks |= base.UNTRUSTED

    def _of_tool(self, tool: str) -> tuple[int, Callable[[str], bool]]:
        marks, look = base.EVERY, look_of(tool)
        if toolsets.is_egress(tool):
            marks |= base.EGRESS
        if toolsets.is_untrusted(tool):
            marks |= base.UNTRUSTED
        if toolsets.is_memory(tool):
            marks |= base.MEMORY
        if toolsets.acts_once(tool):
            marks |= base.ONCE
        if toolsets.is_foreign(tool):
            marks |= base.FOREIGN
        if self._context.declared and tool not in self._context.declared:
            marks |= base.UNDECLARED
        if len(self._tools) < _MOST_TOOLS:
            self._tools[tool] = marks, look
        return marks, look

    def _asked(self, marks: int) -> list[tuple[Rule, Callable[[Call], None]]]:
        asked = self._by_marks[marks] = [
            (rule, rule.see) for rule in self.rules if rule.on & marks and self._failed.get(rule.id, 0) < _MOST_ERRORS
        ]
        return asked

    def _made(self, kind: type[Rule]) -> Rule | None:
        try:
            return kind(self._context)
        except Exception as error:
            self.errors[kind.id] = f"{type(error).__name__}: {digest.clean_error(error)}"
            return None

    def _note(self, rule: Rule, error: Exception, row_id: int) -> None:
        """A rule that fails is listed; it goes on with other rows, and what it found stays."""
        many = self._failed[rule.id] = self._failed.get(rule.id, 0) + 1
        self.errors.setdefault(rule.id, f"{type(error).__name__}: {digest.clean_error(error)} (row {row_id})")
        if many == _MOST_ERRORS:
            self._by_marks.clear()


def _has_shape(text: str) -> bool:
    """A quick look for the beginnings of well-known secrets; one character first, which takes a tenth of the time."""
    return (
        # "oxb-" and not "xoxb-": a text full of x takes long to search for what begins with it.
        ("-" in text and ("sk-" in text or "oxb-" in text or "oxp-" in text or "glpat-" in text))
        or ("_" in text and ("ghp_" in text or "github_pat_" in text))
        or ("K" in text and ("AKIA" in text or "PRIVATE KEY" in text))
        or ("J" in text and "eyJ" in text)
        or ("I" in text and "AIza" in text)
    )
