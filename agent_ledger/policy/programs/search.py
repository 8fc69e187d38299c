"""Programs that search for files, and delete or run something for what they find: find, fd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model import GLOB, NOTHING, SOME, TREE, Command, Value
from ..options import parse
from ..registry import program
from ..simple import execute
from .words import put_in

if TYPE_CHECKING:
    from ..machine import Machine

_TIMES = frozenset({
    "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-newermt", "-size", "-empty", "-user",
    "-group", "-uid", "-links", "-inum", "-samefile", "-regex", "-iregex", "-lname", "-nouser", "-nogroup", "-xtype",
    "-used",
})  # fmt: skip
_NAMES = frozenset({"-name", "-iname"})
_WHOLE = frozenset({"-path", "-ipath", "-wholename", "-iwholename"})
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


@program("find", "gfind", "bfs")
def find(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    at = 0
    while at < len(args) and args[at].text in ("-H", "-L", "-P"):
        at += 1
    roots: list[Value] = []
    while at < len(args) and not args[at].text.startswith(("-", "(", "!", ")")):
        roots.append(args[at])
        at += 1
    names, wholes, filtered = list[Value](), list[Value](), False
    runs: list[list[Value]] = []
    delete = pruned = False
    negated = False
    while at < len(args):
        text = args[at].text
        at += 1
        if text in ("!", "-not"):
            negated = True
            continue
        if text in _NAMES or text in _WHOLE:
            if at < len(args):
                if not negated:
                    (names if text in _NAMES else wholes).append(args[at])
                at += 1
        elif text in _TIMES:
            filtered = True
            at += text not in ("-empty", "-nouser", "-nogroup")
        elif text in _RUNS:
            words = []
            while at < len(args) and args[at].text not in (";", "+"):
                words.append(args[at])
                at += 1
            at += 1
            runs.append(words)
        elif text == "-delete":
            delete = True
        elif text == "-prune":
            pruned = True
        elif text in ("-fprint", "-fprintf", "-fls") and at < len(args):
            machine.write(args[at], NOTHING)
            at += 1
        negated = False
    hits = _hits(roots or [Value(".")], names, wholes, filtered and not pruned)
    printed = NOTHING
    for hit in hits:
        if delete:
            machine.delete(hit, recursive=True)
        for words in runs:
            filled = _filled(words, hit)
            if filled:
                printed = printed + execute(machine, filled, NOTHING, {})
    return printed if runs else Value("\n".join(hit.text for hit in hits), _marks(hits))


def _filled(words: list[Value], hit: Value) -> list[Value]:
    """The words of a program with what was found in the place of ``{}``."""
    filled = put_in(words, "{}", hit)
    if hit.marks & TREE and filled and filled[0].text in ("chmod", "chown", "chgrp"):
        filled.insert(1, Value("-R"))  # once for each file is the same as for the tree
    return filled


def _marks(values: Sequence[Value]) -> int:
    marks = 0
    for value in values:
        marks |= value.marks
    return marks


def _hits(roots: list[Value], names: list[Value], wholes: list[Value], filtered: bool) -> list[Value]:
    """What a search stands for: each root with the name that was asked for, some of what is in it, or all."""
    found = []
    for root in roots[:8]:
        base = root.text.rstrip("/") or ("/" if root.text.startswith("/") else ".")
        base = "" if base == "/" else base
        some = False
        for pattern in names[:8]:
            text = pattern.text
            if text.strip("*") == "" or text in ("*.*", "?*"):
                continue
            some = True
            found.append(Value(f"{base}/{text}", GLOB if "*" in text or "?" in text or "[" in text else 0))
        for pattern in wholes[:8]:
            text = pattern.text
            if text.strip("*/.") == "":
                continue
            some = True
            if text.startswith("*"):
                inside = text.lstrip("*").strip("/").rstrip("*").rstrip("/")
                found.append(Value(f"{base}/{SOME}/{inside}" if inside else f"{base}/{SOME}"))
            elif text.endswith("*"):
                found.append(Value(text.rstrip("*").rstrip("/") or "/", TREE))
            else:
                found.append(Value(text))
        if some:
            continue
        if filtered:
            found.append(Value(f"{base}/{SOME}"))
        else:
            found.append(Value(f"{base}/*", root.marks | GLOB | TREE))
    return found


@program("fd", "fdfind")
def fd(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    at = next((n for n, arg in enumerate(args) if arg.text in ("-x", "--exec", "-X", "--exec-batch")), len(args))
    own, words = args[:at], args[at + 1 :]
    found = parse(
        own,
        (
            "-e",
            "-t",
            "-d",
            "-E",
            "-g",
            "-s",
            "-S",
            "-c",
            "--extension",
            "--type",
            "--max-depth",
            "--exclude",
            "--changed-within",
            "--size",
            "--owner",
        ),
    )
    pattern = found.operands[0] if found.operands else NOTHING
    roots = found.operands[1:] or [Value(".")]
    narrow = found.any("-e", "--extension", "-S", "--size", "--changed-within", "--changed-before")
    names = (
        [Value("*." + (found.values.get("-e") or found.values.get("--extension") or Value(SOME)).text)]
        if narrow
        else []
    )
    if pattern.text not in ("", ".", "*", ".*") and not narrow:
        names = [Value(f"*{pattern.text.strip('^$')}*")]
    hits = _hits(list(roots), names, [], False)
    for hit in hits:
        if words:
            filled = _filled(words, hit)
            if not any("{}" in word.text for word in words):
                filled.append(hit)
            execute(machine, filled, NOTHING, {})
    return Value("\n".join(hit.text for hit in hits), _marks(hits))
