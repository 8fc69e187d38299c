"""The rules of the verdict."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from agent_ledger.runs.verdict import LedgerCall, LedgerFindings, Verdict
from tests.runs.streams import done, event, init, result, use, verdict
from tests.simhost import PLUGIN_FOLDER

SCORE = PLUGIN_FOLDER.parent / "shared" / "runs"


def end(one: Verdict) -> tuple[str, int]:
    return one.outcome, one.exit_code


@pytest.mark.parametrize(("rc", "here", "exit_code"), [
    (None, False, 2), (0, False, 2), (75, False, 2), (0, True, 1), (2, True, 2), (75, True, 75), (78, True, 78),
    (130, True, 130), (-9, True, 1), (None, True, 1),
])  # fmt: skip
def test_without_events_there_is_no_stream(rc: int | None, here: bool, exit_code: int) -> None:
    """A run that we started passes on the process's own word for why; a file says nothing."""
    assert end(verdict(b"a banner\n{\n", rc=rc, started_here=here)) == ("no_stream", exit_code)


@pytest.mark.parametrize("rc", [None, 0, 1, 2, 75, 78, 130, -9])
def test_events_without_a_result_are_incomplete(rc: int | None) -> None:
    """Whatever the process said."""
    assert end(verdict(init(), use(), rc=rc)) == ("incomplete", 1)


@pytest.mark.parametrize(("code", "outcome", "exit_code"), [
    (0, "success", 0), (1, "failed", 1), (2, "failed", 1), (75, "retry_later", 75), (78, "failed", 78), (130, "interrupted", 130),
    (256, "failed", 1), (-1, "failed", 1), (10**30, "failed", 1), (False, "failed", 1), ("0", "failed", 1), (0.0, "failed", 1),
    (None, "failed", 1), (..., "failed", 1), ([0], "failed", 1), ("75", "failed", 1), (True, "failed", 1),
])  # fmt: skip
def test_the_outcome_is_that_of_the_record(code: Any, outcome: str, exit_code: int) -> None:
    """Only an integer is an exit code."""
    assert end(verdict(init(), result(exit_code=code))) == (outcome, exit_code)


@pytest.mark.parametrize(("code", "rc", "outcome"), [
    (0, 1, "contradicted"), (0, -15, "contradicted"), (0, 130, "contradicted"), (1, 0, "contradicted"), (75, 0, "contradicted"),
    (130, 0, "contradicted"), (78, 0, "contradicted"), (1, 130, "failed"), (1, 75, "failed"), (130, 1, "interrupted"),
    (75, 1, "retry_later"), (130, -2, "interrupted"), (130, -15, "interrupted"), (130, 143, "interrupted"), (..., 0, "failed"),
])  # fmt: skip
def test_record_and_process(code: Any, rc: int, outcome: str) -> None:
    """Success on one side and failure on the other is a contradiction; of two failures the record's counts."""
    assert verdict(init(), result(exit_code=code), rc=rc).outcome == outcome


def test_a_contradiction_names_both_sides() -> None:
    """Who reads it need not open the stream."""
    [reason] = verdict(init(), result(), rc=3).reasons
    assert "exit_code 0" in reason and "ended with 3" in reason


def test_another_code_of_the_process_is_a_reason_unless_it_says_the_same() -> None:
    """A process that died of its signal agrees with 130."""
    assert "the process ended with 1" in verdict(init(), result(exit_code=130), rc=1).reasons
    assert not [text for text in verdict(init(), result(exit_code=130), rc=-15).reasons if "process" in text]


@pytest.mark.parametrize("name", ["error", "failed", "partial", "interrupted", "is_error"])
@pytest.mark.parametrize(("value", "outcome"), [
    (False, "success"), (None, "success"), (0, "success"), ("", "success"), ([], "success"), ({}, "success"),
    (True, "contradicted"), ("false", "contradicted"), ([0], "contradicted"), ({"a": 0}, "contradicted"), (1, "contradicted"),
])  # fmt: skip
def test_success_needs_every_word_for_failure_to_be_empty(name: str, value: object, outcome: str) -> None:
    """A field that holds anything contradicts exit_code 0."""
    assert verdict(init(), result(**{name: value})).outcome == outcome


@pytest.mark.parametrize("field", [{"success": False}, {"Error": "x"}, {"completed": False}, {"text": "FAILED: error"}, {"a": {"error": 1}}])
def test_other_words_for_failure_are_not_guessed(field: dict[str, Any]) -> None:
    """Only the record's own top-level fields count, and only those of the contract."""
    assert verdict(init(), result(**field)).outcome == "success"


