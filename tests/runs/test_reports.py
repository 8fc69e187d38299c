"""Reports: right in form, and nothing in them that a tool or a model wrote can pass for something else."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from agent_ledger.runs import github, junit, report, summary
from agent_ledger.runs.verdict import LedgerCall, LedgerFindings, Verdict
from tests.runs.streams import done, event, init, result, use, verdict

HOSTILE = "x\r\n::error::owned\n##[add-mask]x\n%0A::warning::y\u2028::debug::z\x00\x1b[31m<b>|`]]>&*_[a](javascript:x)@you"
SECRET = "ghp_" + "a1B2" * 9
CALL = LedgerCall(7, HOSTILE, HOSTILE, "PENDING", "s", "no outcome")


def hostile() -> Verdict:
    """Hostile text in every place that a stream fills."""
    ledger = LedgerFindings("l.db", known=True, ghosts=(CALL,), blocked=(CALL,), only_stream={HOSTILE: 1}, trouble=HOSTILE)
    stream = [
        init(model=HOSTILE, session_id=HOSTILE), use(HOSTILE), done(HOSTILE, output=HOSTILE, is_error=True), use(HOSTILE),
        event(HOSTILE), result(text=HOSTILE, error=HOSTILE, exit_code=1, failed=HOSTILE, session_id=HOSTILE),
    ]  # fmt: skip
    return report.clean(verdict(*stream, ledger=ledger, fail_on=frozenset({"tool-errors"})))


def suite(found: Verdict) -> ET.Element:
    """The one suite of the JUnit report; its counts are checked against its cases, as a CI server would."""
    top = ET.fromstring(junit.document(report.clean(found)))  # noqa: S314
    [only] = top
    assert (top.tag, only.tag) == ("testsuites", "testsuite")
    cases = only.findall("testcase")
    for element in (top, only):
        assert int(element.attrib["tests"]) == len(cases)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.attrib[name]) == sum(case.find(tag) is not None for case in cases)
        float(element.attrib["time"])
    allowed = {"skipped", "error", "failure", "system-out", "system-err"}
    for case in cases:
        assert {"name", "classname", "time"} <= case.attrib.keys() and {child.tag for child in case} <= allowed
        assert sum(child.tag in ("skipped", "error", "failure") for child in case) <= 1
    return only


def states(found: Verdict) -> list[str]:
    return [next((child.tag for child in case if not child.tag.startswith("system")), "ok") for case in suite(found).findall("testcase")]


def test_junit_has_a_case_for_the_run_and_for_each_call() -> None:
    """Failures of tools are skipped cases while they do not fail the run: a server fails a build for any failed case."""
    stream = (init(), use(), done(), use("b"), done("b", is_error=True), use("c"), result())
    assert states(verdict(*stream)) == ["ok", "ok", "skipped", "skipped"]
    assert states(verdict(*stream, fail_on=frozenset({"tool-errors"}))) == ["failure", "ok", "failure", "error"]


@pytest.mark.parametrize(("stream", "state"), [
    ((init(), result()), "ok"), ((init(), result(exit_code=1)), "failure"), ((init(),), "failure"), ((), "error"),
    ((init(), result(exit_code=130)), "error"), ((init(), result(exit_code=75)), "error"), ((init(), result(failed=1)), "failure"),
])  # fmt: skip
def test_junit_case_of_the_run(stream: tuple[bytes, ...], state: str) -> None:
    """A run that failed is a failure; one that was not to be judged, or is to be tried again, an error."""
    assert states(verdict(*stream)) == [state]


def test_junit_of_hostile_text_is_well_formed_and_says_it() -> None:
    """What XML cannot hold is removed, the rest is text."""
    found = suite(hostile())
    assert states(hostile()) == ["failure", "failure", "error"]
    said = found.findall("testcase")[1].findtext("failure") or ""
    assert "<b>" in said and "]]>&" in said and "\x00" not in said and "\x1b" not in said


def test_github_commands_cannot_be_injected() -> None:
    """Every line begins with a command of ours, and its data has no line end."""
    text = github.commands(hostile())
    lines = text.replace("\r", "\n").splitlines(keepends=False)
    assert all(line.startswith(("::error title=", "::warning title=")) for line in text.split("\n") if line)
    assert "\r" not in text and "%250A::warning::y" in text and "%0D%0A::error::owned" in text
    assert len(lines) >= 4


def test_github_escapes_properties_and_messages() -> None:
    """As its toolkit does: % first, and : and , in properties too."""
    assert github._command("error", "a:b,c%\n", "100%\r\n:,") == "::error title=a%3Ab%2Cc%25%0A::100%25%0D%0A:,\n"


def test_markdown_shows_hostile_text_as_text() -> None:
    """No link, no markup, no table cell, no end of the answer's fence."""
    page = summary.document(hostile())
    outside, _, fenced = page.partition("```text\n")
    assert "\\<b\\>\\|\\`" in outside and "\x1b" not in page and "##[" not in page
    assert "[a](javascript" not in outside and "<b>" not in outside and fenced


