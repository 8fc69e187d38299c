"""Which confirmed calls a conversation does not show any more, and when it is told of them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from agent_ledger.digest import digest_args
from agent_ledger.ghosts import history, recall
from agent_ledger.store.recalls import Done, Mark
from tests.simhost import SimHost, answer, asked, told, turn_id, user

A, B = {"n": 1}, {"n": 2}
SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted."
COMPACTED = [user(SUMMARY), answer(), user("next")]


def done(
    row_id: int, call: str = "c1", args: Any = None, tool: str = "patch", session: str = "s0", turn: str = "t"
) -> Done:
    return Done(row_id, call, tool, digest_args(A if args is None else args).sha256, session, turn, "")


def split(rows: list[Done], *messages: Any) -> tuple[list[int], list[int]]:
    gone, visible = recall.split(
        rows, history.calls([*messages]), lambda arguments: digest_args(json.loads(str(arguments))).sha256
    )
    return [row.id for row in gone], [row.id for row in visible]


def test_shown_call_is_visible() -> None:
    """Id and tool are enough where as many are shown as were confirmed."""
    assert split([done(1)], asked("c1", "patch", B)) == ([], [1])


def test_call_that_is_not_shown_is_gone() -> None:
    """A confirmed call whose id stands nowhere."""
    assert split([done(1, "c1"), done(2, "c2")], asked("c2", "patch", A)) == ([1], [2])


def test_id_of_another_tool_shows_nothing() -> None:
    """An id counts only together with its tool."""
    assert split([done(1)], asked("c1", "write_file", A)) == ([1], [])


def test_constant_id_is_told_apart_by_arguments() -> None:
    """Two confirmed under one id, one shown: the arguments say which is gone."""
    assert split([done(1, args=A), done(2, args=B)], asked("c1", "patch", A)) == ([2], [1])


def test_of_equal_calls_the_newest_is_visible() -> None:
    """Compaction removes the oldest first."""
    assert split([done(1), done(2)], asked("c1", "patch", A)) == ([1], [2])


def test_row_without_an_id_counts_as_visible() -> None:
    """What cannot be looked up is not claimed to be gone."""
    assert split([done(1, "")], user("x")) == ([], [1])


def test_composite_id_is_visible_by_its_first_half() -> None:
    """Either form in the conversation shows the call."""
    assert split([done(1, "call_9|fc_9")], asked("call_9", "patch", A)) == ([], [1])


def lost(gone: list[Done], visible: list[Done] = [], **signs: Any) -> list[int]:  # noqa: B006 - never changed
    given: dict[str, Any] = {"compacted": False, "current_session": "s0", "seen_before": (), "ghost_turns": ()}
    return [row.id for row in recall.lost(gone, visible, **{**given, **signs})]


def test_missing_call_without_a_sign_is_not_recalled() -> None:
    """Another process or a client with its own history explains it as well."""
    assert lost([done(1)]) == []
    assert lost([done(2)], [done(1)]) == []


@pytest.mark.parametrize(
    "sign",
    [{"compacted": True}, {"current_session": "s1"}, {"seen_before": {1}}, {"ghost_turns": {"t"}}],
)
def test_each_sign_is_enough(sign: dict[str, Any]) -> None:
    """A summary, an earlier session id, an earlier turn that showed it, a ghost of the same turn."""
    assert lost([done(1)], **sign) == [1]


def test_later_call_that_is_still_visible_is_a_sign() -> None:
    """Issued before the oldest survivor: compaction took it."""
    assert lost([done(1)], [done(2)]) == [1]
    assert lost([done(1)], [done(2, "")]) == []


@pytest.mark.parametrize(
    ("message", "is_one"),
    [
        (user(SUMMARY), True), ({"role": "assistant", "content": SUMMARY}, True), (user("[CONTEXT SUMMARY]: x"), True),
        (user([{"type": "text", "text": SUMMARY}]), True), (user("tell me about CONTEXT COMPACTION"), False),
        (told("c1", "read_file", SUMMARY), False), (user("x" * 1000 + SUMMARY), False),
    ],
)  # fmt: skip
def test_summary_of_the_host(message: Any, is_one: bool) -> None:
    """Only the host's own opening words at the head of a message, never what a tool printed."""
    assert recall.was_compacted([message]) is is_one


def test_mark_carries_what_was_still_visible() -> None:
    """Everything up to the newest told row is decided, but for what stood there then."""
    assert recall.next_mark(Mark(), [done(3)], [done(2), done(5)]) == Mark(3, (2,))
    assert recall.next_mark(Mark(9, (1,)), [done(3)], [done(1)]) == Mark(9, (1,))


# --- with the plugin


def confirm(host: SimHost, *calls: tuple[str, str, Any], **ids: Any) -> None:
    for call, tool, args in calls:
        host.run(tool, args, call=call, **ids)


TWO = (("r0", "mcp__a__one", A), ("r1", "mcp__a__two", B))


