"""``policy replay [POLICY]``: what a policy would have refused of the recorded history, before it is switched on."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ... import spans
from ...errors import UsageError
from ...home import ledger_path
from ...model import now_iso
from ...policy.decide import shown
from ...policy.history import IN_PART, NOT_AT_ALL, Conversation, Past
from ...policy.world import Worlds
from ...store import judged
from ...store.judged import Recorded
from ...store.reader import Reader
from .. import exits, rows, where
from ..answer import Answer
from ..output import Screen
from ..progress import begin
from ..text import local, plural, safe
from . import pack

SINCE = "30d"
MOST_IDS = 1000  # of one rule
EXAMPLES = 5  # of one rule
_BATCH = 500
_STEP = 50  # calls between two looks at the progress


@dataclass(slots=True)
class OfRule:
    """What one rule would have refused."""

    severity: str
    calls: int = 0
    tools: dict[str, int] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)  # the first 1000
    examples: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Found:
    """What came out so far. ``in_part`` are among the ``judged``; ``not_judged``: why -> how many."""

    judged: int = 0
    in_part: int = 0
    refused: int = 0
    sessions: set[str] = field(default_factory=set)  # with a refusal
    not_judged: dict[str, int] = field(default_factory=dict)
    rules: dict[str, OfRule] = field(default_factory=dict)
    stopped: bool = False

    def take(self, call: Recorded, past: Past) -> None:
        if past.judged == NOT_AT_ALL:
            self.not_judged[past.why] = self.not_judged.get(past.why, 0) + 1
            return
        self.judged += 1
        self.in_part += past.judged == IN_PART
        decision = past.decision
        if not decision.refuses:
            return
        self.refused += 1
        self.sessions.add(call.session_id)
        rule = self.rules.setdefault(decision.rule, OfRule(decision.severity))
        rule.calls += 1
        rule.tools[call.tool_name] = rule.tools.get(call.tool_name, 0) + 1
        if len(rule.ids) < MOST_IDS:
            rule.ids.append(call.id)
        if len(rule.examples) < EXAMPLES:
            rule.examples.append(
                {"id": call.id, "ts": call.ts, "session_id": call.session_id, "tool": call.tool_name,
                 "summary": call.summary, "what": shown(decision.what), "ran": call.ran,
                 "in_part": past.judged == IN_PART}
            )  # fmt: skip


def run(options: argparse.Namespace) -> Answer:
    home = where.home_of(options.ledger_home)
    chosen = pack.chosen(home, where.settings_of(home), options.ledger_file)
    span = options.ledger_since or ("" if options.ledger_session else SINCE)
    since = now_iso(spans.moment(span, rows.now())) if span else ""
    found = Found()
    with where.opened(home) as reader, ExitStack() as stack:
        if options.ledger_session and not reader.knows_session(reader.conversation(options.ledger_session)):
            raise UsageError(f"no call of session {options.ledger_session!r} is recorded. See: hermes ledger tail")
        told = begin(
            stack, "judging", lambda: reader.ask(lambda connection: judged.calls_since(connection, since)),
            lambda count: f"{plural(count, 'call')} judged so far",
        )  # fmt: skip
        try:
            for conversation in _conversations(reader, since, options.ledger_session):
                _judge(reader, conversation, since, lambda: Conversation(chosen.policy, Worlds(home)), found, told)
        except KeyboardInterrupt:
            found.stopped = True
    ordered = sorted(found.rules.items(), key=lambda item: (-item[1].calls, item[0]))
    data = {
        "ledger": ledger_path(home),
        "policy": chosen.as_json(),
        "since": since or None,
        "session": options.ledger_session,
        "judged": found.judged,
        "judged_in_part": found.in_part,
        "not_judged": found.not_judged,
        "refused": found.refused,
        "sessions_with_refusals": len(found.sessions),
        "by_rule": [
            {"rule": name, "severity": rule.severity, "calls": rule.calls, "tools": rule.tools, "ids": rule.ids,
             "examples": rule.examples}
            for name, rule in ordered
        ],
        "stopped": found.stopped,
    }  # fmt: skip

    def show(screen: Screen) -> None:
        _show(screen, data, chosen, found, ordered)

    verdict = exits.PROBLEM if options.ledger_check and found.refused else exits.OK
    return Answer(exits.INTERRUPTED if found.stopped else verdict, data, show)


def _conversations(reader: Reader, since: str, session: str | None) -> Iterator[tuple[str, ...]]:
    """The session ids of each conversation, every id once; calls without a session come last, as ('',)."""
    if session:
        yield reader.conversation(session)
        return
    seen = {""}
    names = reader.ask(lambda connection: judged.sessions_since(connection, since))
    for name in names:
        if name not in seen:
            together = tuple(one for one in reader.conversation(name) if one not in seen)
            seen.update(together)
            yield together
    if "" in names:
        yield ("",)


def _judge(
    reader: Reader, names: tuple[str, ...], since: str, fresh: Callable[[], Conversation], found: Found,
    told: Callable[[int], None],
) -> None:  # fmt: skip
    """Judge one conversation from its beginning; only calls at ``since`` or later count. One is in memory at a time."""
    conversation = fresh()
    last = 0
    while batch := reader.ask(partial(judged.of_conversation, session_ids=names, after=last, limit=_BATCH)):
        for call in batch:
            if names == ("",):  # nobody knows whose call it is, so it knows of no other
                conversation = fresh()
            past = conversation.judge(call)
            if call.ts >= since:
                found.take(call, past)
                done = found.judged + sum(found.not_judged.values())
                if done % _STEP == 0:
                    told(done)
        last = batch[-1].id


def _show(
    screen: Screen, data: dict[str, Any], chosen: pack.Pack, found: Found, ordered: list[tuple[str, OfRule]]
) -> None:
    screen.line(f"policy    {chosen.said}")
    for text in chosen.problems:
        screen.line(f"problem   {safe(text)}")
    span = f" since {local(data['since'])}" if data["since"] else ""
    part = f", {found.in_part} of them in part" if found.in_part else ""
    screen.line(f"judged    {plural(found.judged, 'recorded call')}{span}{part}")
    for why, many in sorted(found.not_judged.items()):
        screen.line(f"not       {plural(many, 'call')}: {safe(why)}")
    if found.stopped:
        screen.line("stopped   with Ctrl-C; this is what was found until then")
    if not found.refused:
        screen.line("so        nothing would have been refused")
        return
    calls, sessions = plural(found.refused, "call"), plural(len(found.sessions), "session")
    screen.line(f"so        {calls} in {sessions} would have been refused")
    screen.line()
    screen.table(
        ("CALLS", "SEVERITY", "RULE"), [(str(rule.calls), rule.severity, safe(name)) for name, rule in ordered]
    )
    for name, rule in ordered:
        screen.line()
        more = f" and {rule.calls - 20} more" if rule.calls > 20 else ""
        screen.line(f"{safe(name)}: " + " ".join(f"#{one}" for one in rule.ids[:20]) + more)
        for one in rule.examples:
            cut = "; its arguments were cut" if one["in_part"] else ""
            never = "; it never ran" if not one["ran"] else ""
            screen.line(f"  #{one['id']}  {local(one['ts'])}  {safe(one['summary'])}")
            screen.line(f"      {safe(one['what'])}{cut}{never}")
