"""A command line of bash, zsh or sh, read into the parts that it consists of: never an error, in linear time."""

from __future__ import annotations

from collections.abc import Iterator

from . import plain
from .compound import Grammar
from .expansions import scripts_in
from .syntax import (
    Case,
    Command,
    Coprocess,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Script,
    Simple,
    Test,
    While,
    Word,
)


def parse(text: str) -> Script:
    """The script that a text is.

    Within 64 KiB, 2,000 words and 32 levels it is read as a shell would; what lies beyond is only split at operators,
    and the script is not complete then.
    """
    try:
        return Grammar(text).whole()
    except RecursionError:  # the caller was deep already
        return Script(tuple(plain.items(text)), complete=False)


def commands(script: Script) -> Iterator[Simple]:
    """Every simple command in a script: in function bodies, substitutions, heredocs and tests as well."""
    waiting: list[Script | Command | Word] = [script]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Simple):
            yield part
        waiting.extend(reversed(_inside(part)))


def _inside(part: Script | Command | Word) -> list[Script | Command | Word]:
    """What a part consists of, in the order of the text."""
    found: list[Script | Command | Word] = []
    match part:
        case Word():
            found.extend(scripts_in(part.parts))
        case Script():
            found.extend(item.command for item in part.items)
        case Simple():
            for assignment in part.assignments:
                found.extend((assignment.value, *(assignment.items or ())))
            found.extend(part.words)
        case Pipeline():
            found.extend(part.commands)
        case Group():
            found.append(part.body)
        case If():
            found.extend(script for branch in part.branches for script in branch if script is not None)
        case While():
            found.extend((part.condition, part.body))
        case For():
            found.extend((*(part.words or ()), part.body))
        case Case():
            found.append(part.subject)
            for patterns, script in part.arms:
                found.extend((*patterns, script))
        case Function():
            found.append(part.body)
        case Test():
            found.extend(part.words)
        case Coprocess():
            found.append(part.command)
    if not isinstance(part, (Word, Script, Pipeline, Function, Coprocess)):
        found.extend(redirect.target for redirect in part.redirects)
    return found
