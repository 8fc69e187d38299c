"""What a call would do."""

from __future__ import annotations

from typing import Any, NamedTuple

from .model import Effect
from .session import Session


class Judgement(NamedTuple):
    """``effects`` of a call, the resolved words of each ``command`` in it, and the ``paths`` that it names."""

    effects: tuple[Effect, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    paths: tuple[str, ...] = ()
    memory: dict[str, Any] = {}


def judge(tool_name: str, args: object, session: Session) -> Judgement:
    return Judgement()
