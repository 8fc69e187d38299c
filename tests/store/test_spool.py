"""The spool: in order, exactly once, only what hooks write, never in the way."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_ledger.store import spool as spools
from agent_ledger.store.db import Database
from agent_ledger.store.spool import Spool
from tests.calls import call, post
from tests.store import old_files

Deadline = Callable[[], float]
A, B = {"path": "/srv/a.txt"}, {"path": "/srv/b.txt"}


@pytest.fixture
def spool(ledger: Database) -> Spool:
    return Spool(str(Path(ledger.path).parent / "spool"), "me")


def rows(ledger: Database, what: str = "tool_call_id, status, flags") -> list[Any]:
    return ledger.read(lambda c: c.execute(f"SELECT {what} FROM ledger ORDER BY id").fetchall(), time.monotonic() + 2)  # noqa: S608


def replay(spool: Spool, ledger: Database, gone: bool = False) -> int:
    return spool.replay(ledger, time.monotonic() + 2, time.monotonic() + 5, lambda name: gone)


def of_dead(spool: Spool, lines: list[Any], name: str = "dead") -> Path:
    """A file that another process left."""
    Path(spool.folder).mkdir(parents=True, exist_ok=True)
    path = Path(spool.folder, f"{name}.jsonl")
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    path.chmod(0o600)
    return path


def line(seq: int, **fields: Any) -> dict[str, Any]:
    return {"seq": seq, "op": "call", "what": call(A, **fields)._asdict()}


def test_call_and_post_are_replayed_in_order(spool: Spool, ledger: Database) -> None:
    """A call and its outcome become one settled row, marked spooled."""
    spool.add_call(call(A))
    spool.add_post(post(A))
    assert replay(spool, ledger) == 2
    assert rows(ledger) == [("c1", "CONFIRMED", "spooled")] and spool.backlog == 0


def test_line_of_an_older_plugin_counts(spool: Spool, ledger: Database) -> None:
    """Fields that came later may be missing; others may not."""
    older, broken = line(1), line(2, tool_call_id="c2")
    for name in ("policy_memory", "error_message"):
        del older["what"][name]
    del broken["what"]["cwd"]
    of_dead(spool, [older, broken])
    assert replay(spool, ledger) == 1 and rows(ledger) == [("c1", "PENDING", "spooled")]


def test_older_plugin_can_replay_ours(spool: Spool) -> None:
    """A call that policy has nothing to do with is written without the later fields."""
    spool.add_call(call(A))
    assert not {"policy_memory", "error_message"} & set(json.loads(Path(spool.path).read_text())["what"])


def test_refused_call_is_replayed_as_refused(spool: Spool, ledger: Database) -> None:
    """What policy blocked never was open, and what it left for the session is there."""
    spool.add_call(call(A, policy_decision="blocked", policy_memory="x" * 30_000))
    assert replay(spool, ledger) == 1
    assert rows(ledger, "status, effect, length(policy_memory)") == [("ERROR:blocked", "none", 30_000)]


def test_own_file_goes_when_it_is_empty(spool: Spool, ledger: Database) -> None:
    """After the replay nothing waits any more."""
    spool.add_call(call(A))
    replay(spool, ledger)
    assert not os.path.exists(spool.path) and not spool.waiting()


def test_files_are_private(spool: Spool) -> None:
    """Folder 0700, file 0600."""
    spool.add_call(call(A))
    assert stat.S_IMODE(os.stat(spool.folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(spool.path).st_mode) == 0o600


def test_replay_twice_is_once(spool: Spool, ledger: Database) -> None:
    """A file that stays, because its process lives, is not applied again."""
    of_dead(spool, [line(1)])
    assert [replay(spool, ledger), replay(spool, ledger)] == [1, 0]
    assert len(rows(ledger)) == 1


def test_file_that_stays_for_weeks_is_applied_once(spool: Spool, ledger: Database) -> None:
    """Of an owner that cannot be judged the file stays: not even after a long time are its lines applied again."""
    of_dead(spool, [line(1)])
    replay(spool, ledger)
    ledger.write(lambda c: c.execute("UPDATE spooled SET ts = '2020-01-01T00:00:00.000Z'"), time.monotonic() + 2)
    of_dead(spool, [line(1, tool_call_id="c2")], "other")
    replay(spool, ledger)
    replay(spool, ledger)
    assert sorted(row[0] for row in rows(ledger)) == ["c1", "c2"]


def test_file_of_a_dead_process_is_removed(spool: Spool, ledger: Database) -> None:
    """Once its lines are in, the file of a process that is gone goes."""
    path = of_dead(spool, [line(1)])
    replay(spool, ledger, gone=True)
    assert not path.exists() and len(rows(ledger)) == 1


def test_half_a_line_at_the_end_is_passed_over(spool: Spool, ledger: Database) -> None:
    """The process died inside the write: what is whole counts."""
    of_dead(spool, [line(1), json.dumps(line(2, tool_call_id="c2"))[:50]])
    replay(spool, ledger)
    assert [row[0] for row in rows(ledger)] == ["c1"]


@pytest.mark.parametrize(
    "bad",
    [
        "no json\n", "[]\n", "{}\n", {"seq": 1, "op": "sql", "what": {}}, {"seq": 1, "op": "call", "what": {}},
        {"seq": 1, "op": "call", "what": 7}, {"seq": 1, "op": "call", "what": {"ts": 1}},
        line(1, args_len=2**70), line(1, grace_s=-(2**70)), {"seq": 2**70, "op": "call", "what": {}}, line(1, ts="\ud800"),
        line(1, tool_name="x" * 9000), {"seq": True, "op": "call", "what": {}}, {"seq": -1, "op": "call", "what": {}},
    ],
)  # fmt: skip
def test_foreign_lines_are_refused_and_stop_nothing(spool: Spool, ledger: Database, bad: Any) -> None:
    """A line that no hook writes changes nothing, raises nothing, and what else waits is applied."""
    of_dead(spool, [bad], "aaa")
    spool.add_call(call(A))
    of_dead(spool, [line(1, tool_call_id="c2")], "zzz")
    replay(spool, ledger)
    assert sorted(row[0] for row in rows(ledger)) == ["c1", "c2"]


def test_link_is_not_followed_when_writing(spool: Spool, tmp_path: Path) -> None:
    """A symbolic link in the file's place costs the record, counted, and writes nowhere else."""
    Path(spool.folder).mkdir(parents=True)
    (tmp_path / "target").write_text("")
    os.symlink(tmp_path / "target", spool.path)
    assert spool.add_call(call(A)) is False
    assert spool.lost == 1 and (tmp_path / "target").read_text() == ""


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_file_that_others_may_write_does_not_count(spool: Spool, ledger: Database, mode: int) -> None:
    """A spool that somebody else could have written is not replayed."""
    of_dead(spool, [line(1)]).chmod(mode)
    assert replay(spool, ledger) == 0 and not spool.waiting()


