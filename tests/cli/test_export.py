"""``export``: every row as it is, streamed, for programs that never saw the ledger."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import stat
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from agent_ledger.cli import export, main
from tests.cli.commands import folder, ledger, record, snapshot
from tests.simhost import PLUGIN_FOLDER
from tests.store.rows import filled

SECRET = "hunter2" + "horse"


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def change(home: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(folder(home) / "ledger.db")
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_json_lines_hold_every_column_of_every_row(home: Path) -> None:
    """One object a line, oldest call first, under the names of the columns."""
    record(home)
    found = lines(ledger(home, "export").stdout)
    assert [row["id"] for row in found] == [1, 2, 3]
    connection = sqlite3.connect(folder(home) / "ledger.db")
    names = {row[1] for row in connection.execute("PRAGMA table_info(ledger)")} - {"probe_json", "policy_memory"}
    assert all(set(row) == names for row in found)
    assert (found[0]["status"], found[0]["duration_ms"], found[2]["settled_ts"]) == ("CONFIRMED", 1200, None)


def test_csv_says_the_same(home: Path) -> None:
    """A head and one record a call, also where values hold commas, quotes and line breaks."""
    record(home)
    change(home, "UPDATE ledger SET summary = ? WHERE id = 1", 'a, "b"\r\nc;d')
    found = list(csv.DictReader(io.StringIO(ledger(home, "export", "--format", "csv").stdout, newline="")))
    expected = lines(ledger(home, "export").stdout)
    assert [row["id"] for row in found] == ["1", "2", "3"]
    assert found[0]["args_json"] == expected[0]["args_json"]
    assert found[0]["summary"].replace("\r\n", "\n") == 'a, "b"\nc;d'
    assert list(found[0]) == list(expected[0])


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_csv_cells_are_no_formulas(home: Path, start: str) -> None:
    """What a model wrote must not run when somebody opens the file in a spreadsheet, also behind a line break."""
    record(home)
    change(home, "UPDATE ledger SET summary = ? WHERE id = 1", start + "cmd|'/c calc'!A1")
    output = home / "calls.csv"
    ledger(home, "export", "--format", "csv", "--output", str(output))
    with open(output, encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))
    assert first["summary"].startswith("'")


def test_json_lines_keep_formulas_as_they_are(home: Path) -> None:
    """JSON is no spreadsheet: its values are the stored ones."""
    record(home)
    change(home, "UPDATE ledger SET summary = '=1+1' WHERE id = 1")
    assert lines(ledger(home, "export").stdout)[0]["summary"] == "=1+1"


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_secrets_are_redacted_on_the_way_out(home: Path, form: str) -> None:
    """A ledger that was written with full arguments leaves the machine without its secrets, unless asked."""
    record(home)
    text = json.dumps({"command": f"PGPASSWORD={SECRET} psql"})
    change(
        home, "UPDATE ledger SET args_json = ?, summary = ? WHERE id = 2", text, f"terminal PGPASSWORD={SECRET} psql"
    )
    assert SECRET not in ledger(home, "export", "--format", form).stdout
    assert SECRET in ledger(home, "export", "--format", form, "--raw").stdout


def test_redacted_arguments_are_still_json(home: Path) -> None:
    """Redaction happens inside the values: what is exported parses, and hides the secret under a telling key too."""
    record(home)
    change(home, "UPDATE ledger SET args_json = ? WHERE id = 2", json.dumps({"password": SECRET, "command": "x"}))
    row = lines(ledger(home, "export").stdout)[1]
    assert SECRET not in str(row)
    assert set(json.loads(str(row["args_json"]))) == {"password", "command"}


def test_since_and_session_choose(home: Path) -> None:
    """--since goes by the time of issue, --session takes the conversation's rows."""
    filled(home, 100, apart=3600)
    assert len(lines(ledger(home, "export", "--since", "24h").stdout)) in (23, 24)
    assert len(lines(ledger(home, "export", "--session", "s7").stdout)) == 2
    assert ledger(home, "export", "--since", "2999-01-01").stdout == ""


