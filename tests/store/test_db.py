"""The connection: files private, WAL in force, found again when the file was replaced, never waited for too long."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_ledger.store.db import Database, Unavailable
from agent_ledger.store.lockfile import exclusive
from agent_ledger.store.opening import create
from agent_ledger.store.trouble import classify
from tests.store.rows import held

Deadline = Callable[[], float]
INSERT = "INSERT INTO ledger (ts) VALUES (?)"


def add(database: Database, ts: str, deadline: float) -> None:
    """Write one row."""
    database.write(lambda connection: connection.execute(INSERT, (ts,)), deadline)


def count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM ledger").fetchone()[0])


def test_folder_and_files_are_private(ledger: Database, soon: Deadline) -> None:
    """Folder 0700, database and sidecars 0600, under any umask."""
    before = os.umask(0)
    try:
        add(ledger, "a", soon())
    finally:
        os.umask(before)
    folder = Path(ledger.path).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == {"ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}


def test_open_ledger_of_others_is_tightened(ledger: Database, soon: Deadline) -> None:
    """A ledger that everybody could read becomes private when it is opened."""
    Path(ledger.path).parent.mkdir(parents=True)
    create(ledger.path)
    os.chmod(ledger.path, 0o644)
    add(ledger, "a", soon())
    assert stat.S_IMODE(os.stat(ledger.path).st_mode) == 0o600


def test_wal_is_in_force_and_said(ledger: Database, soon: Deadline) -> None:
    """The journal mode is read back from SQLite."""
    assert ledger.journal_mode == ""
    add(ledger, "a", soon())
    assert ledger.journal_mode == "wal"


@pytest.mark.parametrize(("setting", "level"), [("normal", 1), ("full", 2)])
def test_synchronous_as_set(home: Path, soon: Deadline, setting: str, level: int) -> None:
    """NORMAL by default, FULL by setting."""
    database = Database(str(home / "plugin-data" / "agent-ledger" / "ledger.db"), setting)
    assert database.read(lambda c: c.execute("PRAGMA synchronous").fetchone()[0], soon()) == level


def test_hooks_never_checkpoint(ledger: Database, soon: Deadline) -> None:
    """The automatic checkpoint is off on the connection that hooks use."""
    assert ledger.read(lambda c: c.execute("PRAGMA wal_autocheckpoint").fetchone()[0], soon()) == 0


def test_file_that_somebody_touched_can_give_space_back(ledger: Database, soon: Deadline) -> None:
    """An empty file in the ledger's place becomes a ledger like any other, incremental vacuum included."""
    Path(ledger.path).parent.mkdir(parents=True)
    Path(ledger.path).touch(0o600)
    add(ledger, "a", soon())
    assert ledger.read(lambda c: c.execute("PRAGMA auto_vacuum").fetchone()[0], soon()) == 2


def test_failed_work_is_rolled_back(ledger: Database, soon: Deadline) -> None:
    """An error in the middle of a transaction leaves nothing of it, and the connection usable."""

    def work(connection: sqlite3.Connection) -> None:
        connection.execute(INSERT, ("a",))
        raise KeyError("x")

    with pytest.raises(KeyError):
        ledger.write(work, soon())
    assert ledger.read(count, soon()) == 0
    add(ledger, "b", soon())
    assert ledger.read(count, soon()) == 1


def test_deleted_file_is_made_again(ledger: Database, soon: Deadline) -> None:
    """When the user deletes the ledger, the next write makes a new one."""
    add(ledger, "a", soon())
    for suffix in ("", "-wal", "-shm"):
        os.unlink(ledger.path + suffix)
    add(ledger, "b", soon())
    assert sqlite3.connect(ledger.path).execute("SELECT ts FROM ledger").fetchall() == [("b",)]


def test_replaced_file_is_opened_again(ledger: Database, soon: Deadline, tmp_path: Path) -> None:
    """Rows go into the file that has the ledger's name now, as after restoring a backup."""
    add(ledger, "a", soon())
    create(str(tmp_path / "other.db"))
    os.unlink(ledger.path + "-wal")
    os.replace(tmp_path / "other.db", ledger.path)
    add(ledger, "b", soon())
    assert sqlite3.connect(ledger.path).execute("SELECT ts FROM ledger").fetchall() == [("b",)]


def test_log_taken_away_is_noticed(ledger: Database, soon: Deadline) -> None:
    """After somebody removed the write-ahead log alone, what is written next can be read by others."""
    add(ledger, "a", soon())
    os.unlink(ledger.path + "-wal")
    os.unlink(ledger.path + "-shm")
    add(ledger, "b", soon())
    assert ("b",) in sqlite3.connect(ledger.path).execute("SELECT ts FROM ledger").fetchall()


def test_locked_database_is_busy_in_time(ledger: Database, soon: Deadline) -> None:
    """While another connection writes, a write gives up at its deadline and says busy."""
    add(ledger, "a", soon())
    with held(ledger.path):
        begin = time.monotonic()
        with pytest.raises(Unavailable) as refused:
            add(ledger, "b", begin + 0.05)
        assert refused.value.kind == "busy"
        assert time.monotonic() - begin < 0.5
    add(ledger, "b", soon())


def test_readers_are_not_stopped_by_a_writer(ledger: Database, soon: Deadline) -> None:
    """A look at the ledger works while another process holds the write lock."""
    add(ledger, "a", soon())
    with held(ledger.path):
        assert ledger.read(count, time.monotonic() + 0.05) == 1


