"""The daily report: scores the last full UTC day, notes it in the history, prints it and sends it, once."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ..cli import exits, where
from ..cli.ghosts import find
from ..cli.output import Closed, Screen
from ..cli.text import plural, safe
from ..errors import LedgerError, NoData, UsageError
from ..home import data_folder, ledger_path, make_private_folder
from ..model import now_iso
from ..store.lockfile import exclusive
from ..store.reader import Reader
from . import daily_text, days, history, outbox, telegram
from .message import Line, Span, parts, plain
from .model import Report

SENT, UNSENT, BAD_INPUT = 0, 1, 2
FOLDER, LOCK = "posture", "daily.lock"
# Longer than another run sends, so that it can be seen whether that run sent.
LOCK_WAIT_S = telegram.BUDGET_S + 60

EXIT_CODES = {
    SENT: "sent, or nothing to send: the day was sent before, --no-send, --dry-run",
    UNSENT: "could not send, or not write to the posture folder; what is not sent is kept for the next run",
    BAD_INPUT: "wrong use, no ledger, or one that cannot be read; nothing was written",
    exits.INTERRUPTED: exits.MEANINGS[exits.INTERRUPTED],
}


def build_parser() -> argparse.ArgumentParser:
    codes = "\n".join(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items())
    parser = argparse.ArgumentParser(
        prog="posture_daily.py",
        description="Score the last full UTC day of a ledger, list every open ghost, and send the report to Telegram.",
        epilog=f"The environment says where to: {telegram.TOKEN}, {telegram.CHAT}, and\n{telegram.API} for another"
        f" server than {telegram.DEFAULT_API}.\n\nexit codes:\n{codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--home", metavar="PATH", help="the Hermes home (default: the one in force)")
    place.add_argument("--ledger", metavar="PATH", help="a ledger; history and outbox are in posture/ beside it")
    parser.add_argument("--date", metavar="YYYY-MM-DD", help="another full UTC day than the last one")
    parser.add_argument("--dry-run", action="store_true", help="print what would be sent; write and send nothing")
    parser.add_argument("--no-send", action="store_true", help="print and note it in the history; send nothing")
    return parser


def main(
    arguments: Sequence[str] | None = None, *, clock: telegram.Clock | None = None,
    environ: Mapping[str, str] | None = None, score: Callable[..., Report] | None = None,
) -> int:  # fmt: skip
    """Run the daily report; returns the exit code. argparse ends the process itself for --help and wrong arguments."""
    options = build_parser().parse_args(arguments)
    environ = os.environ if environ is None else environ
    run = _Run(options, clock or telegram.Clock(), environ, score or _score_ledger)
    try:
        return run.all()
    except LedgerError as error:
        run.say(str(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except TimeoutError:
        run.say("another posture_daily has been at work for minutes; see whether it hangs, then run it again")
    except OSError as error:
        run.say(f"{error}. See to the folder and the disk; the next run goes on from here")
    except Exception as error:
        # A traceback might quote what must not be printed.
        run.say(f"an error of the program: {type(error).__name__}: {error}. Please report it")
    return UNSENT


def _score_ledger(path: str, **window: Any) -> Report:
    report: Report = importlib.import_module(".score", __package__).score_ledger(path, **window)
    return report


class _Run:
    """One run over one ledger."""

    def __init__(
        self, options: argparse.Namespace, clock: telegram.Clock, environ: Mapping[str, str],
        score: Callable[..., Report],
    ) -> None:  # fmt: skip
        self._options = options
        self._clock = clock
        self._environ = environ
        self._score = score
        self._token = environ.get(telegram.TOKEN, "").strip()

    def all(self) -> int:
        home, path = _place(self._options)
        folder = os.path.join(os.path.dirname(path), FOLDER)
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        chosen = _chosen(self._options.date, now)
        day = self._look(home, path, chosen, now, folder)
        if self._options.dry_run:
            return self._rehearse(day)
        make_private_folder(folder)
        with exclusive(os.path.join(folder, LOCK), LOCK_WAIT_S):
            days.put(folder, history.line(day.report, day.day, now_iso(now.timestamp()), len(day.ghosts)))
            self._print(daily_text.compose(day, short=False))
            return SENT if self._options.no_send else self._send(day, folder)

    def say(self, text: str) -> None:
        """A line about the run itself, on standard error."""
        try:
            Screen(sys.stderr).line(f"posture_daily: {safe(self._scrub(text))}")
        except (OSError, ValueError, Closed):
            pass

    def _look(self, home: str, path: str, chosen: date, now: datetime, folder: str) -> daily_text.Day:
        day = chosen.isoformat()
        with Reader(path) as reader:  # first: it says best what is wrong with a ledger
            ghosts, running = find(reader, home, now.timestamp())
            waiting = where.waiting(home, reader.applied()).lines
        before = days.before(folder, day)
        report: Report | None
        try:
            since, until = (f"{edge.isoformat()}T00:00:00.000Z" for edge in (chosen, chosen + timedelta(days=1)))
            report = history.compare(self._score(path, since=since, until=until, now=now), before)
        except NoData:
            report = None
        return daily_text.Day(day, report, ghosts, running, waiting, before)

    def _messages(self, day: daily_text.Day) -> list[str]:
        return parts(self._clean(daily_text.compose(day, short=True)), daily_text.title(day.day))

    def _rehearse(self, day: daily_text.Day) -> int:
        self._print(daily_text.compose(day, short=False))
        try:
            whose = telegram.credentials(self._environ)
            where_to = f"to chat {whose.chat} at {whose.base.hostname}"
        except telegram.Unconfigured as problem:
            where_to = f"if that were possible: {problem}"
        self.say(f"dry run: {plural(len(self._messages(day)), 'message')} would be sent {where_to}")
        return SENT

    def _send(self, day: daily_text.Day, folder: str) -> int:
        box = outbox.load(folder, self.say)
        for old in box.add(day.day, self._messages(day)):
            self.say(f"the report of {old} was never sent and is dropped: {outbox.MOST_WAITING} newer ones wait")
        known = box.sent.get(day.day)
        if known is not None:
            self.say(f"the report of {day.day} was sent before, at {known.get('ts')}")
        if not box.waiting:
            return SENT
        try:
            whose = telegram.credentials(self._environ)
        except telegram.Unconfigured as problem:
            self.say(f"not sent: {problem}. {plural(len(box.waiting), 'report')} kept for the next run")
            return UNSENT
        sender = telegram.Sender(whose, self._clock)
        return SENT if outbox.deliver(box, sender, self._clock, self.say) else UNSENT

    def _print(self, lines: Sequence[Line]) -> None:
        screen = Screen()
        try:
            for text in plain(self._clean(lines)):
                screen.line(text)
            screen.flush()
        except Closed:  # the report is still to be sent
            screen.silence()

    def _clean(self, lines: Sequence[Line]) -> list[Line]:
        return [tuple(Span(self._scrub(span.text), span.style) for span in spans) for spans in lines]

    def _scrub(self, text: str) -> str:
        return telegram.scrub(text, self._token)


def _place(options: argparse.Namespace) -> tuple[str, str]:
    """(home, ledger). Raises UsageError."""
    if options.ledger is None:
        home = where.home_of(options.home)
        return home, ledger_path(home)
    if not options.ledger or "\0" in options.ledger:
        raise UsageError("--ledger needs the path of a ledger, such as ~/.hermes/plugin-data/agent-ledger/ledger.db")
    path = os.path.abspath(os.path.expanduser(options.ledger))
    # Which calls have lost their process is known in the home. A copy elsewhere has none: time alone decides there.
    home = os.path.dirname(os.path.dirname(os.path.dirname(path)))
    return (home if data_folder(home) == os.path.dirname(path) else os.path.dirname(path)), path


def _chosen(asked: str | None, now: datetime) -> date:
    """The UTC day to score. Raises UsageError for what is no day, or not over yet."""
    if asked is None:
        return now.date() - timedelta(days=1)
    try:
        chosen = datetime.strptime(asked, "%Y-%m-%d").date()
    except ValueError:
        raise UsageError(f"--date {asked!r} is no day. Give it as YYYY-MM-DD, such as 2026-11-30") from None
    if chosen >= now.date():
        raise UsageError(f"--date {asked}: that day is not over (it is {now:%Y-%m-%d %H:%M} UTC). Give an earlier one")
    return chosen
