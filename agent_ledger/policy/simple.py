"""Simple commands: their words, their redirections, and the program that they run."""

from __future__ import annotations

import fnmatch

from . import expand, forks, parameters, walk
from .effects import places
from .machine import Machine
from .model import ANYTHING, MOST_TEXT, NOTHING, REMOTE, UNKNOWN, Value
from .registry import OUTPUTS, PROGRAMS, RAW, SHELLS, judge_of
from .syntax import (
    Redirect,
    Simple,
    Word,
)

# What may stand in front of a shell that is tied to another machine.
_BEFORE_SHELLS = frozenset(
    ("su" "do", "-E", "-i", "nohup", "setsid", "-f", "env", "command", "timeout", "nice", "doas")
)
_SHORT = 256  # characters of input or output that are not worth counting
# Programs that a name with wildcards may mean.
_COMMON = (
    "rm", "bash", "sh", "dd", "chmod", "chown", "cat", "curl", "wget", "find", "shred", "mv", "cp", "python3", "nc",
    "env", "zsh", "git", "mk" "fs.ext4", "tee", "su" "do", "kill",
)  # fmt: skip


def run_simple(machine: Machine, node: Simple, stdin: Value | None) -> Value:
    words = node.words
    env: dict[str, Value] = {}
    if node.assignments:
        env = _assign(machine, node)
    if not words:
        machine.scope.variables.update(env)
        if node.redirects:
            given = inputs(machine, node.redirects, stdin)
            # `$(< file)` prints the file.
            printed = given if given is not None and given is not stdin else NOTHING
            return outputs(machine, node.redirects, printed)
        return NOTHING
    first = words[0].literal
    if machine.scope.aliases and first in machine.scope.aliases and first not in machine.calling:
        return _alias(machine, first, words[1:], node.redirects, stdin)
    # Windows shells take a backslash for what it is.
    if first is not None and _is_raw(first, words):
        values = [Value(first), *(Value(word.source) for word in words[1:])]
    else:
        values = expand.words(machine, words)
    redirects = node.redirects
    if redirects:
        stdin = inputs(machine, redirects, stdin)
        _connected(machine, redirects, values)
    if not values:
        return outputs(machine, redirects, NOTHING) if redirects else NOTHING
    printed = execute(machine, values, stdin, env)
    return outputs(machine, redirects, printed) if redirects else printed


def _is_raw(first: str, words: tuple[Word, ...]) -> bool:
    return first in RAW or (first == "rmdir" and any(word.source.lower() == "/s" for word in words))


def _assign(machine: Machine, node: Simple) -> dict[str, Value]:
    env: dict[str, Value] = {}
    for assignment in node.assignments:
        name = assignment.name
        if assignment.items is not None:
            items = expand.words(machine, assignment.items)
            before = machine.scope.arrays.get(name, []) if assignment.append else []
            machine.scope.arrays[name] = [*before, *items][:expand.MOST_FIELDS]
            env[name] = items[0] if items else NOTHING
            continue
        value = expand.one(machine, assignment.value)
        if assignment.append:
            value = parameters.lookup(machine, name) + value if name in machine.scope.variables else value
        env[name] = value
        if name.startswith("AGENT_LEDGER_") or name == "HERMES_SAFE_MODE":
            machine.effect("tampering", f"sets {name}", name)
    return env


def _alias(
    machine: Machine, name: str, rest: tuple[Word, ...], redirects: tuple[Redirect, ...], stdin: Value | None
) -> Value:
    from . import scan

    script = scan.parse(machine.scope.aliases[name])
    machine.calling.append(name)
    try:
        if len(script.items) == 1 and isinstance(script.items[0].command, Simple):
            inner = script.items[0].command
            return run_simple(
                machine, Simple(inner.words + rest, inner.assignments, inner.redirects + redirects), stdin
            )
        return walk.run_script(machine, script, stdin)
    finally:
        machine.calling.pop()


def execute(machine: Machine, values: list[Value], stdin: Value | None, env: dict[str, Value]) -> Value:
    """Run a resolved command: a function, a program that we know, a script, or something that stays unknown."""
    budget = machine.budget
    if not budget.step() or not budget.enter():
        return ANYTHING
    try:
        if stdin is not None and len(stdin.text) > _SHORT:
            budget.spend(len(stdin.text))
        printed = _execute(machine, values, stdin, env)
        if len(printed.text) > _SHORT:
            budget.spend(len(printed.text))
            if len(printed.text) > MOST_TEXT:
                printed = Value(printed.text[:MOST_TEXT], printed.marks)
        return printed
    finally:
        budget.depth -= 1


