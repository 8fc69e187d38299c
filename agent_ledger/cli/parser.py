"""The arguments of every command: one tree for ``hermes ledger`` and ``agent-ledger``."""

from __future__ import annotations

import argparse
import functools
from typing import Any

from .. import __version__
from . import exits
from .policy import arguments as policy
from .run import arguments as runs

DESCRIPTION = (
    "The record of every call of an agent that changes something: what was issued, confirmed, and never confirmed."
)

_STATUS = """example:
  {prog} status
  {prog} status --json | jq .calls.open_ghosts

JSON: one object: home, ledger, exists, bytes, schema, calls {{total, first_ts, last_ts, running, open_ghosts,
newest_1000}}, ghosts (the newest five), spool {{lines, bytes, files, not_replayed}}, health {{state: ok | degraded |
unreadable, lost_writes, spool_replayed, spool_refused, last_error, last_error_ts, healed_ts, set_aside}},
settings_problems. Times are UTC."""

_TAIL = """examples:
  {prog} tail -n 50
  {prog} tail -f --tool terminal
  {prog} tail --status error --json

JSON: a list of calls, oldest first: the columns of table ledger, with args parsed, flags and reads as lists, and age_s.
With -f one object a line, printed again when a call that was shown as open gets its outcome. Times are UTC."""

_SHOW = """example:
  {prog} show 12

JSON: one object: call (as in tail), open_ghost, why, owner_alive (null: cannot tell), transitions {{ts, from_status,
to_status, why}}, notices {{id, ts, session_id, turn_id, state}}, nested (calls that ran inside it), repeats (the same
call again: id, ts, status), children (sessions it launched: session_id, confirmed, unsettled). Times are UTC."""

_GHOSTS = """examples:
  {prog} ghosts
  {prog} ghosts --check || echo "somebody should look"

JSON: one object: ledger, session, known_session, open, running, ghosts (calls as in tail, with why, told and nested).
Times are UTC. Nothing is claimed: conversations are still told of their ghosts."""

_SETTLE = """examples:
  {prog} settle 12 --applied --note "the release is live"
  {prog} settle 12 --not-applied --note "no such job on the server"

The status stays GHOST_REPORTED, since nobody confirmed the call; its effect becomes applied or none, and the note goes
to the row's changes. JSON: one object: id, effect, before (the effect until now), note, why."""

_PRUNE = """examples:
  {prog} prune --older-than 90d --dry-run
  {prog} prune --keep 50000
  {prog} prune --max-size 500MB --also ghosts,refusals

Open calls are never removed; ghosts that nobody settled and refused calls only where --also names them. Rows go oldest
first, in small steps beside running agents, and the space goes back to the file system. With several limits a row goes
when any of them says so. It may be stopped with Ctrl-C at any moment.

JSON: one object: ledger, dry_run, rows, and after a real run bytes_before, bytes_after, stopped."""

_EXPORT = """examples:
  {prog} export --since 7d > last-week.jsonl
  {prog} export --format csv --session 20261130_101500_ab12 --output calls.csv

Every column of table ledger, oldest call first, times in UTC. Stored text is redacted once more on its way out; --raw
leaves it as it is stored."""

_POSTURE = """examples:
  {prog} posture
  {prog} posture --since 7d --html posture.html
  {prog} posture --fail-on high --min-rows 20   # in CI

exit codes: 0 passed, 1 a gate tripped, 2 no data or wrong use. Findings of low confidence, and accepted ones, trip no
gate.

JSON: one object: score, score_effective, penalty, penalty_per_1000, findings {{rule_id, asi, official, severity,
confidence, status_seen, message, evidence {{rows, session_id, ts_first, ts_last}}, fingerprint, remediation, refs,
excerpt, suppressed}}, subtotals, assessed, not_assessed, coverage, rules_version, policy_sha256, window, rule_errors,
changes {{new, open, resolved}}, gates. The score is 100 minus the weights of all findings (CRITICAL 25, HIGH 15,
MEDIUM 8, LOW 3), not below 0."""

