"""Programs that run code: shells, script languages, make and the runners of project scripts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .model import ANYTHING, NOTHING, REMOTE, SECRET, UNKNOWN, Command, Value
from .options import parse
from .registry import SHELLS, program
from .walk import execute

if TYPE_CHECKING:
    from .machine import Machine

_LANGUAGES = {
    ".sh": "shell", ".bash": "shell", ".zsh": "shell", ".ksh": "shell", ".command": "shell", ".fish": "shell", ".py": "python", ".pyw": "python",
    ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "node", ".mts": "node", ".jsx": "node", ".tsx": "node", ".pl": "perl", ".pm": "perl", ".rb": "ruby",
    ".php": "php", ".lua": "lua", ".awk": "awk", ".ps1": "powershell", ".psm1": "powershell", ".bat": "cmd", ".cmd": "cmd", ".sql": "sql", ".mk": "make",
}  # fmt: skip
# Files whose content is data, whatever stands in it.
_DATA = frozenset(
    ".md .rst .json .yaml .yml .toml .csv .tsv .html .css .svg .xml .lock .png .jpg .pdf .log .ini .cfg .conf .adoc .tex .ipynb .java .go .rs .c .h .cpp .cs .kt .swift .scala".split()
)
_SHEBANG = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?([A-Za-z]+)")
_BY_PROGRAM = {
    "python": "python", "pypy": "python", "node": "node", "nodejs": "node", "deno": "node", "bun": "node", "perl": "perl", "ruby": "ruby", "php": "php", "lua": "lua", "awk": "awk",
    "gawk": "awk", "pwsh": "powershell", "tsx": "node", "ts": "node",
}  # fmt: skip


def language_of(path: str, text: str) -> str:
    """The language of a file by its first line, else by its name; '' for data. Nameless text is taken for a shell's."""
    found = _SHEBANG.match(text)
    if found:
        return "shell" if found[1] in SHELLS else _BY_PROGRAM.get(found[1], "")
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    ending = name[dot:].lower() if dot > 0 else ""
    if name in ("Makefile", "makefile", "GNUmakefile"):
        return "make"
    return _LANGUAGES.get(ending, "" if ending in _DATA else "shell")


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
    if rest and not from_stdin and rest[0].text != "-":
        machine.run_file(rest[0].text, "shell", rest)
        return ANYTHING
    if command.stdin is not None:
        return machine.subshell(lambda: machine.shell(command.stdin or NOTHING, arguments=(Value(command.name), *rest[1:])))
    return ANYTHING


def _text(machine: Machine, rest: list[Value], command: Command) -> Value:
    arguments = tuple(rest[1:]) or (Value(command.name),)

    def work() -> Value:
        machine.scope.variables.update(command.env)
        return machine.shell(rest[0], arguments=arguments, stdin=command.stdin)

    return machine.subshell(work)


# --- script languages

# program -> (language, options with code, options that take another word, code is read from stdin where no file is named)
_RUNS: dict[str, tuple[str, frozenset[str], frozenset[str]]] = {}


def _language(names: str, language: str, code: str, valued: str = "") -> None:
    for name in names.split():
        _RUNS[name] = language, frozenset(code.split()), frozenset(valued.split())


_language("python python2 python3 pypy pypy3 ipython", "python", "-c", "-W -X --check-hash-based-pycs")
_language("node nodejs", "node", "-e --eval -p --print -pe", "-r --require --import --loader --env-file --experimental-loader -C --conditions")
_language("bun", "node", "-e --eval -p --print", "-r --preload --env-file")
_language("tsx ts-node", "node", "-e --eval -p --print", "-r -P --project")
_language("perl", "perl", "-e -E", "-I")
_language("ruby", "ruby", "-e", "-I -r")
_language("php", "php", "-r", "-d -c")
_language("lua luajit lua5.4 lua5.3 texlua", "lua", "-e", "-l")
_language("osascript", "applescript", "-e", "-l")
_language("Rscript R julia groovy scala elixir iex erl ghci tclsh guile racket swift kotlin jshell", "other", "-e --eval -E", "")


