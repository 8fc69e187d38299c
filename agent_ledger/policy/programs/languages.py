"""Programs that run the code of script languages: python, node, perl, awk, PowerShell and others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..model import ANYTHING, NOTHING, REMOTE, SECRET, UNKNOWN, Command, Value
from ..options import parse
from ..registry import JUDGES, RAW, program
from ..simple import execute
from .projects import project_script
from .words import joined

if TYPE_CHECKING:
    from ..machine import Machine

# program -> (language, options with code, options that take another word)
_RUNS = {
    name: (language, frozenset(code.split()), frozenset(valued.split()))
    for names, language, code, valued in (
        ("python python2 python3 pypy pypy3 ipython", "python", "-c", "-W -X --check-hash-based-pycs"),
        (
            "node nodejs",
            "node",
            "-e --eval -p --print -pe",
            "-r --require --import --loader --env-file --experimental-loader -C --conditions",
        ),
        ("bun", "node", "-e --eval -p --print", "-r --preload --env-file"),
        ("tsx ts-node", "node", "-e --eval -p --print", "-r -P --project"),
        ("perl", "perl", "-e -E", "-I"),
        ("ruby", "ruby", "-e", "-I -r"),
        ("php", "php", "-r", "-d -c"),
        ("lua luajit lua5.4 lua5.3 texlua", "lua", "-e", "-l"),
        ("osascript", "applescript", "-e", "-l"),
        (
            "Rscript R julia groovy scala elixir iex erl ghci tclsh guile racket swift kotlin jshell",
            "other",
            "-e --eval -E",
            "",
        ),
    )
    for name in names.split()
}


@program(*_RUNS)
def script_language(machine: Machine, command: Command) -> Value | None:
    language, code_options, valued = _RUNS[command.name]
    args = list(command.args)
    at, size = 0, len(args)
    ran: Value | None = None  # what the code of the options prints
    data_only = False
    while at < size:
        arg = args[at]
        text = arg.text
        if text == "--" or text[:1] != "-" or text == "-":
            at += text == "--"
            break
        at += 1
        name, equals, attached = text.partition("=")
        if text in code_options or (
            len(text) > 2 and text[1] != "-" and _is_code_cluster(text, code_options, language)
        ):
            if at < size:
                ran = machine.code(language, args[at], tuple(args[at + 1 :]))
                at += 1
            if language == "python":
                break
        elif equals and name in code_options:
            ran = machine.code(language, Value(attached, arg.marks))
        elif language == "python" and text[:2] == "-c" and len(text) > 2:
            ran = machine.code(language, Value(text[2:], arg.marks), tuple(args[at:]))
            break
        elif language == "python" and text == "-m":
            return _module(machine, args[at:], command)
        elif text in ("--version", "-V", "-v", "--help", "-h") or (
            text in ("-l", "--check", "--test", "-c") and language in ("php", "node", "ruby")
        ):
            data_only = True
        elif text in valued:
            at += 1
    rest = args[at:]
    if ran is not None:
        # -n and -p of perl and ruby go through the files that are named; code from stdin is data then.
        data = language in ("perl", "ruby") and (rest or command.stdin is not None)
        return _shown(machine, rest, command) if data else ran
    if data_only and not rest:
        return ANYTHING
    if command.name in ("bun",) and rest and rest[0].text in ("run", "x", "test", "install", "add"):
        return project_script(machine, Command("bun", rest, command.cwd, command.stdin))
    if rest and rest[0].text != "-":
        if not data_only:
            machine.run_file(rest[0].text, language, rest)
            if rest[0].text.rpartition("/")[2] in JUDGES:  # a program of its own: manage.py, artisan
                return execute(machine, rest, command.stdin, dict(command.env))
        return ANYTHING
    if command.stdin is not None:
        return machine.code(language, command.stdin, tuple(rest[1:]))
    return ANYTHING


def _is_code_cluster(text: str, code_options: frozenset[str], language: str) -> bool:
    """``-ne``, ``-lane``: the last letter asks for code."""
    return language in ("perl", "ruby", "node") and "-" + text[-1] in code_options and text[1:].isalnum()


def _shown(machine: Machine, rest: list[Value], command: Command) -> Value:
    value = command.stdin if command.stdin is not None else NOTHING
    for name in rest[:20]:
        value = value + machine.content(name.text)
    return Value(UNKNOWN, value.marks & (SECRET | REMOTE)) if rest or command.stdin is not None else ANYTHING


def _module(machine: Machine, args: list[Value], command: Command) -> Value | None:
    """``python -m NAME``: pip and the like are judged as programs."""
    if not args:
        return None
    name = args[0].text
    if name in ("pip", "pip3", "pipx", "poetry", "pytest", "shutil"):
        return execute(machine, [Value(name), *args[1:]], command.stdin, {})
    if name in ("base64",):
        return execute(machine, [Value("base64"), *args[1:]], command.stdin, {})
    if name == "agent_ledger.cli":
        return execute(machine, [Value("agent-ledger"), *args[1:]], command.stdin, {})
    if name == "code" and command.stdin is not None:
        machine.code("python", command.stdin)
    return ANYTHING


@program("deno")
def deno(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    if args and args[0].text == "eval":
        found = parse(args[1:], ("--ext",))
        if found.operands:
            machine.code("node", found.operands[0])
    elif args and args[0].text == "run":
        found = parse(args[1:])
        if found.operands:
            where = found.operands[0].text
            if where == "-" and command.stdin is not None:
                machine.code("node", command.stdin)
            elif where.startswith(("http://", "https://")):
                machine.effect("download_and_run", f"runs {where}, unseen", where)
            else:
                machine.run_file(where, "node", found.operands)
    return ANYTHING


@program("awk", "gawk", "mawk", "nawk")
def awk(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-F", "-v", "-f", "--field-separator", "--assign", "--file", "-e", "--source"))
    operands = list(found.operands)
    source = found.values.get("-e") or found.values.get("--source")
    if given := found.values.get("-f") or found.values.get("--file"):
        machine.run_file(given.text, "awk")
    elif source is None and operands:
        source = operands.pop(0)
    printed = machine.code("awk", source) if source is not None else NOTHING
    if printed.text.strip(UNKNOWN + "\n") and not operands:
        return printed
    value = _shown(machine, operands, command)
    if (
        source is not None
        and re.fullmatch(r"\s*\{\s*print\s+\$1\s*;?\s*\}\s*", source.text)
        and found.values.get("-F", NOTHING).text == "="
    ):
        return ANYTHING  # the names alone
    return value


@program("pwsh", "powershell")
def powershell(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    at = 0
    while at < len(args):
        name = args[at].text.lower().lstrip("-/")
        at += 1
        if not args[at - 1].text.startswith(("-", "/")):
            machine.code("powershell", joined(args[at - 1 :])) if name[-4:] != ".ps1" else machine.run_file(
                args[at - 1].text, "powershell"
            )
            break
        if name and ("command".startswith(name) or name in ("c", "commandwithargs")) and at < len(args):
            machine.code("powershell", command.stdin if args[at].text == "-" and command.stdin else joined(args[at:]))
            break
        if name and ("encodedcommand".startswith(name) or name in ("ec", "enc")) and name != "e" * 9 and at < len(args):
            machine.code("powershell", Value("-EncodedCommand " + args[at].text, args[at].marks))
            break
        if name and "file".startswith(name) and at < len(args):
            machine.run_file(args[at].text, "powershell", args[at:])
            break
        if name in (
            "executionpolicy",
            "ex",
            "ep",
            "exec",
            "windowstyle",
            "w",
            "version",
            "inputformat",
            "outputformat",
            "workingdirectory",
            "wd",
            "configurationname",
        ):
            at += 1
    else:
        if not args and command.stdin is not None:
            machine.code("powershell", command.stdin)
    return ANYTHING


def _bare(word: Value) -> Value:
    text = word.text
    return Value(text[1:-1], word.marks) if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else word


@program("cmd")
def cmd(machine: Machine, command: Command) -> Value | None:
    for at, arg in enumerate(command.args):
        if arg.text.lower() in ("/c", "/k", "/s", "/r"):
            if arg.text.lower() == "/s":
                continue
            machine.code("cmd", joined([_bare(word) for word in command.args[at + 1 :]]))
            break
    return ANYTHING


_CMDLETS = (
    "Remove-Item ri Get-ChildItem gci Clear-Content Clear-Disk Format-Volume Invoke-WebRequest iwr Invoke-RestMethod"
    " irm Invoke-Expression iex Stop-Computer"
    " Remove-Partition Initialize-Disk Set-ExecutionPolicy Remove-ItemProperty Clear-RecycleBin Move-Item"
    " Set-Content Start-Process Start-BitsTransfer"
).split()


@program(*_CMDLETS, *(name.lower() for name in _CMDLETS if "-" in name))
def cmdlet(machine: Machine, command: Command) -> Value | None:
    """PowerShell written where a shell was expected: the same words, judged as PowerShell."""
    if (
        command.name in ("iex", "Invoke-Expression", "invoke-expression")
        and command.stdin is not None
        and command.stdin.marks & REMOTE
    ):
        machine.unseen(command.stdin)
    given = [command.stdin] if command.stdin is not None and command.stdin.known else []
    machine.code("powershell", joined([Value(command.name), *command.args, *given]))
    if command.name.lower() in ("iwr", "irm", "invoke-webrequest", "invoke-restmethod"):
        return Value(UNKNOWN, REMOTE)
    if command.name.lower() in ("gci", "get-childitem"):
        operands = [arg for arg in command.args if not arg.text.startswith("-")]
        return operands[0] if operands else Value(".")
    return ANYTHING


@program(
    "del",
    "erase",
    "rd",
    "format",
    "diskpart",
    "vssadmin",
    "bcdedit",
    "cipher",
    "wmic",
    "reg",
    "schtasks",
    "robocopy",
    "takeown",
    "icacls",
    "shutdown.exe",
)
def windows(machine: Machine, command: Command) -> Value | None:
    machine.code("cmd", joined([Value(command.name), *command.args]))
    return ANYTHING


RAW.update((*_CMDLETS, *(name.lower() for name in _CMDLETS if "-" in name), "del", "erase", "rd", "cmd"))


@program("vim", "vi", "nvim", "ex", "view", "gvim")
def vim(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    at = 0
    while at < len(args):
        text = args[at].text
        at += 1
        if text in ("-c", "--cmd") and at < len(args):
            line = args[at].text
            at += 1
        elif text.startswith("+"):
            line = text[1:]
        elif text in ("-S", "-u", "-s", "-w", "-t") and at < len(args):
            at += 1
            continue
        elif text.startswith("-"):
            continue
        else:
            machine.read(text)
            continue
        found = re.search(r"(?:^|\|)\s*(?:silent!?\s+)?(?:\S*!|call\s+system\(['\"])(.+)", line)
        if found and (line.lstrip().startswith("!") or "!" in line[:12] or "system(" in line):
            machine.aside(found[1].rstrip("\"')"))
    return NOTHING


@program("expect", "gdb", "lldb")
def debugger(machine: Machine, command: Command) -> Value | None:
    for arg in command.args:
        found = re.match(r"(?:spawn|shell|!|exec|system|platform shell)\s*(.+)", arg.text)
        if found:
            machine.aside(found[1])
    return None
