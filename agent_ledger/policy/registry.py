"""Which program is judged by what: name -> function of machine and command, each giving what the program prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .model import Actions, Command, Value

if TYPE_CHECKING:
    from .machine import Machine

Program = Callable[["Machine", Command], "Value | None"]
Judge = Callable[[Command, Actions], None]

PROGRAMS: dict[str, Program] = {}
JUDGES: dict[str, Judge] = {}
FAMILIES: dict[str, Judge] = {}
OUTPUTS: dict[str, Callable[[Command], Value]] = {}  # what a judged program prints
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh", "csh", "tcsh", "rbash", "nu", "yash"})


# Programs of other shells, whose words are taken as they stand.
RAW: set[str] = set()


def program(*names: str) -> Callable[[Program], Program]:
    """Register what runs these programs in thought."""

    def register(function: Program) -> Program:
        for name in names:
            PROGRAMS[name] = function
        return function

    return register


def judge_of(name: str) -> Judge | None:
    """The judge of a program, also of those that share the beginning of their names: pip3.11, pip3.12."""
    found = JUDGES.get(name)
    if found is None:
        for prefix, judge in FAMILIES.items():
            if name.startswith(prefix):
                return judge
    return found


_loaded = False


def load() -> None:
    """Import every room that has programs or judges, once, so that no call waits for it later."""
    global _loaded
    if _loaded:
        return
    from . import code, filetypes, planted, programs  # noqa: F401
    from .effects import operations

    programs.load()
    JUDGES.update(operations.PROGRAMS)
    FAMILIES.update(operations.FAMILIES)
    OUTPUTS.update(operations.OUTPUTS)
    _loaded = True