def test_output_file_is_private_and_complete(home: Path, tmp_path: Path) -> None:
    """The file is 0600 whatever the umask, and there are no other files."""
    record(home)
    target = tmp_path / "out"
    target.mkdir()
    before = os.umask(0)
    try:
        done = ledger(home, "export", "--output", str(target / "calls.jsonl"))
    finally:
        os.umask(before)
    assert (done.returncode, done.stdout, [path.name for path in target.iterdir()]) == (0, "", ["calls.jsonl"])
    assert stat.S_IMODE((target / "calls.jsonl").stat().st_mode) == 0o600
    assert len(lines((target / "calls.jsonl").read_text())) == 3


def test_output_that_was_there_stays_where_the_export_fails(home: Path, tmp_path: Path) -> None:
    """An earlier export is replaced by a complete one or not at all, and no half file stays."""
    filled(home, 3000)
    target = tmp_path / "calls.jsonl"
    target.write_text("earlier")
    code = (
        "import resource, sys\nfrom agent_ledger.cli.main import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "raise SystemExit(main(['export', '--output', sys.argv[1]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, target], cwd=PLUGIN_FOLDER, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert target.read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["calls.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--format", "xml"], "xml"), (["--since", "yesterday"], "yesterday"), (["--since", "999999999w"], "999999999w"),
        (["--since", "9999-12-31T23:59:59-14:00"], "9999-12-31"), (["--output", "/does/not/exist/calls"], "/does/not/exist"),
        (["--output", "/"], "/"), (["--bogus"], "bogus"), (["extra"], "extra"),
    ],
)  # fmt: skip
def test_bad_input_exports_nothing(home: Path, arguments: list[str], named: str) -> None:
    """A user's mistake is exit 2 with one message, and nothing is written anywhere."""
    record(home)
    before = snapshot(home)
    done = ledger(home, "export", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr and "Traceback" not in done.stderr
    assert snapshot(home) == before


def test_no_ledger_is_wrong_use(home: Path) -> None:
    """Nothing recorded: exit 2, and nothing appears."""
    done = ledger(home, "export")
    assert (done.returncode, done.stdout, list(home.iterdir())) == (2, "", [])


def test_reader_that_goes_away_is_no_error(home: Path) -> None:
    """`export | head -1` ends without a traceback."""
    filled(home, 5000)
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m agent_ledger.cli export | head -n 1 | wc -l'],
        cwd=PLUGIN_FOLDER, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == ("1", "")


def test_export_changes_no_byte(home: Path) -> None:
    """It reads."""
    record(home)
    before = snapshot(home)
    ledger(home, "export", "--format", "csv")
    assert snapshot(home) == before


def test_text_that_is_no_utf8_is_exported(home: Path) -> None:
    """One odd row does not stop the others."""
    record(home)
    change(home, "UPDATE ledger SET summary = CAST(x'ff41' AS TEXT) WHERE id = 2")
    assert [row["id"] for row in lines(ledger(home, "export").stdout)] == [1, 2, 3]


def test_memory_stays_flat(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four times the rows take no more memory: what is held is one batch."""
    filled(home, 2500, content="x" * 2000)
    peaks = []
    for _ in range(2):
        tracemalloc.start()
        assert main.main(["export", "--raw", "--output", str(tmp_path / "calls")]) == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        filled(home, 7500, content="x" * 2000)
    assert peaks[1] < peaks[0] * 1.3
    assert peaks[1] < export.BATCH * 20_000 < (tmp_path / "calls").stat().st_size * 2


def test_process_stays_small(home: Path, tmp_path: Path) -> None:
    """All rows are there, and the process never grew by more than some batches. LEDGER_SLOW=1: with 200,000 rows."""
    many = 200_000 if os.environ.get("LEDGER_SLOW") == "1" else 30_000
    filled(home, many, content="x" * 50, apart=1)
    code = (
        "import resource, sys\nfrom agent_ledger.cli.main import main\n"
        "code = main(['export', '--raw', *sys.argv[1:]])\n"
        "print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def grown(*arguments: str) -> int:
        done = subprocess.run(
            [sys.executable, "-c", code, "--output", str(tmp_path / "calls"), *arguments], cwd=PLUGIN_FOLDER,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        ended, most = done.stdout.split()
        assert ended == "0"
        return int(most) * (1 if sys.platform == "darwin" else 1024)

    nothing = grown("--since", "2999-01-01")
    assert grown() - nothing < 25_000_000
    with open(tmp_path / "calls", "rb") as file:
        assert sum(1 for _ in file) == many
