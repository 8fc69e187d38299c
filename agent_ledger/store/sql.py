"""Pieces of SQL text that the statements of several rooms are put together from."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..model import CANCELLED, GHOST_REPORTED, PENDING, TIMEOUT

# The calls that a post may still settle. The condition repeats that of index ledger_open word for word: SQLite uses a
# partial index only where a statement does.
OPEN_STATUSES = (PENDING, GHOST_REPORTED, TIMEOUT, CANCELLED)
OPEN = "(" + " OR ".join(f"status = '{status}'" for status in OPEN_STATUSES) + ")"


def marks(values: Sequence[object]) -> str:
    """As many question marks as there are ``values``, for an ``IN (...)``."""
    return ", ".join("?" * len(values))


def columns(shape: type) -> str:
    """The columns that fill the dataclass ``shape``, whose fields bear their names, in order."""
    return ", ".join(field.name for field in dataclasses.fields(shape))
