"""Command-line options as most programs read them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from .model import Value


@dataclass(slots=True)
class Options:
    """``flags``: every option given, as ``-r`` or ``--recursive`` (clusters taken apart, ``=value`` cut off);
    ``values``: those with a value, the last one counts; ``pairs``: all of those in order; ``operands``: the rest."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, Value] = field(default_factory=dict)
    operands: list[Value] = field(default_factory=list)
    pairs: list[tuple[str, Value]] = field(default_factory=list)

    def all(self, *names: str) -> list[Value]:
        """The values of all options of these names."""
        return [value for name, value in self.pairs if name in names]

    def _take(self, name: str, value: Value) -> None:
        self.values[name] = value
        self.pairs.append((name, value))

    def any(self, *names: str) -> bool:
        """True where one of these options was given."""
        return not self.flags.isdisjoint(names)


def parse(args: Sequence[Value], valued: Collection[str] = (), single_dash_long: bool = False) -> Options:
    """Take options and operands apart.

    ``valued``: options that take the next word, or the rest of theirs, as a value (``-o``, ``--output``).
    ``single_dash_long``: ``-name`` is one option and not a cluster (find, terraform, java). Linear in the words.
    """
    found = Options()
    at, size = 0, len(args)
    while at < size:
        arg = args[at]
        text = arg.text
        at += 1
        if text == "--":
            found.operands.extend(args[at:])
            break
        if len(text) < 2 or text[0] != "-":
            found.operands.append(arg)
            continue
        if text.startswith("--") or single_dash_long:
            name, equals, value = text.partition("=")
            found.flags.add(name)
            if equals:
                found._take(name, Value(value, arg.marks))
            elif name in valued and at < size:
                found._take(name, args[at])
                at += 1
            continue
        for place in range(1, len(text)):
            name = "-" + text[place]
            found.flags.add(name)
            if name in valued:
                rest = text[place + 1 :]
                if rest:
                    found._take(name, Value(rest, arg.marks))
                elif at < size:
                    found._take(name, args[at])
                    at += 1
                break
    return found
