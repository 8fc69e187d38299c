"""Fixtures that make faults: a small disk, a read-only one, one that fails on demand. A fault that this machine cannot
make skips its test and says why."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.driver import Driver
from tests.simhost import PLUGIN_FOLDER, SimHost

MOST_S = 0.8  # what one hook may take in the worst case
NOBODY = 65534


NewDriver = Callable[..., Driver]


@pytest.fixture
def new_driver(home: Path) -> Iterator[NewDriver]:
    """``new_driver(uid=..., at=..., plugin=..., VARIABLE="x")``: a host process of its own, killed at the end of the
    test."""
    made: list[Driver] = []

    def make(
        uid: int | None = None, at: Path | None = None, plugin: Path = PLUGIN_FOLDER, **environment: str
    ) -> Driver:
        made.append(Driver(at or home, environment, uid, plugin))
        return made[-1]

    yield make
    for one in made:
        one.stop()


class Faults:
    """The failing disk: what ``order`` says holds for every process that was started with ``environment``."""

    def __init__(self, library: Path, orders: Path) -> None:
        self.environment = {"LD_PRELOAD": str(library), "LEDGER_FAULTS": str(orders)}
        self._orders = orders

    def order(self, text: str) -> None:
        """``eio``, ``eio-all``, ``slow 100``, ``no-shm``, ``clock -3600``; '' for a healthy disk."""
        building = self._orders.with_suffix(".new")
        building.write_text(text)
        building.replace(self._orders)


@pytest.fixture(scope="session")
def failing_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled library."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here, so no library that makes file calls fail can be built")
    library = tmp_path_factory.mktemp("failing") / "failing_disk.so"
    source = Path(__file__).with_name("failing_disk.c")
    built = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], capture_output=True, text=True
    )
    if built.returncode:
        pytest.skip(f"the failing disk cannot be built here: {built.stderr[:300]}")
    return library


@pytest.fixture
def faults(failing_disk: Path, tmp_path: Path) -> Faults:
    """A failing disk that is healthy so far."""
    found = Faults(failing_disk, tmp_path / "orders")
    found.order("")
    return found


def mounted(*arguments: str) -> None:
    """Mount, or skip the test with the machine's own reason."""
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command here")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"this user may not mount here: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system of 2 MB with an empty Hermes home in it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted("-t", "tmpfs", "-o", "size=2m,mode=0777", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def read_only() -> Iterator[Callable[[Path], None]]:
    """``read_only(folder)``: nothing below it can be written until the test ends, by root neither."""
    made: list[Path] = []

    def make(folder: Path) -> None:
        mounted("--bind", str(folder), str(folder))
        made.append(folder)
        mounted("-o", "remount,bind,ro", str(folder))

    yield make
    for folder in reversed(made):
        subprocess.run(["umount", "-l", str(folder)], check=False)


@pytest.fixture
def of_nobody() -> Iterator[SimHost]:
    """The home of a user that file permissions bind, outside of the folders that only root may enter."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can become another user")
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, NOBODY, NOBODY)
    yield SimHost(folder)
    shutil.rmtree(folder)


def spool_files(host: SimHost) -> list[Path]:
    return [path for path in Path(host.ledger.parent, "spool").glob("*.jsonl") if path.stat().st_size]


def all_in(host: SimHost, turn: Callable[[], object] | None = None, seconds: float = 15) -> None:
    """Wait until nothing waits in the spool any more; ``turn``: a hook that takes its part meanwhile."""
    until = time.monotonic() + seconds
    while spool_files(host) and time.monotonic() < until:
        if turn is not None:
            turn()
        time.sleep(0.02)
    assert spool_files(host) == []


def counted(host: SimHost) -> tuple[int, int, int]:
    """(rows, different calls, confirmed ones) of the ledger, which must be whole."""
    assert host.sql("PRAGMA integrity_check") == [("ok",)]
    return host.sql("SELECT count(*), count(DISTINCT tool_call_id), total(status = 'CONFIRMED') FROM ledger")[0]  # type: ignore[return-value]
