"""What a shell does itself: folders, variables, functions, eval and source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .. import parameters
from ..model import ANYTHING, GLOB, NOTHING, SOME, UNKNOWN, Command, Value
from ..options import parse
from ..registry import program
from ..simple import execute
from ..walk import assign_fields

if TYPE_CHECKING:
    from ..machine import Machine

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_FORMAT = re.compile(r"%[-+ 0#]*\d*(?:\.\d+)?([a-zA-Z%])")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|0?([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|([abefnrtv\\c\"']))")
_STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/" "self/fd/0")
_PLAIN = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "c": "",
    '"': '"',
    "'": "'",
}


@program("cd", "pushd", "chdir")
def change_folder(machine: Machine, command: Command) -> Value:
    found = parse(command.args)
    scope = machine.scope
    before = scope.cwd
    if not found.operands:
        target = machine.home
    else:
        target = found.operands[0].text
        if target == "-":
            target = parameters.lookup(machine, "OLDPWD").text
    scope.cwd = UNKNOWN if UNKNOWN in target else machine.absolute(target)
    scope.variables["OLDPWD"] = Value(before)
    if command.name == "pushd":
        scope.arrays.setdefault("DIRSTACK", []).append(Value(before))
    return NOTHING


@program("popd")
def pop_folder(machine: Machine, command: Command) -> Value:
    stack = machine.scope.arrays.get("DIRSTACK")
    if stack:
        machine.scope.cwd = stack.pop().text
    return NOTHING


@program("export", "declare", "typeset", "local", "readonly")
def declare(machine: Machine, command: Command) -> Value:
    exports = command.name == "export" or "-x" in command.texts
    for arg in command.args:
        found = _NAME.match(arg.text)
        name = found[0].rstrip("+=").partition("[")[0] if found else arg.text
        if exports:
            machine.scope.exported.add(name)
        if not found:
            continue
        text = arg.text[found.end() :]
        if text[:1] == "~":
            text = machine.home + text[1:]
        machine.scope.variables[name] = Value(text, arg.marks)
        if name.startswith("AGENT_LEDGER_") or name == "HERMES_SAFE_MODE":
            machine.effect("tampering", f"sets {name}", name)
    return NOTHING


@program("unset")
def unset(machine: Machine, command: Command) -> Value:
    for arg in command.args:
        machine.scope.variables.pop(arg.text, None)
        machine.scope.functions.pop(arg.text, None)
    return NOTHING


@program("set")
def set_options(machine: Machine, command: Command) -> Value:
    texts = command.texts
    if "--" in texts:
        at = texts.index("--")
        machine.scope.positional = (Value("bash"), *command.args[at + 1 :])
        machine.scope.called = True
    elif texts and not texts[0].startswith(("-", "+")):
        machine.scope.positional = (Value("bash"), *command.args)
        machine.scope.called = True
    return NOTHING


@program("shift")
def shift(machine: Machine, command: Command) -> Value:
    positional = machine.scope.positional
    by = int(command.args[0].text) if command.args and command.args[0].text.isdigit() else 1
    machine.scope.positional = positional[:1] + positional[1 + by :]
    return NOTHING


@program("alias")
def alias(machine: Machine, command: Command) -> Value:
    for arg in command.args:
        name, equals, text = arg.text.partition("=")
        if equals:
            machine.scope.aliases[name] = text
    return NOTHING


@program("unalias")
def unalias(machine: Machine, command: Command) -> Value:
    for arg in command.args:
        machine.scope.aliases.pop(arg.text, None)
    return NOTHING


@program("eval")
def evaluate(machine: Machine, command: Command) -> Value:
    text, marks = "", 0
    for arg in command.args[1:] if command.texts[:1] == ["--"] else command.args:
        text += (" " if text else "") + arg.text
        marks |= arg.marks
    return machine.shell(Value(text, marks), stdin=command.stdin)


@program("source", ".")
def source(machine: Machine, command: Command) -> Value:
    if command.args and command.args[0].text in _STDIN:
        machine.shell(command.stdin if command.stdin is not None else NOTHING)
    elif command.args:
        machine.run_file(command.args[0].text, "shell", command.args, sourced=True)
    return NOTHING


@program("trap")
def trap(machine: Machine, command: Command) -> Value:
    found = [arg for arg in command.args if arg.text not in ("--", "-")]
    if len(found) > 1 and found[0].text and not found[0].text.startswith("-"):
        machine.aside(found[0])
    return NOTHING


@program("read")
def read(machine: Machine, command: Command) -> Value:
    found = parse(command.args, ("-p", "-t", "-n", "-N", "-d", "-u", "-i", "-a"))
    names = [value.text for value in found.operands] or ["REPLY"]
    line = command.stdin if command.stdin is not None else ANYTHING
    assign_fields(machine, names, Value(line.text.partition("\n")[0], line.marks))
    return NOTHING


@program("mapfile", "readarray")
def map_file(machine: Machine, command: Command) -> Value:
    found = parse(command.args, ("-d", "-n", "-O", "-s", "-u", "-C", "-c"))
    name = found.operands[0].text if found.operands else "MAPFILE"
    data = command.stdin if command.stdin is not None else ANYTHING
    machine.scope.arrays[name] = [Value(line, data.marks) for line in data.text.split("\n")[:64] if line]
    return NOTHING


@program("exec")
def replace(machine: Machine, command: Command) -> Value:
    found = list(command.args)
    while found and found[0].text.startswith("-"):
        valued = found[0].text == "-a"
        del found[: 2 if valued else 1]
    return execute(machine, found, command.stdin, dict(command.env)) if found else NOTHING


@program("test", "[", "true", "false", ":", "wait", "exit", "return", "break", "continue", "sleep", "ulimit", "umask",
    "shopt", "hash", "bg", "fg",
         "jobs", "times", "logout", "let", "bind", "complete", "compopt", "setopt", "unsetopt", "autoload",
         "zstyle")  # fmt: skip
def nothing(machine: Machine, command: Command) -> Value:
    return NOTHING


# --- printing


def unescape(text: str) -> str:
    """The escapes of ``echo -e`` and ``printf``."""
    if "\\" not in text:
        return text

    def one(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        if found[2]:
            return chr(int(found[2], 8) & 0xFF)
        if found[3]:
            return chr(int(found[3], 16))
        return _PLAIN[found[4]]

    return _ESCAPE.sub(one, text)


@program("echo")
def echo(machine: Machine, command: Command) -> Value:
    args = list(command.args)
    escapes = False
    while args and args[0].text in ("-n", "-e", "-E", "-ne", "-en", "-nE", "-e -n"):
        escapes = escapes or "e" in args[0].text
        del args[0]
    text = " ".join([arg.text for arg in args])
    marks = 0
    for arg in args:
        marks |= arg.marks
    return Value(unescape(text) if escapes else text, marks)


@program("printf")
def print_format(machine: Machine, command: Command) -> Value:
    args = list(command.args)
    target = ""
    if len(args) > 1 and args[0].text == "-v":
        target = args[1].text
        del args[:2]
    if args and args[0].text == "--":
        del args[0]
    if not args:
        return NOTHING
    form, rest = unescape(args[0].text), args[1:]
    marks = args[0].marks
    for arg in rest:
        marks |= arg.marks
    texts = [arg.text for arg in rest]
    out = ""
    for _ in range(64):  # the format is used again until the arguments are
        line, used = _filled(form, texts)
        out += line
        texts = texts[used:]
        if not texts or not used:
            break
    if target:
        machine.scope.variables[target] = Value(out, marks)
        return NOTHING
    return Value(out, marks & ~GLOB if not rest else marks)


def _filled(form: str, texts: list[str]) -> tuple[str, int]:
    """A format with its first arguments put in, and how many those were."""
    used = 0

    def fill(found: re.Match[str]) -> str:
        nonlocal used
        if found[1] == "%":
            return "%"
        value = texts[used] if used < len(texts) else ""
        used += 1
        return unescape(value) if found[1] == "b" else value

    return _FORMAT.sub(fill, form), used


@program("pwd")
def folder(machine: Machine, command: Command) -> Value:
    return Value(machine.cwd)


@program("mktemp")
def temporary(machine: Machine, command: Command) -> Value:
    found = parse(command.args, ("-p", "--tmpdir", "--suffix", "-t"))
    inside = found.values.get("-p") or found.values.get("--tmpdir") or Value("/tmp")
    name = found.operands[0].text if found.operands else "tmp." + SOME
    return Value(name if "/" in name else f"{inside.text}/{name}")


@program("which", "whereis")
def which(machine: Machine, command: Command) -> Value:
    names = parse(command.args).operands
    return Value(f"/usr/bin/{names[0].text}") if names else NOTHING


@program(
    "type",
    "whoami",
    "hostname",
    "date",
    "id",
    "uname",
    "nproc",
    "uuidgen",
    "seq",
    "basename",
    "logname",
    "tty",
    "arch",
    "du",
    "df",
    "stat",
)
def some(machine: Machine, command: Command) -> Value:
    if command.name == "basename" and command.args:
        name = command.args[-1 if len(command.args) == 1 else 0].text.rstrip("/").rpartition("/")[2]
        return Value(name or SOME)
    if command.name == "seq":
        texts = [text for text in command.texts if text.isdigit()]
        if len(texts) == 1 and int(texts[0]) <= 20:
            return Value("\n".join(str(n) for n in range(1, int(texts[0]) + 1)))
    return Value(SOME)


@program("dirname", "realpath", "readlink")
def of_path(machine: Machine, command: Command) -> Value:
    names = parse(command.args).operands
    if not names:
        return ANYTHING
    path = names[0]
    if command.name == "dirname":
        head = path.text.rstrip("/").rpartition("/")[0]
        return Value(head or ("/" if path.text.startswith("/") else "."), path.marks)
    return Value(machine.absolute(path.text) if UNKNOWN not in path.text else path.text, path.marks)
