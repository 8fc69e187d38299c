"""Hooks against anything at all, and pairing against a plain oracle (hypothesis)."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_ledger.ghosts import history
from agent_ledger.model import PENDING
from agent_ledger.outcome import judge
from agent_ledger.store.pairing import choose
from tests.calls import post, row
from tests.simhost import HOOKS, SimHost

FAST = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6) | st.just("job_id"), inner, max_size=4)
    ),
    max_leaves=8,
)
tool_names = st.sampled_from(
    ["write_file", "terminal", "execute_code", "read_file", "mcp__a__b", "delegate_task"]
) | st.text(st.characters(), max_size=10)
keywords = st.fixed_dictionaries(
    {},
    optional={
        "tool_name": tool_names | anything, "args": anything, "result": anything, "session_id": anything, "task_id": anything,
        "tool_call_id": anything, "turn_id": anything, "status": anything, "error_type": anything, "error_message": anything,
        "duration_ms": anything, "user_message": anything, "conversation_history": anything, "parent_session_id": anything,
        "platform": anything, "invented": anything,
    },
)  # fmt: skip


@FAST
@given(hook=st.sampled_from(HOOKS), sent=keywords)
def test_no_hook_raises_or_refuses(host: SimHost, hook: str, sent: dict[str, object]) -> None:
    """Whatever a host sends, a hook returns None or a context."""
    answers = host.call(hook, sent)
    assert host.raised == []
    assert all(hook == "pre_llm_call" and set(answer) == {"context"} for answer in answers)


@FAST
@given(args=anything, result=anything)
def test_every_announced_call_is_one_row(host: SimHost, args: object, result: object) -> None:
    """A call of a tool that changes something is one row with its outcome, whatever its arguments are."""
    before = host.sql("SELECT count(*) FROM ledger")[0][0] if host.ledger.exists() else 0
    host.pre("write_file", args, call="c1")
    host.post("write_file", args, result, call="c1")
    assert host.sql("SELECT count(*) FROM ledger WHERE status = 'CONFIRMED'") == [(before + 1,)]


steps = st.lists(st.tuples(st.booleans(), st.sampled_from(["a", "b", "c"]), st.sampled_from(["x", "y"])), max_size=25)


@FAST
@given(steps=steps)
def test_pairing_agrees_with_an_oracle(steps: list[tuple[bool, str, str]]) -> None:
    """With ids of one turn: same id and arguments first, then same id, each first in first out; else an orphan."""
    open_rows: list = []
    expected: list[tuple[int, str, str]] = []
    for number, (announces, call_id, content) in enumerate(steps):
        if announces:
            open_rows.append(row({"c": content}, id=number, tool_call_id=call_id))
            expected.append((number, call_id, content))
            continue
        same_id = [one for one in expected if one[1] == call_id]
        wanted = next((one for one in same_id if one[2] == content), same_id[0] if same_id else None)
        match = choose(post({"c": content}, tool_call_id=call_id), open_rows)
        assert (match.row.id if match else None) == (wanted[0] if wanted else None)
        if match and wanted:
            open_rows.remove(match.row)
            expected.remove(wanted)
    assert all(one.status == PENDING for one in open_rows)


@FAST
@given(tool=tool_names, args=anything, result=anything, status=anything, kind=anything, message=anything)
def test_every_outcome_fits_the_table(
    tool: str, args: object, result: object, status: object, kind: object, message: object
) -> None:
    """Any words of a host become a status and an effect that the table takes."""
    found = judge(tool, args, result, status, kind, message)
    assert found.status == "CONFIRMED" or (found.status.startswith("ERROR:") and len(found.status) > 6)
    assert found.effect in ("unknown", "applied", "started", "none")
    assert len(found.digest) <= 300


@FAST
@given(shown=anything | st.lists(st.fixed_dictionaries({}, optional={
    "role": st.sampled_from(["user", "assistant", "tool"]) | anything, "content": anything, "tool_calls": anything,
    "tool_call_id": st.sampled_from(["a", "b"]) | anything, "name": anything})))  # fmt: skip
def test_any_history_can_be_read(shown: object) -> None:
    """A conversation of any shape gives a list of calls."""
    assert all(isinstance(call.call_id, str) for call in history.calls(shown))


@FAST
@given(stored=json_values)
def test_notice_of_any_stored_arguments(host: SimHost, stored: object) -> None:
    """Whatever stands in args_json, a ghost is told, in at most 2000 characters without control characters."""
    host.pre("write_file", {"path": "/srv/a.txt"}, call="n")
    text = json.dumps(stored).encode("utf-8", "replace").decode()
    host.sql("UPDATE ledger SET args_json = ?, tool_name = 'cronjob' WHERE status = 'PENDING'", text)
    host.age(5000)
    notice = host.turn()
    assert notice is not None and len(notice) <= 2000
    assert all(character == "\n" or character.isprintable() for character in notice)
