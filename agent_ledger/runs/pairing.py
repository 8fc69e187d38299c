"""Which result belongs to which call, and what the calls of each tool came to; in bounded memory."""

from __future__ import annotations

from collections import OrderedDict, deque

from ..tools import READ_ONLY, classify
from .model import CallSeen, Facts, ToolResult, ToolStats, ToolUse

MOST_CALLS = 1_000  # calls that are listed one by one, and names of calls without a result
MOST_OPEN = 10_000  # calls that wait for their result; beyond it they are only counted
MOST_TOOLS = 500
OTHERS = "(other tools)"
_MAX_NAME = 200


class Calls:
    """Pairs calls with results: by id where both have one, otherwise by name, first in, first out.

    A call is a number, counted from 0. Calls with an id are found by it and by name; calls without one by name.
    """

    def __init__(self) -> None:
        self.tools: dict[str, ToolStats] = {}
        self.seen: list[CallSeen] = []
        self.by_order = False
        self._count = 0
        self._untracked: dict[str, int] = {}
        self._open = 0
        self._plain: dict[str, deque[int]] = {}
        self._named: dict[str, OrderedDict[int, str]] = {}  # name -> number -> id
        self._ids: dict[str, OrderedDict[int, str]] = {}  # id -> number -> name

    def use(self, event: ToolUse) -> None:
        name, key, call = event.name[:_MAX_NAME] or "?", event.call_id, self._count
        stats = self._stats(name)
        stats.calls += 1
        stats.changing += classify(event.name, event.input) != READ_ONLY
        self._count += 1
        if len(self.seen) < MOST_CALLS:
            self.seen.append(CallSeen(name))
        if self._open >= MOST_OPEN:
            listed = name if name in self.tools else OTHERS
            self._untracked[listed] = self._untracked.get(listed, 0) + 1
            self.by_order = self.by_order or not key
            return
        self._open += 1
        if key:
            self._named.setdefault(name, OrderedDict())[call] = key
            self._ids.setdefault(key, OrderedDict())[call] = name
            return
        self.by_order = True
        waiting = self._plain.get(name)
        if waiting is None:
            waiting = self._plain[name] = deque()
        waiting.append(call)

    def result(self, event: ToolResult) -> None:
        name = event.name[:_MAX_NAME] or "?"
        call = self._by_id(event.call_id, name) if event.call_id else None
        if call is None:
            call = self._by_name(name, bool(event.call_id))
        stats = self._stats(name)
        if call is None:
            listed = name if name in self.tools else OTHERS
            if self._untracked.get(listed):
                self._untracked[listed] -= 1  # it may be one of those that were only counted
            else:
                stats.calls += 1
                if len(self.seen) < MOST_CALLS:
                    call = len(self.seen)
                    self.seen.append(CallSeen(name))
                    self._count += 1
        stats.errors += event.is_error
        stats.duration_ms += event.duration_ms or 0
        if call is not None and call < len(self.seen):
            seen = self.seen[call]
            seen.state = "error" if event.is_error else "ok"
            seen.duration_ms = event.duration_ms
            seen.output = event.output if event.is_error else ""

    def into(self, facts: Facts) -> None:
        """Write down the state so far."""
        waiting = sorted(
            [(call, name) for name, calls in self._plain.items() for call in calls]
            + [(call, name) for name, calls in self._named.items() for call in calls]
        )
        facts.tools, facts.calls = self.tools, self.seen
        facts.unfinished = [name for _, name in waiting[:MOST_CALLS]]
        facts.unfinished_count = len(waiting) + sum(self._untracked.values())
        facts.pairing = "order" if self.by_order else "id"
        for stats in self.tools.values():
            stats.unfinished = 0
        for _, name in waiting:
            self._stats(name).unfinished += 1
        for name, count in self._untracked.items():
            self._stats(name).unfinished += count

    def _by_id(self, key: str, name: str) -> int | None:
        calls = self._ids.get(key)
        if not calls:
            return None
        # One id for several calls at once: the one of this name first.
        call = next((call for call, named in calls.items() if named == name), None)
        call = next(iter(calls)) if call is None else call
        self._close(call, key, calls[call])
        return call

    def _by_name(self, name: str, has_id: bool) -> int | None:
        """The oldest open call of this name; of those with an id only for a result without one."""
        self.by_order = self.by_order or not has_id
        plain, named = self._plain.get(name), None if has_id else self._named.get(name)
        if named and (not plain or next(iter(named)) < plain[0]):
            call = next(iter(named))
            self._close(call, named[call], name)
            return call
        if not plain:
            return None
        self.by_order = True
        self._open -= 1
        call = plain.popleft()
        if not plain:
            del self._plain[name]
        return call

    def _close(self, call: int, key: str, name: str) -> None:
        self._open -= 1
        for table, at in ((self._ids, key), (self._named, name)):
            calls = table[at]
            del calls[call]
            if not calls:
                del table[at]

    def _stats(self, name: str) -> ToolStats:
        stats = self.tools.get(name)
        if stats is None:
            if len(self.tools) >= MOST_TOOLS:
                name = OTHERS
            stats = self.tools.setdefault(name, ToolStats())
        return stats
