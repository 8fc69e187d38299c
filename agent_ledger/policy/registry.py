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
JUDGES: dict[str, tuple[Judge, ...]] = {}
FAMILIES: dict[str, Judge] = {}
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


def judges_of_family(name: str) -> tuple[Judge, ...]:
    """The judges of programs that share the beginning of their names: mkfs.ext4, mkfs.xfs."""
    return tuple(judge for prefix, judge in FAMILIES.items() if name.startswith(prefix))


def load() -> None:
    """Import every room that has programs or judges, once."""
    if PROGRAMS:
        return
    from . import programs
    from .effects import ROOMS

    programs.load()

    for room in ROOMS:
        for name, judge in room.PROGRAMS.items():
            JUDGES[name] = (*JUDGES.get(name, ()), judge)
        FAMILIES.update(getattr(room, "FAMILIES", {}))
