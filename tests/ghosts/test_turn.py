"""One turn: what the conversation shows is settled, what is lost is told once, and once more where nobody read it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

import pytest

from tests.simhost import SimHost, answer, asked, told, turn_id, user

A, B = {"path": "/srv/a.txt", "content": "a"}, {"path": "/srv/b.txt", "content": "b"}
TELL = """
import os, sys
from pathlib import Path
from tests.simhost import in_process, user, answer, turn_id
host = in_process(Path(sys.argv[1]))
shown = [user("continue"), answer(), user("continue")] if sys.argv[2] == "continue" else None
print(host.turn(message=sys.argv[2], history=shown, turn=turn_id("s0", "t1", 3)) is not None, flush=True)
sys.stdin.read()
"""


def told_and_killed(host: SimHost, child: Callable[..., subprocess.Popen[str]], message: str) -> None:
    """Another process is given the notice and dies before the model answers."""
    process = child(TELL, host.home, message)
    assert process.stdout is not None and process.stdout.readline() == "True\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_notice_of_a_dead_process_is_given_again(host: SimHost, child: Callable[..., subprocess.Popen[str]]) -> None:
    """The process died before an answer: the next turn is told once more, the one after is not."""
    host.pre("write_file", A)
    host.age(200)
    told_and_killed(host, child, "look after it")
    assert host.turn(message="next") is not None
    assert host.turn(message="later", turn=turn_id("s0", "t0", 11)) is None


def test_words_that_the_user_repeats_do_not_hide_it(host: SimHost, child: Callable[..., subprocess.Popen[str]]) -> None:
    """Users say 'continue' again and again: the answer to an earlier one is no answer to the turn that died."""
    host.pre("write_file", A)
    host.age(200)
    told_and_killed(host, child, "continue")
    shown = [user("continue"), answer(), user("continue")]
    assert host.turn(message="continue", history=shown) is not None


def test_answered_notice_is_not_given_again(host: SimHost) -> None:
    """An answer after the turn's message shows that it was read."""
    host.pre("write_file", A)
    host.age(200)
    assert host.turn(message="go")
    assert host.turn(message="more", history=[user("go"), answer(), user("more")], turn=turn_id("s0", "t0", 11)) is None


def test_unanswered_notice_is_given_once_more(host: SimHost) -> None:
    """The message stands there without an answer: told again, and then no more."""
    host.pre("write_file", A)
    host.age(200)
    assert host.turn(message="go")
    shown = [user("go"), user("more")]
    assert host.turn(message="more", history=shown, turn=turn_id("s0", "t0", 11)) is not None
    assert host.turn(message="end", history=[*shown, user("end")], turn=turn_id("s0", "t0", 12)) is None


@pytest.mark.parametrize("call", ["call_0", "c|f"])
def test_result_of_an_older_call_with_the_same_id_settles_nothing(host: SimHost, call: str) -> None:
    """With a constant id, the result of the confirmed call is not the lost one's, also when only that one is shown."""
    host.run("write_file", A, call=call)
    host.pre("write_file", B, call=call, turn=turn_id("s0", "t0", 2))
    host.age(200)
    history = [user("go"), asked(call, "write_file", A), told(call, "write_file", {"ok": 1}), user("next")]
    assert host.turn(history=history) is not None
    assert host.sql("SELECT status FROM ledger ORDER BY id") == [("CONFIRMED",), ("GHOST_REPORTED",)]


def test_result_in_the_conversation_settles(any_host: SimHost) -> None:
    """A dropped post is made up for by the result that the conversation holds."""
    any_host.pre("write_file", A)
    any_host.age(200)
    history = [user("go"), asked("c1", "write_file", A), told("c1", "write_file", {"bytes_written": 1}), user("next")]
    assert any_host.turn(history=history) is None
    assert any_host.sql("SELECT status, flags FROM ledger") == [("CONFIRMED", "from_history")]


def test_open_call_of_a_living_process_is_left_alone(host: SimHost) -> None:
    """Within its grace a call is no ghost."""
    host.pre("terminal", {"command": "make"})
    host.age(890)
    assert host.turn() is None
    host.age(20)
    assert host.turn() is not None


def test_call_of_a_dead_process_is_told_at_once(host: SimHost, child: Callable[..., subprocess.Popen[str]]) -> None:
    """No grace period for a process that is gone."""
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom tests.simhost import in_process\n"
        "in_process(Path(sys.argv[1])).pre('write_file', {'path': '/srv/a.txt'})\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    child(code, host.home).wait()
    assert host.turn() is not None


def test_thirteen_are_told_in_one_notice(host: SimHost) -> None:
    """At most ten are listed, the rest counted, and all count as reported."""
    for number in range(13):
        host.pre("write_file", {"path": f"/srv/{number}.txt"}, call=f"c{number}")
    host.age(200)
    text = host.turn()
    assert text is not None and len(text) <= 2000 and "13 calls" in text and "more, not listed here" in text
    assert host.sql("SELECT DISTINCT status FROM ledger") == [("GHOST_REPORTED",)]
