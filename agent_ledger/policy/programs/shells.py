"""Programs that run code: shells, script languages, make and the runners of project scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import ANYTHING, NOTHING, Command, Value
from ..registry import SHELLS, program

if TYPE_CHECKING:
    from ..machine import Machine


# --- shells


@program(*SHELLS)
def shell(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    at, size = 0, len(args)
    run_text = from_stdin = check = False
    while at < size:
        text = args[at].text
        if text == "--" or text[:1] not in ("-", "+") or len(text) < 2:
            at += text == "--"
            break
        at += 1
        if text in ("--version", "--help", "--dump-strings"):
            return ANYTHING
        if text in ("--rcfile", "--init-file"):
            if at < size:
                machine.run_file(args[at].text, "shell")
            at += 1
            continue
        if text.startswith("--"):
            run_text = run_text or text == "--command"
            continue
        if text[0] == "-":
            run_text = run_text or "c" in text
            from_stdin = from_stdin or "s" in text
            check = check or "n" in text
        if text.endswith(("o", "O")) and at < size:
            check = check or (args[at].text == "noexec")
            at += 1
    rest = args[at:]
    if check:
        return ANYTHING
    if run_text:
        return _text(machine, rest, command) if rest else ANYTHING
    if rest and not from_stdin and rest[0].text not in ("-", "/dev/stdin", "/dev/fd/0", "/proc/" "self/fd/0"):
        machine.run_file(rest[0].text, "shell", rest)
        return ANYTHING
    if command.stdin is not None:
        behind = rest if from_stdin else rest[1:]
        return machine.aside(command.stdin or NOTHING, arguments=(Value(command.name), *behind))
    return ANYTHING


def _text(machine: Machine, rest: list[Value], command: Command) -> Value:
    arguments = tuple(rest[1:]) or (Value(command.name),)

    def work() -> Value:
        machine.scope.variables.update(command.env)
        return machine.shell(rest[0], arguments=arguments, stdin=command.stdin)

    return machine.subshell(work)


# --- script languages


# --- project scripts


# --- editors and others that can run a command
