"""Programs that print the environment, a database or nothing, and those that tell a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import secret_paths
from ..model import ANYTHING, DUMP, NOTHING, SECRET, UNKNOWN, Command, Value
from ..options import parse
from ..registry import program

if TYPE_CHECKING:
    from ..machine import Machine


@program("yes")
def yes(machine: Machine, command: Command) -> Value | None:
    return Value(command.args[0].text if command.args else "y")


@program("pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mongodump", "sqldump", "pg_basebackup", "redis-dump")
def dump(machine: Machine, command: Command) -> Value | None:
    found = parse(
        command.args,
        ("-f", "--file", "-h", "-U", "-p", "-d", "-t", "-n", "-F", "-j", "-r", "--result-file", "--out", "-o"),
    )
    for name in ("-f", "--file", "-r", "--result-file"):
        if target := found.values.get(name):
            machine.write(target, Value(UNKNOWN, DUMP))
            return NOTHING
    return Value(UNKNOWN, DUMP)


@program("history", "fc")
def history(machine: Machine, command: Command) -> Value | None:
    return ANYTHING


@program("print" "env")
def print_environment(machine: Machine, command: Command) -> Value | None:
    names = [arg.text for arg in command.args if not arg.text.startswith("-")]
    if not names:
        machine.origin = "the whole environment"
        return Value(UNKNOWN, SECRET)
    for name in names:
        if secret_paths.is_secret_variable(name):
            machine.origin = f"${name}"
            return Value(UNKNOWN, SECRET)
    return ANYTHING


@program("mail", "mailx", "mutt", "sendmail", "msmtp", "swaks")
def mail(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-s", "-a", "-A", "-c", "-b", "-r", "--attach", "-t", "-f"))
    for name in ("-a", "-A", "--attach"):
        if attached := found.values.get(name):
            machine.send(machine.content(attached.text.removeprefix("@")), "mail")
    if command.stdin is not None:
        machine.send(command.stdin, found.operands[-1].text if found.operands else "mail")
    return NOTHING


@program(
    "logger",
    "notify-send",
    "say",
    "wall",
    "write",
    "figlet",
    "cowsay",
    "dialog",
    "whiptail",
    "zenity",
    "terminal-notifier",
    "osd_cat",
)
def tell(machine: Machine, command: Command) -> Value | None:
    return NOTHING


@program("ts", "stdbuf-cat", "ifne-cat", "nohup-cat")
def same(machine: Machine, command: Command) -> Value | None:
    return command.stdin
