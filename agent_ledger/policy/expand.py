"""From the words of a command to the strings it gets: variables, braces, tilde, substitutions, field splitting."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import parameters
from .braces import alternatives
from .fields import GLOBS, SPECIAL, Fields
from .model import ANYTHING, GLOB, NOTHING, SOME, Value
from .syntax import Arithmetic, Literal, Part, ProcessSubstitution, Substitution, Variable, Word

if TYPE_CHECKING:
    from .machine import Machine

MOST_FIELDS = 4096  # of one command


def words(machine: Machine, found: tuple[Word, ...]) -> list[Value]:
    """All fields of these words."""
    done: list[Value] = []
    for word in found:
        parts = word.parts
        if len(parts) == 1:
            part = parts[0]
            if type(part) is Literal and (part.quoted or not SPECIAL.search(part.text)):
                done.append(Value(part.text))
                continue
        if machine.budget.size < 0:
            done.append(ANYTHING)
            continue
        made = fields(machine, word)
        done.extend(made)
        machine.budget.spend(sum([len(value.text) for value in made]), len(made))
        if len(done) > MOST_FIELDS:
            break
    return done


def one(machine: Machine, word: Word | None) -> Value:
    """A word that is not split: an assignment, a redirection's target, the body of a heredoc."""
    if word is None:
        return NOTHING
    text = word.literal
    if text is not None and "~" not in text[:1]:
        marks = GLOB if any(isinstance(p, Literal) and not p.quoted and GLOBS.search(p.text) for p in word.parts) else 0
        return Value(text, marks)
    if machine.budget.size < 0:
        return ANYTHING
    found = _expand(machine, word.parts, split=False)
    if not found:
        return NOTHING
    machine.budget.spend(len(found[0].text))
    return found[0]


def fields(machine: Machine, word: Word) -> list[Value]:
    """The fields that one word becomes: none, one or several."""
    parts = word.parts
    if any(isinstance(part, Literal) and not part.quoted and "{" in part.text for part in parts):
        done: list[Value] = []
        for alternative in alternatives(parts):
            done.extend(_expand(machine, alternative, split=True))
        return done
    return _expand(machine, parts, split=True)


def _expand(machine: Machine, parts: tuple[Part, ...], split: bool) -> list[Value]:
    out = Fields()
    for number, part in enumerate(parts):
        if isinstance(part, Literal):
            text = part.text
            if part.quoted:
                out.add(text, 0, True)
                continue
            if number == 0 and text[:1] == "~":
                text = _tilde(machine, text)
            out.add(text, GLOB if GLOBS.search(text) else 0, False)
        elif isinstance(part, Variable):
            parameters.add_variable(machine, part, out, split)
        elif isinstance(part, Substitution):
            value = machine.substitute(part.script)
            if part.quoted or not split:
                out.add(value.text, value.marks, part.quoted)
            else:
                out.split(value)
        elif isinstance(part, ProcessSubstitution):
            out.add(machine.process_file(part.script, part.direction), 0, True)
        else:
            arithmetic(machine, part)
            out.add(SOME, 0, part.quoted)
    out.end()
    return out.done


def arithmetic(machine: Machine, part: Arithmetic) -> None:
    for script in part.scripts:
        machine.substitute(script)


def _tilde(machine: Machine, text: str) -> str:
    name, slash, rest = text[1:].partition("/")
    if not name:
        return machine.home + slash + rest
    if name == "+":
        return machine.cwd + slash + rest
    if name == "-":
        return parameters.lookup(machine, "OLDPWD").text + slash + rest
    if name == "root":
        return "/root" + slash + rest
    if re.fullmatch(r"[a-z_][a-z0-9_-]*", name):
        return f"/home/{name}{slash}{rest}"
    return text


# --- variables ----------------------------------------------------------------------------------------------------


# --- braces -------------------------------------------------------------------------------------------------------
