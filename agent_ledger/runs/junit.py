"""A verdict as JUnit XML, in the form that Jenkins and Surefire agree on: one case for the run, one for each call."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from .model import CallSeen
from .verdict import CONTRADICTED, FAILED, INCOMPLETE, SUCCESS, TOOL_ERRORS, Verdict

_FAILURES = (FAILED, INCOMPLETE, CONTRADICTED)
_SPOILED = "failed; does not fail the run"
# What XML 1.0 has no way to write, not even as a reference.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document(verdict: Verdict) -> str:
    """The report. ``verdict``: cleaned (see report.clean). A failed call fails its case only where tool errors were to
    fail the run: a CI server takes any failed case for a failed build."""
    suite = Element("testsuite", name="hermes run")
    properties = SubElement(suite, "properties")
    for name, value in _properties(verdict):
        SubElement(properties, "property", name=name, value=_legal(value))
    _run(suite, verdict)
    for number, call in enumerate(verdict.calls, 1):
        _call(suite, number, call, verdict)
    cases = suite.findall("testcase")
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    top = Element("testsuites", name="hermes run")
    for element in (top, suite):
        for name, many in counts.items():
            element.set(name, str(many))
        element.set("time", _seconds(verdict.duration_ms))
    top.append(suite)
    indent(top)
    # In plain ASCII, so that it is right in any encoding in which it may be printed; and without what GitHub would take
    # for a command there: "::" where a line begins, and "##[" anywhere.
    body = tostring(top, encoding="us-ascii", xml_declaration=False).decode("ascii")
    body = re.sub(r"(?m)^(\s*):", r"\1&#58;", body).replace("##[", "&#35;#[")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _run(suite: Element, verdict: Verdict) -> None:
    case = SubElement(suite, "testcase", classname="hermes", name="run", time=_seconds(verdict.duration_ms))
    why = _legal("\n".join(verdict.reasons))
    if verdict.outcome != SUCCESS:
        kind = "failure" if verdict.outcome in _FAILURES else "error"
        first = _legal(verdict.reasons[0]) if verdict.reasons else verdict.outcome
        SubElement(case, kind, type=verdict.outcome, message=f"{verdict.outcome}: {first}").text = why
    out = verdict.text if verdict.outcome == SUCCESS or not why else f"{verdict.text}\n"
    SubElement(case, "system-out").text = _legal(out)
    if verdict.outcome == SUCCESS and why:
        SubElement(case, "system-err").text = why


def _call(suite: Element, number: int, call: CallSeen, verdict: Verdict) -> None:
    case = SubElement(
        suite, "testcase", classname=f"hermes.tools.{_legal(call.name)}", name=f"{number} {_legal(call.name)}",
        time=_seconds(call.duration_ms),
    )  # fmt: skip
    if call.state == "ok":
        return
    if call.state == "unfinished":
        message = "no result: the stream has the call and not its end"
        if verdict.outcome == SUCCESS:
            SubElement(case, "skipped", message=message)
        else:
            SubElement(case, "error", type="unfinished", message=message)
    elif TOOL_ERRORS in verdict.fail_on:
        SubElement(case, "failure", type="tool error", message="the tool failed").text = _legal(call.output)
    else:
        SubElement(case, "skipped", message=_SPOILED)
        SubElement(case, "system-err").text = _legal(call.output)


def _properties(verdict: Verdict) -> list[tuple[str, str]]:
    found = [
        ("outcome", verdict.outcome), ("exit_code", str(verdict.exit_code)), ("session_id", verdict.session_id),
        ("model", verdict.model), ("calls", str(verdict.called)), ("unfinished", str(verdict.unfinished_count)),
        ("unreadable", str(verdict.unreadable)), ("foreign", str(verdict.foreign)), ("unknown", str(verdict.unknown)),
    ]  # fmt: skip
    return found + [(f"tokens.{name}", str(many)) for name, many in verdict.tokens.items()]


def _legal(text: str) -> str:
    return _ILLEGAL.sub("", text)


def _seconds(milliseconds: float | None) -> str:
    return f"{(milliseconds or 0) / 1000:.3f}"
