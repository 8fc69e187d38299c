"""Programs that run another program: with other rights, a limit, elsewhere, or once for each line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..model import ANYTHING, NOTHING, SECRET, SOME, UNKNOWN, Command, Value
from ..options import parse
from ..registry import program
from ..simple import execute
from .words import as_text, behind_options, take_assignments

if TYPE_CHECKING:
    from ..machine import Machine

_ROOT = "su" + "do"

# Wrapper -> (options that take the next word, operands of its own before the program, NAME=value words before it).
_SIMPLE = {
    name: (frozenset(valued.split()), skip, assignments)
    for names, valued, skip, assignments in (
        (_ROOT, "-u -g -h -p -C -T -U -D -r -t --user --group --host --prompt --chdir", 0, True),
        ("doas", "-u -C", 0, False),
        ("pkexec", "--user", 0, False),
        ("nice gnice", "-n --adjustment", 0, False),
        ("ionice", "-c -n -p --class --classdata", 0, False),
        (
            "nohup setsid unbuffer caffeinate torsocks torify rlwrap fakeroot dbus-run-session busybox toybox"
            " eatmydata tsocks nosudo chronic ifne env-run",
            "-t -w",
            0,
            False,
        ),
        ("proxychains proxychains4", "-f", 0, False),
        ("time gtime", "-f -o --format --output", 0, False),
        ("timeout gtimeout", "-k -s --kill-after --signal", 1, False),
        ("stdbuf gstdbuf", "-i -o -e --input --output --error", 0, False),
        ("builtin noglob nocorrect then", "", 0, False),
        ("chroot", "--userspec --groups", 1, False),
        ("strace ltrace", "-e -o -p -s -u -E -a -P", 0, False),
        ("perf", "-e -o", 1, False),
        ("valgrind", "", 0, False),
        ("taskset", "", 1, False),
        ("chrt", "", 1, False),
        ("numactl prlimit cpulimit", "", 0, False),
        (
            "systemd-run",
            "-p --property -u --unit -E --setenv --uid --gid -M --slice --description --working-directory"
            " --on-calendar --on-active",
            0,
            False,
        ),
        ("firejail bwrap xvfb-run", "--bind --ro-bind --chdir", 0, False),
        ("nsenter", "-t --target", 0, False),
        ("unshare", "", 0, False),
        ("faketime", "", 1, False),
        ("setarch linux32 linux64", "", 0, False),
        ("setpriv", "", 0, False),
        ("runcon", "", 1, False),
        ("dotenv", "-f -e --file", 0, True),
        ("envdir direnv-exec", "", 1, False),
        ("retry", "-t -d -m", 0, False),
        ("hyperfine", "-w -r -m -M --warmup --runs", 0, False),
    )
    for name in names.split()
}


@program(*_SIMPLE)
def run_wrapped(machine: Machine, command: Command) -> Value | None:
    valued, skip, assignments = _SIMPLE[command.name]
    rest = behind_options(command.args, valued)
    if command.name == "dotenv" and rest and rest[0].text == "run":
        rest = behind_options(rest[1:], valued)
    rest = rest[skip:]
    if command.name == "perf":
        rest = behind_options(rest, valued)
    env = dict(command.env)
    if assignments:
        rest = take_assignments(machine, rest, env)
    if command.name == "hyperfine":
        for text in rest:
            machine.aside(text)
        return NOTHING
    return execute(machine, rest, command.stdin, env) if rest else ANYTHING


@program("env", "genv")
def run_env(machine: Machine, command: Command) -> Value | None:
    rest = list(command.args)
    env = dict(command.env)
    while rest and rest[0].text.startswith("-") and rest[0].text != "-":
        text = rest.pop(0).text
        if text == "--":
            break
        if text in ("-u", "--unset") and rest:
            rest.pop(0)
        elif text in ("-C", "--chdir") and rest:
            machine.scope.cwd = machine.absolute(rest.pop(0).text)
        elif text in ("-S", "--split-string") and rest:
            return machine.aside(Value(" ".join(v.text for v in rest)))
        elif text.startswith("-S") or text.startswith("--split-string="):
            words = text[2:] if text.startswith("-S") else text.partition("=")[2]
            return machine.aside(Value(" ".join([words, *(v.text for v in rest)])))
    if rest and rest[0].text == "-":
        rest.pop(0)
    rest = take_assignments(machine, rest, env)
    if rest:
        kept = dict(machine.scope.variables)
        machine.scope.variables.update(env)
        try:
            return execute(machine, rest, command.stdin, env)
        finally:
            machine.scope.variables = kept
    machine.origin = "the whole environment"
    return Value(UNKNOWN, SECRET)


@program("command")
def run_command(machine: Machine, command: Command) -> Value | None:
    rest = list(command.args)
    while rest and rest[0].text.startswith("-"):
        text = rest.pop(0).text
        if "v" in text or "V" in text:
            return Value(f"/usr/bin/{rest[0].text}") if rest else NOTHING
    return execute(machine, rest, command.stdin, dict(command.env)) if rest else NOTHING


# --- text that another program hands to a shell


@program("watch", "entr", "when-changed")
def run_watched(machine: Machine, command: Command) -> Value | None:
    return as_text(machine, behind_options(command.args, frozenset({"-n", "--interval"})))


@program("su", "runuser", "sg", "script", "flock", "nix-shell", "nix", "sshpass", "expect", "machinectl")
def run_dash_c(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    for at, arg in enumerate(args):
        if arg.text in ("-c", "--command", "--session-command", "--run") and at + 1 < len(args):
            return machine.aside(args[at + 1])
        if arg.text.startswith(("--command=", "--session-command=")):
            return machine.aside(Value(arg.text.partition("=")[2], arg.marks))
        if re.fullmatch(r"-[a-z]*c", arg.text) and command.name in ("su", "script") and at + 1 < len(args):
            return machine.aside(args[at + 1])
    if command.name == "flock":
        rest = behind_options(args, frozenset({"-w", "--timeout", "-E"}))[1:]
        return execute(machine, rest, command.stdin, {}) if rest else None
    if command.name == "sshpass":
        rest = behind_options(args, frozenset({"-p", "-f"}))
        return execute(machine, rest, command.stdin, {}) if rest else None
    if command.name == "runuser":
        rest = behind_options(args, frozenset({"-u", "-g"}))
        return execute(machine, rest, command.stdin, {}) if rest else None
    if command.name == "su" and command.stdin is not None:
        return machine.aside(command.stdin or NOTHING)
    return None


@program("at", "batch")
def run_later(machine: Machine, command: Command) -> Value | None:
    if command.stdin is not None:
        machine.aside(command.stdin or NOTHING)
    return NOTHING


@program("crontab")
def schedule(machine: Machine, command: Command) -> Value | None:
    """A new table of jobs: each line's command is judged, as what runs by itself."""
    found = parse(command.args, ("-u",))
    if found.any("-l", "-r", "-e"):
        return ANYTHING
    content = command.stdin if command.stdin is not None else NOTHING
    if found.operands and found.operands[0].text != "-":
        content = machine.content(found.operands[0].text)
    machine.write("/var/spool/cron/crontabs/user", Value(content.text or SOME, content.marks))
    return NOTHING


_SCREEN = frozenset("-S -dmS -AdmS -dmLS -L -c -s -T -t -h -p -X".split())


@program("screen", "tmux")
def run_terminal(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    if command.name == "screen":
        rest = behind_options(args, _SCREEN)
        return execute(machine, rest, None, {}) if rest else None
    if args and args[0].text in (
        "new-session",
        "new",
        "new-window",
        "neww",
        "split-window",
        "splitw",
        "respawn-pane",
        "run-shell",
        "send-keys",
        "send",
        "if-shell",
    ):
        rest = behind_options(args[1:], frozenset({"-s", "-n", "-c", "-t", "-x", "-y", "-e", "-F", "-f"}))
        rest = [word for word in rest if word.text not in ("Enter", "C-m")]
        as_text(machine, rest)
    return None


# --- runners of packages and environments


# --- once for each line


# --- find and fd


# --- elsewhere
