"""Random lives of a few conversations against a plain oracle (hypothesis).

The oracle is the class World. It plays a host with three conversations (the third is a delegated child of the first),
which issue calls, report them, lose reports, rotate their session id, and die. It knows what became of every call, and
after each step it holds the ledger and the notices to this:

* every announced call is one row, whatever was reported how often and under which id;
* a call that the host reported, or whose result the conversation shows, is never told as a ghost;
* a call that nobody can confirm any more (its process is gone or its grace is over) is told in the next turn of its own
  conversation, once, and in no other; once more where that turn was never answered;
* what came after the host had given up is told once as late;
* whatever is not confirmed has the effect unknown.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.simhost import SimHost, answer, asked, told, turn_id, user

SETTINGS = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
DEAD = "p999999-s1-b00000000-n1-0badc0de"
STUB = "[Result unavailable — see context summary above]"
TIMED_OUT = "Error executing tool 'write_file': timed out after 420.0s"
worlds = itertools.count(1)
MOST_CALLS = 8  # of one conversation: every one of them can be listed


@dataclass
class One:
    """A call. ``fate``: open, confirmed, failed or timeout; ``due``: nobody can confirm it in time; ``told`` as ghost;
    ``dropped``: its post never came;
    ``news``: a late outcome that is not told yet; ``ever_told`` counts tellings as a ghost."""

    path: str
    call: str
    session: str
    turn: str
    fate: str = "open"
    due: bool = False
    gone: bool = False
    dropped: bool = False
    told: bool = False
    news: bool = False
    ever_told: int = 0

    @property
    def args(self) -> dict[str, str]:
        return {"path": self.path, "content": "x"}


@dataclass
class Talk:
    """A conversation: its session ids (the last is the current one), its messages, its calls."""

    names: list[str]
    task: str
    parent: str = ""
    turns: int = 1
    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[One] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    turn: str = ""


class World:
    """The host's side and the oracle's knowledge."""

    def __init__(self, host: SimHost) -> None:
        self.host = host
        self.number = next(worlds)
        self.made = itertools.count(1)
        mine = [f"w{self.number}{letter}" for letter in "abk"]
        self.talks = [Talk([name], f"t-{name}", mine[0] if name.endswith("k") else "") for name in mine]
        for talk in self.talks:
            talk.turn = turn_id(talk.names[0], talk.task)

    # --- steps

    def announce(self, talk: Talk, style: int) -> None:
        """A new call under a constant id, an id of its own, or a composite one."""
        if len(talk.calls) >= MOST_CALLS:
            return
        number = next(self.made)
        call = ["call_0", f"c{number}", f"call_{number}|fc_{number}"][style % 3]
        one = One(f"/srv/{self.number}/{number}", call, talk.names[-1], talk.turn)
        talk.calls.append(one)
        self.host.pre("write_file", one.args, call=call, session=one.session, task=talk.task, turn=one.turn)

    def report(self, talk: Talk, pick: int, how: int) -> None:
        """The host reports a call, maybe a second time, maybe under the session id of now or half of the call's id."""
        reachable = [one for one in talk.calls if not one.gone and not one.dropped]
        if not reachable:
            return
        one = reachable[pick % len(reachable)]
        fate = ["confirmed", "confirmed", "failed", "timeout"][how % 4]
        words = {"confirmed": ("ok", None, '{"success": true}'), "failed": ("error", "tool_error", '{"error": "x"}'),
                 "timeout": ("timeout", "tool_timeout", TIMED_OUT)}[fate]  # fmt: skip
        # A session id that rotates does so within a turn; a later turn has other ids, and its posts are its own.
        session = talk.names[-1] if how % 3 == 0 and one.turn == talk.turn else one.session
        self.host.post(
            "write_file", one.args, words[2], call=one.call.split("|")[0] if how % 5 == 0 else one.call, session=session,
            task=talk.task, turn=one.turn, status=words[0], error_type=words[1],
        )  # fmt: skip
        if one.fate == "open":
            self._show(talk, one, words[2])
            late = one.told
        elif one.fate == "timeout" and fate == "confirmed":
            late = True
        else:
            return
        one.fate, one.due, one.told = fate, False, False
        one.news = one.news or late

    def lose_report(self, talk: Talk, pick: int) -> None:
        """The call finished and the hook was dropped; the conversation has the result."""
        waiting = [one for one in talk.calls if one.fate == "open" and not one.gone and not one.told]
        if waiting:
            one = waiting[pick % len(waiting)]
            self._show(talk, one, '{"success": true}')
            one.fate, one.due, one.dropped = "confirmed", False, True

    def rotate(self, talk: Talk, style: int) -> None:
        """Compaction gives the conversation a new session id in the middle of a turn; the next call shows it."""
        if len(talk.calls) < MOST_CALLS:
            talk.names.append(f"{talk.names[0]}r{len(talk.names)}")
            self.announce(talk, style)

    def overdue(self, talk: Talk, pick: int) -> None:
        """The grace of an open call is over; its process lives."""
        waiting = [one for one in talk.calls if one.fate == "open"]
        if waiting:
            one = waiting[pick % len(waiting)]
            one.due = True
            self.host.age(5000, f"json_extract(args_json, '$.path') = '{one.path}'")

    def die(self) -> None:
        """The process ends: what is open will never be reported."""
        like = f"w{self.number}%"
        (self.host.home / "plugin-data" / "agent-ledger" / "owners" / f"{DEAD}.lock").touch(mode=0o600)
        self.host.sql("UPDATE ledger SET owner = ? WHERE session_id LIKE ?", DEAD, like)
        for talk in self.talks:
            for one in talk.calls:
                one.gone = True
                if one.fate == "open" and not one.told:
                    one.due = True
                    self._show(talk, one, STUB)

    def begin(self, talk: Talk, answered: bool) -> None:
        """A turn: its notice must hold exactly what the oracle wants told."""
        talk.turns += 1
        talk.turn = turn_id(talk.names[-1], talk.task, talk.turns)
        message = user(f"message {talk.turns}")
        text = self.host.turn(
            talk.names[-1], message["content"], [*talk.messages, message], talk.task, talk.turn, talk.parent
        )
        new = {one.path for one in talk.calls if one.fate == "open" and one.due and not one.told}
        again = {one.path for one in talk.calls if one.fate == "open" and one.told and one.path in talk.unread}
        late = {one.path for one in talk.calls if one.news}
        ghosts, news = self._said(text)
        assert ghosts == new | again, (ghosts, new, again)
        assert late <= news and news - late <= {one.path for one in talk.calls if one.fate != "open"}, (news, late)
        for one in talk.calls:
            if one.path in ghosts:
                one.told, one.ever_told = True, one.ever_told + 1
            one.news = False
            assert one.ever_told <= 2
        # A notice is given once more, at most.
        talk.unread = set() if answered else new
        talk.messages += [message, answer()] if answered else [message]

    # --- the oracle

    def _show(self, talk: Talk, one: One, result: str) -> None:
        talk.messages += [asked(one.call, "write_file", one.args), told(one.call, "write_file", result)]
        talk.unread = set()  # the model issued it after the last user message, so it had read that

    def _said(self, text: str | None) -> tuple[set[str], set[str]]:
        """(paths told as unconfirmed, paths told as late or already done) of a notice."""
        ghosts, others = set(), set()
        for line in (text or "").splitlines():
            if found := re.match(r"- #\d+ write_file (\S+?)(?:,|:) ", line):
                (ghosts if "issued" in line else others).add(found[1])
        return ghosts, others

    def check_rows(self) -> None:
        """One row a call, in the state that the oracle knows."""
        rows = self.host.sql(
            "SELECT json_extract(args_json, '$.path'), status, effect, flags FROM ledger WHERE session_id LIKE ?",
            f"w{self.number}%",
        )
        calls = {one.path: one for talk in self.talks for one in talk.calls}
        assert sorted(row[0] for row in rows) == sorted(calls)
        for path, status, effect, flags in rows:
            one = calls[path]
            assert "orphan" not in flags.split(), (path, flags)
            if one.fate == "confirmed" and status in ("PENDING", "CONFIRMED"):
                continue  # the result may stand in a conversation whose next turn has not begun
            wanted = {"failed": "ERROR:tool_error", "timeout": "ERROR:timeout", "confirmed": "CONFIRMED"}.get(
                one.fate, "GHOST_REPORTED" if one.told else "PENDING"
            )
            assert (status, effect) == (wanted, "unknown"), (path, status, effect, one)


