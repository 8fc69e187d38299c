"""A verdict as Markdown: what became of the run, on one page. Nothing that a tool or a model wrote is markup in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .verdict import SUCCESS, LedgerCall, LedgerFindings, Verdict

MAX_ANSWER = 20_000
_MOST_LINES = 50
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~&:@=$-])")
_COMMAND = re.compile(r"^(\s*)::")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")


def document(verdict: Verdict) -> str:
    """The page. ``verdict``: cleaned (see report.clean)."""
    lines = [f"## Hermes run: {_plain(verdict.outcome)}", ""]
    lines += [f"- {_plain(reason)}" for reason in verdict.reasons[:_MOST_LINES]]
    lines += _more(len(verdict.reasons)) + ["", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in _facts(verdict) if value]
    lines.append("")
    if verdict.tools:
        lines += ["| tool | calls | errors | unfinished | time |", "|---|---:|---:|---:|---:|"]
        ranked = sorted(verdict.tools.items(), key=lambda item: -item[1].calls)
        lines += [
            f"| {_plain(name)} | {one.calls} | {one.errors} | {one.unfinished} | {_time(one.duration_ms)} |"
            for name, one in ranked[:_MOST_LINES]
        ]
        lines += ["", *_more(len(ranked))]
    if verdict.ledger is not None:
        lines += _ledger(verdict.ledger)
    if verdict.text.strip():
        shown = verdict.text[:MAX_ANSWER]
        lines += ["<details><summary>answer</summary>", "", *_fenced(shown), "", "</details>", ""]
        if verdict.answer_cut or len(shown) < len(verdict.text):
            lines += ["The answer is longer than this; the session's record has all of it.", ""]
    return "\n".join(lines)


def _facts(verdict: Verdict) -> list[tuple[str, str]]:
    counts = {
        "calls without a result": verdict.unfinished_count, "unreadable lines": verdict.unreadable,
        "lines that are no events": verdict.foreign, "events of unknown types": verdict.unknown,
        "events after the result": verdict.after_result,
    }  # fmt: skip
    return [
        ("exit code", str(verdict.exit_code)),
        ("session", _plain(verdict.session_id)),
        ("model", _plain(verdict.model)),
        ("duration", _time(verdict.duration_ms) if verdict.duration_ms is not None else ""),
        ("tokens", ", ".join(f"{_plain(name)} {many}" for name, many in verdict.tokens.items())),
        ("tool calls", str(verdict.called)),
        *((name, str(many) if many else "") for name, many in counts.items()),
    ]


def _ledger(ledger: LedgerFindings) -> list[str]:
    lines: list[str] = []
    for title, calls in (("Not confirmed", ledger.ghosts), ("Refused", ledger.blocked)):
        if calls:
            lines += [f"**{title}, says the ledger**", "", *_list(map(_call, calls[:_MOST_LINES]))]
            lines += [*_more(len(calls)), ""]
    for title, tools in (("Only in the stream", ledger.only_stream), ("Only in the ledger", ledger.only_ledger)):
        if tools:
            lines += [f"**{title}:** {_counted(tools)}", ""]
    return lines


def _call(call: LedgerCall) -> str:
    return f"{call.id}: {_plain(call.summary or call.tool)} ({_plain(call.why)})"


def _counted(tools: Mapping[str, int]) -> str:
    return ", ".join(f"{_plain(name)} {many}" for name, many in list(tools.items())[:_MOST_LINES])


def _list(texts: Iterable[str]) -> list[str]:
    return [f"- {text}" for text in texts]


def _more(total: int) -> list[str]:
    return [f"and {total - _MOST_LINES} more"] if total > _MOST_LINES else []


def _fenced(text: str) -> Sequence[str]:
    """``text`` as a block that it cannot end itself: its fence is longer than any run of backticks in it. Nor does it
    hold what GitHub would take for a command where the page is printed."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    shown = [_UNPRINTABLE.sub("", line).replace("##[", "## [") for line in text.splitlines()]
    return [f"{fence}text", *(_COMMAND.sub(r"\1: :", line) for line in shown), fence]


def _plain(text: str) -> str:
    """``text`` as one line in which every character of Markdown and HTML stands for itself."""
    return _MARKUP.sub(r"\\\1", _UNPRINTABLE.sub(" ", text))


def _time(milliseconds: float | None) -> str:
    return f"{(milliseconds or 0) / 1000:.1f} s"


def title(verdict: Verdict) -> str:
    """The verdict in one line of plain text."""
    calls = f"{verdict.called} call" + ("s" if verdict.called != 1 else "")
    first = f": {verdict.reasons[0]}" if verdict.reasons and verdict.outcome != SUCCESS else ""
    return f"{verdict.outcome}, exit {verdict.exit_code}, {calls}{first}"
