"""What a command hands back: the exit code, the value for programs, and how people see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .output import Screen


@dataclass(frozen=True, slots=True)
class Answer:
    """``code``: from exits.py; ``data``: what --json prints; ``show``: prints the same for people."""

    code: int
    data: Any
    show: Callable[[Screen], None]
