"""The schedules that README.md shows, run as cron and systemd would."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_ledger.posture import daily, telegram
from tests.cli.commands import folder, record
from tests.posture.bot_server import BotServer
from tests.posture.test_telegram import ENVIRONMENT
from tests.simhost import PLUGIN_FOLDER

README = (PLUGIN_FOLDER / "README.md").read_text(encoding="utf-8")
SECTION = README.partition("## A daily report\n")[2].partition("\n## ")[0]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)


@pytest.fixture
def bot() -> Iterator[BotServer]:
    with BotServer() as server:
        yield server


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: BotServer) -> Path:
    """The home directory of somebody who followed the README: plugin, ledger and posture.env are in their places."""
    top = tmp_path / "user"
    hermes = top / ".hermes"
    (hermes / "plugins").mkdir(parents=True)
    (hermes / "plugins" / "agent-ledger").symlink_to(PLUGIN_FOLDER)
    record(hermes)
    [names] = [block for block in blocks("") if telegram.TOKEN in block]
    assert re.findall(r"^(\w+)=", names, re.MULTILINE) == [telegram.TOKEN, telegram.CHAT]
    settings = top / ".config" / "agent-ledger" / "posture.env"
    settings.parent.mkdir(parents=True)
    values = {**ENVIRONMENT, telegram.API: bot.url}
    settings.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    (top / "bin").mkdir()
    # This python stands where the machine's is, so that the test does not depend on the machine's.
    (top / "bin" / "python3").symlink_to(sys.executable)
    return top


def run(command: list[str], user: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """As a scheduler does: almost no environment, some other folder, no terminal."""
    return subprocess.run(
        command, cwd="/", env={"HOME": str(user), "PATH": f"{user / 'bin'}:/usr/bin:/bin", **environment},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def assert_it_ran(done: subprocess.CompletedProcess[str], user: Path, bot: BotServer) -> None:
    """The program started, found ledger and credentials, and sent, or said that there is no score yet."""
    assert done.returncode == 0, done.stderr
    assert len(bot.delivered) == 1 and "backup-daily" in bot.delivered[0][1].text
    assert (folder(user / ".hermes") / "posture" / "history.jsonl").exists()


def test_the_line_for_cron_runs_the_report(user: Path, bot: BotServer) -> None:
    """Five fields and a command that sh runs; a percent sign would be a line break to cron."""
    pytest.importorskip("agent_ledger.posture.score")
    [line] = blocks("crontab")
    fields, command = line.split(maxsplit=5)[:5], line.split(maxsplit=5)[5]
    assert all(re.fullmatch(r"\*|\d{1,2}", field) for field in fields) and "%" not in command
    assert_it_ran(run(["/bin/sh", "-c", command], user), user, bot)


def test_the_service_runs_the_report(user: Path, bot: BotServer) -> None:
    """ExecStart with the variables of EnvironmentFile, as systemd reads them."""
    pytest.importorskip("agent_ledger.posture.score")
    service = unit("Service")
    settings = Path(service["EnvironmentFile"].replace("%h", str(user)))
    values = dict(line.split("=", 1) for line in settings.read_text().splitlines())
    command = shlex.split(service["ExecStart"].replace("%h", str(user)))
    assert Path(command[0]).is_absolute() and service["Type"] == "oneshot"
    assert_it_ran(run(command, user, **values), user, bot)


def unit(section: str) -> configparser.SectionProxy:
    """The section of the one unit file that has it."""
    for text in blocks("ini"):
        parser = configparser.ConfigParser(interpolation=None)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        parser.read_string(text)
        if section in parser:
            return parser[section]
    raise AssertionError(section)


def test_systemd_takes_both_units(user: Path) -> None:
    """Its own checker has nothing to say, and the timer's next run is at 00:20 UTC."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze here")
    files = []
    names = re.findall(r"systemd/user/(agent-ledger-posture\.(?:service|timer))`", SECTION)
    for name, text in zip(names, blocks("ini"), strict=True):
        files.append(user / name)
        files[-1].write_text(text)
    done = run([analyze, "--user", "verify", *map(str, files)], user, XDG_RUNTIME_DIR=str(user))
    assert (done.returncode, done.stderr) == (0, "")
    calendar = run([analyze, "calendar", unit("Timer")["OnCalendar"]], user, TZ="UTC")
    assert "00:20:00 UTC" in calendar.stdout and unit("Timer")["Persistent"] == "true"


def test_the_exit_codes_of_the_readme_are_the_programs() -> None:
    """The table says what --help says."""
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", SECTION, re.MULTILINE)
    assert {int(code): meaning.replace("`", "") for code, meaning in rows} == {
        code: meaning for code, meaning in daily.EXIT_CODES.items() if code < 3
    }


def test_the_numbers_of_the_readme_are_the_programs() -> None:
    """Bounds that a reader plans with."""
    words = " ".join(SECTION.split())
    assert (telegram.ATTEMPTS, telegram.ANSWER_S, telegram.LONGEST_WAIT_S, telegram.BUDGET_S) == (5, 20, 60, 240)
    assert "five attempts a message, 20 seconds each, a `retry_after` of at most a minute, four minutes in all" in words
    assert "at most 31 of them" in words and daily.outbox.MOST_WAITING == 31
