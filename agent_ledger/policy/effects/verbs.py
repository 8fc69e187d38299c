"""Tables of destructive sub-commands, and the judge that reads them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ..model import Actions, Command, Value
from ..options import Options, parse
from . import places

Judge = Callable[[Command, Actions], None]

# Asked for by these, a program tells what it would do, or how it is used.
_HARMLESS = frozenset("--help -help --dry-run --dryrun --dry_run --what-if --whatif --version --preview-only".split())
_OFF = frozenset(("false", "none", "no", "0"))


@dataclass(frozen=True, slots=True)
class Rule:
    """``words``: what each of the first operands must be (None: anything); ``needs``: one option of each set must be
    given; ``unless``: none of these; ``note``: what the act does."""

    words: tuple[frozenset[str] | None, ...]
    needs: tuple[frozenset[str], ...]
    unless: frozenset[str]
    note: str

    def fits(self, operands: Sequence[str], flags: set[str]) -> bool:
        if len(operands) < len(self.words) or not self.unless.isdisjoint(flags):
            return False
        if any(wanted is not None and got not in wanted for wanted, got in zip(self.words, operands, strict=False)):
            return False
        return all(not needed.isdisjoint(flags) for needed in self.needs)


def rules(text: str) -> tuple[Rule, ...]:
    """Read a table: a line is ``words +needed|option !unless|option : note``; ``a|b`` is a choice, ``*`` any word."""
    found = []
    for line in text.strip().splitlines():
        pattern, _, note = line.partition(" : ")
        words: list[frozenset[str] | None] = []
        needs, unless = [], frozenset[str]()
        for part in pattern.split():
            if part[0] == "+":
                needs.append(frozenset(part[1:].split("|")))
            elif part[0] == "!":
                unless |= frozenset(part[1:].split("|"))
            else:
                words.append(None if part == "*" else frozenset(part.split("|")))
        found.append(Rule(tuple(words), tuple(needs), unless, note.strip()))
    return tuple(found)


def is_harmless(options: Options, help_short: bool = True) -> bool:
    """The options ask for help, a version or a dry run."""
    for flag in options.flags & _HARMLESS:
        value = options.values.get(flag)
        if value is None or value.text.lower() not in _OFF:
            return True
    operands = options.operands
    if operands and (operands[0].text == "help" or operands[-1].text == "help"):
        return True
    return help_short and "-h" in options.flags and "-h" not in options.values


def say(name: str, words: Sequence[Value | str], note: str) -> str:
    """The act in a few words: the program, what it was told (a ``?`` where that is not known), and what that does."""
    told = " ".join(word if isinstance(word, str) else word.text for word in words)
    told = "".join(letter if letter.isprintable() else "?" for letter in told)
    if len(told) > 80:
        told = told[:79] + "\u2026"
    return f"{name} {told} ({note})" if told else f"{name} ({note})"


def judge(
    kind: str,
    table: str,
    valued: Collection[str] = (),
    single_dash_long: bool = False,
    test_exempt: bool = False,
    lower: bool = False,
) -> Judge:
    """A judge that notes an effect of this kind where a line of the table fits.

    ``valued``: options with a value that may stand before or among the words. ``test_exempt``: nothing is noted where
    an operand, an option's value or the environment names something for tests.
    """
    lines = rules(table)
    options_with_value = frozenset(valued)

    def look(command: Command, act: Actions) -> None:
        options = parse(command.args, options_with_value, single_dash_long)
        operands = [operand.text for operand in options.operands]
        if lower:
            operands = [operand.lower() for operand in operands]
        for rule in lines:
            if rule.fits(operands, options.flags):
                break
        else:
            return
        if is_harmless(options):
            return
        if test_exempt and is_for_tests(command, options, len(rule.words)):
            return
        used = options.operands[: len(rule.words)]
        needed = [flag for needs in rule.needs for flag in sorted(needs & options.flags)]
        target = operands[len(rule.words)] if len(operands) > len(rule.words) else ""
        act.effect(kind, say(command.name, [*used, *needed], rule.note), target)

    return look


def runs_rest(*verbs: str) -> Judge:
    """A judge for a program that runs what follows ``--``; ``verbs``: under one of these sub-commands only."""
    wanted = frozenset(verbs)

    def look(command: Command, act: Actions) -> None:
        for at, arg in enumerate(command.args):
            if arg.text == "--":
                before = command.args[:at]
                if at + 1 < len(command.args) and (not wanted or any(word.text in wanted for word in before)):
                    act.argv(list(command.args[at + 1 :]), command.stdin, command.place)
                return

    return look


def tools(names: str, look: Judge) -> dict[str, Judge]:
    """The same judge for several programs."""
    return dict.fromkeys(names.split(), look)


def programs(*parts: dict[str, Judge]) -> dict[str, Judge]:
    """One table of programs from several."""
    found: dict[str, Judge] = {}
    for part in parts:
        found.update(part)
    return found


def both(*judges: Judge) -> Judge:
    """A judge that asks several."""

    def look(command: Command, act: Actions) -> None:
        for one in judges:
            one(command, act)

    return look


def is_for_tests(command: Command, options: Options, skip: int = 0) -> bool:
    """The environment, an option's value or an operand after the first ``skip`` names something for tests."""
    return (
        places.in_test_environment(command)
        or any(places.is_test_name(value.text) for value in options.values.values())
        or any(places.is_test_name(operand.text) for operand in options.operands[skip:])
    )


def every(args: Sequence[Value], names: Collection[str], valued: Collection[str] = ()) -> list[Value]:
    """All values of an option that may be given several times: ``-e X``, ``-eX``, ``-qe X``, ``--execute[=]X``.

    ``valued``: the other options with a value.
    """
    found: list[Value] = []
    at, size = 0, len(args)
    while at < size:
        text = args[at].text
        at += 1
        if text == "--":
            break
        if len(text) < 2 or text[0] != "-":
            continue
        name, equals, rest = text.partition("=")
        if text in names or text in valued:
            name, rest, equals = text, "", ""
        elif text[1] != "-":
            name = next(("-" + letter for letter in text[1:] if "-" + letter in names or "-" + letter in valued), "")
            rest = text.partition(name[1:])[2] if name else ""
            equals = rest
        if name in names and equals:
            found.append(Value(rest, args[at - 1].marks))
        elif (name in names or name in valued) and not equals and at < size:
            if name in names:
                found.append(args[at])
            at += 1
    return found
