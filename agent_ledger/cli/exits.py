"""The exit codes of every command, in one table."""

from __future__ import annotations

OK = 0
PROBLEM = 1
USAGE = 2
INTERRUPTED = 130

MEANINGS: dict[int, str] = {
    OK: "done; for a check: nothing found",
    PROBLEM: "a check found something (an open ghost, a failed doctor check, a call that policy refuses), or the ledger"
    " cannot be read",
    USAGE: "wrong use: no such option, call, session, folder or ledger; nothing was changed",
    INTERRUPTED: "interrupted with Ctrl-C",
}


def table() -> str:
    """The table as text, for --help."""
    return "\n".join(f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items())
