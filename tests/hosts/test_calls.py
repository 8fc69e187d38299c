"""What an ordinary session leaves in the ledger: confirmed and failed calls, and nothing for calls that only read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hosts.conftest import NewHome
from tests.hosts.harness import Home
from tests.hosts.model_server import Call, ModelServer, Request, calls, text


@dataclass(frozen=True)
class Session:
    """One finished session: its home, the files it was about, and what the model was sent."""

    home: Home
    good: Path
    impossible: Path
    requests: tuple[Request, ...]


@pytest.fixture(scope="module")
def session(ledger_home: NewHome, model: ModelServer) -> Session:
    """A session that writes, reads, searches, fails to write, and runs a command that exits with 3."""
    home = ledger_home()
    good, impossible = home.work / "good.txt", home.work / "good.txt" / "below-a-file.txt"
    model.play(
        calls(Call("write_file", {"path": str(good), "content": "one line\n"}, id="w1")),
        calls(Call("read_file", {"path": str(good)}, id="r1")),
        calls(Call("search_files", {"pattern": "line", "path": str(home.work)}, id="s1")),
        calls(Call("terminal", {"command": "exit 3"}, id="t1")),
        calls(Call("write_file", {"path": str(impossible), "content": "x"}, id="w2")),
        text("done"),
    )
    first = len(model.requests)
    home.chat("please work")
    assert model.left == 0
    return Session(home, good, impossible, tuple(model.requests[first:]))


def test_a_write_that_worked_is_confirmed_and_applied(session: Session) -> None:
    """The row of a successful write says CONFIRMED, applied, and when it was settled."""
    row = session.home.ledger.only(tool_call_id="w1")

    assert (row["tool_name"], row["status"], row["effect"]) == ("write_file", "CONFIRMED", "applied")
    assert row["settled_ts"] >= row["ts"]
    assert session.good.read_text() == "one line\n"


def test_a_command_that_exits_with_three_is_an_error_that_names_the_exit(session: Session) -> None:
    """A terminal call with exit code 3 is ERROR:exit_3 whatever status the host gave it; its effect is unknown."""
    row = session.home.ledger.only(tool_call_id="t1")

    assert (row["status"], row["effect"]) == ("ERROR:exit_3", "unknown")


def test_a_write_that_failed_is_an_error_with_a_message(session: Session) -> None:
    """A write below a regular file fails in every host, and its row says so."""
    row = session.home.ledger.only(tool_call_id="w2")

    assert row["status"].startswith("ERROR:")
    assert row["effect"] == "unknown"
    assert row["error_message"]


def test_calls_that_only_read_leave_no_row(session: Session) -> None:
    """Reading and searching leave no row of their own."""
    recorded = [row["tool_call_id"] for row in session.home.ledger.rows()]

    assert recorded == ["w1", "t1", "w2"]


def test_a_row_says_what_was_read_before_it(session: Session) -> None:
    """The row after a read and a search names both, so that it shows whether the agent looked first."""
    row = session.home.ledger.only(tool_call_id="t1")

    assert {"read_file", "search_files"} <= set(re.findall(r"\w+", row["reads"]))


def test_a_row_says_where_it_came_from(session: Session) -> None:
    """Session, turn, arguments, folder, surface and terminal backend are those of the run."""
    row = session.home.ledger.only(tool_call_id="w1")

    assert session.home.sessions()[-1] == row["session_id"]
    assert row["turn_id"].startswith(row["session_id"] + ":")
    assert {"path": str(session.good), "content": "one line\n"} == json.loads(row["args_json"])
    assert (str(session.home.work), "cli", "local") == (row["cwd"], row["platform"], row["backend"])
    assert row["owner"]


def test_times_are_utc_with_milliseconds(session: Session) -> None:
    """Both times of a settled row are ISO 8601 in UTC with three decimals."""
    row = session.home.ledger.only(tool_call_id="w1")

    for moment in (row["ts"], row["settled_ts"]):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", moment)


def test_a_session_without_open_calls_hears_nothing(session: Session) -> None:
    """The model receives the user's words alone while no call is unconfirmed."""
    assert {"please work"} == {request.last_user.strip() for request in session.requests}


def test_the_commands_of_the_plugin_run_in_the_host(session: Session) -> None:
    """`hermes ledger status` ends well and counts as JSON what the session left."""
    told = session.home.hermes("ledger", "ghosts", "--check")

    assert told.status == 0, str(told)
