"""Walks a script: lists, pipelines, loops, functions, redirections; hands each resolved command to its program."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

from . import expand, paths
from .machine import Machine
from .model import ANYTHING, NOTHING, REMOTE, UNKNOWN, Value
from .registry import JUDGES, PROGRAMS, SHELLS, judge_of_family
from .syntax import (
    Arithmetic,
    Case,
    Command,
    Coprocess,
    For,
    Function,
    Group,
    If,
    Literal,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Substitution,
    Test,
    While,
    Word,
)

_MOST_TURNS = 20  # of one loop
_TALKERS = frozenset({"nc", "ncat", "netcat", "socat", "telnet", "openssl"})
# Programs that a name with wildcards may mean.
_COMMON = ("rm", "bash", "sh", "dd", "chmod", "chown", "cat", "curl", "wget", "find", "shred", "mv", "cp", "python3", "nc", "env", "zsh", "git",
           "mkfs.ext4", "tee", "sudo", "kill")  # fmt: skip


def run_script(machine: Machine, script: Script, stdin: Value | None) -> Value:
    """Run a list of commands; returns what they print."""
    items = script.items
    if len(items) == 1:
        return run(machine, items[0].command, stdin)
    texts, marks = [], 0
    for item in items:
        printed = run(machine, item.command, stdin)
        if printed.text:
            texts.append(printed.text)
        marks |= printed.marks
    return Value("\n".join(texts)[:65_536], marks) if texts or marks else NOTHING


def run(machine: Machine, node: Command, stdin: Value | None = None) -> Value:
    """Run one command of any kind; returns what it prints."""
    if not machine.step():
        return ANYTHING
    if type(node) is Simple:
        return _simple(machine, node, stdin)
    if type(node) is Pipeline:
        return _pipeline(machine, node, stdin)
    if type(node) is Function:
        machine.scope.functions[node.name] = node.body
        return NOTHING
    if type(node) is Coprocess:
        return run(machine, node.command, stdin)
    redirects: tuple[Redirect, ...] = node.redirects  # type: ignore[union-attr]
    stdin = _inputs(machine, redirects, stdin)
    printed = _compound(machine, node, stdin)
    return _outputs(machine, redirects, printed)


def _compound(machine: Machine, node: Command, stdin: Value | None) -> Value:
    if isinstance(node, Group):
        if node.subshell:
            return machine.subshell(lambda: run_script(machine, node.body, stdin))
        return run_script(machine, node.body, stdin)
    if isinstance(node, If):
        printed = NOTHING
        for condition, body in node.branches:
            if condition is not None:
                run_script(machine, condition, stdin)
            printed = printed + run_script(machine, body, stdin)
        return printed
    if isinstance(node, For):
        return _for(machine, node, stdin)
    if isinstance(node, While):
        return _while(machine, node, stdin)
    if isinstance(node, Case):
        expand.one(machine, node.subject)
        printed = NOTHING
        for _, body in node.arms:
            printed = printed + run_script(machine, body, stdin)
        return printed
    if isinstance(node, Test):
        for word in node.words:
            for part in word.parts:
                if isinstance(part, Substitution):
                    machine.substitute(part.script)
                elif isinstance(part, Arithmetic):
                    expand.arithmetic(machine, part)
    return NOTHING


def _for(machine: Machine, node: For, stdin: Value | None) -> Value:
    if node.words is None:
        items = list(machine.scope.positional[1:]) or [ANYTHING]
    else:
        items = expand.words(machine, node.words)
    printed = NOTHING
    for item in items[:_MOST_TURNS] if node.name else [NOTHING]:
        if node.name:
            machine.scope.variables[node.name] = item
        printed = printed + run_script(machine, node.body, stdin)
    return printed


def _while(machine: Machine, node: While, stdin: Value | None) -> Value:
    _endless(machine, node)
    names = _read_names(node.condition)
    if names is None:
        run_script(machine, node.condition, stdin)
        return run_script(machine, node.body, stdin)
    source = stdin if stdin is not None else ANYTHING
    lines = source.text.split("\n")[:_MOST_TURNS] if source.known or "\n" in source.text else [source.text]
    printed = NOTHING
    for line in lines:
        if line or len(lines) == 1:
            assign_fields(machine, names, Value(line, source.marks))
            printed = printed + run_script(machine, node.body, None)
    return printed


def _read_names(condition: Script) -> list[str] | None:
    """The variables that a loop's ``read`` fills, None where its condition is another."""
    for item in condition.items[-1:]:
        if isinstance(item.command, Simple) and item.command.words and item.command.words[0].literal == "read":
            found = [word.literal or "" for word in item.command.words[1:]]
            return [name for name in found if name and not name.startswith("-")] or ["REPLY"]
    return None


