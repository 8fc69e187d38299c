"""Programs that delete, move, copy, pack or write files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .. import paths, secret_paths, watched_paths
from ..effects import places
from ..model import ANYTHING, GLOB, NOTHING, SECRET, SOME, UNKNOWN, Command, Value
from ..options import parse
from ..registry import program
from .words import joined

if TYPE_CHECKING:
    from ..machine import Machine


@program(
    "rm",
    "srm",
    "wipe",
    "rimraf",
    "del-cli",
    "grm",
    "unlink",
    "rmdir",
    "shred",
    "truncate",
    "scrub",
    "trash-empty",
    "bleachbit",
)
def remove(machine: Machine, command: Command) -> Value | None:
    name = command.name
    found = parse(
        command.args,
        ("-n", "-s", "--iterations", "--size", "-I", "--random-source") if name in ("shred", "truncate") else (),
    )
    if found.any("--help", "--version"):
        return NOTHING
    if name in ("rimraf", "del-cli"):
        recursive = True
    elif name in ("rm", "srm", "grm", "wipe"):
        recursive = any(
            flag in ("-r", "-R") or (len(flag) > 3 and "--recursive".startswith(flag)) for flag in found.flags
        )
    else:
        recursive = False
    if name == "rmdir":  # only empty folders go
        if "/s" in [text.lower() for text in command.texts]:  # the one of Windows
            machine.code("cmd", joined([Value(name), *command.args]))
        return NOTHING
    for target in found.operands:
        if name == "truncate" or (name == "shred" and not found.any("-u", "--remove")):
            where = machine.absolute(target.text)
            if not places.is_device(where) and (
                paths.is_vital(where, machine.home) or machine.touches_guarded(where)
            ):
                machine.effect(
                    "tampering" if machine.touches_guarded(where) else "overwrite", f"destroys {where}", where
                )
            continue
        if name == "shred":
            where = machine.absolute(target.text)
            if (
                secret_paths.is_secret(where, machine.home)
                or secret_paths.is_secret_folder(where)
                or "/.ssh/" in where
                or "/.gnupg/" in where
            ):
                if not paths.is_temporary(where):
                    machine.effect("recursive_delete", f"destroys {where}", where, "keys that cannot be had again")
                continue
        if name == "rimraf" and target.text.endswith("/**"):
            target = Value(target.text[:-1], target.marks | GLOB)
        machine.delete(target, recursive)
    return NOTHING


@program("trash", "trash-put", "gio", "rmtrash")
def trash(machine: Machine, command: Command) -> Value | None:
    return NOTHING


@program("rsync")
def synchronise(machine: Machine, command: Command) -> Value | None:
    valued = ("-e", "--rsh", "--exclude", "--include", "--filter", "-f", "--exclude-from", "--include-from",
        "--files-from", "--bwlimit", "--password-file", "--log-file",
              "--backup-dir", "--link-dest", "--partial-dir", "--port", "--timeout", "--rsync-path", "--chmod",
              "--chown", "-T", "--temp-dir", "--max-size", "--min-size")  # fmt: skip
    found = parse(command.args, valued)
    if len(found.operands) < 2 or found.any("-n", "--dry-run"):
        return ANYTHING
    *sources, target = found.operands
    if any(flag.startswith("--del") for flag in found.flags) and not _remote(target.text):
        machine.delete(Value(target.text.rstrip("/") or "/", target.marks), recursive=True)
    if found.any("--remove-source-files"):
        for source in sources:
            machine.delete(source, recursive=True)
    _copy(machine, sources, target)
    return ANYTHING


def _remote(text: str) -> bool:
    head = text.partition("/")[0]
    return ":" in head and not (len(head) == 2 and head[0].isalpha())


@program("scp", "sftp")
def secure_copy(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-i", "-P", "-o", "-F", "-c", "-J", "-l", "-S", "-b", "-D"))
    if len(found.operands) > 1:
        _copy(machine, found.operands[:-1], found.operands[-1])
    return ANYTHING


def _copy(machine: Machine, sources: list[Value], target: Value) -> None:
    for source in sources[:20]:
        if _remote(source.text):
            if not _remote(target.text):
                name = source.text.rpartition("/")[2].rpartition(":")[2]
                machine.fetched(
                    target.text if not target.text.endswith(("/", ".")) else f"{target.text.rstrip('/')}/{name}"
                )
            continue
        value = machine.content(source.text)
        if _remote(target.text):
            machine.send(value, target.text)
        elif value.marks & SECRET:
            _kept(machine, target.text, source.text, value)


def _kept(machine: Machine, target: str, source: str, value: Value) -> None:
    """A copy of a secret: shown where it leaves the place where it was kept."""
    if target.endswith("/") or target in (".", ".."):
        target = f"{target.rstrip('/')}/{source.rstrip('/').rpartition('/')[2]}"
    machine.write(target, value)


@program("cp", "gcp", "install", "ditto", "ln")
def copy(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-t", "--target-directory", "-S", "-m", "-o", "-g", "--mode", "--owner", "--group"))
    operands = list(found.operands)
    folder = found.values.get("-t") or found.values.get("--target-directory")
    if folder is not None:
        target = folder
    elif len(operands) > 1:
        target = operands.pop()
    else:
        return NOTHING
    if command.name == "ln":
        _link(machine, operands, target, found.any("-s", "--symbolic"))
        return NOTHING
    if command.name == "install" and found.any("-d"):
        return NOTHING
    where = target.text
    for source in operands[:20]:
        value = machine.content(source.text)
        name = source.text.rstrip("/").rpartition("/")[2]
        into = folder is not None or where.endswith("/") or where in (".", "..") or len(operands) > 1
        path = f"{where.rstrip('/')}/{name}" if into else where
        absolute = machine.absolute(path)
        watched = watched_paths.is_account_file(absolute) or places.is_device(absolute)
        if value.marks or value.text != UNKNOWN or watched:
            machine.write(path, Value(value.text if value.text else SOME, value.marks))
        else:
            if machine.touches_guarded(absolute):
                machine.effect("tampering", f"overwrites {absolute}", absolute)
            known = machine.files.get(machine.absolute(source.text))
            if known is not None:
                machine.files[absolute] = known
                machine.written.add(absolute)
            else:
                machine.files.pop(absolute, None)
    return NOTHING


def _link(machine: Machine, operands: list[Value], target: Value, symbolic: bool) -> None:
    if symbolic and operands and UNKNOWN not in operands[0].text and UNKNOWN not in target.text:
        source = operands[0].text
        where = machine.absolute(target.text)
        if machine.touches_guarded(where):
            machine.effect("tampering", f"replaces {where}", where)
        folder = where.rpartition("/")[0] or "/"
        machine.link(where, machine.absolute(source) if source.startswith("/") else paths.absolute(source, folder))


@program("mv", "gmv", "rename")
def move(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-t", "--target-directory", "-S"))
    operands = list(found.operands)
    folder = found.values.get("-t") or found.values.get("--target-directory")
    if command.name == "rename" or (folder is None and len(operands) < 2):
        return NOTHING
    target = folder if folder is not None else operands.pop()
    for source in operands[:20]:
        machine.move(source, target)
        before = machine.absolute(source.text)
        name = source.text.rstrip("/").rpartition("/")[2]
        into = folder is not None or target.text.endswith("/") or target.text in (".", "..") or len(operands) > 1
        after = machine.absolute(f"{target.text.rstrip('/')}/{name}" if into else target.text)
        known = machine.files.pop(before, None)
        value = machine.content(after)
        if known is not None:
            machine.files[after] = known
            machine.written.add(after)
        elif value.text != UNKNOWN:
            machine.files.pop(after, None)
        if watched_paths.is_account_file(after):
            machine.effect("account", f"replaces {after}", after)
        if machine.touches_guarded(after):
            machine.effect("tampering", f"replaces {after}", after)
    return NOTHING


@program("tee", "sponge", "gtee")
def tee(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args)
    data = command.stdin if command.stdin is not None else ANYTHING
    for target in found.operands:
        machine.write(target, data, append=found.any("-a", "--append"))
    return data


@program("tar", "gtar", "bsdtar", "zip", "7z", "7za", "rar", "cpio", "ar", "pax", "jar")
def pack(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    for arg in args:
        found = re.match(
            r"--(?:checkpoint-action=exec|to-command|use-compress-program|rsh-command|info-script|new-volume-script)=(.+)",
            arg.text,
            re.DOTALL,
        )
        if found:
            machine.aside(found[1])
    if command.name in ("tar", "gtar", "bsdtar"):
        return _tar(machine, args, command)
    found_options = parse(args, ("-x", "-i", "-b", "-n", "-P", "-p"))
    operands = found_options.operands
    if command.name in ("7z", "7za", "rar", "ar", "jar"):
        operands = operands[1:]
    return _packed(machine, operands[1:], operands[0].text if operands else "-")


def _tar(machine: Machine, args: list[Value], command: Command) -> Value | None:
    if args and not args[0].text.startswith("-") and re.fullmatch(r"[cxtruAdvzjJpPfkmhOCZaSlW]+", args[0].text):
        args[0] = Value("-" + args[0].text, args[0].marks)
    valued = ("-f", "--file", "-C", "--directory", "-T", "--files-from", "-X", "--exclude-from", "--exclude", "-I",
        "--use-compress-program", "--transform", "--strip-components",
              "-b", "--owner", "--group", "--mode", "--checkpoint", "--checkpoint-action", "-N", "--newer",
              "-V")  # fmt: skip
    found = parse(args, valued)
    if not found.any("-c", "--create", "-r", "--append", "-u"):
        if found.any("-x", "--extract", "--get") and found.any("-O", "--to-stdout") and command.stdin is not None:
            return Value(UNKNOWN, command.stdin.marks)
        return ANYTHING
    target = found.values.get("-f") or found.values.get("--file") or Value("-")
    folder = found.values.get("-C") or found.values.get("--directory")
    operands = [
        Value(f"{folder.text}/{o.text}", o.marks) if folder and not o.text.startswith("/") else o
        for o in found.operands
    ]
    return _packed(machine, operands, target.text)


def _packed(machine: Machine, operands: list[Value], target: str) -> Value:
    marks = 0
    for operand in operands[:50]:
        marks |= machine.content(operand.text).marks & SECRET
    value = Value(UNKNOWN, marks)
    if target in ("-", "/dev/stdout"):
        return value
    if marks:
        machine.write(target, value)
        if not paths.is_temporary(machine.absolute(target)):
            machine.show(value)
    return NOTHING


@program("touch", "mkdir", "chmod", "chown", "mkfifo")
def make(machine: Machine, command: Command) -> Value | None:
    if command.name in ("touch", "mkdir", "mkfifo"):
        return NOTHING
    for arg in command.args[1:]:
        if not arg.text.startswith("-"):
            where = machine.absolute(arg.text)
            if machine.touches_guarded(where):
                machine.effect("tampering", f"changes who may use {where}", where)
    return NOTHING


@program("dd", "gdd")
def dd(machine: Machine, command: Command) -> Value | None:
    given = dict(arg.text.partition("=")[::2] for arg in command.args)
    data = command.stdin if command.stdin is not None else ANYTHING
    if source := given.get("if", ""):
        data = machine.content(source) if not source.startswith("/dev/") else ANYTHING
    if target := given.get("of", ""):
        if not places.is_device(machine.absolute(target)):
            machine.write(target, data if data.text else Value(SOME))
        return NOTHING
    return data


_LIST = frozenset({"-d", "--directory"})


@program("ls", "gls", "exa", "eza", "lsd", "dir", "tree")
def listing(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-I", "--ignore", "-w", "-L", "-T", "--hide"))
    if not found.operands:
        return Value("*", GLOB)
    done = []
    for operand in found.operands[:20]:
        itself = (
            found.any(*_LIST)
            or operand.marks & GLOB
            or secret_paths.is_secret(machine.absolute(operand.text), machine.home)
        )
        done.append(operand.text if itself else f"{operand.text.rstrip('/')}/*")
    return Value("\n".join(done), GLOB)
