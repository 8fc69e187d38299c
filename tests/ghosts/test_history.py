"""The second source: which calls a conversation shows, and which answer belongs to which."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_ledger.ghosts import history
from tests.simhost import answer, asked, told, user

A, B = {"path": "/srv/a.txt"}, {"path": "/srv/b.txt"}


def results(*messages: Any) -> list[tuple[str, str, Any]]:
    return [(call.call_id, call.tool_name, call.result) for call in history.calls([*messages])]


def test_call_with_its_answer() -> None:
    """A call is read with its tool, its arguments as the model wrote them, and its result."""
    (call,) = history.calls([user("go"), asked("c1", "write_file", A), told("c1", "write_file", "done")])
    assert (call.call_id, call.tool_name, json.loads(str(call.arguments)), call.result) == (
        "c1", "write_file", A, "done",
    )  # fmt: skip


def test_call_without_an_answer_has_no_result() -> None:
    """A question that nobody answered is a call with None."""
    assert results(asked("c1", "write_file", A), user("next")) == [("c1", "write_file", None)]


def test_answer_belongs_to_the_last_question_with_its_id() -> None:
    """Ids repeat: the answer after the second question is not the first one's."""
    shown = results(
        asked("call_0", "write_file", A), asked("call_0", "write_file", B), told("call_0", "write_file", "2")
    )
    assert shown == [("call_0", "write_file", None), ("call_0", "write_file", "2")]


def test_parallel_calls_under_one_id_are_answered_in_order() -> None:
    """One message with two calls of one id: first answer, first call."""
    both = asked("call_0", "write_file", A)
    both["tool_calls"] += asked("call_0", "write_file", B)["tool_calls"]
    shown = results(both, told("call_0", "write_file", "1"), told("call_0", "write_file", "2"))
    assert [result for _, _, result in shown] == ["1", "2"]


@pytest.mark.parametrize(("question", "reply"), [("call_9|fc_9", "call_9"), ("call_9", "call_9|fc_9")])
def test_variants_of_one_id_belong_together(question: str, reply: str) -> None:
    """Hosts cut a composite id on one side only."""
    assert results(asked(question, "patch", A), told(reply, "patch", "ok")) == [(question, "patch", "ok")]


def test_answer_whose_question_was_cut_off() -> None:
    """Compaction may leave the answer alone: it is still a call with a result."""
    assert results(user("summary"), told("c1", "patch", "ok")) == [("c1", "patch", "ok")]


def test_answer_of_a_resumed_session_names_its_tool() -> None:
    """A conversation that a host read back from its store has the tool's name under ``tool_name``."""
    message = {"role": "tool", "tool_call_id": "c1", "tool_name": "patch", "content": "ok"}
    assert results(user("summary"), message) == [("c1", "patch", "ok")]


def test_bridged_call_is_shown_under_its_real_name() -> None:
    """Hosts keep ``tool_call`` in the conversation and give hooks the tool and arguments inside it."""
    bridged = asked("c1", "tool_call", {"name": "mcp__a__b", "arguments": {"n": 1}})
    (call,) = history.calls([bridged, told("c1", "mcp__a__b", "ok")])
    assert (call.tool_name, call.result) == ("mcp__a__b", "ok")
    arguments = call.arguments
    assert (json.loads(arguments) if isinstance(arguments, str) else arguments) == {"n": 1}


@pytest.mark.parametrize(("written", "real"), [("cronjob", "cronjob_manage"), ("process", "process_manage")])
def test_old_name_of_a_tool_is_shown_under_the_new_one(written: str, real: str) -> None:
    """The model may use a legacy name; the tool message has the name that hooks get."""
    assert results(asked("c1", written, A), told("c1", real, "ok")) == [("c1", real, "ok")]


def test_disposition_is_kept() -> None:
    """What current hosts note beside a result reaches the reader of placeholders."""
    message = {**told("c1", "patch", "text"), "effect_disposition": "none"}
    assert [call.disposition for call in history.calls([asked("c1", "patch", A), message])] == ["none"]


@pytest.mark.parametrize("content", [None, ""])
def test_empty_answer_is_an_answer(content: Any) -> None:
    """A tool that says nothing has answered."""
    message = {"role": "tool", "tool_call_id": "c1", "name": "patch", "content": content}
    assert results(asked("c1", "patch", A), message) == [("c1", "patch", "")]


@pytest.mark.parametrize(
    "odd",
    [
        None, 7, "text", [], {"role": "assistant", "tool_calls": 7}, {"role": "assistant", "tool_calls": [7, {}]},
        {"role": "assistant", "tool_calls": [{"id": "c1"}]}, {"role": "tool", "tool_call_id": 7, "content": "x"},
        {"role": "assistant", "tool_calls": [{"id": "", "function": {"name": "patch"}}]},
    ],
)  # fmt: skip
def test_message_of_no_known_form_is_passed_over(odd: Any) -> None:
    """What is no call is no call, and the next one is still read."""
    assert results(odd, asked("c1", "patch", A), told("c1", "patch", "ok")) == [("c1", "patch", "ok")]


def test_text_of_parts() -> None:
    """The text parts of a multimodal content count; a content without text has none."""
    assert (
        history.text_of([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]) == "a\nb"
    )
    assert history.text_of([{"type": "image_url"}]) is None
    assert history.text_of({"no": "text"}) is None


def test_no_calls_in_what_is_no_list() -> None:
    """A history of another type shows nothing."""
    assert history.calls("text") == [] and history.calls(None) == [] and history.calls([answer(), user("x")]) == []
