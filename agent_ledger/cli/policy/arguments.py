"""The arguments of ``policy ...``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

_POLICY = """examples:
  {prog} policy mode
  {prog} policy replay
  {prog} policy mode dry_run
  {prog} policy report --since 7d

JSON: as that of policy mode, which runs where no other command is named."""

_CHECK = """examples:
  {prog} check
  {prog} check policy.json

Without FILE the policy of this Hermes home. A rule that fails its own examples is a problem too.

exit codes: 0 valid, 1 problems, 2 no such file.

JSON: one object: path, ok, sha256, rules, examples, problems, notes, effects_without_rule."""

_EXPLAIN = """examples:
  {prog} explain 'cd /srv && rm -r "$OLD"'
  {prog} explain --tool write_file '{{"path": "/etc/hosts", "content": "x"}}'
  cat build.sh | {prog} explain -

CALL is a command line, a JSON object of arguments, one of tool and args, or - for standard input. Nothing of it is
run, and nothing that it would delete, send or change is touched; files that it runs are read. Without --policy the
policy of this home counts, whatever the mode; where there is none, the example pack.

exit codes: 0 allowed, 1 refused by this policy, 2 wrong use.

JSON: one object: tool, args, cwd, home, project, commands (a list of words each; … stands for what is not known),
paths, effects {{kind, what, target, why, dangerous}}, hits {{rule, severity, denies, what, target}}, refused,
rule, message (what the agent reads, or null), mode, policy {{path, origin: given | in force | last good | example,
sha256, rules, problems}}."""

_REPORT = """examples:
  {prog} report
  {prog} report --since 7d --json | jq '.by_rule[] | [.rule, .would_block]'

exit codes: 0 done, 1 the host ran a call that was refused (an alarm), 2 wrong use or no ledger.

JSON: one object: ledger, since, mode, judged, would_block, blocked, not_honoured {{calls, ids}}, by_rule {{rule,
would_block, blocked, tools, ids (the newest 100), examples}}, by_tool {{tool, would_block, blocked}}, by_day {{day,
would_block, blocked}}, last_error. Days and times are UTC."""

_REPLAY = """examples:
  {prog} replay
  {prog} replay policy.json --since 90d
  {prog} replay policy.json --check && {prog} mode enforce

Judges what is recorded, conversation by conversation, without changing a row. Without POLICY the one of this home
counts, else the example pack. The history is taken as it went: a call that ran counts for later ones. Arguments
over 4000 characters were cut when they were recorded: such calls are judged as far as they are there, and counted.
What redaction removed is not seen. A file that a call ran is read as it is today.

exit codes: 0 done, 1 with --check where a call would have been refused, 2 wrong use or no ledger, 130 interrupted
(what was found until then is printed).

JSON: one object: ledger, policy {{path, origin, sha256, rules, problems}}, since, session, judged, judged_in_part,
not_judged (why: calls), refused, sessions_with_refusals, by_rule {{rule, severity, calls, tools, ids (the first
1000), examples}}, stopped."""

_SCORE = """examples:
  {prog} score corpus.jsonl
  {prog} score corpus.jsonl --policy policy.json --show all
  {prog} score corpus.jsonl --min-recall 92 --max-false 1

CORPUS has one JSON object a line: id, tool, args, expect (block or allow); or, for a session, calls (tool and args
each) and expect_last; class, technique, near, why and contested are for the tables. Cases take place in
/home/dev/project; no file of this machine is looked at, and nothing is run.

exit codes: 0 done, 1 below --min-recall or above --max-false, 2 wrong use or a line that is no case.

JSON: one object: corpus, policy, calls, terminal, other_tools and sessions (each {{dangerous, stopped, recall,
harmless, false_alarms, false_rate}}, in percent; sessions also early), failed, contested, by_class, by_technique,
microseconds {{median, p99, decisions}}, wrong (with --show), short."""

_MODE = """examples:
  {prog} mode
  {prog} mode dry_run
  {prog} mode enforce

off judges nothing, dry_run records what would have been refused, enforce refuses it. The switch is the operator's:
in a chat it is only shown, and an agent that gives this command does what the effect tampering is about.

exit codes: 0 done, 1 the file cannot be written, 2 refused: a broken or absent policy is not enforced.

JSON: one object: mode, mode_from, path, in_force, sha256, rules, broken, problems, not_honoured, last_error,
changed_from."""

Make = Callable[[Any, str, str, str], argparse.ArgumentParser]

DEFAULTS: dict[str, Any] = {
    "ledger_policy": None,
    "ledger_file": None,
    "ledger_mode": None,
    "ledger_pack": None,
    "ledger_since": None,
    "ledger_workdir": None,
    "ledger_blind": False,  # explain: look at no file, so that resolved words cannot show what is in one
}


def add(commands: Any, make: Make) -> None:
    """Add ``policy`` and its commands. ``make``: adds one command, with what all commands have in common."""
    policy = make(commands, "policy", "judge calls before they run: dry run first, then enforce", _POLICY)
    inner = policy.add_subparsers(dest="ledger_policy", metavar="<command>", title="commands")
    check = make(inner, "check", "is a policy valid, and does it do what its examples say", _CHECK)
    check.add_argument("ledger_file", metavar="FILE", nargs="?", help="a policy (the one of this home)")
    explain = make(inner, "explain", "what a call would do, and what the policy says of it", _EXPLAIN)
    explain.add_argument("ledger_call", metavar="CALL", help="a command line, JSON arguments, or -")
    explain.add_argument("--tool", dest="ledger_tool", metavar="T", help="the tool that is called (terminal)")
    explain.add_argument("--workdir", dest="ledger_workdir", metavar="PATH", help="where it works (this folder)")
    _pack(explain)
    report = make(inner, "report", "what dry run would have refused, and what was refused", _REPORT)
    report.add_argument("--since", dest="ledger_since", metavar="WHEN", help="2026-11-01, a time, or a span such as 7d")
    replay = make(inner, "replay", "what a policy would have refused of the recorded history", _REPLAY)
    replay.add_argument("ledger_file", metavar="POLICY", nargs="?", help="a policy (the one of this home)")
    replay.add_argument("--since", dest="ledger_since", metavar="WHEN", help="a date, a time, or a span (30d)")
    replay.add_argument("--session", dest="ledger_session", metavar="ID", help="only the conversation of this session")
    replay.add_argument("--check", dest="ledger_check", action="store_true", help="exit 1 when anything is refused")
    score = make(inner, "score", "how well a policy tells dangerous calls from harmless ones", _SCORE)
    score.add_argument("ledger_corpus", metavar="CORPUS", help="cases with known answers, one JSON object a line")
    score.add_argument("--show", dest="ledger_show", metavar="WHICH", help="list wrong answers: block, allow, all")
    score.add_argument("--min-recall", dest="ledger_min_recall", metavar="P", help="exit 1 below this percentage")
    score.add_argument("--max-false", dest="ledger_max_false", metavar="P", help="exit 1 above this percentage")
    _pack(score)
    mode = make(inner, "mode", "show or switch whether calls are judged and refused", _MODE)
    mode.add_argument("ledger_mode", metavar="MODE", nargs="?", help="off, dry_run or enforce")


def _pack(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", dest="ledger_pack", metavar="FILE", help="another policy than that of this home")