@program(*_RUNS)
def script_language(machine: Machine, command: Command) -> Value | None:
    language, code_options, valued = _RUNS[command.name]
    args = list(command.args)
    at, size = 0, len(args)
    ran = False
    data_only = False
    while at < size:
        arg = args[at]
        text = arg.text
        if text == "--" or text[:1] != "-" or text == "-":
            at += text == "--"
            break
        at += 1
        name, equals, attached = text.partition("=")
        if text in code_options or (len(text) > 2 and text[1] != "-" and _is_code_cluster(text, code_options, language)):
            if at < size:
                machine.code(language, args[at], tuple(args[at + 1 :]))
                at += 1
                ran = True
            if language == "python":
                break
        elif equals and name in code_options:
            machine.code(language, Value(attached, arg.marks))
            ran = True
        elif language == "python" and text[:2] == "-c" and len(text) > 2:
            machine.code(language, Value(text[2:], arg.marks), tuple(args[at:]))
            ran = True
            break
        elif language == "python" and text == "-m":
            return _module(machine, args[at:], command)
        elif text in ("--version", "-V", "-v", "--help", "-h") or (text in ("-l", "--check", "--test", "-c") and language in ("php", "node", "ruby")):
            data_only = True
        elif text in valued:
            at += 1
    rest = args[at:]
    if ran:
        # -n and -p of perl and ruby go through the files that are named; code from stdin is data then.
        return _shown(machine, rest, command) if language in ("perl", "ruby", "awk") else ANYTHING
    if data_only and not rest:
        return ANYTHING
    if command.name in ("bun",) and rest and rest[0].text in ("run", "x", "test", "install", "add"):
        return project_script(machine, Command("bun", rest, command.cwd, command.stdin))
    if rest and rest[0].text != "-":
        if not data_only:
            machine.run_file(rest[0].text, language, rest)
        return ANYTHING
    if command.stdin is not None and language not in ("other",):
        machine.code(language, command.stdin, tuple(rest))
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
            if where.startswith(("http://", "https://")):
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
    if source is not None:
        machine.code("awk", source)
    value = _shown(machine, operands, command)
    if source is not None and re.fullmatch(r"\s*\{\s*print\s+\$1\s*;?\s*\}\s*", source.text) and found.values.get("-F", NOTHING).text == "=":
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
            machine.code("powershell", _joined(args[at - 1 :])) if name[-4:] != ".ps1" else machine.run_file(args[at - 1].text, "powershell")
            break
        if name and ("command".startswith(name) or name in ("c", "commandwithargs")) and at < len(args):
            machine.code("powershell", command.stdin if args[at].text == "-" and command.stdin else _joined(args[at:]))
            break
        if name and ("encodedcommand".startswith(name) or name in ("ec", "enc")) and name != "e" * 9 and at < len(args):
            machine.code("powershell", Value("-EncodedCommand " + args[at].text, args[at].marks))
            break
        if name and "file".startswith(name) and at < len(args):
            machine.run_file(args[at].text, "powershell", args[at:])
            break
        if name in ("executionpolicy", "ex", "ep", "exec", "windowstyle", "w", "version", "inputformat", "outputformat", "workingdirectory", "wd", "configurationname"):
            at += 1
    else:
        if not args and command.stdin is not None:
            machine.code("powershell", command.stdin)
    return ANYTHING


def _joined(args: list[Value]) -> Value:
    text, marks = "", 0
    for arg in args:
        text += (" " if text else "") + arg.text
        marks |= arg.marks
    return Value(text, marks)


@program("cmd")
def cmd(machine: Machine, command: Command) -> Value | None:
    for at, arg in enumerate(command.args):
        if arg.text.lower() in ("/c", "/k", "/s", "/r"):
            if arg.text.lower() == "/s":
                continue
            machine.code("cmd", _joined(list(command.args[at + 1 :])))
            break
    return ANYTHING


_CMDLETS = (
    "Remove-Item ri Get-ChildItem gci Clear-Content Clear-Disk Format-Volume Invoke-WebRequest iwr Invoke-RestMethod irm Invoke-Expression iex Stop-Computer"
    " Remove-Partition Initialize-Disk Set-ExecutionPolicy Remove-ItemProperty Clear-RecycleBin Move-Item Set-Content Start-Process Start-BitsTransfer"
).split()


@program(*_CMDLETS, *(name.lower() for name in _CMDLETS if "-" in name))
def cmdlet(machine: Machine, command: Command) -> Value | None:
    """PowerShell written where a shell was expected: the same words, judged as PowerShell."""
    if command.name in ("iex", "Invoke-Expression", "invoke-expression") and command.stdin is not None and command.stdin.marks & REMOTE:
        machine.unseen(command.stdin)
    machine.code("powershell", _joined([Value(command.name), *(Value(f"'{a.text}'" if " " in a.text else a.text, a.marks) for a in command.args)]))
    if command.name.lower() in ("iwr", "irm", "invoke-webrequest", "invoke-restmethod"):
        return Value(UNKNOWN, REMOTE)
    if command.name.lower() in ("gci", "get-childitem"):
        operands = [arg for arg in command.args if not arg.text.startswith("-")]
        return operands[0] if operands else Value(".")
    return ANYTHING