_DOCTOR = """example:
  {prog} doctor

JSON: one object: ok, version, home, ledger, python, sqlite, host {{name, version}}, checks {{name, state: ok | warn |
fail, detail, next}}, settings (name: {{value, source}}), counters. The round trip uses a home of its own, which is
removed."""


def build(prog: str = "agent-ledger") -> argparse.ArgumentParser:
    """The parser of the console script."""
    parser = argparse.ArgumentParser(prog=prog, formatter_class=argparse.RawDescriptionHelpFormatter)
    fill(parser)
    return parser


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the commands to ``parser``: our own, or the one that the host made for ``hermes ledger``.

    Every name in the namespace starts with ``ledger_``: the host's own main reads ``args.command`` and others.
    """
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        f"exit codes:\n{exits.table()}\n\nexample:\n  {parser.prog} status\n  {parser.prog} <command> --help"
    )
    parser.add_argument("--version", action="version", version=f"agent-ledger {__version__}")
    parser.set_defaults(**_DEFAULTS)
    _common(parser, top=True)
    commands = parser.add_subparsers(dest="ledger_command", metavar="<command>", title="commands")
    _command(commands, "status", "the ledger, its open calls and its health on one screen", _STATUS)
    tail = _command(commands, "tail", "the newest calls", _TAIL)
    tail.add_argument("-n", "--lines", dest="ledger_lines", default="20", metavar="N", help="how many calls (20)")
    tail.add_argument(
        "-f", "--follow", dest="ledger_follow", action="store_true", help="go on with new calls until Ctrl-C"
    )
    tail.add_argument("--tool", dest="ledger_tool", metavar="T", help="only this tool; mcp__* is understood")
    tail.add_argument(
        "--status", dest="ledger_status", metavar="S", help="pending, confirmed, ghost, error, error:timeout"
    )
    tail.add_argument("--session", dest="ledger_session", metavar="ID", help="only the conversation of this session")
    show = _command(commands, "show", "everything known of one call", _SHOW)
    show.add_argument("ledger_id", metavar="ID", help="its number, as in the ID column")
    ghosts = _command(commands, "ghosts", "every call of this home that nobody confirmed", _GHOSTS)
    ghosts.add_argument(
        "--check", dest="ledger_check", action="store_true", help="exit 1 when any is open, for scripts"
    )
    ghosts.add_argument("--session", dest="ledger_session", metavar="ID", help="only the conversation of this session")
    settle = _command(commands, "settle", "write down whether an unconfirmed call took effect", _SETTLE)
    settle.add_argument("ledger_id", metavar="ID", help="its number, as in the ID column of ghosts")
    effect = settle.add_mutually_exclusive_group(required=True)
    effect.add_argument("--applied", dest="ledger_applied", action="store_true", help="it took effect")
    effect.add_argument("--not-applied", dest="ledger_applied", action="store_false", help="it did not")
    settle.add_argument("--note", dest="ledger_note", metavar="TEXT", default="", help="what you saw, 500 characters")
    prune = _command(commands, "prune", "remove old calls and give their space back", _PRUNE)
    prune.add_argument("--keep", dest="ledger_keep", metavar="N", help="keep the newest N calls")
    prune.add_argument("--older-than", dest="ledger_older_than", metavar="SPAN", help="remove what is older: 90d, 12h")
    prune.add_argument("--max-size", dest="ledger_max_size", metavar="SIZE", help="remove the oldest down to 500MB")
    prune.add_argument(
        "--also", dest="ledger_also", metavar="WHAT", action="append", default=[], help="also ghosts, refusals"
    )
    prune.add_argument("--dry-run", dest="ledger_dry_run", action="store_true", help="only say how many would go")
    export = _command(commands, "export", "the calls as JSON lines or CSV", _EXPORT)
    export.add_argument("--format", dest="ledger_format", metavar="F", default="jsonl", help="jsonl (default) or csv")
    export.add_argument("--since", dest="ledger_since", metavar="WHEN", help="2026-11-01, a time, or a span such as 7d")
    export.add_argument("--session", dest="ledger_session", metavar="ID", help="only the conversation of this session")
    export.add_argument("--output", dest="ledger_output", metavar="FILE", help="a file (0600), not standard output")
    export.add_argument("--raw", dest="ledger_raw", action="store_true", help="as stored, without redacting again")
    policy.add(commands, _command)
    posture = _command(commands, "posture", "score what was recorded against OWASP's list for agents", _POSTURE)
    posture.add_argument("ledger_path", metavar="LEDGER", nargs="?", help="another ledger than that of the home")
    posture.add_argument("--since", dest="ledger_since", metavar="WHEN", help="2026-11-01, a time, or a span (7d)")
    posture.add_argument("--until", dest="ledger_until", metavar="WHEN", help="the end of the window")
    posture.add_argument("--session", dest="ledger_session", metavar="ID", help="only this session")
    posture.add_argument("--html", dest="ledger_html", metavar="FILE", help="also write a page for a browser")
    posture.add_argument("--fail-under", dest="ledger_fail_under", metavar="N", help="exit 1 below this score")
    posture.add_argument("--fail-on", dest="ledger_fail_on", metavar="SEV", help="exit 1 on this severity or worse")
    posture.add_argument(
        "--fail-on-new", dest="ledger_fail_on_new", action="store_true", help="count only what the last report lacked"
    )
    posture.add_argument("--min-rows", dest="ledger_min_rows", metavar="N", help="exit 2 with fewer calls")
    posture.add_argument("--suppressions", dest="ledger_suppressions", metavar="FILE", help="accepted findings")
    posture.add_argument("--budget", dest="ledger_budget", metavar="N", help="how many calls a session may have")
    posture.add_argument("--tools", dest="ledger_tools", metavar="A,B", help="the tools that it is meant to have")
    posture.add_argument("--history", dest="ledger_history", metavar="DIR", help="where history.jsonl is kept")
    posture.add_argument("--record", dest="ledger_record", action="store_true", help="note this report in the history")
    runs.add(commands, functools.partial(_command, as_json=False))
    _command(commands, "doctor", "prove that recording works here, and show all that matters to it", _DOCTOR)


_DEFAULTS: dict[str, Any] = {
    "ledger_home": None,
    "ledger_json": False,
    "ledger_lines": "20",
    "ledger_follow": False,
    "ledger_tool": None,
    "ledger_status": None,
    "ledger_session": None,
    "ledger_check": False,
    "ledger_id": "",
    "ledger_path": None,
    "ledger_until": None,
    "ledger_html": None,
    "ledger_fail_under": None,
    "ledger_fail_on": None,
    "ledger_fail_on_new": False,
    "ledger_min_rows": None,
    "ledger_suppressions": None,
    "ledger_history": None,
    "ledger_budget": None,
    "ledger_tools": None,
    "ledger_record": False,
    **policy.DEFAULTS,
}


def _command(commands: Any, name: str, help_text: str, epilog: str, as_json: bool = True) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=help_text, description=help_text[0].upper() + help_text[1:] + ".",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.epilog = epilog.format(prog=parser.prog.rpartition(" ")[0])
    _common(parser, as_json=as_json)
    return parser


def _common(parser: argparse.ArgumentParser, top: bool = False, as_json: bool = True) -> None:
    # Both before and after the command's name; the later one must not reset what the first one chose.
    default: Any = None if top else argparse.SUPPRESS
    parser.add_argument(
        "--home", dest="ledger_home", metavar="PATH", default=default, help="the Hermes home (the one in force)"
    )
    if not as_json:  # a command whose own --json names a file
        return
    parser.add_argument(
        "--json", dest="ledger_json", action="store_true", default=False if top else argparse.SUPPRESS,
        help="print JSON for programs",
    )  # fmt: skip
