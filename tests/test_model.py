"""Times and flags as the ledger writes them."""

from __future__ import annotations

import pytest

from agent_ledger.model import add_flag, now_iso, parse_iso


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1767323045.678, "2026-01-02T03:04:05.678Z"),
        (1.9999, "1970-01-01T00:00:01.999Z"),
    ],
)
def test_time_has_milliseconds_and_z(moment: float, text: str) -> None:
    """UTC, ISO 8601, milliseconds, Z."""
    assert now_iso(moment)[:22] == text[:22] and len(now_iso(moment)) == 24 and now_iso(moment).endswith("Z")


def test_time_can_be_read_back() -> None:
    """What is written can be read, to the millisecond."""
    assert parse_iso(now_iso(1767323045.5)) == 1767323045.5


@pytest.mark.parametrize("stamp", ["", "soon", None, 7])
def test_unreadable_time_is_none(stamp: object) -> None:
    """A time that somebody else wrote is no error."""
    assert parse_iso(stamp) is None  # type: ignore[arg-type]


def test_flag_is_there_once() -> None:
    """Adding a flag twice changes nothing; one flag is no part of another."""
    assert add_flag(add_flag("", "late"), "late") == "late"
    assert add_flag("late_x", "late") == "late_x late"