def test_busy_thread_is_not_waited_for_longer(ledger: Database, soon: Deadline) -> None:
    """A second thread waits for the shared connection until its own deadline only."""
    inside, leave = threading.Event(), threading.Event()

    def hold(connection: sqlite3.Connection) -> None:
        inside.set()
        leave.wait(5)

    add(ledger, "a", soon())
    thread = threading.Thread(target=lambda: ledger.read(hold, soon()))
    thread.start()
    inside.wait(5)
    try:
        with pytest.raises(Unavailable, match="busy"):
            add(ledger, "b", time.monotonic() + 0.02)
    finally:
        leave.set()
        thread.join()


def test_garbage_is_corrupt(ledger: Database, soon: Deadline) -> None:
    """A file that is no database is named corrupt, not busy."""
    Path(ledger.path).parent.mkdir(parents=True)
    Path(ledger.path).write_bytes(b"garbage " * 1000)
    with pytest.raises(Unavailable) as refused:
        add(ledger, "a", soon())
    assert refused.value.kind == "corrupt"


def test_corrupt_ledger_is_kept_aside(ledger: Database, soon: Deadline) -> None:
    """Setting aside renames the file, and a fresh ledger starts in its place."""
    Path(ledger.path).parent.mkdir(parents=True)
    Path(ledger.path).write_bytes(b"garbage " * 1000)
    aside = ledger.set_aside()
    assert aside is not None and Path(aside).read_bytes().startswith(b"garbage")
    add(ledger, "a", soon())
    assert ledger.read(count, soon()) == 1


def test_second_judge_leaves_the_fresh_ledger_alone(
    ledger: Database, soon: Deadline, child: Callable[..., subprocess.Popen[str]]
) -> None:
    """Two processes met the same corrupt file: the second does not throw away what the first has begun since."""
    Path(ledger.path).parent.mkdir(parents=True)
    Path(ledger.path).write_bytes(b"garbage " * 1000)
    second = child(
        "import sys, time\n"
        "from agent_ledger.store.db import Database, Unavailable\n"
        "database = Database(sys.argv[1])\n"
        "try:\n"
        "    database.read(lambda c: None, time.monotonic() + 2)\n"
        "except Unavailable as trouble:\n"
        "    print(trouble.kind, flush=True)\n"
        "sys.stdin.readline()\n"
        "database.set_aside()\n"
        "print('judged', flush=True)\n",
        ledger.path,
    )
    assert second.stdout is not None and second.stdin is not None
    assert second.stdout.readline() == "corrupt\n"
    ledger.set_aside()
    add(ledger, "a", soon())
    second.stdin.write("\n")
    second.stdin.flush()
    assert second.stdout.readline() == "judged\n"
    assert ledger.read(count, soon()) == 1


def test_folder_that_cannot_be_made_is_unavailable(home: Path, soon: Deadline) -> None:
    """A plain file where the data folder should be: an Unavailable, nothing else."""
    (home / "plugin-data").write_text("in the way")
    database = Database(str(home / "plugin-data" / "agent-ledger" / "ledger.db"))
    with pytest.raises(Unavailable):
        add(database, "a", soon())


def test_directory_in_the_ledgers_place_is_unavailable(ledger: Database, soon: Deadline) -> None:
    """A folder named ledger.db: an Unavailable, nothing else."""
    Path(ledger.path).mkdir(parents=True)
    with pytest.raises(Unavailable):
        add(ledger, "a", soon())


def test_newer_ledger_that_lets_us_write(ledger: Database, soon: Deadline) -> None:
    """A later schema whose min_writer is ours goes on being written."""
    ledger.write(lambda c: c.execute("PRAGMA user_version = 99"), soon())
    other = sqlite3.connect(ledger.path)
    other.close()
    _forget(ledger)
    add(ledger, "a", soon())
    assert ledger.read(count, soon()) == 1


def test_newer_ledger_that_does_not(ledger: Database, soon: Deadline) -> None:
    """A later schema that this version may not write is refused as newer, and stays as it is."""

    def advance(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'min_writer'")

    ledger.write(advance, soon())
    _forget(ledger)
    with pytest.raises(Unavailable) as refused:
        add(ledger, "a", soon())
    assert refused.value.kind == "newer"


def _forget(database: Database) -> None:
    """As a process that starts now sees the file."""
    from agent_ledger import process

    process.registry().connections.pop(database.path).connection.close()


def test_making_leaves_no_other_files(ledger: Database, soon: Deadline) -> None:
    """A fresh ledger is linked into place: nothing of the building stays."""
    add(ledger, "a", soon())
    assert [file.name for file in Path(ledger.path).parent.iterdir() if ".new-" in file.name] == []


def test_making_does_not_replace_a_ledger(ledger: Database, soon: Deadline) -> None:
    """Who comes second to create the file leaves the first one's rows."""
    add(ledger, "a", soon())
    create(ledger.path)
    assert ledger.read(count, soon()) == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [(OSError(28, "no space"), "full"), (OSError(30, "read-only"), "read-only"), (OSError(5, "io"), "cannot open"),
     (sqlite3.ProgrammingError("x"), "error")],
)  # fmt: skip
def test_errors_have_names(error: Exception, kind: str) -> None:
    """What the system says becomes one word that status can show."""
    assert classify(error).kind == kind


def test_unavailable_stays_itself() -> None:
    """An error that has a name keeps it."""
    named = Unavailable("busy", "x")
    assert classify(named) is named


def test_stuck_holder_of_the_lock_file_is_not_waited_for(tmp_path: Path) -> None:
    """A stopped process that holds the lock gives an error that names the file, and nobody waits without end."""
    fcntl = pytest.importorskip("fcntl")
    path = str(tmp_path / "ledger.db.aside")
    with open(path, "w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError, match=r"ledger\.db\.aside"), exclusive(path):
            pytest.fail("the lock was taken twice")
    with exclusive(path):
        pass
