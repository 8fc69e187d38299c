"""The arguments of ``run exec``."""

from __future__ import annotations

import argparse

EPILOG = """examples:
  {prog} exec -- hermes chat -q "Summarize this repository"
  {prog} exec --timeout 900 --save run.jsonl --junit report.xml -- hermes chat -q "..." --ignore-rules
  {prog} exec --retry 3 --preflight --github -- hermes -p ci chat --query-file prompt.md

Starts the run, adds --format stream-json where it is missing, shows progress on standard error, passes signals on, ends
what hangs, and judges. A host before 0.21.4 has no such option: there the plugin's own hooks write the events, and the
plugin must be enabled. A second Ctrl-C is passed on with a second to obey it, a third one kills.

--retry tries again after 75 only, and not when the ledger shows that the attempt changed something (--retry-unsafe
insists). The host gives 75 to dispatched workers alone (HERMES_KANBAN_TASK): elsewhere an overloaded provider is a 1.
The saved streams of earlier attempts are FILE.1, FILE.2 and so on.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Fill the parser of ``run exec``, except for the reports."""
    add = parser.add_argument
    add("--save", dest="ledger_save", metavar="FILE", help="the raw stream, byte for byte, as it arrives (0600)")
    add("--timeout", dest="ledger_timeout", metavar="S", help="seconds an attempt may take (no bound)")
    add(
        "--grace", dest="ledger_grace", metavar="S", default="10",
        help="seconds after the result, or after a signal, before the process is killed (10)",
    )  # fmt: skip
    add("--retry", dest="ledger_retry", metavar="N", default="0", help="try again so often on 75 (0)")
    add(
        "--retry-delay", dest="ledger_retry_delay", metavar="S", default="30",
        help="seconds before the first retry, doubled for each further one (30)",
    )  # fmt: skip
    add(
        "--retry-unsafe", dest="ledger_retry_unsafe", action="store_true",
        help="also when the attempt changed something",
    )  # fmt: skip
    add("--preflight", dest="ledger_preflight", action="store_true", help="run `hermes doctor` first, stop if it fails")
    add("ledger_words", metavar="-- COMMAND", nargs=argparse.REMAINDER, help="the run, such as hermes chat -q TEXT")
