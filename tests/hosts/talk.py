"""One turn of a conversation at a time, and what the agent was told in it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hosts.harness import PLUGIN, Home, wait_until
from tests.hosts.model_server import ModelServer, Request, Script, Turn, text

SCRIPTS = Path(__file__).resolve().parent / "scripts"
NOTICE = f"[{PLUGIN}]"
# This version merges the message of a resumed turn into an unanswered one before it, and drops on the way what plugins
# added: the turn after that has the notice again.
LOSES_CONTEXT = (0, 21, 0)


HEADINGS = {
    "ghosts": "never confirmed",
    "launched": "Launched in the background",
    "late": "the outcome came later",
    "repeated": "confirmed more than once",
    "recalled": "no longer visible above",
}


@dataclass(frozen=True)
class Told:
    """What one turn sent to the model."""

    requests: tuple[Request, ...]

    @property
    def user_message(self) -> str:
        """The newest user message of the turn's first request."""
        return self.requests[0].last_user

    @property
    def notice(self) -> str:
        """What this plugin added to the user message, '' for nothing."""
        _, found, words = self.user_message.partition(NOTICE)
        return found + words

    @property
    def rows(self) -> list[int]:
        """The row ids that the notice lists, in its order."""
        return [row_id for listed in self.sections.values() for row_id in listed]

    @property
    def sections(self) -> dict[str, list[int]]:
        """The row ids that the notice lists, by the kind of its heading: ghosts, launched, late, repeated, recalled."""
        found: dict[str, list[int]] = {}
        kind = ""
        for line in self.notice.splitlines():
            row = re.match(r"- #(\d+) ", line)
            if row:
                found.setdefault(kind, []).append(int(row[1]))
            else:
                kind = next((word for word, heading in HEADINGS.items() if heading in line), kind)
        return found

    def line(self, row_id: int) -> str:
        """What the notice says of one row, '' where it does not list it."""
        found = re.search(rf"^- #{row_id} .*$", self.notice, re.MULTILINE)
        return found[0] if found else ""

    @property
    def visible(self) -> set[str]:
        """Ids of the tool calls that the first request still shows."""
        return {
            str(call.get("id")) for message in self.requests[0].messages for call in message.get("tool_calls") or []
        }


def say(
    home: Home, model: ModelServer, words: str, resume: str = "", *turns: Turn, script: Script | None = None
) -> Told:
    """One whole turn of a chat; without a script the model only answers."""
    before = len(model.requests)
    if script is not None:
        model.follow(script)
    else:
        model.play(*(turns or (text("understood"),)))
    home.chat(words, resume)
    return Told(tuple(model.requests[before:]))


def resume_until_told(home: Home, model: ModelServer, words: str, session: str, most: int = 2) -> list[Told]:
    """Resume a killed session; one more turn on the version that loses what plugins add to the first one."""
    turns = [say(home, model, words, session)]
    while home.host.numbers == LOSES_CONTEXT and not turns[-1].notice and len(turns) < most:
        turns.append(say(home, model, words, session))
    return turns


def look_in(home: Home, session: str, words: str) -> str:
    """Begin a turn of a session in a process of the host's own, without a model: the notice, '' for none."""
    done = home.python(SCRIPTS / "turn.py", session, words).expect()
    return str(json.loads(done.output.splitlines()[-1])["context"])


def newest_session(home: Home) -> str:
    """The session that the host would resume."""
    return home.sessions()[-1]


def begun(home: Home) -> bool:
    """Whether a call that the helper plugin `slow` holds up has got that far."""
    return (home.path / "begun").exists()


def kill_in_slow_call(home: Home, model: ModelServer, words: str, resume: str, *turns: Turn) -> None:
    """Start a turn, wait until the helper plugin `slow` holds a call up, and kill the host there."""
    (home.path / "begun").unlink(missing_ok=True)
    model.play(*turns)
    run = home.start_chat(words, resume)
    run.wait_for(lambda: begun(home), "a call is held up")
    run.kill()


def wait_for_status(home: Home, call_id: str, statuses: Sequence[str], seconds: float = 20) -> bool:
    """Wait until the row of a call has one of these statuses."""
    found = wait_until(
        lambda: [row for row in home.ledger.rows(tool_call_id=call_id) if row["status"] in statuses],
        f"{call_id} is one of {statuses}",
        seconds,
    )
    return bool(found)
