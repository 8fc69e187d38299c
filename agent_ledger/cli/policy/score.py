"""``policy score CORPUS``: how well a policy tells dangerous calls from harmless ones, on cases with known answers."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import UsageError
from ...home import PLUGIN, data_folder
from ...policy import judge as judgement
from ...policy.decide import Decision, decide
from ...policy.rules import Called, Policy
from ...policy.scope import World
from ...policy.session import Session
from .. import exits, where
from ..answer import Answer
from ..output import Screen
from ..text import plural, safe
from . import pack

SHOWS = ("block", "allow", "all")
# Where the cases of a corpus take place: no file of this machine is looked at.
HOME, PROJECT = "/home/dev", "/home/dev/project"
_HERMES = f"{HOME}/.hermes"
WORLD = World(HOME, PROJECT, PROJECT, guarded=(data_folder(_HERMES), f"{_HERMES}/plugins/{PLUGIN}"), hermes=_HERMES)
_MOST_LINE = 4_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """One case. ``calls``: (tool, arguments), one for a single call; ``dangerous``: the last of them must be
    refused."""

    name: str
    calls: tuple[tuple[str, Any], ...]
    dangerous: bool
    group: str
    technique: str
    why: str
    contested: bool
    is_session: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case. ``early``: an earlier, harmless step was refused; ``rule``: of the first refusal."""

    case: Case
    refused: bool
    early: bool
    rule: str
    failed: bool = False  # a step could not be judged, so it would have run

    @property
    def right(self) -> bool:
        return self.refused == self.case.dangerous


def run(options: argparse.Namespace) -> Answer:
    home = where.home_of(options.ledger_home)
    chosen = pack.chosen(home, where.settings_of(home), options.ledger_pack)
    least, most = _percent(options.ledger_min_recall, "--min-recall"), _percent(options.ledger_max_false, "--max-false")
    if options.ledger_show not in (None, *SHOWS):
        raise UsageError(f"--show {safe(options.ledger_show)!r} is unknown; it takes {', '.join(SHOWS)}")
    results: list[Result] = []
    seconds: list[float] = []
    judgement.judge("terminal", {"command": "true"}, _fresh())  # the tables are built once, before anything is measured
    for case in cases(options.ledger_corpus):
        results.append(_judge(case, chosen.policy, seconds))
    if not results:
        raise UsageError(f"{safe(options.ledger_corpus)} holds no case. It takes one JSON object a line")
    single = [one for one in results if not one.case.is_session]
    overall = _rates(single)
    wrong = [one for one in results if not one.right and _is_shown(one, options.ledger_show)]
    ordered = sorted(seconds)
    data: dict[str, Any] = {
        "corpus": options.ledger_corpus,
        "policy": chosen.as_json(),
        "calls": overall,
        "terminal": _rates([one for one in single if one.case.calls[0][0] == "terminal"]),
        "other_tools": _rates([one for one in single if one.case.calls[0][0] != "terminal"]),
        "sessions": _rates([one for one in results if one.case.is_session])
        | {"early": sum(one.early for one in results if one.case.is_session and one.case.dangerous)},
        "failed": sum(one.failed for one in results),
        "contested": sum(one.case.contested for one in results),
        "by_class": _grouped(single, "group"),
        "by_technique": _grouped(single, "technique"),
        "microseconds": {"median": _at(ordered, 0.5), "p99": _at(ordered, 0.99), "decisions": len(ordered)},
        "wrong": [
            {"id": one.case.name, "expected": "block" if one.case.dangerous else "allow", "rule": one.rule or None,
             "class": one.case.group, "technique": one.case.technique, "contested": one.case.contested,
             "calls": [{"tool": tool, "args": args} for tool, args in one.case.calls], "why": one.case.why}
            for one in wrong
        ],
    }  # fmt: skip
    data["short"] = _short(overall, least, most)

    def show(screen: Screen) -> None:
        _show(screen, data, chosen)

    return Answer(exits.PROBLEM if data["short"] else exits.OK, data, show)


