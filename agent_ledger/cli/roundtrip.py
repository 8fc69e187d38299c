"""``doctor``'s proof: a call confirmed, a call lost in a crash, and the notice, in a home that is thrown away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..errors import LedgerError
from ..ghosts import owner
from ..home import data_folder, ledger_path
from ..settings import ENVIRONMENT_PREFIX
from ..store.reader import Reader
from ..store.shapes import Row
from .checks import FAIL, OK, WARN, Check

_SCRIPT = Path(__file__).with_name("rehearsal.py")
_WAIT_S = 20.0


def prove(home: str, synchronous: str) -> list[Check]:
    """Run the round trip on the file system of ``home`` where it has a data folder that can be written, else among the
    temporary files. The user's own ledger is not touched."""
    folder = data_folder(home)
    beside = folder if os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK) else None
    try:
        with tempfile.TemporaryDirectory(prefix=".doctor-", dir=beside, ignore_cleanup_errors=True) as throw_away:
            return _prove(
                throw_away, synchronous, "on the disk of this home" if beside else "among the temporary files"
            )
    except OSError as error:
        return [
            Check(
                "round trip", FAIL, f"no throw-away home could be made: {error}", "look at free space and permissions"
            )
        ]


def _prove(home: str, synchronous: str, place: str) -> list[Check]:
    try:
        _play("crash", home, synchronous)
        with Reader(ledger_path(home)) as reader:
            before = reader.tail(10)
            mode = str(reader.pragma("journal_mode"))
        told = json.loads(_play("resume", home, synchronous)) or {}
        with Reader(ledger_path(home)) as reader:
            after = reader.tail(10)
    except (LedgerError, OSError, ValueError, subprocess.SubprocessError) as error:
        return [
            Check("round trip", FAIL, f"{place}: {error}", "see the message; report it when it is none of the disk")
        ]
    wrong = _wrong(before, after, str(told.get("context", "")))
    if wrong:
        return [
            Check(
                "round trip",
                FAIL,
                f"{place}: {wrong}",
                "please report this with the output of: hermes ledger doctor --json",
            )
        ]
    return [
        Check("round trip", OK, f"issued, confirmed, lost in a crash, told once ({place}, journal {mode})"),
        _locks(before[-1], home),
    ]


def _wrong(before: list[Row], after: list[Row], notice: str) -> str:
    """What differs from what must come out, '' for nothing."""
    states = [(row.status, row.effect) for row in before]
    if states != [("CONFIRMED", "applied"), ("PENDING", "unknown")]:
        return f"a confirmed and an open call were expected, the ledger holds {states}"
    if f"#{before[1].id} write_file" not in notice:
        return "the next turn was not told of the open call"
    if [row.status for row in after] != ["CONFIRMED", "GHOST_REPORTED"]:
        return f"the open call was not marked as reported: {[row.status for row in after]}"
    return ""


def _locks(row: Row, home: str) -> Check:
    """Whether the lock file of the process that died said so."""
    lock = os.path.join(data_folder(home), "owners", row.owner + ".lock")
    if row.owner.endswith("x"):
        return Check("owner locks", WARN, "no lock files can be had here; pid and start time tell who lives",
                     "keep the Hermes home on a local disk")  # fmt: skip
    if os.path.exists(lock) and owner.is_alive(row.owner, os.path.dirname(lock)) is not False:
        return Check("owner locks", FAIL, "the lock of a process that ended still seems to be held",
                     "keep the Hermes home on a file system with working locks")  # fmt: skip
    return Check("owner locks", OK, "the lock file of the ended process tells that it is gone")


def _play(part: str, home: str, synchronous: str) -> str:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith((ENVIRONMENT_PREFIX, "PYTHON")) and name != "TERMINAL_ENV"
    }
    environment |= {"HERMES_HOME": home, ENVIRONMENT_PREFIX + "SYNCHRONOUS": synchronous}
    # Isolated and without site-packages: hooks must do with the standard library alone.
    command = [sys.executable, "-I", "-S", str(_SCRIPT), part]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=_WAIT_S, cwd=home)  # noqa: S603 - our own file
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode:
        raise ValueError(f"the rehearsal ended with code {done.returncode}: {said[-400:]}")
    if said:
        raise ValueError(f"the rehearsal complained: {said[-400:]}")
    return done.stdout.decode("utf-8", "replace")