steps = st.lists(
    st.tuples(
        st.sampled_from(["announce", "announce", "report", "report", "lose", "rotate", "overdue", "die", "turn", "turn", "silent"]),
        st.integers(0, 2), st.integers(0, 59),
    ),
    max_size=24,
)  # fmt: skip


# A second report under half of the id; one under a constant id beside an open call; one from the rotated session.
@example(life=[("announce", 0, 2), ("report", 0, 0), ("report", 0, 0)])
@example(life=[("announce", 2, 0), ("announce", 2, 0), ("report", 2, 0), ("report", 2, 0)])
@example(life=[("announce", 0, 1), ("report", 0, 12), ("rotate", 0, 1), ("report", 0, 12)])
@SETTINGS
@given(life=steps)
def test_any_life_agrees_with_the_oracle(host: SimHost, life: list[tuple[str, int, int]]) -> None:
    """No row lost, none twice, no false alarm, no missed ghost, each told once in its own conversation."""
    world = World(host)
    for step, which, number in life:
        talk = world.talks[which]
        match step:
            case "announce":
                world.announce(talk, number)
            case "report":
                world.report(talk, number, number)
            case "lose":
                world.lose_report(talk, number)
            case "rotate":
                world.rotate(talk, number)
            case "overdue":
                world.overdue(talk, number)
            case "die":
                world.die()
            case "turn" | "silent":
                world.begin(talk, answered=step == "turn")
        world.check_rows()
    for talk in world.talks:
        world.begin(talk, answered=True)
    world.check_rows()
    assert host.raised == []
