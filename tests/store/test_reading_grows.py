"""What a person waits for does not grow with the ledger: counted in steps of SQLite's machine, which are the same on
every computer."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_ledger.cli import ghosts
from agent_ledger.store.reader import Reader
from agent_ledger.store.sql import OPEN_STATUSES
from tests.store.rows import filled

GHOSTS = 30
EVERY = 10  # steps between two calls of the handler


def steps(path: Path, work: Callable[[Reader], object]) -> int:
    """How many steps ``work`` takes, to within ten a statement."""
    counted = 0

    def count() -> None:
        nonlocal counted
        counted += EVERY

    with Reader(str(path)) as reader:
        reader.ask(lambda connection: connection.set_progress_handler(count, EVERY))
        work(reader)
        reader.ask(lambda connection: connection.set_progress_handler(None, EVERY))
    return counted


def test_full_scan_is_noticed(home: Path) -> None:
    """The measure itself: a look at every row takes steps for every row."""
    path = filled(home, 2000)
    assert steps(path, lambda reader: reader.tail(20, tool="nobody")) > 2000


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda reader: reader.totals(), id="status"),
        pytest.param(lambda reader: ghosts.find(reader, "/nowhere", time.time()), id="ghosts"),
        pytest.param(lambda reader: ghosts.find(reader, "/nowhere", time.time(), ["nobody"]), id="ghosts of a session"),
        pytest.param(lambda reader: reader.tail(20), id="tail"),
        pytest.param(lambda reader: reader.tail(20, session_ids=["s1"]), id="tail of a session"),
        pytest.param(lambda reader: reader.tail(20, session_ids=["nobody", "else"]), id="tail of a conversation"),
        *(
            pytest.param(lambda reader, status=status: reader.tail(GHOSTS + 1, status=status), id=f"tail {status}")
            for status in OPEN_STATUSES
        ),
        pytest.param(lambda reader: reader.tail(20, after=10), id="tail -f"),
        pytest.param(lambda reader: [reader.row(9), reader.transitions(9), reader.nested(9), reader.told(9)], id="show"),
        pytest.param(lambda reader: reader.knows_session(["nobody"]), id="a session that is not there"),
        pytest.param(lambda reader: reader.since(0, "", ["nobody"], 1000), id="export of a session"),
    ],
)
def test_ten_times_the_rows_take_the_same_steps(home: Path, work: Callable[[Reader], object]) -> None:
    """Every question that status, tail, ghosts and show ask."""
    filled(home, 1000)
    path = filled(home, GHOSTS, "PENDING", "unknown")
    few = steps(path, work)
    filled(home, 10_000)
    assert steps(path, work) <= few * 1.1 + 2 * EVERY
