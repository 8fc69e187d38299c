"""Programs that run another program once for each line or word: xargs, parallel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..model import ANYTHING, NOTHING, REMOTE, Command, Value
from ..options import parse
from ..registry import program
from ..simple import execute
from .words import as_text, behind_options, put_in

if TYPE_CHECKING:
    from ..machine import Machine

_MOST_LINES = 20


@program("xargs", "gxargs")
def run_each(machine: Machine, command: Command) -> Value | None:
    valued = (
        "-I",
        "-n",
        "-P",
        "-L",
        "-d",
        "-a",
        "-s",
        "-E",
        "--max-args",
        "--max-procs",
        "--max-lines",
        "--delimiter",
        "--arg-file",
        "--replace",
    )
    args = list(command.args)
    rest = behind_options(args, frozenset(valued))
    own = parse(args[: len(args) - len(rest)], valued)
    given = own.values.get("-a") or own.values.get("--arg-file")
    data = machine.content(given.text) if given else command.stdin
    items = _items(data, lines=own.any("-I", "-0", "-d", "-L"))
    if not rest:
        return data
    if (hole := own.values.get("-I") or own.values.get("--replace")) or own.any("-i"):
        return _replaced(machine, rest, hole.text if hole else "{}", items)
    return execute(machine, [*rest, *items], NOTHING, {})


def _items(data: Value | None, lines: bool) -> list[Value]:
    """The words, or lines, that a program gets for arguments."""
    if data is None:
        return [ANYTHING]
    if data.marks & REMOTE and not data.known:
        return [data]
    pieces = re.split(r"[\n\0]+" if lines else r"\s+", data.text.strip())
    return [Value(piece.strip("'\"") if not lines else piece, data.marks) for piece in pieces[:64] if piece] or [
        Value("", data.marks)
    ]


def _replaced(machine: Machine, rest: list[Value], hole: str, items: list[Value]) -> Value:
    printed = NOTHING
    for item in items[:_MOST_LINES]:
        printed = execute(machine, put_in(rest, hole, item), NOTHING, {})
    return printed


@program("parallel", "rush")
def run_parallel(machine: Machine, command: Command) -> Value | None:
    rest = behind_options(
        command.args,
        frozenset({"-j", "--jobs", "-a", "-S", "-n", "-N", "--delay", "--timeout", "-P", "--sshlogin", "--results"}),
    )
    texts = [word.text for word in rest]
    if ":::" in texts:
        at = texts.index(":::")
        items, rest = [word for word in rest[at + 1 :] if not word.text.startswith(":::")], rest[:at]
    else:
        items = _items(command.stdin, lines=True)
    if not rest:
        for item in items[:_MOST_LINES]:
            machine.aside(item)
        return ANYTHING
    if not any("{" in word.text for word in rest):
        rest = [*rest, Value("{}")]
    for item in items[:_MOST_LINES]:
        words = put_in(rest, "{}", item)
        if len(words) == 1 or " " in words[0].text:
            as_text(machine, words)
        else:
            execute(machine, words, NOTHING, {})
    return ANYTHING
