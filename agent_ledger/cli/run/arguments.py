"""The arguments of ``run ...``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from . import exec_arguments

_RUN = """examples:
  {prog} run exec --timeout 900 -- hermes chat -q "Summarize this repository"
  hermes chat -q "Summarize this repository" --format stream-json | {prog} run check -
  {prog} run check run.jsonl --process-rc=$? --junit report.xml

The verdict is success, failed, incomplete, interrupted, retry_later, contradicted or no_stream. See
docs/unattended-runs.md for its rules."""

EXITS = """exit codes: 0 success; 1 failed, incomplete or contradicted; 2 wrong use, or no stream at all; 75 try again
later; 78 the provider must be configured; 130 interrupted."""

REPORTS = """--fail-on takes ghosts, blocked, tool-errors, no-tools, no-text and unknown-events, with commas, or none. A
report named - goes to standard output in place of the text. Secrets that the redactor knows are in no report; --save
keeps the raw stream as it is, for your eyes alone (0600).

JSON: one object: outcome, reasons, exit_code, record_code, process_rc, session_id, model, text, answer_cut, tokens,
duration_ms, tools (name: calls, errors, unfinished, duration_ms), unfinished (the first 1000 names),
unfinished_count, pairing (id or order), unreadable, foreign, unknown, after_result, ledger (path, known, calls,
changed, ghosts, blocked, only_stream, only_ledger, trouble; or null)."""

_CHECK = f"""examples:
  {{prog}} check run.jsonl
  {{prog}} check run.jsonl --process-rc=$? --fail-on ghosts,no-text
  hermes chat -q "..." --format stream-json | {{prog}} check - --save run.jsonl --json verdict.json

Reads an event stream to its end, from a file or from standard input while it grows, and judges the run.

{EXITS}

{REPORTS}"""

Make = Callable[[Any, str, str, str], argparse.ArgumentParser]


def add(commands: Any, make: Make) -> None:
    """Add ``run`` and its commands. ``make``: adds one command, with what all commands have in common."""
    run = make(commands, "run", "judge unattended runs by their event stream", _RUN)
    inner = run.add_subparsers(dest="ledger_run", metavar="<command>", title="commands", required=True)
    check = make(inner, "check", "the verdict over a recorded or a growing event stream", _CHECK)
    check.add_argument("ledger_file", metavar="FILE", nargs="?", default="-", help="a stream, or - for standard input")
    check.add_argument("--process-rc", dest="ledger_process_rc", metavar="N", help="the exit code of the process")
    check.add_argument("--save", dest="ledger_save", metavar="FILE", help="keep what standard input brought, as it is")
    reports(check)
    about = f"{exec_arguments.EPILOG}\n{EXITS}\n\n{REPORTS}"
    starter = make(inner, "exec", "start a run, follow it, and give the verdict", about)
    reports(starter)
    exec_arguments.add(starter)


def reports(parser: argparse.ArgumentParser) -> None:
    """The options that `run check` and `run exec` share."""
    parser.add_argument(
        "--ledger", dest="ledger_join", metavar="WHICH", default="auto", help="auto (default), a ledger or home, none"
    )
    parser.add_argument(
        "--fail-on", dest="ledger_fail_on", metavar="WHAT", default="ghosts", help="what else is a failure (ghosts)"
    )
    parser.add_argument("--json", dest="ledger_report_json", metavar="FILE", help="the verdict as JSON")
    parser.add_argument("--junit", dest="ledger_junit", metavar="FILE", help="the verdict as JUnit XML")
    parser.add_argument("--summary", dest="ledger_summary", metavar="FILE", help="the verdict as Markdown")
    parser.add_argument(
        "--github", dest="ledger_github", action="store_true", help="annotations, and the job's summary page"
    )