def test_recalled_once_newest_first(any_host: SimHost) -> None:
    """After a compaction both calls are listed, once, the newest first."""
    confirm(any_host, *TWO)
    text = any_host.turn(history=COMPACTED)
    assert text is not None and 0 < text.index("mcp__a__two") < text.index("mcp__a__one")
    assert any_host.turn(history=[*COMPACTED, answer(), user("more")], message="more") is None


def test_empty_history_proves_nothing(host: SimHost) -> None:
    """Nothing is recalled, and nothing is used up."""
    confirm(host, *TWO)
    assert host.turn(history=[]) is None
    assert host.turn(history=COMPACTED) is not None


def test_second_compaction_recalls_only_what_is_new(host: SimHost) -> None:
    """What was told once is not told again; what was visible then and is gone now is."""
    confirm(host, *TWO)
    kept = [user(SUMMARY), asked("r1", "mcp__a__two", B), told("r1", "mcp__a__two", "ok"), user("next")]
    first = host.turn(history=kept)
    assert first is not None and "mcp__a__one" in first and "mcp__a__two" not in first
    second = host.turn(history=COMPACTED)
    assert second is not None and "mcp__a__two" in second and "mcp__a__one" not in second
    assert host.turn(history=COMPACTED) is None


def test_pruned_text_is_still_visible(host: SimHost) -> None:
    """A call whose result was cut to a placeholder is still in the conversation."""
    confirm(host, *TWO)
    pruned = "[Old tool output cleared to save context space]"
    shown = [user("go"), asked("r0", "mcp__a__one", A), told("r0", "mcp__a__one", pruned),
             asked("r1", "mcp__a__two", B), told("r1", "mcp__a__two", "ok"), user("next")]  # fmt: skip
    assert host.turn(history=shown) is None


def test_bridged_call_is_visible(host: SimHost) -> None:
    """A deferred tool stands in the conversation as tool_call; that is no lost call."""
    confirm(host, *TWO)
    bridged = asked("r0", "tool_call", {"name": "mcp__a__one", "arguments": A})
    shown = [user("go"), bridged, told("r0", "mcp__a__one", "ok"), asked("r1", "mcp__a__two", B),
             told("r1", "mcp__a__two", "ok"), user("next")]  # fmt: skip
    assert host.turn(history=shown) is None


def test_call_under_a_legacy_name_is_visible(host: SimHost) -> None:
    """The model wrote ``cronjob``, the hooks got ``cronjob_manage``: the same call."""
    job = {"action": "remove", "job_id": "a1"}
    confirm(host, ("r0", "cronjob_manage", job), ("r1", "mcp__a__two", B))
    shown = [user("go"), asked("r0", "cronjob", job), told("r0", "cronjob_manage", "ok"), asked("r1", "mcp__a__two", B),
             told("r1", "mcp__a__two", "ok"), user("next")]  # fmt: skip
    assert host.turn(history=shown) is None


def test_siblings_do_not_recall_each_other(host: SimHost) -> None:
    """A branch is told what itself and what was before it did."""
    host.turn("k1", turn=turn_id("p", "t1"), task="t1", history=[])
    host.turn("k2", turn=turn_id("p", "t2", 2), task="t2", history=[])
    confirm(host, *TWO, session="k1", task="t3")
    assert host.turn("k2", task="t4", history=COMPACTED) is None
    assert host.turn("k1", task="t5", history=COMPACTED) is not None


def test_late_outcome_is_not_listed_twice(host: SimHost) -> None:
    """A late completion that is also gone from the conversation is told once, as late."""
    host.run("mcp__a__one", A, status="timeout", error_type="tool_timeout")
    host.post("mcp__a__one", A)
    text = host.turn(history=COMPACTED)
    assert text is not None and text.count("mcp__a__one") == 1
    assert host.turn(history=COMPACTED) is None


def test_nested_calls_are_not_recalled(host: SimHost) -> None:
    """What ran inside a script is the script's; the conversation never showed it."""
    host.execute_code([("write_file", {"path": "/srv/a"})])
    text = host.turn(history=COMPACTED)
    assert text is not None and "execute_code" in text and "write_file" not in text


def test_failed_calls_are_not_recalled(host: SimHost) -> None:
    """Only what is confirmed is 'already done'."""
    host.run("mcp__a__bad", A, status="error", error_type="tool_error")
    assert host.turn(history=COMPACTED) is None


WORK = """
import sys
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
host.run("mcp__a__one", {"n": 1}, call="r0")
print("done", flush=True)
sys.stdin.read()
"""


def test_work_of_another_living_process_is_not_recalled(
    host: SimHost, child: Callable[..., subprocess.Popen[str]]
) -> None:
    """It never stood in this conversation, so it was not lost from it."""
    assert host.turn(history=[user("hello")], message="hello") is None
    process = child(WORK, host.home)
    assert process.stdout is not None and process.stdout.readline() == "done\n"
    assert host.turn(history=[user("hello"), answer(), user("next")], message="next") is None
