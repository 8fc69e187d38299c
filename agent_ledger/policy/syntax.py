"""The parts of a shell script, as the scanner finds them and the machine walks them."""

from __future__ import annotations

from dataclasses import dataclass, field

# --- words


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands for itself. Unquoted text is still subject to globs, braces, tilde and word splitting."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """``$NAME``, ``${NAME op arg}``. ``name`` is also a digit or one of ``@ * # ? $ ! - _``.

    ``op``: '' plain; '#len' length; '!' indirect; the operators ``:- - := = :? ? :+ + # ## % %% / // /# /% ^ ^^ ,
    ,, @``; ':' a substring, whose offset and length stand in ``arg`` (``1:2``). Array subscripts stand in ``index``.
    """

    name: str
    op: str = ""
    arg: Word | None = None
    quoted: bool = False
    index: str = ""


@dataclass(frozen=True, slots=True)
class Substitution:
    """``$(script)`` or backquotes."""

    script: Script
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class ProcessSubstitution:
    """``<(script)`` or ``>(script)``; ``direction`` is '<' or '>'."""

    script: Script
    direction: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``$((text))``: never evaluated, but the substitutions in it run."""

    text: str
    scripts: tuple[Script, ...] = ()
    quoted: bool = False


Part = Literal | Variable | Substitution | ProcessSubstitution | Arithmetic


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its parts in order, and the source text it came from."""

    parts: tuple[Part, ...]
    source: str = ""

    @property
    def literal(self) -> str | None:
        """The text, where the word has no expansion but quoting; None otherwise."""
        texts = [part.text for part in self.parts if isinstance(part, Literal)]
        return "".join(texts) if len(texts) == len(self.parts) else None


@dataclass(frozen=True, slots=True)
class Redirect:
    """``fd op target``. ``op``: ``< > >> >| <> >& <& &> &>> <<< << <<-``.

    Of a heredoc, ``target`` is its body: one quoted literal where the delimiter was quoted, else with its expansions.
    ``fd`` is '' where none is given, or ``{name}``.
    """

    op: str
    target: Word
    fd: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """``name=value``, ``name+=value``, ``name[index]=value``, ``name=(items)``."""

    name: str
    value: Word
    append: bool = False
    items: tuple[Word, ...] | None = None


# --- commands


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, words and redirections of one simple command."""

    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by ``|`` or ``|&``; also a single negated command."""

    commands: tuple[Command, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One command of a list and the operator behind it: ``;`` (or a new line), ``&``, ``&&``, ``||``, '' at the end."""

    command: Command
    operator: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """A list of commands. ``complete`` is False where the scanner met something it could not read, or a bound."""

    items: tuple[Item, ...] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """``{ ...; }`` or, with ``subshell``, ``( ... )``."""

    body: Script
    subshell: bool = False
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """Pairs of condition and body, an ``else`` as a pair without condition."""

    branches: tuple[tuple[Script | None, Script], ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """``while`` and ``until``."""

    condition: Script
    body: Script
    until: bool = False
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """``for``/``select`` over words (None: over ``"$@"``); of ``for ((a;b;c))``, ``name`` is ''."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """``case subject in (patterns) body;; esac``."""

    subject: Word
    arms: tuple[tuple[tuple[Word, ...], Script], ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """``name() body`` or ``function name body``."""

    name: str
    body: Command


@dataclass(frozen=True, slots=True)
class Test:
    """``[[ words ]]`` and ``(( text ))``: never runs anything itself, but the substitutions in its words do."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Coprocess:
    """``coproc [NAME] command``."""

    command: Command


Command = Simple | Pipeline | Group | If | While | For | Case | Function | Test | Coprocess
