"""What is to be sent, and what was: ``outbox.json``, written before and after each attempt.

Sending and writing down that it was sent cannot be one step. So the attempt is written down first: whoever finds one
without an answer sends again, and says in the message that it may be a repeat. At least once, then, and never silently
twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from ..model import now_iso
from . import files
from .telegram import Clock, NotSent

FILE = "outbox.json"
MOST_WAITING = 31  # reports; an older one gives way
_MOST_SENT = 400  # days that are remembered as sent
_PACE_S = 1.1  # between two messages: Telegram takes about one a second in a chat


class Sends(Protocol):
    """What deliver needs of a telegram.Sender."""

    def send(self, html: str, doubtful: bool = False) -> int: ...


@dataclass(slots=True)
class Waiting:
    """One report that is not wholly sent. ``ids``: message ids of the first of its ``parts``; ``asked``: an attempt at
    the next one began and its outcome is unknown."""

    day: str
    parts: list[str]
    ids: list[int] = field(default_factory=list)
    asked: bool = False


@dataclass(slots=True)
class Outbox:
    """The file of one folder; whoever changes it holds the folder's lock. ``sent``: day -> {"ids", "ts"}."""

    path: str
    waiting: list[Waiting] = field(default_factory=list)
    sent: dict[str, dict[str, Any]] = field(default_factory=dict)

    def save(self) -> None:
        """Raises OSError."""
        kept = dict(sorted(self.sent.items())[-_MOST_SENT:])
        document = {"waiting": [asdict(report) for report in self.waiting], "sent": kept}
        files.replace(self.path, json.dumps(document, indent=1).encode("ascii") + b"\n")

    def add(self, day: str, parts: list[str]) -> list[str]:
        """Put a report in, unless it was sent; returns the days whose reports had to give way. A report that waits is
        replaced, but not once an attempt began: its reader would get halves of two."""
        if day in self.sent:
            return []
        known = next((report for report in self.waiting if report.day == day), None)
        if known is None:
            self.waiting.append(Waiting(day, parts))
            self.waiting.sort(key=lambda report: report.day)
        elif not known.ids and not known.asked:
            known.parts = parts
        dropped = [report.day for report in self.waiting[:-MOST_WAITING]]
        self.waiting = self.waiting[-MOST_WAITING:]
        self.save()
        return dropped


def load(folder: str, say: Callable[[str], None]) -> Outbox:
    """The outbox of ``folder``. A damaged file is kept aside, and ``say`` is told. Raises OSError."""
    path = os.path.join(folder, FILE)
    raw = files.read(path)
    if not raw:
        return Outbox(path)
    try:
        document = json.loads(raw)
        waiting = [Waiting(**report) for report in document["waiting"]]
        if not all(_sound(report) for report in waiting) or not all(map(_has_ids, document["sent"].values())):
            raise ValueError("an entry is not of the form that this program writes")
        return Outbox(path, waiting, document["sent"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        aside = f"{path}.damaged"
        os.replace(path, aside)
        say(
            f"{path} is damaged ({type(error).__name__}); it is kept as {aside}. What waited in it is not sent, and a"
            " day that is scored again may be sent again"
        )
        return Outbox(path)


def _sound(report: Waiting) -> bool:
    texts = isinstance(report.parts, list) and all(isinstance(part, str) for part in report.parts)
    ids = isinstance(report.ids, list) and all(type(one) is int for one in report.ids)
    typed = isinstance(report.day, str) and texts and ids and isinstance(report.asked, bool)
    return typed and len(report.ids) < len(report.parts)


def _has_ids(sent: object) -> bool:
    return isinstance(sent, dict) and bool(sent.get("ids"))


def deliver(box: Outbox, sender: Sends, clock: Clock, say: Callable[[str], None]) -> bool:
    """Send what waits, oldest first; returns whether nothing waits any more. Each outcome goes to ``say``, and to disk
    before the next attempt. Raises OSError where that fails: then nothing more is sent."""
    sent_before = False
    for report in [*box.waiting]:
        while len(report.ids) < len(report.parts):
            if sent_before:
                clock.sleep(_PACE_S)
            doubtful, report.asked = report.asked, True
            box.save()
            try:
                message_id = sender.send(report.parts[len(report.ids)], doubtful)
            except NotSent as problem:
                report.asked = problem.doubtful
                box.save()
                perhaps = " (it may have arrived all the same)" if problem.doubtful else ""
                say(f"the report of {report.day} was not sent{perhaps}: {problem}. It is kept for the next run")
                if problem.for_all:
                    return False
                break
            report.ids.append(message_id)
            report.asked, sent_before = False, True
            if len(report.ids) == len(report.parts):
                box.waiting.remove(report)
                box.sent[report.day] = {"ids": report.ids, "ts": now_iso(clock.now())}
                say(f"the report of {report.day} was sent: message {', '.join(map(str, report.ids))}")
            box.save()
    return not box.waiting