@program("del", "erase", "rd", "format", "diskpart", "vssadmin", "bcdedit", "cipher", "wmic", "reg", "schtasks", "robocopy", "takeown", "icacls", "shutdown.exe")
def windows(machine: Machine, command: Command) -> Value | None:
    machine.code("cmd", _joined([Value(command.name), *command.args]))
    return ANYTHING


# --- project scripts


@program("make", "gmake", "bmake", "remake", "colormake")
def make(machine: Machine, command: Command) -> Value | None:
    from .code import recipes

    found = parse(command.args, ("-f", "-C", "-I", "-j", "-l", "-o", "-W", "--file", "--makefile", "--directory", "--jobs"))
    if found.any("-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "-p", "--help", "--version"):
        return ANYTHING

    def work() -> Value:
        if folder := found.values.get("-C") or found.values.get("--directory"):
            machine.scope.cwd = machine.absolute(folder.text)
        given = found.values.get("-f") or found.values.get("--file") or found.values.get("--makefile")
        if given and given.text == "-":
            text = command.stdin
        elif given:
            text = machine.content(given.text)
        else:
            text = _first_file(machine, "GNUmakefile", "makefile", "Makefile")
        if text is None or text.text in ("", UNKNOWN):
            return ANYTHING
        goals = [word.text for word in found.operands if "=" not in word.text]
        settings = dict(word.text.split("=", 1) for word in found.operands if "=" in word.text)
        for line in recipes.make_lines(text.text, goals, settings):
            machine.subshell(lambda line=line: machine.shell(line))  # type: ignore[misc]
        return ANYTHING

    return machine.subshell(work)


def _first_file(machine: Machine, *names: str) -> Value | None:
    for name in names:
        value = machine.content(name)
        if value.text != UNKNOWN:
            return value
    return None


@program("npm", "yarn", "pnpm", "bun-run")
def project_script(machine: Machine, command: Command) -> Value | None:
    from .code import recipes

    found = parse(command.args, ("--prefix", "-C", "--cwd", "-w", "--workspace", "--filter", "-F", "--dir"))
    words = found.operands
    if not words:
        return None
    verb = words[0].text
    if verb in ("exec", "dlx", "x"):
        rest = list(command.args[[arg.text for arg in command.args].index(verb) + 1 :])
        while rest and rest[0].text.startswith("-"):
            rest.pop(0)
        return execute(machine, rest, command.stdin, {}) if rest else None
    if verb in ("run", "run-script", "rum", "urn"):
        name = words[1].text if len(words) > 1 else ""
    elif command.name in ("yarn", "pnpm", "bun-run") or verb in ("test", "start", "stop", "restart", "t", "install", "ci", "publish", "pack", "prepare"):
        name = {"t": "test", "ci": "install"}.get(verb, verb)
    else:
        return None
    folder = found.values.get("--prefix") or found.values.get("-C") or found.values.get("--cwd") or found.values.get("--dir")

    def work() -> Value:
        if folder:
            machine.scope.cwd = machine.absolute(folder.text)
        text = machine.content("package.json")
        if text.text not in ("", UNKNOWN):
            for line in recipes.package_lines(text.text, name):
                machine.subshell(lambda line=line: machine.shell(line))  # type: ignore[misc]
        return ANYTHING

    return machine.subshell(work)


@program("just", "task", "go-task")
def recipe(machine: Machine, command: Command) -> Value | None:
    from .code import recipes

    found = parse(command.args, ("-f", "--justfile", "-d", "--working-directory", "-t", "--taskfile", "--dir", "--set"))
    if found.any("-n", "--dry-run", "--dry", "-l", "--list", "--summary", "--show", "-s", "--help", "--version"):
        return ANYTHING
    given = found.values.get("-f") or found.values.get("--justfile") or found.values.get("-t") or found.values.get("--taskfile")
    just = command.name == "just"
    names = ("justfile", "Justfile", ".justfile") if just else ("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml")
    text = machine.content(given.text) if given else _first_file(machine, *names)
    if text is None or text.text in ("", UNKNOWN):
        return ANYTHING
    goals = [word.text for word in found.operands if "=" not in word.text]
    lines = recipes.just_lines(text.text, goals) if just else recipes.task_lines(text.text, goals)
    for line in lines:
        machine.subshell(lambda line=line: machine.shell(line))  # type: ignore[misc]
    return ANYTHING


# --- editors and others that can run a command


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
            machine.subshell(lambda found=found: machine.shell(found[1].rstrip("\"')")))  # type: ignore[misc]
    return NOTHING


@program("expect", "gdb", "lldb")
def debugger(machine: Machine, command: Command) -> Value | None:
    for arg in command.args:
        found = re.match(r"(?:spawn|shell|!|exec|system|platform shell)\s*(.+)", arg.text)
        if found:
            machine.subshell(lambda found=found: machine.shell(found[1]))  # type: ignore[misc]
    return None