@pytest.mark.parametrize("made", [report.json_text, junit.document, summary.document])
def test_no_report_on_standard_output_is_a_workflow_command(made: Any) -> None:
    """GitHub reads what a step prints: a command begins a line, blanks apart, or stands anywhere in the old form."""
    text = made(hostile())
    assert "##[" not in text
    assert not [line for line in text.replace("\r", "\n").splitlines() if line.strip().startswith("::")]


@pytest.mark.parametrize("ticks", ["```", "````\n```", "`" * 50])
def test_markdown_fence_is_longer_than_any_in_the_answer(ticks: str) -> None:
    """Whatever the answer holds stays inside of it."""
    page = summary.document(report.clean(verdict(init(), result(text=f"a\n{ticks}\n# not a heading"))))
    fence = next(line for line in page.splitlines() if line.endswith("text") and line.startswith("`"))[:-4]
    assert page.splitlines().count(fence) == 1 and fence not in ticks


@pytest.mark.parametrize("made", [report.json_text, junit.document, summary.document, github.commands])
def test_no_report_holds_a_secret(made: Any) -> None:
    """Wherever it was: redaction sees every text before it is cut or escaped."""
    long = "y " * 140 + f"password={SECRET} "
    stream = [
        init(model=SECRET), use(SECRET), done(SECRET, output=long * 3, is_error=True), use(SECRET), event(SECRET),
        result(text=f"The token is {SECRET}.", error=f"login with {SECRET} failed", exit_code=1, failed=SECRET, session_id=SECRET),
    ]  # fmt: skip
    call = LedgerCall(1, SECRET, SECRET, SECRET, SECRET, "no outcome")
    ledger = LedgerFindings("l.db", known=True, ghosts=(call,), blocked=(call,), only_stream={SECRET: 1}, only_ledger={SECRET: 1})
    found = made(report.clean(verdict(*stream, ledger=ledger, fail_on=frozenset({"tool-errors"}))))
    assert "a1B2" not in found.replace("\\", "")


def test_an_answer_that_was_cut_ends_before_half_a_secret() -> None:
    """The redactor does not know half a token."""
    found = report.clean(verdict(init(), result(text="x " * 499_990 + SECRET)))
    assert found.answer_cut and "ghp_" not in found.text


def test_json_is_ascii_and_has_the_documented_keys() -> None:
    """Lone surrogates and old workflow commands included."""
    raw = b'{"type": "result", "session_id": "s", "exit_code": 0, "text": "\\ud800 ##[error]x"}\n'
    text = report.json_text(report.clean(verdict(init(), raw)))
    keys = (
        "outcome reasons exit_code session_id model text tokens duration_ms tools unfinished pairing unreadable foreign unknown"
        " after_result ledger"
    )
    assert text.isascii() and "##[" not in text
    assert set(keys.split()) <= json.loads(text).keys()
    assert json.loads(text)["text"] == "\ufffd ##[error]x"


def test_two_tools_that_are_one_after_redaction_are_added_up() -> None:
    """No count is lost."""
    found = report.clean(verdict(init(), use("ghp_" + "b2C3" * 9), use(SECRET), result()))
    assert [stats.calls for stats in found.tools.values()] == [2]