def cases(path: str) -> Iterator[Case]:
    """The cases of a file, one JSON object a line. Raises UsageError, which names the line."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            for number, line in enumerate(iter(lambda: file.readline(_MOST_LINE), ""), 1):
                if line.strip():
                    yield _case(line, f"{safe(path)} line {number}")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"{safe(path)} cannot be read ({error}). Give a corpus: one JSON object a line") from error


def _case(line: str, place: str) -> Case:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place} is not JSON ({error}). Each line is one case") from error
    if not isinstance(found, dict):
        raise UsageError(f"{place} is no JSON object. Each line is one case")
    is_session = "calls" in found
    listed, key = (found["calls"], "expect_last") if is_session else ([found], "expect")
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{place}: 'calls' is no list of calls, each with a tool and args")
    calls = []
    for one in listed:
        if not isinstance(one, dict) or not isinstance(one.get("tool"), str) or not isinstance(one.get("args"), dict):
            raise UsageError(f"{place}: a call needs a 'tool' and 'args', an object")
        calls.append((one["tool"], one["args"]))
    if found.get(key) not in ("block", "allow"):
        raise UsageError(f"{place}: {key!r} is {found.get(key)!r}; block or allow is expected")
    dangerous = found[key] == "block"
    group = found.get("class") if dangerous else found.get("near") or found.get("class")
    return Case(
        str(found.get("id", place)), tuple(calls), dangerous, str(group or "-"), str(found.get("technique") or "-"),
        str(found.get("why", "")), found.get("contested") is True, is_session,
    )  # fmt: skip


def _fresh() -> Session:
    session = Session()
    session.world = WORLD
    return session


def _judge(case: Case, policy: Policy, seconds: list[float]) -> Result:
    """Judge a case as a conversation of its own; a call that is refused leaves nothing in it."""
    session = _fresh()
    refused, rule, failed = [], "", False
    for tool, args in case.calls:
        started = time.perf_counter()
        try:
            found = judgement.judge(tool, args, session)
            decision = decide(found.effects, found.commands, Called(tool, args, found.paths), policy)
            if not decision.refuses:
                session.delta()
        except Exception:
            decision, failed = Decision(), True
        session.forget()
        seconds.append(time.perf_counter() - started)
        refused.append(decision.refuses)
        rule = rule or (decision.rule if decision.refuses else "")
    return Result(case, any(refused), any(refused[:-1]), rule, failed)


def _rates(results: list[Result]) -> dict[str, Any]:
    bad = [one for one in results if one.case.dangerous]
    good = [one for one in results if not one.case.dangerous]
    stopped, false = sum(one.refused for one in bad), sum(one.refused for one in good)
    return {
        "dangerous": len(bad), "stopped": stopped, "recall": _share(stopped, len(bad)),
        "harmless": len(good), "false_alarms": false, "false_rate": _share(false, len(good)),
    }  # fmt: skip


def _share(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 2) if whole else None


def _grouped(results: list[Result], column: str) -> list[dict[str, Any]]:
    groups: dict[str, list[Result]] = {}
    for one in results:
        groups.setdefault(getattr(one.case, column), []).append(one)
    return [{"name": name, **_rates(groups[name])} for name in sorted(groups)]


def _at(ordered: list[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e6, 1)


def _is_shown(result: Result, asked: str | None) -> bool:
    return asked == "all" or asked == ("block" if result.case.dangerous else "allow")


def _percent(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise UsageError(f"{option} {safe(text)!r} is no percentage from 0 to 100, such as 92")
    return number


def _short(overall: dict[str, Any], least: float | None, most: float | None) -> list[str]:
    """What falls short of what was asked for."""
    found = []
    if least is not None and (overall["recall"] is None or overall["recall"] < least):
        found.append(f"recall is below {least:g} %")
    if most is not None and overall["false_rate"] is not None and overall["false_rate"] > most:
        found.append(f"false alarms are above {most:g} %")
    return found


def _show(screen: Screen, data: dict[str, Any], chosen: pack.Pack) -> None:
    for one in data["wrong"]:
        contested = ", contested" if one["contested"] else ""
        rule = f", by {safe(one['rule'])}" if one["rule"] else ""
        kind = f"{safe(one['class'])}/{safe(one['technique'])}{contested}"
        calls = safe(json.dumps(one["calls"], ensure_ascii=False))[:300]
        screen.line(f"{safe(one['id'])} [{kind}] {one['expected']} was expected{rule}: {calls}")
    if data["wrong"]:
        screen.line()
    for title, key in (("CLASS", "by_class"), ("TECHNIQUE", "by_technique")):
        screen.table(("STOPPED", "OF", "FALSE", "OF", title), [(*_cells(one), safe(one["name"])) for one in data[key]])
        screen.line()
    screen.line(f"policy     {chosen.said}")
    for title, key in (("terminal", "terminal"), ("others", "other_tools"), ("sessions", "sessions")):
        stopped, of, false, harmless = _cells(data[key])
        screen.line(f"{title:<10} dangerous stopped {stopped} of {of}, harmless stopped {false} of {harmless}")
    if data["sessions"]["early"]:
        screen.line(f"early      {plural(data['sessions']['early'], 'dangerous session')} refused at a harmless step")
    if data["failed"]:
        screen.line(f"failed     {plural(data['failed'], 'case')} could not be judged, so they would have run")
    if data["contested"]:
        screen.line(f"contested  {plural(data['contested'], 'case')} could go either way")
    took = data["microseconds"]
    screen.line(f"time       median {took['median']:.0f} microseconds a decision, 99th percentile {took['p99']:.0f}")
    for text in data["short"]:
        screen.line(f"short      {text}")


def _cells(rates: dict[str, Any]) -> tuple[str, str, str, str]:
    recall, false = ("-" if rates[key] is None else f"{rates[key]:.1f} %" for key in ("recall", "false_rate"))
    return recall, str(rates["dangerous"]), false, str(rates["harmless"])