def assign_fields(machine: Machine, names: list[str], line: Value) -> None:
    """What ``read`` does with a line."""
    rest = line.text.strip()
    for number, name in enumerate(names):
        if number == len(names) - 1:
            piece, rest = rest, ""
        else:
            piece, _, rest = rest.partition(" ")
            rest = rest.lstrip()
        machine.scope.variables[name] = Value(piece, line.marks)


def _endless(machine: Machine, node: While) -> None:
    """An endless loop that starts background processes and never waits for one."""
    condition = [_name(item.command) for item in node.condition.items]
    if len(condition) != 1 or condition[0] not in (("false",) if node.until else ("true", ":", "1", "/bin/true")):
        return
    names = set()
    background = False
    for command, behind in _inner(node.body):
        names.add(_name(command))
        background = background or behind
    if background and not names & {"wait", "sleep", "break", "read", "inotifywait", "exit", "return"}:
        machine.effect("fork_bomb", "starts background processes in an endless loop")


def _name(command: Command) -> str:
    return (command.words[0].literal or "") if isinstance(command, Simple) and command.words else ""


def _inner(script: Script) -> Iterator[tuple[Command, bool]]:
    """The commands of a list and of the lists in it, each with whether it goes to the background."""
    for item in script.items:
        behind = item.operator == "&"
        yield item.command, behind
        if isinstance(item.command, Pipeline):
            for command in item.command.commands:
                yield command, behind
        elif isinstance(item.command, (Group, For, While)):
            yield from _inner(item.command.body)
        elif isinstance(item.command, If):
            for _, body in item.command.branches:
                yield from _inner(body)


def _pipeline(machine: Machine, node: Pipeline, stdin: Value | None) -> Value:
    commands = node.commands
    if len(commands) == 1:
        return run(machine, commands[0], stdin)
    data = stdin
    shell = -1
    for number, command in enumerate(commands):
        name = _name(command)
        if name.rpartition("/")[2] in SHELLS and not _has_option(command, "-c"):
            shell = number
        elif 0 <= shell and name.rpartition("/")[2] in _TALKERS:
            machine.effect("remote_shell", "connects a shell to another machine")
        data = machine.subshell(lambda command=command, data=data: run(machine, command, data))  # type: ignore[misc]
    return data if data is not None else NOTHING


def _has_option(command: Command, option: str) -> bool:
    return isinstance(command, Simple) and any(word.literal == option for word in command.words)


# --- simple commands


def _simple(machine: Machine, node: Simple, stdin: Value | None) -> Value:
    words = node.words
    env: dict[str, Value] = {}
    if node.assignments:
        env = _assign(machine, node)
    if not words:
        machine.scope.variables.update(env)
        if node.redirects:
            given = _inputs(machine, node.redirects, stdin)
            # `$(< file)` prints the file.
            printed = given if given is not None and given is not stdin else NOTHING
            return _outputs(machine, node.redirects, printed)
        return NOTHING
    first = words[0].literal
    if machine.scope.aliases and first in machine.scope.aliases and first not in machine.calling:
        return _alias(machine, first, words[1:], node.redirects, stdin)
    values = expand.words(machine, words)
    redirects = node.redirects
    if redirects:
        stdin = _inputs(machine, redirects, stdin)
        _connected(machine, redirects, values)
    if not values:
        return _outputs(machine, redirects, NOTHING) if redirects else NOTHING
    printed = execute(machine, values, stdin, env)
    return _outputs(machine, redirects, printed) if redirects else printed


def _assign(machine: Machine, node: Simple) -> dict[str, Value]:
    env: dict[str, Value] = {}
    for assignment in node.assignments:
        name = assignment.name
        if assignment.items is not None:
            items = expand.words(machine, assignment.items)
            before = machine.scope.arrays.get(name, []) if assignment.append else []
            machine.scope.arrays[name] = [*before, *items]
            env[name] = items[0] if items else NOTHING
            continue
        value = expand.one(machine, assignment.value)
        if assignment.append:
            value = expand.lookup(machine, name) + value if name in machine.scope.variables else value
        env[name] = value
        if name.startswith("AGENT_LEDGER_") or name == "HERMES_SAFE_MODE":
            machine.effect("tampering", f"sets {name}", name)
    return env


