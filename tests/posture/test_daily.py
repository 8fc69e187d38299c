"""The daily report on ledgers that the real hooks wrote, sent to a real server."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_ledger.errors import LedgerUnreadable, NoData
from agent_ledger.posture import daily, outbox, telegram
from agent_ledger.posture.model import Report, Suppression
from tests.cli.commands import folder, record, snapshot
from tests.posture import bot_server
from tests.posture.bot_server import BotServer, refuses, says
from tests.posture.standin import finding, report
from tests.posture.test_telegram import ENVIRONMENT, TOKEN, FakeClock
from tests.simhost import PLUGIN_FOLDER

NOW = datetime(2026, 10, 4, 0, 30, tzinfo=UTC).timestamp()
DAY_S = 86_400


@pytest.fixture
def bot() -> Iterator[BotServer]:
    with BotServer() as server:
        yield server


@pytest.fixture
def recorded(home: Path) -> Path:
    """A home with a call confirmed, one failed, and one that its process left open."""
    record(home)
    return home


def run(
    bot: BotServer | None, *arguments: str, now: float = NOW, score: Callable[..., Report] | None = None, **environ: str
) -> int:
    """One run in this process; without ``bot`` there are no credentials."""
    where_to = {**ENVIRONMENT, telegram.API: bot.url} if bot else {}
    return daily.main(
        arguments, clock=FakeClock(now), environ={**where_to, **environ},
        score=score or (lambda *_, **__: report(finding())),
    )  # fmt: skip


def process(home: Path, bot: BotServer, *arguments: str, **environ: str) -> subprocess.Popen[str]:
    """One run as a process of its own."""
    values = {**os.environ, "HERMES_HOME": str(home), **ENVIRONMENT, telegram.API: bot.url, "STANDIN_NOW": str(NOW)}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.posture.standin", *arguments], cwd=PLUGIN_FOLDER, env={**values, **environ},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def history(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder(home) / "posture" / "history.jsonl").read_text().splitlines()]


def box(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder(home) / "posture" / "outbox.json").read_text())
    return found


def texts(bot: BotServer) -> list[str]:
    return [parsed.text for _, parsed in bot.delivered]


def test_the_last_full_day_is_scored_noted_printed_and_sent(
    recorded: Path, bot: BotServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half an hour after midnight UTC the day before is over: its window, its line, its message with id."""
    asked: list[dict[str, Any]] = []

    def score(path: str, **window: Any) -> Report:
        asked.append({"path": path, **window})
        return report(finding())

    assert run(bot, score=score) == 0

    [window] = asked
    assert window["path"] == str(folder(recorded) / "ledger.db")
    assert (window["since"], window["until"]) == ("2026-10-03T00:00:00.000Z", "2026-10-04T00:00:00.000Z")
    [line] = history(recorded)
    assert (line["day"], line["score"], line["penalty"], line["rows"]) == ("2026-10-03", 85, 15, 100)
    assert (line["by_rule"], line["ghosts"], line["rules_version"]) == ({"ASI08-03": 1}, 1, "1")
    assert box(recorded) == {"waiting": [], "sent": {"2026-10-03": {"ids": [1001], "ts": "2026-10-04T00:30:00.000Z"}}}
    [text] = texts(bot)
    printed = capsys.readouterr().out
    for part in ("2026-10-03 (UTC)", "85 of 100", "1 HIGH", "make <deploy> & more", "ASI07, ASI09", "certification"):
        assert part in text and part in printed


def test_every_open_ghost_is_listed_in_whatever_session(recorded: Path, bot: BotServer) -> None:
    """The session of the ghost will never have another turn; its call was not even on the scored day."""
    assert run(bot) == 0
    [text] = texts(bot)
    assert "Open ghosts: 1" in text and 'cronjob create "backup-daily"' in text and "session s1" in text