@pytest.mark.parametrize(("first", "second", "outcome"), [
    ({}, {}, "success"), ({"text": "A"}, {"text": "B"}, "success"), ({"exit_code": 1}, {"exit_code": 0}, "contradicted"),
    ({"exit_code": 1, "error": "a"}, {"exit_code": 1, "error": "b"}, "failed"), ({}, {"error": "x"}, "contradicted"),
    ({"exit_code": ...}, {}, "contradicted"), ({"exit_code": 0.0}, {}, "contradicted"), ({"session_id": "other"}, {}, "contradicted"),
    ({"exit_code": 1, "error": ""}, {"exit_code": 1}, "failed"),
])  # fmt: skip
def test_two_records(first: dict[str, Any], second: dict[str, Any], outcome: str) -> None:
    """The last stands where they agree in code, session and whether there is an error."""
    assert verdict(init(), result(**first), result(**second)).outcome == outcome
    assert verdict(init(), result(**second), result(**first), result(**second)).outcome == outcome


@pytest.mark.parametrize("pair", [
    b'"exit_code": 1, "exit_code": 0', b'"exit_code": false, "exit_code": 0', b'"exit_code": 0.0, "exit_code": 0',
    b'"exit_code": 0, "exit_code": 1, "exit_code": 0', b'"exit_code": 0, "error": "x", "error": null',
    b'"exit_code": 0, "exit\\u005fcode": 1, "exit_code": 0', b'"exit_code": 0, "session_id": "a", "session_id": "b"',
    b'"exit_code": 0, "failed": true, "failed": false',
])  # fmt: skip
def test_a_deciding_key_with_two_values_contradicts_itself(pair: bytes) -> None:
    """Also where another record follows that does not."""
    record = b'{"type": "result", ' + pair + b"}\n"
    assert verdict(init(), record).outcome == verdict(init(), record, result()).outcome == "contradicted"


def test_the_same_value_twice_and_other_keys_decide_nothing() -> None:
    """The last value of a text is the answer."""
    record = b'{"type": "result", "exit_code": 0, "exit_code": -0, "text": "a", "text": "b", "error": {}, "error": {}}\n'
    found = verdict(init(), record)
    assert (found.outcome, found.text) == ("success", "b")


def test_half_a_record_does_not_undo_a_whole_one() -> None:
    """Nor does it count itself."""
    assert verdict(init(), result(), result(exit_code=1)[:-2]).outcome == "success"
    assert verdict(init(), result()[:-2]).outcome == "incomplete"


def test_a_whole_record_without_a_line_end_counts() -> None:
    """The last newline may be missing."""
    assert verdict(init(), result()[:-1]).outcome == "success"


def test_tool_failures_are_a_warning_or_what_was_asked() -> None:
    """All failed: a warning. With --fail-on tool-errors any failed call fails the run."""
    stream = (init(), use(), done(is_error=True), result())
    assert end(verdict(*stream)) == ("success", 0) and verdict(*stream).reasons == ("the only tool call failed",)
    assert end(verdict(*stream, fail_on=frozenset({"tool-errors"}))) == ("failed", 1)
    assert verdict(init(), use(), done(is_error=True), use(), done(), result()).reasons == ()


GHOST = LedgerCall(1, "cronjob", "cronjob create", "PENDING", "s", "no outcome")
KNOWN = LedgerFindings("ledger.db", known=True, calls=1, ghosts=(GHOST,), blocked=(GHOST,))


@pytest.mark.parametrize(("word", "stream", "ledger"), [
    ("ghosts", (init(), result()), KNOWN), ("blocked", (init(), result()), KNOWN),
    ("tool-errors", (init(), use(), done(is_error=True), use(), done(), result()), None),
    ("no-tools", (init(), result()), None), ("no-text", (init(), result(text=" \n")), None),
    ("unknown-events", (init(), event("usage"), result()), None),
])  # fmt: skip
def test_each_thing_to_fail_on(word: str, stream: tuple[bytes, ...], ledger: LedgerFindings | None) -> None:
    """It fails a finished run, is named with its option, and is nothing where it was not asked for."""
    found = verdict(*stream, ledger=ledger, fail_on=frozenset({word}))
    assert end(found) == ("failed", 1) and f"(--fail-on {word})" in found.reasons[0]
    assert end(verdict(*stream, ledger=ledger, fail_on=frozenset())) == ("success", 0)


def test_what_else_is_a_failure_does_not_hide_the_real_outcome() -> None:
    """An interrupted run with a ghost is interrupted, and the ghost is among the reasons."""
    found = verdict(init(), result(exit_code=130), ledger=KNOWN)
    assert end(found) == ("interrupted", 130) and any("--fail-on ghosts" in text for text in found.reasons)


def test_odd_numbers_are_left_out() -> None:
    """Tokens and durations that no run can have do not reach the report."""
    found = verdict(init(), result(tokens={"input": 10**40, "output": "x", "total": 3, "a": 1}, duration_ms=1e308))
    assert (found.tokens, found.duration_ms) == ({"total": 3}, None)


@pytest.mark.skipif(not (SCORE / "score.py").exists(), reason="the recorded streams are not beside this checkout")
def test_the_recorded_streams_are_judged_right() -> None:
    """Real streams of several hosts, and made ones."""
    command = f"{sys.executable} -m agent_ledger.cli run check --json - FILE"
    run = [sys.executable, str(SCORE / "score.py"), "--streams", str(SCORE / "dev"), "--command", command]
    done = subprocess.run(run, cwd=PLUGIN_FOLDER, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
