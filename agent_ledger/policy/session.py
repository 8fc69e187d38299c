"""What a session did so far, as far as later calls depend on it."""

from __future__ import annotations


class Session:
    """Files written, variables, folders of one conversation."""

    def load(self, deltas: list[str]) -> None:
        """Take in what earlier calls left, oldest first."""

    def delta(self) -> str:
        """JSON of what to remember of the call that was judged last; '' for nothing."""
        return ""
