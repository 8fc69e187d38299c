"""Spans, moments and sizes as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ledger import spans
from agent_ledger.errors import UsageError
from agent_ledger.model import now_iso

NOW = 1_796_000_000.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("45s", 45), ("30m", 1800), ("12h", 43_200), ("90d", 7_776_000), ("2w", 1_209_600), (" 7 D ", 604_800), ("0d", 0)],
)
def test_spans(text: str, seconds: int) -> None:
    """A number and a unit."""
    assert spans.seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1.5d", "1y", "1 month", "٣d", "1d2h", "9" * 10 + "d", "1d\n2"])
def test_no_span(text: str) -> None:
    """Anything else is a user's mistake, named with the text."""
    with pytest.raises(UsageError) as wrong:
        spans.seconds(text)
    assert repr(text) in str(wrong.value)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-11-01", "2026-11-01T00:00:00.000Z"), ("2026-11-01T12:00Z", "2026-11-01T12:00:00.000Z"),
        ("2026-11-01 12:00:05", "2026-11-01T12:00:05.000Z"), ("2026-11-01T12:00+02:00", "2026-11-01T10:00:00.000Z"),
        ("1d", now_iso(NOW - 86_400)),
    ],
)  # fmt: skip
def test_moments(text: str, iso: str) -> None:
    """A date, a time (UTC where it names no zone), or a span before now."""
    assert now_iso(spans.moment(text, NOW)) == iso


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-02-30", "12:00", "1 Nov 2026"])
def test_no_moment(text: str) -> None:
    """Anything else is a user's mistake."""
    with pytest.raises(UsageError):
        spans.moment(text, NOW)


@pytest.mark.parametrize(
    "text",
    ["999999999w", "0001-01-01T00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01", "9999-12-31", "99999w"],
)
def test_moment_at_the_ends_of_time(text: str) -> None:
    """A moment that is taken can be written as a ledger time; one that cannot is a user's mistake, not a traceback."""
    try:
        moment = spans.moment(text, NOW)
    except UsageError:
        return
    assert now_iso(moment).endswith("Z")


@pytest.mark.parametrize("text", ["0999-01-01", "0001-01-01", "99999w"])
def test_early_moments_sort_before_today(text: str) -> None:
    """Ledger times are compared as text, so an early year needs its four digits, or is refused."""
    try:
        stamp = now_iso(spans.moment(text, NOW))
    except UsageError:
        return
    assert stamp < "2026-01-01" and len(stamp) == 24


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("500", 500), ("500B", 500), ("1k", 1000), ("500MB", 500_000_000), ("1GiB", 2**30), ("1.5 MiB", 1_572_864),
     ("2 g", 2_000_000_000)],
)  # fmt: skip
def test_sizes(text: str, size: int) -> None:
    """Decimal and binary units, in any case of letters."""
    assert spans.size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "-1MB", "1TB", "1 i", "1ib", "1.MB", ".5MB", "1e6", "٣MB", "1,5MB", "nan"])
def test_no_size(text: str) -> None:
    """Anything else is a user's mistake."""
    with pytest.raises(UsageError):
        spans.size(text)


@given(st.text(max_size=20))
def test_whatever_is_typed(text: str) -> None:
    """Any text is a value or a user's mistake."""
    for read in (spans.seconds, spans.size, lambda words: now_iso(spans.moment(words, NOW))):
        try:
            read(text)
        except UsageError:
            pass