def _execute(machine: Machine, values: list[Value], stdin: Value | None, env: dict[str, Value]) -> Value:
    first = values[0].text
    args = values[1:]
    name = first.rpartition("/")[2] if "/" in first else first
    name = name.removesuffix(".exe") if name.endswith(".exe") else name
    if len(machine.commands) < 500:
        machine.commands.append((name, *[arg.text for arg in args[:64]]))
    if first in machine.scope.functions:
        return _call(machine, first, args, stdin, env)
    if UNKNOWN in first and len(first) == 1:
        if values[0].marks & REMOTE:
            machine.unseen(values[0])
        return ANYTHING
    if "*" in first or "?" in first or "[" in first:
        name = _by_wildcard(first) or name
    program = PROGRAMS.get(name)
    if "/" in first and (program is None or name not in SHELLS) and _is_own_script(machine, first):
        machine.run_file(first, arguments=values)
        return ANYTHING
    judge = judge_of(name)
    if program is None and judge is None:
        if "/" in first:
            machine.run_file(first, arguments=values)
        return ANYTHING
    command = machine.resolved(name, args, stdin, env)
    printed = program(machine, command) if program is not None else None
    if judge is not None:
        judge(command, machine)
    if printed is None and name in OUTPUTS:
        printed = OUTPUTS[name](command)
    return printed if printed is not None else ANYTHING


def _is_own_script(machine: Machine, first: str) -> bool:
    return first.startswith("/dev/fd/") or machine.absolute(first) in machine.files


def _by_wildcard(first: str) -> str:
    for name in _COMMON:
        if (
            fnmatch.fnmatchcase(f"/bin/{name}", first)
            or fnmatch.fnmatchcase(f"/usr/bin/{name}", first)
            or fnmatch.fnmatchcase(name, first)
        ):
            return name
    return ""


def _call(machine: Machine, name: str, args: list[Value], stdin: Value | None, env: dict[str, Value]) -> Value:
    body = machine.scope.functions[name]
    if name in machine.calling:
        return NOTHING
    if forks.multiplies(body, name):
        machine.effect("fork_bomb", f"function {name} starts itself again and again")
        return NOTHING
    scope = machine.scope
    kept = scope.positional, scope.called
    scope.positional, scope.called = (Value(name), *args), True
    scope.variables.update(env)
    machine.calling.append(name)
    try:
        return walk.run(machine, body, stdin)
    finally:
        machine.calling.pop()
        scope.positional, scope.called = kept


def inputs(machine: Machine, redirects: tuple[Redirect, ...], stdin: Value | None) -> Value | None:
    for redirect in redirects:
        op = redirect.op
        if op == "<" and redirect.fd in ("", "0"):
            target = expand.one(machine, redirect.target)
            if target.text.startswith("/dev/tcp/"):
                stdin = Value(UNKNOWN, REMOTE)
            elif target.text != "/dev/null":
                stdin = machine.content(target.text)
            else:
                stdin = NOTHING
        elif op in ("<<", "<<-", "<<<"):
            stdin = expand.one(machine, redirect.target)
    return stdin


def outputs(machine: Machine, redirects: tuple[Redirect, ...], printed: Value) -> Value:
    for redirect in redirects:
        op = redirect.op
        if op in (">", ">>", ">|", "&>", "&>>") or (op == ">&" and redirect.fd == ""):
            target = expand.one(machine, redirect.target)
            if target.text.isdigit() or target.text == "-":
                continue
            if redirect.fd in ("", "1") or op[0] == "&":
                machine.write(target, printed, append=op.endswith(">>"))
                printed = NOTHING
            elif places.is_device(machine.absolute(target.text)):
                machine.write(target, NOTHING, append=True)
    return printed


def _connected(machine: Machine, redirects: tuple[Redirect, ...], values: list[Value]) -> None:
    """A shell, or a descriptor of the shell itself, that is tied to another machine."""
    name = next((name for value in values if (name := value.text.rpartition("/")[2]) not in _BEFORE_SHELLS), "")
    for redirect in redirects:
        target = expand.one(machine, redirect.target).text
        if redirect.op in (">", ">&", "<>", "&>") and target.startswith(("/dev/tcp/", "/dev/udp/")):
            if name in SHELLS:
                machine.effect("remote_shell", "connects a shell to another machine", target)
            elif name == "exec":
                machine.opened.add(redirect.fd or "0")
        elif redirect.op in ("<&", ">&") and target in machine.opened and (name in SHELLS or UNKNOWN in name):
            machine.effect("remote_shell", "connects a shell to another machine", target)