def _alias(machine: Machine, name: str, rest: tuple[Word, ...], redirects: tuple[Redirect, ...], stdin: Value | None) -> Value:
    from . import scan

    script = scan.parse(machine.scope.aliases[name])
    machine.calling.append(name)
    try:
        if len(script.items) == 1 and isinstance(script.items[0].command, Simple):
            inner = script.items[0].command
            return _simple(machine, Simple(inner.words + rest, inner.assignments, inner.redirects + redirects), stdin)
        return run_script(machine, script, stdin)
    finally:
        machine.calling.pop()


def execute(machine: Machine, values: list[Value], stdin: Value | None, env: dict[str, Value]) -> Value:
    """Run a resolved command: a function, a program that we know, a script, or something that stays unknown."""
    if not machine.step():
        return ANYTHING
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
    judge = JUDGES.get(name) or judge_of_family(name)
    if program is None and judge is None:
        if "/" in first:
            machine.run_file(first, arguments=values)
        return ANYTHING
    command = machine.resolved(name, args, stdin, env)
    printed = program(machine, command) if program is not None else None
    if judge is not None:
        judge(command, machine)
    return printed if printed is not None else ANYTHING


def _is_own_script(machine: Machine, first: str) -> bool:
    return first.startswith("/dev/fd/") or machine.absolute(first) in machine.files


def _by_wildcard(first: str) -> str:
    for name in _COMMON:
        if fnmatch.fnmatchcase(f"/bin/{name}", first) or fnmatch.fnmatchcase(f"/usr/bin/{name}", first) or fnmatch.fnmatchcase(name, first):
            return name
    return ""


def _call(machine: Machine, name: str, args: list[Value], stdin: Value | None, env: dict[str, Value]) -> Value:
    body = machine.scope.functions[name]
    if name in machine.calling:
        return NOTHING
    if _forks(body, name):
        machine.effect("fork_bomb", f"function {name} starts itself again and again")
        return NOTHING
    scope = machine.scope
    kept = scope.positional, scope.called
    scope.positional, scope.called = (Value(name), *args), True
    scope.variables.update(env)
    machine.calling.append(name)
    try:
        return run(machine, body, stdin)
    finally:
        machine.calling.pop()
        scope.positional, scope.called = kept


def _forks(body: Command, name: str) -> bool:
    """True where a function calls itself through a pipe or in the background, so that it never ends and multiplies."""
    script = body.body if isinstance(body, Group) else Script()
    for command, behind in _inner(script):
        if isinstance(command, Pipeline) and len(command.commands) > 1 and sum(_name(c) == name for c in command.commands) > 1:
            return True
        if behind and (_name(command) == name or (isinstance(command, Pipeline) and any(_name(c) == name for c in command.commands))):
            return True
    return False


# --- redirections


def _inputs(machine: Machine, redirects: tuple[Redirect, ...], stdin: Value | None) -> Value | None:
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


def _outputs(machine: Machine, redirects: tuple[Redirect, ...], printed: Value) -> Value:
    for redirect in redirects:
        op = redirect.op
        if op in (">", ">>", ">|", "&>", "&>>") or (op == ">&" and redirect.fd == ""):
            target = expand.one(machine, redirect.target)
            if target.text.isdigit() or target.text == "-":
                continue
            if redirect.fd in ("", "1") or op[0] == "&":
                machine.write(target, printed, append=op.endswith(">>"))
                printed = NOTHING
            elif paths.is_device(machine.absolute(target.text)):
                machine.write(target, NOTHING, append=True)
    return printed


def _connected(machine: Machine, redirects: tuple[Redirect, ...], values: list[Value]) -> None:
    """A shell, or a descriptor of the shell itself, that is tied to another machine."""
    name = values[0].text.rpartition("/")[2] if values else ""
    for redirect in redirects:
        target = expand.one(machine, redirect.target).text
        if redirect.op in (">", ">&", "<>", "&>") and target.startswith(("/dev/tcp/", "/dev/udp/")):
            if name in SHELLS:
                machine.effect("remote_shell", "connects a shell to another machine", target)
            elif name == "exec":
                machine.opened.add(redirect.fd or "0")
        elif redirect.op in ("<&", ">&") and target in machine.opened and name in SHELLS:
            machine.effect("remote_shell", "connects a shell to another machine", target)
