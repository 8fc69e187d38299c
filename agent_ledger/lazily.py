"""Regular expressions that are compiled when they are first used: most hooks never need most of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Pattern:
    """Stands for a compiled pattern. The first use of each of its methods compiles it and puts the method here."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, value)
        return value


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Like ``re.compile``, without the work for a pattern that is never used. A wrong one raises on first use."""
    return cast("re.Pattern[str]", _Pattern(source, flags))
