"""Which calls a reader wants to see, as the pieces of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .sql import OPEN, OPEN_STATUSES, marks


@dataclass(frozen=True, slots=True)
class Wanted:
    """``tool`` and ``status`` are exact, or GLOB patterns where they hold ``*``; '' and () want all."""

    tool: str = ""
    status: str = ""
    session_ids: Sequence[str] = ()

    @property
    def few(self) -> bool:
        """Whether an index leads to all of them: there are few open calls, or none."""
        return self.status in OPEN_STATUSES

    @property
    def index(self) -> str:
        """What stands behind ``FROM ledger``; without the index, open calls would take a look at every row."""
        return " INDEXED BY ledger_open" if self.few else ""

    def conditions(self) -> tuple[list[str], list[object]]:
        """(conditions to be joined with AND, the values of their question marks)."""
        where: list[str] = [OPEN] if self.few else []
        values: list[object] = []
        for column, wanted in (("tool_name", self.tool), ("status", self.status)):
            if wanted:
                where.append(f"{column} {'GLOB' if '*' in wanted else '='} ?")
                values.append(wanted)
        if self.session_ids:
            where.append(f"session_id IN ({marks(self.session_ids)})")
            values.extend(self.session_ids)
        return where, values