def test_many_lines_keep_to_the_time(spool: Spool, ledger: Database) -> None:
    """A replay inside a hook stops near its budget, however much a dead process left."""
    of_dead(spool, [line(number, tool_call_id=f"c{number}", summary="x" * 100) for number in range(1, 30_001)])
    begin = time.monotonic()
    spool.replay(ledger, begin + 0.05, begin + 0.02, lambda name: True)
    assert time.monotonic() - begin < 0.4


def test_interrupted_replay_goes_on(spool: Spool, ledger: Database) -> None:
    """What one replay left is applied by the next, nothing twice."""
    of_dead(spool, [line(number, tool_call_id=f"c{number}") for number in range(1, 451)])
    spool.replay(ledger, time.monotonic() + 2, time.monotonic() - 1, lambda name: True)
    assert 0 < len(rows(ledger)) < 450
    replay(spool, ledger, gone=True)
    assert [row[0] for row in rows(ledger)] == [f"c{number}" for number in range(1, 451)]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the spool files that were opened to be read, in order."""
    opened: list[str] = []
    lines = spools._lines

    def watched(path: str, after: int) -> Any:
        opened.append(Path(path).stem)
        return lines(path, after)

    monkeypatch.setattr(spools, "_lines", watched)
    return opened


def aged(path: Path, seconds: float = 60) -> Path:
    os.utime(path, (time.time() - seconds,) * 2)
    return path


def test_file_that_was_taken_in_is_not_read_again(spool: Spool, ledger: Database, read: list[str]) -> None:
    """Of a process that lives the file stays: each turn looks at it, and reads it once."""
    aged(of_dead(spool, [line(1), "no json\n"]))
    assert [replay(spool, ledger) for _ in range(3)] == [1, 0, 0]
    assert read == ["dead"]
    refused = "SELECT value FROM meta WHERE key = 'spool_refused'"
    assert ledger.read(lambda c: c.execute(refused).fetchone(), time.monotonic() + 2) == ("1",)


def test_file_that_grew_is_read_again(spool: Spool, ledger: Database, read: list[str]) -> None:
    """What its process added afterwards is applied, and nothing twice."""
    aged(of_dead(spool, [line(1)]))
    replay(spool, ledger)
    aged(of_dead(spool, [line(1), line(2, tool_call_id="c2")]), 30)
    assert [replay(spool, ledger) for _ in range(2)] == [1, 0]
    assert read == ["dead", "dead"] and [row[0] for row in rows(ledger)] == ["c1", "c2"]


def test_file_that_changed_just_now_is_read_again(spool: Spool, ledger: Database, read: list[str]) -> None:
    """Within the grain of a file system's clock two states of a file can look alike, so such a file is not judged by
    its looks."""
    of_dead(spool, [line(1)])
    replay(spool, ledger)
    replay(spool, ledger)
    assert read == ["dead", "dead"]


def test_fresh_ledger_takes_in_what_the_old_one_had(spool: Spool, ledger: Database, read: list[str]) -> None:
    """Where the ledger was set aside, the mark is gone with it, and the file counts again."""
    aged(of_dead(spool, [line(1)]))
    replay(spool, ledger)
    assert ledger.set_aside() is not None
    assert replay(spool, ledger) == 1 and [row[0] for row in rows(ledger)] == ["c1"]


def test_known_file_goes_with_its_process(spool: Spool, ledger: Database) -> None:
    """A file that was taken in long ago is removed once its process is gone."""
    path = aged(of_dead(spool, [line(1)]))
    replay(spool, ledger)
    replay(spool, ledger)
    replay(spool, ledger, gone=True)
    assert not path.exists() and len(rows(ledger)) == 1


@pytest.mark.parametrize("file", old_files.SPOOLS, ids=lambda file: file.stem)
def test_spool_of_a_released_version_is_taken_in(spool: Spool, ledger: Database, file: Path) -> None:
    """Lines that a released version wrote are still applied after an update: a call, its outcome, a rotation."""
    Path(spool.folder).mkdir(parents=True)
    shutil.copy(file, Path(spool.folder, "old.jsonl"))
    Path(spool.folder, "old.jsonl").chmod(0o600)
    assert replay(spool, ledger, gone=True) == 3
    assert rows(ledger) == [("x1", "CONFIRMED", "spooled")]


def test_lines_of_this_version_are_those_of_the_released_one(spool: Spool) -> None:
    """Other fields would be refused by an older plugin beside this one, and lost: they need another suffix."""
    spool.add_call(call(A))
    spool.add_post(post(A))
    spool.add_edge("s3", "s0", "rotation", "turn", "t", "2026-01-02T03:04:05.678Z")
    for mine, released in zip(Path(spool.path).read_text().splitlines(), old_files.SPOOLS[-1].read_text().splitlines(), strict=True):
        assert json.loads(mine)["what"].keys() == json.loads(released)["what"].keys()
