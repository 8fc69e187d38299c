"""The rules of a policy, and what of a call each of them hits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from . import patterns
from .linear import Linear
from .model import Effect
from .patterns import PathGlob

SEVERITIES = ("critical", "high", "medium", "low")  # the gravest first
MAX_COMMANDS = 200  # of one call that signatures look at
MAX_VALUES = 50


class Called(NamedTuple):
    """The call itself: tool and arguments as the host gave them, and the paths that it names."""

    tool: str
    args: object
    paths: tuple[str, ...] = ()


class Subject(NamedTuple):
    """All that rules may look at: the call, its effects, the resolved words of its commands. ``deadline``: monotonic
    seconds, behind which no regular expression is matched."""

    call: Called
    effects: tuple[Effect, ...]
    commands: tuple[tuple[str, ...], ...]
    deadline: float = float("inf")


class Hit(NamedTuple):
    """One thing that a match found. ``what``: the resolved act; ``target``: the path or object; ``words`` of the
    command; ``kind``: the effect, '' for a signature."""

    what: str
    target: str = ""
    words: tuple[str, ...] = ()
    kind: str = ""
    why: str = ""


class Match(Protocol):
    """One way to match: an effect or a signature."""

    def hits(self, subject: Subject) -> Iterator[Hit]:
        """What of a call is hit."""

    def holds(self, hit: Hit, subject: Subject) -> bool:
        """For an exception: True where it covers this one hit of its rule."""


@dataclass(frozen=True, slots=True)
class OfEffect:
    """A classified effect. Targets below ``allow`` do not count; those below ``protect`` count also where the effect is
    no danger in itself, and a deletion of a folder above them does too."""

    kind: str
    allow: tuple[PathGlob, ...] = ()
    protect: tuple[PathGlob, ...] = ()

    def hits(self, subject: Subject) -> Iterator[Hit]:
        for effect in subject.effects:
            if effect.kind == self.kind and self._counts(effect):
                yield Hit(effect.what, effect.target, tuple(effect.what.split()), effect.kind, effect.why)

    def holds(self, hit: Hit, subject: Subject) -> bool:
        return hit.kind == self.kind and not (self.allow and not _covered(self.allow, hit.target))

    def _counts(self, effect: Effect) -> bool:
        if self.protect and effect.target and self._is_protected(effect.target):
            return True
        return effect.dangerous and not _covered(self.allow, effect.target)

    def _is_protected(self, target: str) -> bool:
        if any(glob.covers(target) for glob in self.protect):
            return True
        return self.kind == "recursive_delete" and any(glob.is_below(target) for glob in self.protect)


@dataclass(frozen=True, slots=True)
class OfWords:
    """The resolved words of a command."""

    pattern: tuple[tuple[str, ...], ...]

    def hits(self, subject: Subject) -> Iterator[Hit]:
        for argv in subject.commands[:MAX_COMMANDS]:
            if patterns.words(self.pattern, argv):
                yield Hit(" ".join(argv), words=argv)

    def holds(self, hit: Hit, subject: Subject) -> bool:
        return patterns.words(self.pattern, hit.words)


@dataclass(frozen=True, slots=True)
class OfCommand:
    """A regular expression on a resolved command: its words with one space between them."""

    regex: Linear

    def hits(self, subject: Subject) -> Iterator[Hit]:
        for argv in subject.commands[:MAX_COMMANDS]:
            text = " ".join(argv)
            if self.regex.search(text, subject.deadline):
                yield Hit(text, words=argv)

    def holds(self, hit: Hit, subject: Subject) -> bool:
        return self.regex.search(hit.what, subject.deadline)


@dataclass(frozen=True, slots=True)
class OfPath:
    """A path that the call names, or that its effects hit."""

    globs: tuple[PathGlob, ...]

    def hits(self, subject: Subject) -> Iterator[Hit]:
        for path in subject.call.paths:
            if any(glob.covers(path) for glob in self.globs):
                yield Hit(f"{subject.call.tool} {path}", path)

    def holds(self, hit: Hit, subject: Subject) -> bool:
        return _covered(self.globs, hit.target)


@dataclass(frozen=True, slots=True)
class OfArgument:
    """A named argument of the call: equal to one of some texts, or found by a regular expression."""

    names: tuple[str, ...]
    equals: frozenset[str] = frozenset()
    regex: Linear | None = None

    def hits(self, subject: Subject) -> Iterator[Hit]:
        for name, text in self._values(subject.call.args):
            if text in self.equals or (self.regex is not None and self.regex.search(text, subject.deadline)):
                yield Hit(f"{subject.call.tool} {name}={text}", text)

    def holds(self, hit: Hit, subject: Subject) -> bool:
        return next(self.hits(subject), None) is not None

    def _values(self, args: object) -> Iterator[tuple[str, str]]:
        if not isinstance(args, Mapping):
            return
        for name in self.names:
            value = args.get(name)
            for one in value[:MAX_VALUES] if isinstance(value, (list, tuple)) else (value,):
                if isinstance(one, str):
                    yield name, one
                elif isinstance(one, (bool, int, float)):
                    yield name, json.dumps(one)


@dataclass(frozen=True, slots=True)
class Except:
    """A named exception of a rule."""

    name: str
    match: Match


@dataclass(frozen=True, slots=True)
class Example:
    """A call that a rule must block, or must let pass. ``place``: where it stands in the rule, for messages."""

    place: str
    tool: str
    args: Mapping[str, Any]
    blocks: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a policy."""

    id: str
    severity: str
    reason: str
    instead: str
    match: Match
    denies: bool = True
    tools: tuple[str, ...] = ()
    exceptions: tuple[Except, ...] = ()
    examples: tuple[Example, ...] = field(default=(), compare=False)

    def hits(self, subject: Subject) -> Iterator[Hit]:
        """What of the call this rule hits and no exception covers."""
        if self.tools and not any(patterns.wild(tool, subject.call.tool) for tool in self.tools):
            return
        for hit in self.match.hits(subject):
            if not any(one.match.holds(hit, subject) for one in self.exceptions):
                yield hit


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules in force, in the order in which they are asked: denials first, the gravest of them first."""

    rules: tuple[Rule, ...]
    sha256: str = ""
    effects: frozenset[str] = frozenset()  # that some rule names
    signatures: tuple[Rule, ...] = ()  # the rules that look at more than effects

    @classmethod
    def of(cls, rules: tuple[Rule, ...], sha256: str = "") -> Policy:
        ordered = sorted(rules, key=lambda rule: (not rule.denies, SEVERITIES.index(rule.severity)))
        named = frozenset(rule.match.kind for rule in rules if isinstance(rule.match, OfEffect))
        signatures = tuple(rule for rule in ordered if not isinstance(rule.match, OfEffect))
        return cls(tuple(ordered), sha256, named, signatures)


def _covered(globs: tuple[PathGlob, ...], target: str) -> bool:
    """True where a target is known and below one of the patterns."""
    return bool(target) and patterns.known(target) and any(glob.covers(target) for glob in globs)
