"""What a conversation is told besides ghosts: outcomes that came late, and calls that were confirmed again."""

from __future__ import annotations

import pytest

from tests.simhost import SimHost, turn_id

A, B = {"path": "/srv/a.txt", "content": "a"}, {"path": "/srv/b.txt", "content": "b"}
PAY = ("mcp__pay__invoice", {"invoice": "INV-7"})
SKIPPED = {"status": "cancelled", "error_type": "keyboard_interrupt"}
TIMED_OUT = {"status": "timeout", "error_type": "tool_timeout"}


def later(number: int) -> str:
    return turn_id("s0", "t0", number)


@pytest.mark.parametrize("first", [SKIPPED, TIMED_OUT])
def test_completion_after_the_host_gave_up(any_host: SimHost, first: dict[str, str]) -> None:
    """Silence while the outcome is unknown, then one sentence, then silence."""
    any_host.run("write_file", A, **first)
    assert any_host.turn() is None
    any_host.post("write_file", A)
    text = any_host.turn(turn=later(3))
    assert text is not None and "completed after all" in text and "never confirmed" not in text
    assert any_host.turn(turn=later(4)) is None


def test_failure_after_a_ghost(host: SimHost) -> None:
    """A call that was told as unconfirmed and then failed: told with its error."""
    host.pre("write_file", A)
    host.age(500)
    assert host.turn() is not None
    host.post("write_file", A, status="error", error_type="PermissionError")
    text = host.turn(turn=later(3))
    assert text is not None and "ERROR:PermissionError" in text
    assert host.turn(turn=later(4)) is None


def test_second_failure_is_no_news(host: SimHost) -> None:
    """A timeout that fails in the end changes nothing for the agent."""
    host.run("write_file", A, **TIMED_OUT)
    host.post("write_file", A, status="error", error_type="tool_error")
    assert host.turn() is None
    assert host.sql("SELECT count(*), min(status) FROM ledger") == [(1, "ERROR:timeout")]


def test_news_stay_in_their_conversation(host: SimHost) -> None:
    """Another session neither hears them nor uses them up."""
    host.run("write_file", A, **TIMED_OUT)
    host.post("write_file", A)
    assert host.turn("s9", task="t9") is None
    assert host.turn() is not None


def test_news_follow_a_rotation(host: SimHost) -> None:
    """The id rotated inside the turn: the new id is told, the old one not again."""
    host.run("write_file", A, turn=later(1), **TIMED_OUT)
    host.post("write_file", A, session="s1", turn=later(1))
    assert host.turn("s1", task="t2") is not None
    assert host.turn("s0", turn=later(5)) is None


def test_news_survive_a_reload(host: SimHost) -> None:
    """What is to be told stands in the ledger."""
    host.run("write_file", A, **SKIPPED)
    host.reload()
    host.post("write_file", A)
    host.reload()
    assert host.turn() is not None


def test_late_outcome_belongs_to_its_own_call_under_a_constant_id(host: SimHost) -> None:
    """The abandoned call's outcome, not the newer open one's."""
    host.run("write_file", A, call="call_0", **TIMED_OUT)
    host.pre("write_file", B, call="call_0")
    host.post("write_file", A, call="call_0")
    assert host.sql("SELECT status FROM ledger ORDER BY id") == [("CONFIRMED",), ("PENDING",)]


def test_confirmed_again_is_told_once_with_the_count(host: SimHost) -> None:
    """The same call three times: one sentence, and no more when it comes a fourth time."""
    for number in range(3):
        host.run(*PAY, call=f"c{number}", turn=later(number + 1))
    text = host.turn(turn=later(10))
    assert text is not None and "confirmed 3 times" in text
    host.run(*PAY, call="c9", turn=later(11))
    assert host.turn(turn=later(12)) is None


def test_equal_calls_at_once_are_a_repeat(host: SimHost) -> None:
    """Two identical calls of one batch, both confirmed: the next notice says so."""
    host.batch([(*PAY, "c1"), (*PAY, "c2")])
    text = host.turn()
    assert text is not None and "confirmed 2 times" in text


def test_other_arguments_are_no_repeat(host: SimHost) -> None:
    """The next invoice is another call."""
    host.run(*PAY, call="c1")
    host.run("mcp__pay__invoice", {"invoice": "INV-8"}, call="c2")
    assert host.turn() is None
    assert host.sql("SELECT DISTINCT flags FROM ledger") == [("",)]


def test_retry_of_a_failure_is_no_repeat(host: SimHost) -> None:
    """What failed may be issued again without a word."""
    host.run(*PAY, call="c1", status="error", error_type="tool_error")
    host.run(*PAY, call="c2")
    assert host.turn() is None


def test_repeat_is_marked_before_it_runs(host: SimHost) -> None:
    """The row of the second call is marked while it is open."""
    host.run(*PAY, call="c1")
    host.pre(*PAY, call="c2")
    assert host.sql("SELECT status, flags FROM ledger ORDER BY id") == [("CONFIRMED", ""), ("PENDING", "repeat")]


def test_repeat_across_a_rotation(host: SimHost) -> None:
    """The conversation counts, not the session id."""
    host.run(*PAY, call="c1", turn=later(1))
    host.run(*PAY, call="c2", session="s1", turn=later(1))
    assert host.sql("SELECT flags FROM ledger ORDER BY id") == [("",), ("repeat",)]
    text = host.turn("s1", task="t2")
    assert text is not None and "confirmed 2 times" in text


def test_another_conversation_is_no_repeat(host: SimHost) -> None:
    """Two users may pay the same invoice number."""
    host.run(*PAY, call="c1")
    host.run(*PAY, call="c1", session="s9", task="t9")
    assert host.turn("s9", task="t9") is None
    assert host.sql("SELECT DISTINCT flags FROM ledger") == [("",)]


# --- nested calls follow the outer call


def outer(host: SimHost, **outcome: str) -> None:
    """A script that timed out, or whatever ``outcome`` says, with one nested call."""
    host.pre("execute_code", {"code": "x"}, call="x1")
    host.pre("write_file", A, call="", session="", turn="")
    host.post("execute_code", {"code": "x"}, call="x1", **outcome)


def test_nested_calls_follow_a_late_completion(host: SimHost) -> None:
    """The script timed out and then completed: its calls, which had followed the timeout, follow again."""
    outer(host, **TIMED_OUT)
    host.post("execute_code", {"code": "x"}, call="x1")
    assert host.sql("SELECT status FROM ledger ORDER BY id") == [("CONFIRMED",), ("CONFIRMED",)]


def test_nested_calls_follow_a_failure(host: SimHost) -> None:
    """The script failed: its calls share the outcome, their effect is unknown."""
    outer(host, status="error", error_type="tool_error")
    assert host.sql("SELECT status, effect FROM ledger ORDER BY id") == [("ERROR:tool_error", "unknown")] * 2


def test_nested_ghosts_follow_a_late_completion(host: SimHost) -> None:
    """Told as lost with the script, confirmed with the script."""
    host.pre("execute_code", {"code": "x"}, call="x1")
    host.pre("write_file", A, call="", session="", turn="")
    host.age(5000)
    assert host.turn() is not None
    host.post("execute_code", {"code": "x"}, call="x1")
    assert host.sql("SELECT status FROM ledger ORDER BY id") == [("CONFIRMED",), ("CONFIRMED",)]
