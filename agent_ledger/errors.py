"""Errors that a person is meant to read, and the exit code that belongs to each."""

from __future__ import annotations


class LedgerError(Exception):
    """Something a command cannot do. ``str()`` names the thing, the cause and the next step.

    Hooks never raise it: they record what they can and return.
    """

    exit_code = 1


class UsageError(LedgerError):
    """The user asked for something that does not exist or is not well-formed; nothing was changed."""

    exit_code = 2


class NoLedger(UsageError):
    """There is no ledger at the place that was asked for."""


class NoData(UsageError):
    """The ledger has no call where a score was asked for; a score would be a claim about nothing."""


class NoSuchCall(UsageError):
    """The ledger holds no call with the number that was asked for."""


class LedgerUnreadable(LedgerError):
    """The ledger is there and SQLite cannot read it."""


class NewerLedger(LedgerError):
    """The ledger was made by a later version that no longer lets this one write."""
