"""The verdict over a run: what its end record, its process and the ledger say, and where they disagree. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import CallSeen, Facts, Result, ToolStats

SUCCESS = "success"
FAILED = "failed"
INCOMPLETE = "incomplete"
INTERRUPTED = "interrupted"
RETRY_LATER = "retry_later"
CONTRADICTED = "contradicted"
NO_STREAM = "no_stream"

GHOSTS = "ghosts"
BLOCKED = "blocked"
TOOL_ERRORS = "tool-errors"
NO_TOOLS = "no-tools"
NO_TEXT = "no-text"
UNKNOWN_EVENTS = "unknown-events"
FAIL_ON = (GHOSTS, BLOCKED, TOOL_ERRORS, NO_TOOLS, NO_TEXT, UNKNOWN_EVENTS)
DEFAULT_FAIL_ON = frozenset((GHOSTS,))

EXIT_RETRY = 75  # EX_TEMPFAIL
EXIT_CONFIG = 78  # EX_CONFIG
EXIT_INTERRUPTED = 130
_PASSED_ON = (2, EXIT_RETRY, EXIT_CONFIG, EXIT_INTERRUPTED)
# A process that died of SIGINT or SIGTERM, as Python and as a shell say it.
_STOPPED = (EXIT_INTERRUPTED, -2, -15, 143)
_OUTCOMES = {0: SUCCESS, EXIT_INTERRUPTED: INTERRUPTED, EXIT_RETRY: RETRY_LATER}
_EXITS = {SUCCESS: 0, INTERRUPTED: EXIT_INTERRUPTED, RETRY_LATER: EXIT_RETRY, NO_STREAM: 2}


@dataclass(frozen=True, slots=True)
class LedgerCall:
    """A call of the ledger that is a finding. ``why``: what makes it one."""

    id: int
    tool: str
    summary: str
    status: str
    session_id: str
    why: str


@dataclass(frozen=True, slots=True)
class LedgerFindings:
    """What the ledger knows of a run.

    ``calls``: its rows; ``changed``: those that are not known to have had no effect. ``only_stream``, ``only_ledger``:
    tool -> calls that the other one lacks. ``trouble``: why the ledger could not be asked, '' where it could.
    """

    path: str
    known: bool = False
    calls: int = 0
    changed: int = 0
    ghosts: tuple[LedgerCall, ...] = ()
    blocked: tuple[LedgerCall, ...] = ()
    only_stream: dict[str, int] = field(default_factory=dict)
    only_ledger: dict[str, int] = field(default_factory=dict)
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of the run.

    ``exit_code``: what the command leaves with; ``record_code``, ``process_rc``: what the record and the process said,
    None where they said nothing. ``answer_cut``: the answer is longer than ``text``.
    """

    outcome: str
    reasons: tuple[str, ...]
    exit_code: int
    record_code: int | None = None
    process_rc: int | None = None
    session_id: str = ""
    model: str = ""
    text: str = ""
    answer_cut: bool = False
    tokens: dict[str, int] = field(default_factory=dict)
    duration_ms: float | None = None
    tools: dict[str, ToolStats] = field(default_factory=dict)
    calls: tuple[CallSeen, ...] = ()
    unfinished: tuple[str, ...] = ()
    unfinished_count: int = 0
    pairing: str = "id"
    unreadable: int = 0
    foreign: int = 0
    unknown: int = 0
    after_result: int = 0
    ledger: LedgerFindings | None = None
    fail_on: frozenset[str] = DEFAULT_FAIL_ON

    @property
    def called(self) -> int:
        return sum(stats.calls for stats in self.tools.values())


def judge(
    facts: Facts,
    process_rc: int | None = None,
    ledger: LedgerFindings | None = None,
    fail_on: frozenset[str] = DEFAULT_FAIL_ON,
    started_here: bool = False,
) -> Verdict:
    """The verdict. ``process_rc``: as Python has it, negative for a signal; None where nobody knows it.

    ``started_here``: the process was ours, so that without any event its own exit code is passed on.
    """
    record = facts.records[-1] if facts.records else None
    outcome, exit_code, reasons = _end(facts, record, process_rc, started_here)
    asked, warnings = _asked(facts, record, ledger, fail_on)
    if outcome == SUCCESS and asked:
        outcome, exit_code = FAILED, 1
    return Verdict(
        outcome=outcome,
        reasons=tuple(reasons + asked + warnings),
        exit_code=exit_code,
        record_code=record.code if record else None,
        process_rc=process_rc,
        session_id=(record.session_id if record else "") or facts.session_id,
        model=facts.model,
        text=record.text if record else "",
        answer_cut=record is not None and record.cut,
        tokens=record.tokens if record else {},
        duration_ms=record.duration_ms if record else None,
        tools=facts.tools,
        calls=tuple(facts.calls),
        unfinished=tuple(facts.unfinished),
        unfinished_count=facts.unfinished_count,
        pairing=facts.pairing,
        unreadable=facts.unreadable,
        foreign=facts.foreign,
        unknown=facts.unknown,
        after_result=facts.after_result,
        ledger=ledger,
        fail_on=fail_on,
    )


