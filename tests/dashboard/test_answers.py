"""What the dashboard is answered, from real ledgers, without its web server."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from agent_ledger.cli.text import safe
from agent_ledger.dashboard import answers, plain, posture
from agent_ledger.errors import NoSuchCall, UsageError
from agent_ledger.home import ledger_path
from tests.cli.commands import as_json, folder, ledger, record
from tests.dashboard import lived_in
from tests.store.rows import content, filled

HOSTILE = "<img src=x onerror=alert(1)>\u202egpj.exe\x1b[31m\ud800"


def answer(question: Any, **query: str) -> Any:
    """What a browser gets: the answer after a trip through JSON."""
    return json.loads(plain.text(question(query)))


def strings(value: Any) -> list[str]:
    """Every text in an answer, its keys too."""
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


def test_a_home_without_a_ledger_has_an_answer_to_everything(home: Path) -> None:
    """Nothing recorded is no error, and asking makes nothing."""
    assert answer(answers.overview)["exists"] is False
    assert answer(answers.ghosts)["ghosts"] == answer(answers.calls)["calls"] == answer(answers.changes)["calls"] == []
    assert "no ledger yet" in answer(answers.activity)["nothing"]
    assert "no ledger yet" in answer(answers.policy)["nothing"]
    assert answer(answers.posture_now)["scored"] is False
    assert answer(answers.score)["report"] is None
    with pytest.raises(UsageError):
        answers.call({"id": "1"})
    with pytest.raises(UsageError):
        answers.settle_call("1", b'{"effect": "applied"}', "")
    assert list(home.iterdir()) == []


def test_the_numbers_are_those_of_the_command(home: Path) -> None:
    """Status and the dashboard never say different things."""
    record(home)
    said, shown = answer(answers.overview), as_json(home, "status")
    assert {key: said[key] for key in ("ledger", "schema", "health", "spool")} == {
        key: shown[key] for key in ("ledger", "schema", "health", "spool")
    }
    assert (said["calls"]["total"], said["calls"]["open_ghosts"], said["posture"]) == (3, 1, None)


def test_an_open_ghost_comes_with_its_reason_and_what_a_probe_sees(home: Path) -> None:
    """The job of the process that died is not in the job file, and that is said; a command leaves nothing to look at."""
    lived_in.furnish(home)
    found = {ghost["tool_name"]: ghost for ghost in answer(answers.ghosts)["ghosts"]}
    assert found["cronjob"]["saw"] == {"effect": "none", "saw": "no such job exists"}
    assert found["terminal"]["saw"] is None
    assert all("ended without recording a result" in ghost["why"] and not ghost["told"] for ghost in found.values())
    assert answer(answers.call, id=str(found["cronjob"]["id"]))["saw"] == found["cronjob"]["saw"]


def test_asking_changes_nothing(home: Path) -> None:
    """Every question leaves the ledger as it was."""
    lived_in.furnish(home)
    before = content(folder(home) / "ledger.db")
    for path, question in answers.QUESTIONS.items():
        answer(question, **({"id": "1"} if "{id}" in path else {}))
    assert content(folder(home) / "ledger.db") == before


def test_pages_hold_every_call_once(home: Path) -> None:
    """From the newest to the oldest, by id, whatever the size of a page."""
    filled(home, 230)
    seen: list[int] = []
    before: int | None = None
    while True:
        page = answer(answers.calls, limit="50", **({"before": str(before)} if before else {}))
        seen += [call["id"] for call in page["calls"]]
        before = page["before"]
        if before is None:
            break
    assert seen == list(range(230, 0, -1))


def test_filters_are_the_ledgers(home: Path) -> None:
    """By tool, status and conversation, exact or with a star; an unknown one finds nothing."""
    lived_in.furnish(home)

    def found(**query: str) -> list[Any]:
        return list(answer(answers.calls, limit="200", **query)["calls"])

    assert {call["tool_name"] for call in found(tool="mcp__*")} == {"mcp__shop__update_stock"}
    assert {call["status"] for call in found(status="PENDING")} == {"PENDING"}
    assert {call["status"].split(":")[0] for call in found(status="ERROR:*")} == {"ERROR"}
    mine = found(session="20261130_180412_shop")
    assert {call["session_id"] for call in mine} == {"20261130_180412_shop"} and len(mine) == 4
    assert [call["tool_name"] for call in found(session="20261130_180412_shop", tool="write_file", status="PENDING")] == ["write_file"]
    assert found(session="nobody") == found(tool="no-such") == found(status="no-such") == []


def test_a_live_feed_gets_what_is_new_and_what_became_of_the_open(home: Path) -> None:
    """Only calls behind the one that is known, and the open ones as they stand by now."""
    record(home)
    first = answer(answers.calls)
    assert (first["newest"], [call["id"] for call in first["calls"]]) == (3, [3, 2, 1])
    filled(home, 2)
    assert ledger(home, "settle", "3", "--applied").returncode == 0
    news = answer(answers.changes, after="3", open="3,999")
    assert [call["id"] for call in news["calls"]] == [5, 4] and news["newest"] == 5 and news["whole"]
    assert [(call["id"], call["effect"]) for call in news["open"]] == [(3, "applied")]


def test_activity_counts_every_call_of_its_time(home: Path) -> None:
    """By tool and by outcome, in bars without gaps."""
    lived_in.furnish(home)
    for span, bars in (("24h", 25), ("7d", 8), ("30d", 31)):
        said = answer(answers.activity, span=span)
        with sqlite3.connect(folder(home) / "ledger.db") as connection:
            (many,) = connection.execute("SELECT count(*) FROM ledger WHERE ts >= ?", (said["reached"],)).fetchone()
        connection.close()
        assert (said["calls"], len(said["bars"]), said["whole"]) == (many, bars, True)
        assert sum(sum(bar["outcomes"].values()) for bar in said["bars"]) == many
        assert sum(sum(bar["tools"].values()) for bar in said["bars"]) == many


def test_hostile_text_comes_as_text_that_only_shows(home: Path) -> None:
    """What reorders, colours or hides text is written as an escape, and the answer is ASCII without any trick of JSON."""
    lived_in.furnish(home, HOSTILE)
    with sqlite3.connect(folder(home) / "ledger.db") as connection:
        connection.execute("UPDATE ledger SET result_digest = ?, duration_ms = 9e999, error_message = x'ff00' WHERE id = 1", (HOSTILE.encode("utf-8", "replace").decode(),))
        connection.execute("UPDATE ledger SET args_json = ? WHERE id = 2", ("[" * 50_000,))
        connection.execute("UPDATE ledger SET args_json = '[NaN, 1e999]' WHERE id = 3")
    connection.close()
    for question, query in ((answers.calls, {"limit": "200"}), (answers.ghosts, {}), (answers.call, {"id": "1"}),
                            (answers.call, {"id": "2"}), (answers.call, {"id": "3"}), (answers.policy, {"since": "all"})):  # fmt: skip
        text = plain.text(question(query))
        assert text.isascii()
        every = strings(json.loads(text, parse_constant=pytest.fail))
        assert [one for one in every if safe(one) != one] == [] and len(every) > 20
    (named,) = [ghost for ghost in answer(answers.ghosts)["ghosts"] if ghost["tool_name"] == "cronjob"]
    assert "<img src=x onerror=alert(1)>" in named["summary"] and "\\u202e" in "".join(named["args"])


def test_unknown_calls_and_senseless_questions_are_named(home: Path) -> None:
    """No such call is one error, no sense another, and neither is a crash."""
    record(home)
    for unknown in ("4", "9223372036854775807"):
        with pytest.raises(NoSuchCall):
            answers.call({"id": unknown})
        with pytest.raises(NoSuchCall):
            answers.settle_call(unknown, b'{"effect": "applied"}', "")
    for wrong in ("0", "-1", "x", "1; --", "9" * 5000, ""):
        with pytest.raises(UsageError):
            answers.call({"id": wrong})
    for question, query in (
        (answers.calls, {"before": "x"}), (answers.calls, {"limit": "-1"}), (answers.calls, {"tool": "x" * 300}),
        (answers.activity, {"span": "1y"}), (answers.policy, {"since": "soon"}), (answers.changes, {"open": "1," * 300}),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            question(query)


@pytest.mark.parametrize(
    "body",
    [b"", b"applied", b"[]", b"{}", b'{"effect": "maybe"}', b'{"effect": ["applied"]}', b'{"effect": "applied", "note": 1}',
     b'{"effect": "applied", "who": "me"}', b'{"effect": "applied", "note": "' + b"x" * 600 + b'"}', b"\xff",
     b'{"effect": "applied", "note": "' + b"x" * 9000 + b'"}', b"[" * 8000],
)  # fmt: skip
def test_settling_takes_one_form_and_nothing_else(home: Path, body: bytes) -> None:
    """Anything else is refused with the form, and changes nothing."""
    record(home)
    before = content(folder(home) / "ledger.db")
    with pytest.raises(UsageError):
        answers.settle_call("3", body, "")
    assert content(folder(home) / "ledger.db") == before


@pytest.mark.parametrize(("effect", "stored", "words"), [("applied", "applied", "applied"), ("not_applied", "none", "not applied")])
def test_settling_records_who_and_why(home: Path, effect: str, stored: str, words: str) -> None:
    """As the command does, with the person that the host knows; what is in the name cannot break the line."""
    record(home)
    said = answers.settle_call("3", json.dumps({"effect": effect, "note": "I  looked"}).encode(), "ada@example.invalid\n\x1b")
    assert said["why"] == f"settled by ada@example.invalid \\x1b in the dashboard: {words}; I looked"
    life = answer(answers.call, id="3")
    assert (life["call"]["effect"], life["call"]["status"], life["transitions"][-1]["why"]) == (stored, "GHOST_REPORTED", said["why"])
    assert answer(answers.ghosts)["open"] == 0


def test_a_call_that_has_its_outcome_cannot_be_settled(home: Path) -> None:
    """Only what nobody confirmed is a person's to settle."""
    record(home)
    with pytest.raises(UsageError, match="CONFIRMED"):
        answers.settle_call("1", b'{"effect": "not_applied"}', "")


