"""``run exec -- COMMAND``: starts a run, follows it, and gives the verdict."""

from __future__ import annotations

import argparse
import math
import os
import re
from dataclasses import replace

from ...errors import UsageError
from ...home import data_folder
from ...runs import preflight, retries
from ...runs.child import Signals
from ...runs.command import Command, parse
from ...runs.live import Live
from ...runs.model import Facts
from ...runs.runner import Attempt, Bounds, Runner
from ...runs.verdict import Verdict, judge
from .. import exits, where
from ..answer import Answer
from . import reports

_MOST_RETRIES = 100


def run(options: argparse.Namespace) -> Answer:
    command = parse(options.ledger_words)
    fail_on = reports.fail_on(options)
    reports.validate(options)
    bounds = Bounds(
        _seconds("--timeout", options.ledger_timeout) if options.ledger_timeout is not None else None,
        _seconds("--grace", options.ledger_grace),
    )
    most, first_delay = _retries(options.ledger_retry), _seconds("--retry-delay", options.ledger_retry_delay)
    if options.ledger_join not in ("auto", "none") and not os.path.exists(options.ledger_join):
        raise UsageError(f"--ledger {options.ledger_join} is not there. Give a ledger or a home, auto or none")
    variables = _home(options, command)
    live, notes = Live(), []
    if most and (note := retries.note_for(os.environ)):
        live.say(note)
        notes.append(note)
    with Signals().caught() as signals:
        if options.ledger_preflight and (why := preflight.check(command, live, signals, variables)):
            nothing = judge(Facts(), None, None, fail_on, started_here=True)
            code = exits.INTERRUPTED if signals.waiting else exits.PROBLEM
            return reports.answer(options, replace(nothing, reasons=(why,), exit_code=code))
        owners = os.path.join(data_folder(where.home_of(options.ledger_home)), "owners")
        runner = Runner(command, variables, bounds, live, signals, owners)
        earlier: list[str] = []
        for number in range(1, most + 2):
            attempt = runner.attempt(options.ledger_save)
            ledger = reports.findings(options, attempt.facts, attempt.owners, attempt.began_s)
            judged = judge(attempt.facts, attempt.evidence, ledger, fail_on, started_here=True)
            judged = replace(judged, reasons=(*judged.reasons, *_notes(attempt), *earlier))
            why = retries.why_not(judged, attempt.facts, ledger, options.ledger_retry_unsafe)
            if number > most or why:
                if why and most and judged.exit_code == exits.RETRY:
                    judged = replace(judged, reasons=(*judged.reasons, why))
                break
            seconds = retries.delay(first_delay, number)
            earlier.append(_said(number, judged))
            live.say(f"{earlier[-1]}; the next one in {seconds:g} s")
            if not retries.wait(seconds, live, signals):
                judged = replace(judged, reasons=(*judged.reasons, "interrupted while waiting to try again"),
                                 exit_code=exits.INTERRUPTED)  # fmt: skip
                break
            retries.keep(options.ledger_save, number)
        live.clear()
    return reports.answer(options, replace(judged, reasons=(*judged.reasons, *notes)), attempt.trouble)


def _notes(attempt: Attempt) -> list[str]:
    notes = list(attempt.notes)
    if attempt.produced and attempt.facts.events:
        notes.append("this host has no event stream: its events were produced by the plugin's hooks")
    return notes


def _said(number: int, verdict: Verdict) -> str:
    first = f": {verdict.reasons[0]}" if verdict.reasons else ""
    return f"attempt {number}: {verdict.outcome}, exit {verdict.exit_code}, session {verdict.session_id or '-'}{first}"


def _home(options: argparse.Namespace, command: Command) -> dict[str, str]:
    """What the run's environment gets for --home. Without one, a profile that the command chooses is the home whose
    ledger is asked."""
    if options.ledger_home is not None:
        return {"HERMES_HOME": where.home_of(options.ledger_home)}
    if command.profile:
        home = where.home_of(None)
        base = os.path.dirname(os.path.dirname(home)) if os.path.basename(os.path.dirname(home)) == "profiles" else home
        profile = os.path.join(base, "profiles", command.profile)
        if command.profile == "default":
            options.ledger_home = base
        elif re.fullmatch(r"[A-Za-z0-9._-]+", command.profile) and os.path.isdir(profile):
            options.ledger_home = profile
    return {}


def _seconds(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 10**9:
        raise UsageError(f"{option} {text} is no time. Give seconds, such as 600")
    return value


def _retries(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", text) or int(text) > _MOST_RETRIES:
        raise UsageError(f"--retry {text} is no number of retries. Give one from 0 to {_MOST_RETRIES}")
    return int(text)
