"""Removing old rows: what may go and what may not, in steps, and the space comes back."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from agent_ledger.store import ledger as statements
from agent_ledger.store import prune
from agent_ledger.store.checkpoint import START_BYTES
from agent_ledger.store.db import Database
from agent_ledger.store.prune import Limits
from tests.calls import call
from tests.store.rows import filled, on_disk, statuses


def silent(count: int) -> None:
    """No progress is shown."""


def soon() -> float:
    return time.monotonic() + 5


@pytest.fixture
def mixed(home: Path) -> Database:
    """Twenty rows of each kind that is treated differently, oldest first."""
    for status, effect in (
        ("PENDING", "unknown"), ("GHOST_REPORTED", "unknown"), ("GHOST_REPORTED", "applied"), ("ERROR:blocked", "none"),
        ("ERROR:denied", "none"), ("ERROR:timeout", "unknown"), ("CONFIRMED", "applied"),
    ):  # fmt: skip
        path = filled(home, 20, status, effect)
    return Database(str(path))


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (Limits(keep=0), {"PENDING": 20, "GHOST_REPORTED": 20, "ERROR:blocked": 20, "ERROR:denied": 20}),
        (Limits(keep=0, ghosts=True), {"PENDING": 20, "ERROR:blocked": 20, "ERROR:denied": 20}),
        (Limits(keep=0, refusals=True), {"PENDING": 20, "GHOST_REPORTED": 20}),
        (Limits(keep=0, ghosts=True, refusals=True), {"PENDING": 20}),
        (Limits(max_bytes=1, ghosts=True, refusals=True), {"PENDING": 20}),
        (Limits(before="9999", ghosts=True, refusals=True), {"PENDING": 20}),
    ],
)
def test_what_is_kept_unless_asked_for(mixed: Database, limits: Limits, left: dict[str, int]) -> None:
    """Open calls never go; ghosts that nobody settled and refusals only where they are named."""
    expected = prune.count(sqlite3.connect(mixed.path), limits)
    done = prune.prune(mixed, limits, silent)
    assert statuses(Path(mixed.path)) == left
    assert done.rows == expected == 140 - sum(left.values())


@pytest.mark.parametrize(
    "limits",
    [Limits(keep=1000), Limits(keep=5000), Limits(before="2999"), Limits(before="1999"), Limits(keep=100, before="1999"),
     Limits()],
)  # fmt: skip
def test_count_agrees_with_the_real_run(home: Path, limits: Limits) -> None:
    """What a dry run says is what a run removes."""
    path = filled(home, 2000)
    expected = prune.count(sqlite3.connect(path), limits)
    assert prune.prune(Database(str(path)), limits, silent).rows == expected


def test_keep_leaves_exactly_the_newest(home: Path) -> None:
    """--keep 100 leaves the hundred newest ids."""
    path = filled(home, 1000)
    prune.prune(Database(str(path)), Limits(keep=100), silent)
    found = sqlite3.connect(path).execute("SELECT count(*), min(id), max(id) FROM ledger").fetchone()
    assert found == (100, 901, 1000)


def test_older_than_goes_by_the_time_of_issue(home: Path) -> None:
    """Exactly the rows before the moment go."""
    path = filled(home, 1000)
    moment = sqlite3.connect(path).execute("SELECT ts FROM ledger WHERE id = 401").fetchone()[0]
    done = prune.prune(Database(str(path)), Limits(before=moment), silent)
    assert (done.rows, statuses(path)) == (400, {"CONFIRMED": 600})


def test_ids_are_not_used_again(home: Path, ledger: Database) -> None:
    """Where every row goes, the next call still gets a number that nobody had."""
    filled(home, 50)
    prune.prune(ledger, Limits(keep=0), silent)
    row_id = ledger.insert(statements.INSERT, call(), soon())
    assert row_id == 51


def test_traces_of_removed_rows_go_with_them(home: Path, ledger: Database) -> None:
    """Transitions, news and notices of rows that are gone take no space either; those of rows that stay stay."""
    path = filled(home, 100)
    connection = sqlite3.connect(path)
    with connection:
        for row in (1, 100):
            connection.execute(
                "INSERT INTO transitions (ledger_id, ts, from_status, to_status) VALUES (?, 'a', 'b', 'c')", (row,)
            )
            connection.execute(
                "INSERT INTO news (ts, session_id, ledger_id, kind) VALUES ('a', 's', ?, 'late')", (row,)
            )
            connection.execute(
                "INSERT INTO notices (ts, session_id, ghosts) SELECT ts, 's', '[]' FROM ledger WHERE id = ?", (row,)
            )
    prune.prune(ledger, Limits(keep=10), silent)
    assert connection.execute("SELECT ledger_id FROM transitions").fetchall() == [(100,)]
    assert connection.execute("SELECT ledger_id FROM news").fetchall() == [(100,)]
    assert connection.execute("SELECT count(*) FROM notices").fetchone() == (1,)


def test_space_comes_back(home: Path) -> None:
    """After nine tenths of the rows went, the files take about a tenth of what they took, log included."""
    path = filled(home, 20_000)
    before = on_disk(path)
    done = prune.prune(Database(str(path)), Limits(keep=2000), silent)
    assert path.stat().st_size < before * 0.15
    assert done.bytes_after == path.stat().st_size
    assert on_disk(path) < before * 0.6
    assert sqlite3.connect(path).execute("PRAGMA freelist_count").fetchone() == (0,)


def test_space_comes_back_many_pages_a_step(home: Path) -> None:
    """One transaction gives back a whole step of pages: one page each would make a large ledger take minutes."""
    path = filled(home, 4000)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DELETE FROM ledger WHERE id <= 3900")
    free = connection.execute("PRAGMA freelist_count").fetchone()[0]
    assert free > 2 * prune.VACUUM_PAGES
    connection.execute("BEGIN IMMEDIATE")
    assert prune._vacuum_some(connection) == free - prune.VACUUM_PAGES
    connection.execute("COMMIT")
    connection.close()


def test_max_size_is_met_with_as_many_rows_as_fit(home: Path) -> None:
    """--max-size leaves a file of at most that size, and does not throw away much more than it must."""
    path = filled(home, 10_000)
    most = path.stat().st_size // 2
    expected = prune.count(sqlite3.connect(path), Limits(max_bytes=most))
    done = prune.prune(Database(str(path)), Limits(max_bytes=most), silent)
    assert most * 0.85 < done.bytes_after <= most
    assert path.stat().st_size <= most
    assert done.rows == pytest.approx(expected, rel=0.25)


def test_max_size_that_is_met_already_removes_nothing(home: Path) -> None:
    """A limit above what the ledger takes changes nothing."""
    path = filled(home, 100)
    assert prune.prune(Database(str(path)), Limits(max_bytes=10**9), silent).rows == 0


def test_stopped_between_two_steps(home: Path) -> None:
    """Asked to stop, it stops after the step at hand, with a whole ledger, and says how many rows went."""
    path = filled(home, 5000)
    counts: list[int] = []
    done = prune.prune(Database(str(path)), Limits(keep=0), counts.append, lambda: len(counts) >= 3)
    assert done.stopped and done.rows == counts[-1] == 3 * prune.BATCH
    assert statuses(path) == {"CONFIRMED": 5000 - done.rows}
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_row_that_is_opened_again_meanwhile_stays(home: Path) -> None:
    """A row that became PENDING between the look and the removal is not removed."""
    path = filled(home, prune.BATCH * 2)
    other = sqlite3.connect(path)

    def reopen(count: int) -> None:
        with other:
            other.execute("UPDATE ledger SET status = 'PENDING' WHERE id = ?", (prune.BATCH + 1,))

    prune.prune(Database(str(path)), Limits(keep=0), reopen)
    assert statuses(path) == {"PENDING": 1}


def test_steps_are_short(home: Path) -> None:
    """No step holds the write lock for longer than a hook may wait: another writer gets it in between."""
    path = filled(home, 10_000)
    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    slowest = 0.0

    def write(count: int) -> None:
        nonlocal slowest
        begin = time.monotonic()
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        slowest = max(slowest, time.monotonic() - begin)

    prune.prune(Database(str(path)), Limits(keep=0), write)
    assert slowest < 0.05


def test_ledger_without_incremental_vacuum(home: Path) -> None:
    """A file that somebody made without it is pruned all the same."""
    path = filled(home, 1000)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA auto_vacuum = NONE")
    connection.execute("VACUUM")
    connection.close()
    assert prune.prune(Database(str(path)), Limits(keep=10), silent).rows == 990


def test_log_stays_short(home: Path) -> None:
    """Copied back often enough that hooks beside it find nothing to copy back themselves, and nobody cuts it off."""
    path = filled(home, 10_000)
    log, longest = path.with_name(path.name + "-wal"), 0

    def look(count: int) -> None:
        nonlocal longest
        longest = max(longest, log.stat().st_size)

    prune.prune(Database(str(path)), Limits(keep=0), look)
    assert 0 < longest < START_BYTES
    assert not log.exists() or log.stat().st_size == 0
