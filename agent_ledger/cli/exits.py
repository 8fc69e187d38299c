"""The exit codes of every command, in one table."""

from __future__ import annotations

OK = 0
PROBLEM = 1
USAGE = 2
RETRY = 75
CONFIG = 78
INTERRUPTED = 130

MEANINGS: dict[int, str] = {
    OK: "done; for a check: nothing found",
    PROBLEM: "a check found something (an open ghost, a failed doctor check, a call that policy refuses), or the ledger"
    " cannot be read; for a run: failed, incomplete or contradicted",
    USAGE: "wrong use: no such option, call, session, folder or ledger; nothing was changed; for a run: no"
    " event stream",
    RETRY: "for a run: the provider is overloaded or out of quota, try again later",
    CONFIG: "for a run: the provider must be configured first",
    INTERRUPTED: "interrupted with Ctrl-C, or the run was",
}


def table() -> str:
    """The table as text, for --help."""
    return "\n".join(f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items())