def test_long_lists_are_cut_in_the_message_and_whole_in_print(
    recorded: Path, bot: BotServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says how many are left out; cron's mail has them all."""
    assert run(bot, score=lambda *_, **__: report(*map(finding, range(500)))) == 0
    said = "".join(texts(bot))
    assert len(bot.delivered) > 1 and "and 460 more" in said and "part 2 of" in said
    assert capsys.readouterr().out.count("ASI08-03") == 500
    assert box(recorded)["sent"]["2026-10-03"]["ids"] == list(range(1001, 1001 + len(bot.delivered)))


def test_what_is_not_official_or_accepted_is_marked(recorded: Path, bot: BotServer) -> None:
    """ASI11 is on no official list, and an accepted finding says who accepted it."""
    accepted = Suppression("known <b>job</b>", "ops", "2026-12-31")
    found = (finding(1, rule_id="ASI11-01", asi="ASI11", official=False), finding(2, suppressed=accepted))
    run(bot, score=lambda *_, **__: report(*found, score_effective=85))
    [text] = texts(bot)
    assert "ASI11-01 (not on the official list)" in text
    assert "accepted until 2026-12-31 by ops: known <b>job</b>" in text and "85 without accepted findings" in text


def test_a_second_run_on_a_day_sends_nothing_and_replaces_its_line(recorded: Path, bot: BotServer) -> None:
    """Twice a day is once in the chat, and one line in the history."""
    assert run(bot) == 0
    assert run(bot, now=NOW + 3600, score=lambda *_, **__: report()) == 0
    assert len(bot.requests) == 1
    assert [(line["day"], line["score"]) for line in history(recorded)] == [("2026-10-03", 100)]


def test_two_processes_at_once_send_once(recorded: Path, bot: BotServer) -> None:
    """The one that comes second waits, sees that it was sent, and is content."""

    def slowly(handler: bot_server.Handler) -> None:
        time.sleep(2)  # long enough for the other to have come to the lock
        bot_server.accept(handler)

    bot.script = [slowly]
    runs = [process(recorded, bot) for _ in range(2)]
    ended = [(one.communicate(timeout=60), one.returncode)[1] for one in runs]
    assert ended == [0, 0] and len(bot.requests) == 1 and len(history(recorded)) == 1


def test_the_history_compares_with_the_day_before(recorded: Path, bot: BotServer) -> None:
    """What is new, open and resolved by fingerprint; a change of rules breaks the line visibly."""
    days = [report(finding(1)), report(finding(1), finding(2, rule_id="ASI02-01")), report(finding(2), rules_version="2")]
    for number, one in enumerate(days):
        run(bot, now=NOW + number * DAY_S, score=lambda *_, one=one, **__: one)
    lines = history(recorded)
    marks = [finding(number).fingerprint for number in (1, 2)]
    assert (lines[1]["new"], lines[1]["open"], lines[1]["resolved"]) == ([marks[1]], [marks[0]], [])
    assert (lines[2]["new"], lines[2]["open"], lines[2]["resolved"]) == ([], [marks[1]], [marks[0]])
    assert "Last scored day 2026-10-03: 85; new: ASI02-01" in texts(bot)[1]
    assert "The rules have changed since 2026-10-04" in texts(bot)[2]


def test_other_lines_of_the_history_stay(recorded: Path, bot: BotServer) -> None:
    """A torn line and a stranger's line are nobody's to remove, and an earlier day goes behind them."""
    path = folder(recorded) / "posture" / "history.jsonl"
    run(bot, "--no-send")
    path.write_bytes(path.read_bytes() + b'{"note": "mine"}\n{"day": "2026-10-0')
    run(bot, "--no-send", "--date", "2026-10-01")
    lines = path.read_bytes().splitlines()
    assert lines[1:3] == [b'{"note": "mine"}', b'{"day": "2026-10-0']
    assert json.loads(lines[3])["day"] == "2026-10-01" and len(lines) == 4


def test_a_day_without_calls_is_no_data_and_no_score(recorded: Path, bot: BotServer) -> None:
    """The message says so, and the ghosts of other days are still listed."""

    def score(*_: object, **__: object) -> Report:
        raise NoData("no call in the window")

    assert run(bot, score=score) == 0
    [text] = texts(bot)
    assert "No data" in text and "Score" not in text and "backup-daily" in text
    assert history(recorded)[0]["score"] is None


@pytest.mark.parametrize("arguments", [[], ["--dry-run"], ["--no-send"]])
def test_a_home_without_a_ledger_is_said_and_stays_empty(
    home: Path, bot: BotServer, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, nothing made, nothing sent: never a score of nothing."""
    assert run(bot, *arguments) == 2
    assert "no ledger yet at" in capsys.readouterr().err
    assert list(home.iterdir()) == [] and bot.requests == []


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["--date", "yesterday"], "YYYY-MM-DD"),
        (["--date", "2026-02-30"], "2026-02-30"),
        (["--date", "2026-10-04"], "not over"),
        (["--date", "2027-01-01"], "not over"),
        (["--home", "/does/not/exist"], "/does/not/exist"),
        (["--ledger", "/does/not/exist.db"], "no ledger yet"),
        (["--ledger", ""], "--ledger"),
    ],
)
def test_bad_input_is_named_and_exits_2(
    recorded: Path, bot: BotServer, arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written or sent."""
    before = snapshot(recorded)
    assert run(bot, *arguments) == 2
    assert named in capsys.readouterr().err
    assert snapshot(recorded) == before and bot.requests == []


def test_a_ledger_that_cannot_be_read_exits_2(recorded: Path, bot: BotServer) -> None:
    """Damage found only while scoring is the same."""

    def score(*_: object, **__: object) -> Report:
        raise LedgerUnreadable("cannot read it")

    assert run(bot, score=score) == 2
    (folder(recorded) / "ledger.db-wal").unlink()
    (folder(recorded) / "ledger.db").write_bytes(b"no database" * 1000)
    assert run(bot) == 2 and bot.requests == []


def test_a_dry_run_writes_and_sends_nothing(recorded: Path, bot: BotServer, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what would be sent, and where to."""
    before = snapshot(recorded)
    assert run(bot, "--dry-run") == 0
    said = capsys.readouterr()
    assert "85 of 100" in said.out and "1 message would be sent to chat -1001234567890" in said.err
    assert snapshot(recorded) == before and bot.requests == []


def test_no_send_notes_the_day_and_keeps_nothing_to_send(recorded: Path, bot: BotServer) -> None:
    """For those who read cron's mail."""
    assert run(None, "--no-send") == 0
    assert len(history(recorded)) == 1 and not (folder(recorded) / "posture" / "outbox.json").exists()


def test_a_ledger_elsewhere_keeps_its_history_beside_it(recorded: Path, bot: BotServer, tmp_path: Path) -> None:
    """A copy is scored without a trace in the home."""
    copy = tmp_path / "copy" / "some.db"
    copy.parent.mkdir()
    with closing(sqlite3.connect(folder(recorded) / "ledger.db")) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    before = snapshot(recorded)
    assert run(bot, "--ledger", str(copy)) == 0
    assert (copy.parent / "posture" / "history.jsonl").exists() and snapshot(recorded) == before


def test_another_home_is_chosen_by_option_or_ledger(recorded: Path, bot: BotServer) -> None:
    """Its ledger in the usual place has the ghosts and the history of that home."""
    assert run(bot, "--home", str(recorded), HERMES_HOME="/elsewhere") == 0
    assert run(bot, "--date", "2026-10-01", "--ledger", str(folder(recorded) / "ledger.db")) == 0
    assert [line["day"] for line in history(recorded)] == ["2026-10-03", "2026-10-01"]
    assert all("backup-daily" in text for text in texts(bot))


def test_an_unsent_report_goes_with_the_next_one(
    recorded: Path, bot: BotServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a network today, both are in the chat tomorrow, the older one first."""
    bot.script = [refuses(401, "Unauthorized")]
    assert run(bot) == 1
    assert "not sent" in capsys.readouterr().err and box(recorded)["sent"] == {}
    assert run(bot, now=NOW + DAY_S) == 0
    assert [text.partition("(UTC)")[0] for text in texts(bot)] == [
        "agent-ledger posture 2026-10-03 ", "agent-ledger posture 2026-10-04 ",
    ]  # fmt: skip
    assert list(box(recorded)["sent"]) == ["2026-10-03", "2026-10-04"] and box(recorded)["waiting"] == []


def test_without_credentials_it_is_not_sent_and_says_what_is_missing(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A schedule that lost its environment must not look like success. The agent's bot and .env are nobody's here."""
    (recorded / ".env").write_text(f"{telegram.TOKEN}={TOKEN}\n{telegram.CHAT}=1\nTELEGRAM_BOT_TOKEN={TOKEN}\n")
    assert run(None, TELEGRAM_BOT_TOKEN=TOKEN, TELEGRAM_CHAT_ID="1") == 1
    assert f"{telegram.TOKEN} and {telegram.CHAT} not set" in capsys.readouterr().err
    assert [report["day"] for report in box(recorded)["waiting"]] == ["2026-10-03"]


def test_hermes_env_is_not_even_opened(recorded: Path, bot: BotServer) -> None:
    """Python tells of every file that a run opens; the host's secrets are not among them."""
    (recorded / ".env").write_text(f"TELEGRAM_BOT_TOKEN={TOKEN}\n")
    code = (
        "import sys\nopened = []\n"
        "sys.addaudithook(lambda event, values: event == 'open' and opened.append(str(values[0])))\n"
        "from tests.posture import standin\n"
        "code = standin.daily.main([], clock=standin.Clock(), score=standin.score)\n"
        "print(code, len(opened) > 10, [path for path in opened if path.endswith(('.env', 'config.yaml'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PLUGIN_FOLDER, capture_output=True, text=True, timeout=60, check=True,
        env={**os.environ, **ENVIRONMENT, telegram.API: bot.url, "STANDIN_NOW": str(NOW)},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 True []"


def test_a_report_that_is_refused_does_not_hold_up_the_next(recorded: Path, bot: BotServer) -> None:
    """400 may be about one message; the others are sent, and the exit code tells."""
    bot.script = [refuses(400, "Bad Request: strange")] * 2
    assert run(bot) == 1
    assert run(bot, now=NOW + DAY_S) == 1
    assert list(box(recorded)["sent"]) == ["2026-10-04"]
    assert [report["day"] for report in box(recorded)["waiting"]] == ["2026-10-03"]


def test_a_long_report_goes_on_where_it_stopped(recorded: Path, bot: BotServer) -> None:
    """Parts that have an id are not sent again, though the day is scored anew in between."""
    bot.script = [bot_server.accept, says(403, b"")]
    assert run(bot, score=lambda *_, **__: report(*map(finding, range(30)))) == 1
    many = len(box(recorded)["waiting"][0]["parts"])
    assert box(recorded)["waiting"][0]["ids"] == [1001]
    assert run(bot, score=lambda *_, **__: report()) == 0
    assert [text.partition("\n")[0].partition("part ")[2] for text in texts(bot)] == [
        f"{at} of {many}" for at in range(1, many + 1)
    ]


def test_only_so_many_reports_wait(recorded: Path, bot: BotServer, capsys: pytest.CaptureFixture[str]) -> None:
    """The oldest gives way, and that is said."""
    for number in range(outbox.MOST_WAITING + 1):
        run(None, now=NOW + number * DAY_S)
    assert "2026-10-03 was never sent and is dropped" in capsys.readouterr().err
    assert len(box(recorded)["waiting"]) == outbox.MOST_WAITING


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"waiting": [{"day": 1}], "sent": {}}', b'{"waiting": [], "sent": []}'])
def test_a_damaged_outbox_is_kept_aside_and_said(
    recorded: Path, bot: BotServer, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    """The day's report is sent all the same."""
    place = folder(recorded) / "posture"
    place.mkdir()
    (place / "outbox.json").write_bytes(content)
    assert run(bot) == 0
    assert "outbox.json is damaged" in capsys.readouterr().err
    assert (place / "outbox.json.damaged").read_bytes() == content and len(bot.delivered) == 1


def test_killed_between_sending_and_noting_it_says_that_it_repeats(recorded: Path, bot: BotServer) -> None:
    """At least once: the message arrived, no id was written, so it comes again and says that it may be a repeat."""
    arrived, go_on = threading.Event(), threading.Event()
    bot.script = [bot_server.waits_for(go_on, arrived)]
    first = process(recorded, bot)
    assert arrived.wait(30)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    go_on.set()
    assert box(recorded)["sent"] == {} and box(recorded)["waiting"][0]["asked"] is True

    second = process(recorded, bot)
    second.communicate(timeout=60)
    assert second.returncode == 0
    assert [text.startswith("Possibly a repeat") for text in texts(bot)] == [False, True]
    assert box(recorded)["sent"]["2026-10-03"]["ids"] == [1002]


def test_killed_before_anything_was_asked_sends_once_without_a_note(recorded: Path, bot: BotServer) -> None:
    """A report in the outbox that no attempt was made for is simply sent."""
    place = folder(recorded) / "posture"
    place.mkdir()
    waiting = outbox.Outbox(str(place / "outbox.json"))
    waiting.add("2026-10-03", ["the report"])
    assert run(bot) == 0
    assert len(texts(bot)) == 1 and not texts(bot)[0].startswith("Possibly")


def test_a_disk_that_refuses_the_note_refuses_the_message(recorded: Path, bot: BotServer) -> None:
    """What cannot be written down before is not sent: it would be sent again every day."""
    place = folder(recorded) / "posture"
    place.mkdir()
    (place / "outbox.json").mkdir()
    assert run(bot) == 1 and bot.requests == []


def test_the_printed_report_may_lose_its_reader(recorded: Path, bot: BotServer) -> None:
    """`posture_daily.py | head -1` still sends."""
    run_it = f'"{sys.executable}" -m tests.posture.standin | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", run_it], cwd=PLUGIN_FOLDER, capture_output=True, text=True, timeout=60, check=True,
        env={**os.environ, **ENVIRONMENT, telegram.API: bot.url, "STANDIN_NOW": str(NOW), "STANDIN_FINDINGS": "3000"},
    )  # fmt: skip
    assert done.stdout == "0\n" and "Traceback" not in done.stderr and len(bot.delivered) > 0


def test_files_are_for_this_user_alone_and_the_ledger_is_untouched(recorded: Path, bot: BotServer) -> None:
    """Folder 0700, files 0600; no byte of the evidence changes."""
    before = snapshot(recorded)
    run(bot)
    place = folder(recorded) / "posture"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in place.iterdir()} == {0o600}
    after = {name: content for name, content in snapshot(recorded).items() if "/posture/" not in name}
    assert after == before


BEHAVIOURS: dict[str, list[bot_server.Behaviour]] = {
    "accepted": [],
    "refused with the token in its words": [refuses(400, f"no chat for {TOKEN}")],
    "server trouble": [says(500, TOKEN.encode())] * 9,
    "reset": [bot_server.delivers_and_resets],
    "redirect": [bot_server.redirects("http://127.0.0.1:9")],
    "garbage": [says(200, TOKEN.encode())],
}


@pytest.mark.parametrize("script", BEHAVIOURS.values(), ids=BEHAVIOURS)
def test_no_byte_of_the_token_is_printed_sent_or_written(
    recorded: Path, bot: BotServer, script: list[bot_server.Behaviour], capfd: pytest.CaptureFixture[str]
) -> None:
    """Not even where the agent has used it, a rule quotes it, the server sends it back, or the program has an error."""
    secret = TOKEN.partition(":")[2]
    quoting = finding(message=f"used {TOKEN}", session_id=TOKEN, excerpt=f"curl https://api/bot{TOKEN}/getMe")

    def score(*_: object, **__: object) -> Report:
        return report(quoting, rule_errors={"ASI02-01": f"ValueError: {TOKEN}"})

    def broken(*_: object, **__: object) -> Report:
        raise ValueError(f"no such address: /bot{TOKEN}/sendMessage")

    bot.script = [*script]
    run(bot, score=score)
    run(bot, "--dry-run", score=score)
    assert run(bot, now=NOW + DAY_S, score=broken) == 1
    said = capfd.readouterr()
    assert "85 of 100" in said.out and "an error of the program" in said.err
    assert secret not in said.out + said.err
    assert all(secret not in json.dumps(sent) for _, sent in bot.requests)
    for file in (path for path in recorded.rglob("*") if path.is_file()):
        assert secret.encode() not in file.read_bytes(), file


def test_the_help_has_every_exit_code_and_variable_and_no_option_for_a_token() -> None:
    """Others on the machine see the arguments of a process, so a token is none."""
    text = daily.build_parser().format_help()
    assert all(f"  {code} " in text for code in daily.EXIT_CODES)
    assert all(name in text for name in (telegram.TOKEN, telegram.CHAT, telegram.API)) and "--token" not in text


def test_the_file_at_the_root_starts_the_program_from_any_folder(home: Path) -> None:
    """It needs no installation and no environment; without a ledger it says so."""
    done = subprocess.run(
        [sys.executable, str(PLUGIN_FOLDER / "posture_daily.py")], cwd="/", env={**os.environ, "HERMES_HOME": str(home)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "") and "no ledger yet at" in done.stderr
