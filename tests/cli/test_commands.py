"""The commands on ledgers that the real hooks wrote."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_ledger.cli import chat, main, parser
from tests.cli.commands import as_json, folder, ledger, record, snapshot
from tests.simhost import PLUGIN_FOLDER
from tests.store.rows import held


def test_status_shows_the_ghost_of_a_process_that_died(home: Path) -> None:
    """A one-shot session gets no next turn: status shows its open call at once, whatever its grace period."""
    record(home)
    shown = as_json(home, "status")
    assert (shown["calls"]["total"], shown["calls"]["open_ghosts"], shown["health"]["state"]) == (3, 1, "ok")
    assert shown["ghosts"][0]["tool_name"] == "cronjob"
    assert 'create "backup-daily"' in ledger(home, "status").stdout


def test_reading_commands_change_no_byte_of_the_ledger(home: Path) -> None:
    """The evidence stays as it is: neither the file nor its log changes, and nothing is claimed."""
    record(home)
    before = snapshot(home)
    for command in (["status"], ["tail"], ["show", "3"], ["ghosts", "--check"]):
        ledger(home, *command)
    assert snapshot(home) == before


@pytest.mark.parametrize("command", [["status"], ["ghosts"], ["ghosts", "--check"]])
def test_a_home_without_a_ledger_is_fine_and_stays_empty(home: Path, command: list[str]) -> None:
    """Nothing recorded is an answer, not an error, and no ledger is made by asking."""
    done = ledger(home, *command)
    assert (done.returncode, "no ledger yet at" in done.stdout, list(home.iterdir())) == (0, True, [])


@pytest.mark.parametrize("command", [["tail"], ["tail", "-f"], ["show", "1"]])
def test_asking_for_calls_without_a_ledger_is_wrong_use(home: Path, command: list[str]) -> None:
    """There is no call to show: exit 2, one line that says so, nothing made."""
    done = ledger(home, *command)
    assert (done.returncode, done.stdout, list(home.iterdir())) == (2, "", [])
    assert "no ledger yet at" in done.stderr


def test_ghosts_check_is_1_while_one_is_open_and_0_without(home: Path) -> None:
    """A script can act on the exit code."""
    record(home)
    assert ledger(home, "ghosts", "--check").returncode == 1
    with sqlite3.connect(folder(home) / "ledger.db") as connection:
        connection.execute("UPDATE ledger SET status = 'CONFIRMED', effect = 'applied' WHERE id = 3")
    connection.close()
    assert ledger(home, "ghosts", "--check").returncode == 0


def test_ghosts_check_keeps_its_verdict_when_the_reader_goes_away(home: Path) -> None:
    """`ghosts --check | true` neither prints a traceback nor turns into success."""
    record(home)
    script = f'"{sys.executable}" -m agent_ledger.cli ghosts --check | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=PLUGIN_FOLDER,
        env={**os.environ, "HERMES_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout.strip(), done.stderr) == ("1", "")


def test_a_reported_ghost_is_shown_with_the_notice_that_told_it(home: Path) -> None:
    """show tells the whole life of a call: its change of status with the reason, and who was told."""
    record(home)
    turn = (
        "from agent_ledger.hooks import Hooks\n"
        "Hooks().pre_llm_call(session_id='s1', user_message='go on', conversation_history=[])"
    )
    subprocess.run(
        [sys.executable, "-c", turn], cwd=PLUGIN_FOLDER, env={**os.environ, "HERMES_HOME": str(home)}, check=True
    )
    shown = as_json(home, "show", "#3")
    assert (shown["call"]["status"], shown["open_ghost"], len(shown["notices"])) == ("GHOST_REPORTED", True, 1)
    assert shown["transitions"][0]["to_status"] == "GHOST_REPORTED"
    assert as_json(home, "ghosts")["ghosts"][0]["told"] is True


@pytest.mark.parametrize("word, ids", [("error", [2]), ("error:exit_2", [2]), ("pending", [3]), ("Confirmed", [1])])
def test_tail_chooses_by_status(home: Path, word: str, ids: list[int]) -> None:
    """Statuses are asked for by the words of the documentation, in any case of letters."""
    record(home)
    assert [row["id"] for row in as_json(home, "tail", "--status", word)] == ids


def test_tail_chooses_by_tool_session_and_number(home: Path) -> None:
    """The filters narrow, the order stays oldest first."""
    record(home)
    assert [row["id"] for row in as_json(home, "tail", "--tool", "cron*")] == [3]
    assert [row["id"] for row in as_json(home, "tail", "-n", "2")] == [2, 3]
    assert as_json(home, "tail", "--session", "other") == []


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["show", "99"], "no call 99"),
        (["show", "9" * 5000], "no call 999"),
        (["show", "-1"], "ID"),
        (["show", "٣"], "no call number"),
        (["tail", "-n", "many"], "-n"),
        (["tail", "--status", "nonsense"], "no status 'nonsense'"),
        (["status", "--home", "/does/not/exist"], "/does/not/exist"),
        (["bogus"], "bogus"),
    ],
)
def test_bad_input_names_the_thing_and_exits_2(home: Path, arguments: list[str], named: str) -> None:
    """A user's mistake gives one clear message, no traceback, and changes nothing."""
    record(home)
    before = snapshot(home)
    done = ledger(home, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr and "Traceback" not in done.stderr
    assert snapshot(home) == before


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    command=st.sampled_from(["status", "tail", "show", "ghosts"]),
    words=st.lists(
        st.one_of(st.text(max_size=12), st.sampled_from(["-n", "--json", "--session", "--check", "1"])), max_size=4
    ),
)
def test_no_argument_makes_a_traceback(
    home: Path, command: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever is typed, the command ends with a documented exit code."""
    try:
        code = main.main([command, *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code in (0, 1, 2)
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["status"], ["tail"], ["show", "1"], ["ghosts"]])
def test_stored_text_never_reaches_the_terminal_raw(home: Path, arguments: list[str]) -> None:
    """Escape sequences, bidi marks and rich markup that somebody got into a row are shown, never obeyed."""
    record(home)
    nasty = "\x1b[2J\x9b31m\u202eevil\u2066[bold red]x[/]\x07\r\n"
    columns = ("summary", "tool_name", "session_id", "flags", "error_message", "result_digest", "cwd", "args_json")
    with sqlite3.connect(folder(home) / "ledger.db") as connection:
        for column in columns:
            connection.execute(f"UPDATE ledger SET {column} = ?", (nasty,))  # noqa: S608
    connection.close()
    done = ledger(home, *arguments)
    assert not set(done.stdout) & set("\x1b\x9b\u202e\u2066\x07\r")
    assert done.returncode == 0
    assert "evil" in done.stdout


def test_output_is_ascii_where_the_terminal_is(home: Path) -> None:
    """An ASCII locale shows escapes instead of failing."""
    record(home)
    with sqlite3.connect(folder(home) / "ledger.db") as connection:
        connection.execute("UPDATE ledger SET summary = 'schön 日本'")
    connection.close()
    done = ledger(home, "tail", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and "sch\\xf6n" in done.stdout


def test_a_foreign_file_as_ledger_is_named_and_kept(home: Path) -> None:
    """A text file where the ledger belongs: exit 1, what it is, and not a byte of it changed."""
    folder(home).mkdir(parents=True)
    (folder(home) / "ledger.db").write_text("dear diary\n" * 200)
    done = ledger(home, "tail")
    assert done.returncode == 1 and "no SQLite database" in done.stderr
    assert ledger(home, "status").returncode == 1
    assert (folder(home) / "ledger.db").read_text().startswith("dear diary")


def test_a_database_of_another_program_is_named(home: Path) -> None:
    """A valid database without our tables is not taken for an empty ledger."""
    folder(home).mkdir(parents=True)
    with sqlite3.connect(folder(home) / "ledger.db") as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    done = ledger(home, "ghosts", "--check")
    assert done.returncode == 1 and "another program" in done.stderr


def test_a_damaged_page_is_reported_by_doctor(home: Path) -> None:
    """doctor fails on a damaged file and says what to do; it sets nothing aside."""
    record(home)
    path = folder(home) / "ledger.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xaa" * (len(raw) - 4096)
    path.write_bytes(raw)
    done = ledger(home, "doctor", "--json")
    bad = {check["name"] for check in json.loads(done.stdout)["checks"] if check["state"] == "fail"}
    assert done.returncode == 1 and bad & {"ledger", "integrity"}
    assert bytes(raw) == path.read_bytes()


def test_a_newer_ledger_is_still_read(home: Path) -> None:
    """Later schemas only add: a reader of this version shows what it knows."""
    record(home)
    with sqlite3.connect(folder(home) / "ledger.db") as connection:
        connection.execute("ALTER TABLE ledger ADD COLUMN mood TEXT")
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert len(as_json(home, "tail")) == 3
    checks = {check["name"]: check["state"] for check in as_json(home, "doctor")["checks"]}
    assert checks["schema"] == "warn"


def test_a_writer_that_holds_the_ledger_does_not_stop_reading(home: Path) -> None:
    """With a write-ahead log, readers pass a transaction that is open."""
    record(home)
    with held(folder(home) / "ledger.db"):
        assert len(as_json(home, "tail")) == 3


def test_what_waits_in_the_spool_is_put_in_before_reading(home: Path) -> None:
    """A record that the database could not take is in the answer of the first command after."""
    record(home)
    with held(folder(home) / "ledger.db"):
        record(home)
        waiting = as_json(home, "status")
    after = as_json(home, "status")
    assert waiting["calls"]["total"] == 3 and waiting["health"]["state"] == "degraded" and waiting["spool"]["lines"] > 0
    assert after["calls"]["total"] == 6 and after["spool"]["lines"] == 0


def test_a_reading_folder_of_another_user_is_read(home: Path, tmp_path: Path) -> None:
    """Where nothing can be written the ledger is read as it lies, and no index is left beside it."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    record(home)
    with sqlite3.connect(folder(home) / "ledger.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    for path in (*tmp_path.parents, tmp_path, home, home / "plugin-data", folder(home)):
        if path != Path("/") and path.stat().st_mode & 0o055 != 0o055 and "pytest" in str(path):
            path.chmod(0o755)
    (folder(home) / "ledger.db").chmod(0o644)
    before = sorted(os.listdir(folder(home)))
    code = (
        "import os, sys\n"
        # Written apart: the installer of the host takes the plain words for an attack.
        "for kind in ('gid', 'uid'): getattr(os, 'set' + kind)(65534)\n"
        "from agent_ledger.store.reader import Reader\n"
        "with Reader(sys.argv[1]) as reader: print(len(reader.tail(10)), reader.immutable)"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import agent_ledger.store.reader\n" + code, str(folder(home) / "ledger.db")],
        cwd=PLUGIN_FOLDER, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.stdout.strip(), sorted(os.listdir(folder(home)))) == ("3 True", before), done.stderr


def test_tail_follows_new_calls_outcomes_and_a_new_file(home: Path) -> None:
    """-f prints calls as they come, goes on when the ledger is set aside, and ends quietly on Ctrl-C with 130."""
    record(home)
    follower = subprocess.Popen(
        [sys.executable, "-u", "-m", "agent_ledger.cli", "tail", "-f", "-n", "0", "--json"], cwd=PLUGIN_FOLDER,
        env={**os.environ, "HERMES_HOME": str(home)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        time.sleep(1.0)
        record(home)
        assert follower.stdout is not None
        seen = [json.loads(follower.stdout.readline())["id"] for _ in range(3)]
        for suffix in ("-wal", "-shm", ""):
            (folder(home) / f"ledger.db{suffix}").rename(folder(home) / f"ledger.db.corrupt-1{suffix}")
        record(home)
        seen += [json.loads(follower.stdout.readline())["id"] for _ in range(3)]
        follower.send_signal(signal.SIGINT)
        _, complaint = follower.communicate(timeout=10)
    finally:
        follower.kill()
        follower.wait()
    assert (seen[:3], sorted(set(seen[3:])), follower.returncode) == ([4, 5, 6], [1, 2, 3], 130)
    assert "Traceback" not in complaint and "replaced" in complaint


def test_doctor_proves_a_round_trip_and_leaves_no_trace(home: Path) -> None:
    """The proof runs in a home of its own: the user's ledger is the same afterwards, and nothing is left beside it."""
    record(home)
    (home / "config.yaml").write_text("plugins:\n  enabled: [agent-ledger]\n")
    before = snapshot(home)
    shown = as_json(home, "doctor")
    states = {check["name"]: check["state"] for check in shown["checks"]}
    assert (shown["ok"], states["round trip"], states["owner locks"], states["integrity"]) == (True, "ok", "ok", "ok")
    assert snapshot(home) == before
    assert not list(folder(home).glob(".doctor-*"))


def test_doctor_names_a_setting_and_where_it_comes_from(home: Path) -> None:
    """Each value is shown with its source; a wrong one with what is accepted."""
    done = ledger(home, "doctor", "--json", AGENT_LEDGER_SYNCHRONOUS="full", AGENT_LEDGER_STORE_ARGS="maybe")
    shown = json.loads(done.stdout)
    assert shown["settings"]["synchronous"] == {
        "value": "full",
        "source": "environment variable AGENT_LEDGER_SYNCHRONOUS",
    }
    assert "maybe" in next(check["detail"] for check in shown["checks"] if check["name"] == "settings")


def test_doctor_names_an_entry_without_effect(home: Path) -> None:
    """A tool:action that decides nothing is a setting to look at."""
    done = ledger(home, "doctor", "--json", AGENT_LEDGER_CHANGING_TOOLS="read_file:x")
    (check,) = (check for check in json.loads(done.stdout)["checks"] if check["name"] == "settings")
    assert check["state"] == "warn" and "read_file:x" in check["detail"] and "AGENT_LEDGER_CHANGING_TOOLS" in check["detail"]


def test_doctor_lists_ledgers_that_were_set_aside(home: Path) -> None:
    """Each with its size, that of its log included, and what to do about it; the plugin removes none."""
    record(home)
    for name, many in (("corrupt-1", 3000), ("corrupt-1-wal", 1096), ("corrupt-2", 2048), ("corrupt-3-wal", 100)):
        (folder(home) / f"ledger.db.{name}").write_bytes(b"x" * many)
    (check,) = (check for check in as_json(home, "doctor")["checks"] if check["name"] == "set aside")
    assert check["state"] == "warn" and str(folder(home)) in check["detail"] and "6.1 KiB in all" in check["detail"]
    for text in ("ledger.db.corrupt-1 (4.0 KiB)", "ledger.db.corrupt-2 (2.0 KiB)", "ledger.db.corrupt-3 (100 bytes)"):
        assert text in check["detail"]
    assert ".recover" in check["next"] and "-wal" in check["next"]
    assert len(list(folder(home).glob("ledger.db.corrupt-*"))) == 4


def test_doctor_looks_at_the_key_of_the_probes(home: Path) -> None:
    """A key that others may read is named like a ledger that they may."""
    record(home)
    (folder(home) / "probe.key").chmod(0o644)
    (check,) = (check for check in as_json(home, "doctor")["checks"] if check["name"] == "files")
    assert check["state"] == "warn" and "probe.key" in check["detail"]


@pytest.mark.parametrize("command", ["status", "tail", "show", "ghosts", "doctor"])
def test_every_command_has_help_with_an_example_and_a_json_shape(command: str) -> None:
    """--help is enough to use a command."""
    tree = parser.build()
    sub = next(action for action in tree._actions if action.dest == "ledger_command").choices[command]  # type: ignore[index]
    text = sub.format_help()
    assert f"agent-ledger {command}" in text and "example" in text and "JSON:" in text


def test_nothing_in_the_namespace_is_the_hosts(home: Path) -> None:
    """The host's own main reads names such as `command` and `query` from the same namespace."""
    options = parser.build().parse_args(["tail", "-f"])
    assert all(name.startswith("ledger_") for name in vars(options))


def test_no_colour_without_a_terminal(home: Path) -> None:
    """A pipe gets plain text."""
    record(home)
    assert "\x1b" not in ledger(home, "ghosts", FORCE_COLOR="1", TERM="xterm-256color").stdout


def test_chat_answers_in_short_text(home: Path) -> None:
    """/ledger says what is open, one call's state, and how it is used."""
    record(home)
    assert "1 open ghost" in chat.answer("")
    assert '`cronjob create "backup-daily"`' in chat.answer("ghosts")
    assert "CONFIRMED" in chat.answer("show 1")
    assert "there is no call 99" in chat.answer("show 99")
    assert "use: /ledger" in chat.answer("dance")
    assert chat.answer("tail 2").count("\n") == 1


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.one_of(st.none(), st.text(max_size=60), st.integers()))
def test_chat_never_raises(home: Path, raw: object) -> None:
    """Hosts print a handler's exception as it stands."""
    assert isinstance(chat.answer(raw), str)