def _end(
    facts: Facts, record: Result | None, process_rc: int | None, started_here: bool
) -> tuple[str, int, list[str]]:
    """(outcome, exit code, reasons) of record and process alone."""
    process = f"the process ended with {process_rc}" if process_rc is not None else ""
    if not facts.events:
        lines = facts.foreign + facts.unreadable
        what = f"no line of {lines} is an event" if lines else "the input is empty"
        reasons = [f"{what}: was the run started with --format stream-json?", *([process] if process else [])]
        if not started_here:
            return NO_STREAM, 2, reasons
        return NO_STREAM, process_rc if process_rc is not None and process_rc in _PASSED_ON else 1, reasons
    if record is None:
        reasons = ["the stream has no result record: the run did not get to its end, or the stream was cut"]
        return INCOMPLETE, 1, reasons + ([process] if process else [])
    contradictions = _contradictions(facts, record, process_rc)
    if contradictions:
        return CONTRADICTED, 1, contradictions
    if record.code is None:
        said = f"the record's exit_code is {record.written}, no integer"
        said = said if record.written else "the record has no exit_code"
        return FAILED, 1, [said, *_failure(record, process_rc)[1:]]
    outcome = _OUTCOMES.get(record.code, FAILED)
    if outcome == SUCCESS:
        return SUCCESS, 0, []
    exit_code = EXIT_CONFIG if record.code == EXIT_CONFIG else _EXITS.get(outcome, 1)
    return outcome, exit_code, _failure(record, process_rc)


def _contradictions(facts: Facts, record: Result, process_rc: int | None) -> list[str]:
    """Where the evidence disagrees; both sides are named."""
    found = [
        f"a result record gives {' and '.join(one.twice)} twice with different values"
        for one in facts.records if one.twice
    ]  # fmt: skip
    if len(facts.records) > 1:
        told = ", then ".join(f"{_said(one)} (session {one.session_id or 'not named'})" for one in facts.records)
        found.append(f"{facts.results} result records disagree: {told}")
    if record.code == 0:
        if record.error:
            found.append(f"the record says exit_code 0, and error: {record.error}")
        found += [f"the record says exit_code 0, and {flag}" for flag in record.flags]
        if process_rc not in (None, 0):
            found.append(f"the record says exit_code 0, the process ended with {process_rc}")
    elif record.code is not None and process_rc == 0:
        found.append(f"the record says {_said(record)}, the process ended with 0")
    return found


def _failure(record: Result, process_rc: int | None) -> list[str]:
    """Why a run failed, in the words of its record; the process's code where it is another one."""
    reasons = [f"the record says exit_code {record.written}"]
    if record.error:
        reasons.append(f"error: {record.error}")
    reasons += [f"the record says {flag}" for flag in record.flags]
    agrees = process_rc in (None, record.code) or (record.code == EXIT_INTERRUPTED and process_rc in _STOPPED)
    if not agrees:
        reasons.append(f"the process ended with {process_rc}")
    return reasons


def _said(record: Result) -> str:
    code = f"exit_code {record.written}" if record.written else "no exit_code"
    return f"{code} and an error" if record.error else code


def _asked(
    facts: Facts, record: Result | None, ledger: LedgerFindings | None, fail_on: frozenset[str]
) -> tuple[list[str], list[str]]:
    """(what ``fail_on`` makes a failure, what is only a warning)."""
    errors, called = facts.errors, facts.called
    ghosts = len(ledger.ghosts) if ledger is not None else 0
    blocked = len(ledger.blocked) if ledger is not None else 0
    empty = record is not None and not record.text.strip()
    found = {
        GHOSTS: f"{_calls(ghosts)} in the ledger without a confirmed end" if ghosts else "",
        BLOCKED: f"{_calls(blocked)} refused, says the ledger" if blocked else "",
        TOOL_ERRORS: f"{errors} of {_calls(called)} failed" if errors else "",
        NO_TOOLS: "" if called else "no tool was called",
        NO_TEXT: "the answer is empty" if empty else "",
        UNKNOWN_EVENTS: f"{facts.unknown} events of unknown types" if facts.unknown else "",
    }
    asked = [f"{text} (--fail-on {what})" for what, text in found.items() if text and what in fail_on]
    warnings = [found[what] for what in (GHOSTS, BLOCKED) if found[what] and what not in fail_on]
    if called and errors == called and TOOL_ERRORS not in fail_on:
        warnings.append("every tool call failed" if called > 1 else "the only tool call failed")
    if ledger is not None and ledger.trouble:
        warnings.append(ledger.trouble)
    elif ledger is not None and not ledger.known and ledger.only_stream:
        warnings.append(
            "the ledger has no call of this run, and the stream has some that change something: was the plugin enabled?"
        )
    elif BLOCKED in fail_on and (ledger is None or not ledger.known):
        warnings.append("refused calls cannot be known: the ledger has no call of this run")
    return asked, warnings


def _calls(count: int) -> str:
    return f"{count} call" if count == 1 else f"{count} calls"