def test_the_history_of_scores_is_read_with_care(home: Path) -> None:
    """Damaged lines and days without a score are left out; a file that others may write does not count."""
    lived_in.furnish(home)
    file = folder(home) / "posture" / "history.jsonl"
    days = answer(answers.posture_now)["days"]
    assert len(days) == lived_in.DAYS and days[-1]["score"] == 89 and days[-1]["new"] == 1
    with file.open("a") as lines:
        lines.write('{"day": "2030-01-01", "score": null}\n{"day": "2030-01-02"\n[1]\n{"day": 5, "score": 1}\n' + "[" * 9000 + "\n")
    assert answer(answers.posture_now)["days"] == days
    assert posture.last(str(home)) == days[-1]
    file.chmod(0o666)
    assert answer(answers.posture_now) == {"scored": False, "days": [], "can_score": answer(answers.posture_now)["can_score"]}


@pytest.mark.skipif(not os.environ.get("LEDGER_SLOW"), reason="fills 1,000,000 rows; LEDGER_SLOW=1 runs it")
def test_a_million_calls_are_no_obstacle(home: Path) -> None:
    """Pages, the feed and the numbers answer at once; what has to look at every row stops in time and says where."""
    filled(home, 1_000_000, apart=6)
    with sqlite3.connect(ledger_path(str(home))) as connection:
        connection.execute("UPDATE ledger SET tool_name = 'rare', status = 'ERROR:exit_9' WHERE id IN (5, 500000)")
    connection.close()
    took: dict[str, float] = {}

    def timed(name: str, question: Any, **query: str) -> Any:
        began = time.monotonic()
        said = answer(question, **query)
        took[name] = time.monotonic() - began
        return said

    assert [call["id"] for call in timed("newest", answers.calls)["calls"]][0] == 1_000_000
    assert [call["id"] for call in timed("middle", answers.calls, before="500001")["calls"]][0] == 500_000
    assert len(timed("session", answers.calls, session="s7")["calls"]) == 50
    assert timed("pending", answers.calls, status="PENDING")["calls"] == []
    timed("news", answers.changes, after="999990")
    timed("ghosts", answers.ghosts)
    timed("overview", answers.overview)
    found, before, pages = [], "", 0
    while before is not None:
        page = timed("rare", answers.calls, tool="rare", **({"before": str(before)} if before else {}))
        found += [call["id"] for call in page["calls"]]
        before, pages = page["before"], pages + 1
    assert found == [500_000, 5] and pages < 20
    said = timed("activity", answers.activity, span="90d")
    assert said["calls"] > 100_000 and (said["whole"] or said["reached"] > said["bars"][0]["start"])
    print({name: round(seconds, 3) for name, seconds in took.items()}, pages)
    assert all(took[name] < 1.0 for name in ("newest", "middle", "session", "pending", "news", "ghosts", "overview"))
    assert took["rare"] < answers.LOOK_S + 2 and took["activity"] < answers.COUNT_S + 2
