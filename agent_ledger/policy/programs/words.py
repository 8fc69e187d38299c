"""The words of a command that runs another one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model import ANYTHING, MOST_TEXT, Value

if TYPE_CHECKING:
    from ..machine import Machine

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def behind_options(args: Sequence[Value], valued: frozenset[str]) -> list[Value]:
    """The words behind a wrapper's options."""
    at, size = 0, len(args)
    while at < size:
        text = args[at].text
        if text == "--":
            at += 1
            break
        if text[:1] != "-" or text == "-":
            break
        name = text.partition("=")[0]
        at += 1
        if "=" not in text and (name in valued or (name[:2] != "--" and name[:2] in valued and len(name) == 2)):
            at += 1
    return list(args[at:])


def take_assignments(machine: Machine, rest: list[Value], env: dict[str, Value]) -> list[Value]:
    at = 0
    while at < len(rest) and _ASSIGNMENT.match(rest[at].text):
        name, _, text = rest[at].text.partition("=")
        env[name] = Value(text, rest[at].marks)
        if name.startswith("AGENT_LEDGER_") or name == "HERMES_SAFE_MODE":
            machine.effect("tampering", f"sets {name}", name)
        at += 1
    return rest[at:]


def put_in(words: Sequence[Value], hole: str, item: Value) -> list[Value]:
    """The words of a program with ``item`` in the place of ``hole``."""
    filled = []
    for word in words:
        if hole in word.text:
            most = max(1, MOST_TEXT // max(1, len(item.text)))
            word = Value(word.text.replace(hole, item.text, most)[:MOST_TEXT], word.marks | item.marks)
        filled.append(word)
    return filled


def as_text(machine: Machine, words: Sequence[Value], place: str = "here", stdin: Value | None = None) -> Value:
    text, marks = "", 0
    for word in words:
        text += (" " if text else "") + word.text
        marks |= word.marks
    return machine.subshell(lambda: machine.shell(Value(text, marks), place, stdin=stdin)) if text else ANYTHING


def joined(args: list[Value]) -> Value:
    text, marks = "", 0
    for arg in args:
        text += (" " if text else "") + arg.text
        marks |= arg.marks
    return Value(text, marks)
