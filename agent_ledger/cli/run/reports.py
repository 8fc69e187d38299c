"""What ``run check`` and ``run exec`` do alike: their options, the join with the ledger, the reports."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from ...errors import LedgerError, NoLedger, UsageError
from ...home import ledger_path
from ...runs import github, join, junit, report, summary
from ...runs.model import Facts
from ...runs.verdict import FAIL_ON, LedgerFindings, Verdict
from ...store.reader import Reader
from .. import exits, files, where
from ..answer import Answer
from ..output import Screen
from ..text import plural, safe

_STDOUT = "-"
_MOST_REASONS = 20


def fail_on(options: argparse.Namespace) -> frozenset[str]:
    """What --fail-on asks for. Raises UsageError for a word that means nothing."""
    words = [word.strip() for word in options.ledger_fail_on.split(",")]
    asked = frozenset(word for word in words if word and word != "none")
    unknown = sorted(asked - frozenset(FAIL_ON))
    if unknown:
        raise UsageError(f"--fail-on does not know {unknown[0]}. Give some of {', '.join(FAIL_ON)}, or none")
    return asked


def validate(options: argparse.Namespace) -> None:
    """Raise UsageError for reports that cannot be written, before a run is read or started for them."""
    named = [("--json", options.ledger_report_json), ("--junit", options.ledger_junit),
             ("--summary", options.ledger_summary)]  # fmt: skip
    to_stdout = [option for option, path in named if path == _STDOUT]
    if len(to_stdout) > 1:
        raise UsageError(f"{' and '.join(to_stdout)} cannot both go to standard output. Give one of them a file")
    for option, path in named:
        if path is None or path == _STDOUT or (os.path.exists(path) and not os.path.isdir(path)):
            continue
        if not path or "\0" in path:
            raise UsageError(f"{option} needs the name of a file, or - for standard output")
        folder = os.path.dirname(path) or "."
        if os.path.isdir(path) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            raise UsageError(f"cannot write {path}: no folder that can be written to. Give another {option}")


def findings(
    options: argparse.Namespace, facts: Facts, owners: Sequence[str] = (), since_s: float | None = None
) -> LedgerFindings | None:
    """What the ledger that --ledger names says of the run; None for ``none``. Raises UsageError for one that is named
    and not there."""
    which = options.ledger_join
    if which == "none":
        return None
    if which != "auto":
        with _named(which) as reader:
            return join.findings(reader, facts, owners, since_s)
    home = where.home_of(options.ledger_home)
    try:
        with where.opened(home) as reader:
            return join.findings(reader, facts, owners, since_s)
    except NoLedger:
        return join.without(ledger_path(home), facts)
    except LedgerError as error:
        return join.without(ledger_path(home), facts, f"the ledger was not asked: {error}")


def _named(path: str) -> Reader:
    path = os.path.abspath(os.path.expanduser(path))
    return where.opened(path) if os.path.isdir(path) else Reader(path)


def answer(options: argparse.Namespace, verdict: Verdict, trouble: Sequence[str] = ()) -> Answer:
    """Write the reports, and what the command prints. A report that cannot be written makes a success a problem."""
    verdict = report.clean(verdict)
    problems = [*trouble, *_written(options, verdict)]
    code = exits.PROBLEM if problems and not verdict.exit_code else verdict.exit_code

    def show(screen: Screen) -> None:
        made = _on_stdout(options, verdict)
        if made is not None:
            screen.text(made)
        else:
            for line in _lines(verdict):
                screen.line(_tame(line))
        if options.ledger_github:
            # GitHub reads both; a program that reads a report must find nothing else.
            (screen if made is None else Screen(sys.stderr)).text(github.commands(verdict))

    for text in problems:
        print(f"agent-ledger: {_tame(safe(text))}", file=sys.stderr)
    return Answer(code, report.as_json(verdict), show)


def _written(options: argparse.Namespace, verdict: Verdict) -> list[str]:
    """Write every report that goes to a file; returns what went wrong."""
    wanted: list[tuple[str, str | None, Callable[[Verdict], str]]] = [
        ("--json", options.ledger_report_json, report.json_text),
        ("--junit", options.ledger_junit, junit.document),
        ("--summary", options.ledger_summary, summary.document),
    ]
    problems = []
    for option, path, made in wanted:
        if path is not None and path != _STDOUT:
            try:
                files.write(path, [made(verdict)], option, files.AS_USUAL)
            except (LedgerError, OSError) as error:
                problems.append(f"{option}: {error}")
    page = os.environ.get(github.SUMMARY_VARIABLE) if options.ledger_github else None
    if page:
        try:
            with open(page, "a", encoding="utf-8") as file:
                file.write(github.summary(verdict))
        except OSError as error:
            problems.append(f"--github: cannot add to {page} ({error.strerror})")
    return problems


def _on_stdout(options: argparse.Namespace, verdict: Verdict) -> str | None:
    """The report that standard output is for, None where it is for people."""
    for path, made in ((options.ledger_report_json, report.json_text), (options.ledger_junit, junit.document),
                       (options.ledger_summary, summary.document)):  # fmt: skip
        if path == _STDOUT:
            return made(verdict)
    return None


def _lines(verdict: Verdict) -> list[str]:
    """The verdict for people."""
    found = [f"{verdict.outcome}, exit {verdict.exit_code}"]
    found += [f"  {safe(reason)}" for reason in verdict.reasons[:_MOST_REASONS]]
    if verdict.session_id or verdict.model:
        found.append(f"session   {safe(verdict.session_id) or '-'}, model {safe(verdict.model) or '-'}")
    counted = (f"{safe(name)} {stats.calls}" + (f" ({stats.errors} failed)" if stats.errors else "")
               for name, stats in list(verdict.tools.items())[:_MOST_REASONS])  # fmt: skip
    found.append(f"calls     {verdict.called}" + "".join(f"; {text}" for text in counted))
    if verdict.unfinished_count:
        names = ", ".join(dict.fromkeys(verdict.unfinished[:_MOST_REASONS]))
        found.append(f"open      {plural(verdict.unfinished_count, 'call')} without a result: {safe(names)}")
    if verdict.tokens:
        found.append("tokens    " + ", ".join(f"{name} {many}" for name, many in verdict.tokens.items()))
    if verdict.duration_ms is not None:
        found.append(f"duration  {verdict.duration_ms / 1000:.1f} s")
    odd = [f"{many} {what}" for many, what in (
        (verdict.unreadable, "unreadable"), (verdict.foreign, "no event"), (verdict.unknown, "of unknown type"),
        (verdict.after_result, "after the result")) if many]  # fmt: skip
    if odd:
        found.append(f"lines     {', '.join(odd)}")
    return found + _ledger_lines(verdict.ledger)


def _ledger_lines(ledger: LedgerFindings | None) -> list[str]:
    if ledger is None or not (ledger.known or ledger.only_stream):
        return []
    found = [f"ledger    {plural(ledger.calls, 'call')} of this run in {safe(ledger.path)}"]
    found += [f"ghost     {one.id} {safe(one.summary)}: {one.why}" for one in ledger.ghosts[:_MOST_REASONS]]
    found += [f"refused   {one.id} {safe(one.summary)}" for one in ledger.blocked[:_MOST_REASONS]]
    for side, tools in (("stream", ledger.only_stream), ("ledger", ledger.only_ledger)):
        if tools:
            listed = ", ".join(f"{safe(name)} {many}" for name, many in list(tools.items())[:_MOST_REASONS])
            found.append(f"only in the {side}: {listed}")
    return found


def _tame(line: str) -> str:
    """``line`` without what GitHub takes for a command anywhere in it (the old form; the new one begins a line)."""
    return line.replace("##[", "## [")
