"""Recorded calls judged again: what of their arguments is there, and what is made of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_ledger import digest, shorten
from agent_ledger.policy.history import IN_PART, NOT_AT_ALL, WHOLE, Conversation, arguments
from agent_ledger.policy.rules import Policy
from agent_ledger.policy.world import Worlds
from agent_ledger.store.judged import Recorded

VALUES = st.recursive(
    st.one_of(st.text(max_size=3000), st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)


def recorded(args: Any, mode: str = "redacted", tool: str = "terminal", memory: str = "") -> Recorded:
    stored = digest.digest_args(args, mode)
    return Recorded(1, "", "s", tool, stored.json, stored.length, "/srv", "local", "", True, memory)


def test_short_arguments_are_whole() -> None:
    """As they were given."""
    assert arguments(recorded({"command": "ls", "timeout": 5})) == ({"command": "ls", "timeout": 5}, WHOLE, "")


def test_a_cut_text_ends_with_a_whole_word() -> None:
    """Half a path is another path; nothing of the mark is taken for a word."""
    args, judged, why = arguments(recorded({"command": "echo " + "/srv/data/" * 900, "timeout": 5}))
    assert (args, judged) == ({"command": "echo", "timeout": 5}, IN_PART) and "cut" in why
    args, _, _ = arguments(recorded({"command": "ls /srv\n" * 900}))
    assert set(args["command"].split("\n")) <= {"ls /srv", "ls", ""}


def test_hashed_arguments_are_not_there() -> None:
    """A call whose only argument is called keys is another thing."""
    assert arguments(recorded({"command": "ls"}, "hash"))[1] == NOT_AT_ALL
    assert arguments(recorded({"keys": ["a"]}))[1] == WHOLE


@pytest.mark.parametrize("mode", ["redacted", "full"])
@settings(max_examples=80, deadline=None)
@example(args={"…": None})
@given(args=st.dictionaries(st.text(max_size=8), VALUES, max_size=5))
def test_no_mark_of_a_cut_is_left(mode: str, args: dict[str, Any]) -> None:
    """Whatever was cut, what is judged is made of the arguments alone."""
    found, judged, _ = arguments(recorded(args, mode))
    if judged == IN_PART:
        assert " chars]" not in json.dumps(found, ensure_ascii=False)
    assert shorten.without_marks(args) == args


@settings(max_examples=100, deadline=None)
@given(
    tool=st.sampled_from(["terminal", "write_file", "patch", "mcp__x__y", "cronjob", ""]),
    text=st.one_of(st.text(max_size=60), VALUES.map(json.dumps), st.just('{"command": ["ls"]}')),
    memory=st.one_of(st.text(max_size=20), VALUES.map(json.dumps)),
)
def test_no_row_makes_it_raise(tool: str, text: str, memory: str) -> None:
    """Other programs may write to the ledger."""
    conversation = Conversation(Policy.of(()), Worlds("/srv/hermes"))
    for length in (len(text), len(text) + 1):
        call = Recorded(1, "", "s", tool, text, length, "/srv", "local", "", True, memory)
        assert conversation.judge(call).judged in (WHOLE, IN_PART, NOT_AT_ALL)
