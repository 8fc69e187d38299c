"""What the words of a host mean: the table of statuses and effects, row by row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_ledger.outcome import judge


@pytest.mark.parametrize(
    ("tool", "args", "result", "said", "status", "effect"),
    [
        ("write_file", {}, "done", {"status": "ok"}, "CONFIRMED", "applied"),
        ("write_file", {}, "done", {}, "CONFIRMED", "applied"),
        ("write_file", {}, "failed: error", {"status": "ok"}, "CONFIRMED", "applied"),
        ("write_file", {}, {"error": "no"}, {"status": "ok"}, "CONFIRMED", "applied"),
        ("write_file", {}, {"error": "no"}, {}, "ERROR:tool_error", "unknown"),
        ("write_file", {}, {"error": ""}, {}, "CONFIRMED", "applied"),
        ("write_file", {}, {"success": False}, {}, "ERROR:tool_error", "unknown"),
        ("write_file", {}, {"data": {"error": "inner"}}, {}, "CONFIRMED", "applied"),
        ("write_file", {}, "", {"status": "error", "error_type": "OSError"}, "ERROR:OSError", "unknown"),
        ("write_file", {}, "", {"status": "error"}, "ERROR:tool_error", "unknown"),
        ("write_file", {}, "", {"status": "error", "error_type": "tool_timeout"}, "ERROR:timeout", "unknown"),
        ("write_file", {}, "", {"status": "timeout"}, "ERROR:timeout", "unknown"),
        ("write_file", {}, "", {"status": "cancelled"}, "ERROR:cancelled", "unknown"),
        ("write_file", {}, "", {"status": "cancelled", "error_type": "keyboard_interrupt"}, "ERROR:cancelled", "unknown"),
        ("write_file", {}, "", {"status": "cancelled", "error_type": "user_interrupt"}, "ERROR:skipped", "none"),
        ("write_file", {}, "", {"status": "blocked", "error_type": "plugin_block"}, "ERROR:blocked", "none"),
        ("write_file", {}, "", {"status": "blocked", "error_type": "edit_approval_denied"}, "ERROR:denied", "none"),
        ("write_file", {}, "", {"status": "error", "error_type": "invalid_tool_arguments"}, "ERROR:invalid_args", "none"),
        ("write_file", {}, "", {"status": "postponed"}, "ERROR:postponed", "unknown"),
        ("terminal", {}, {"exit_code": 0}, {"status": "ok"}, "CONFIRMED", "applied"),
        ("terminal", {}, {"exit_code": 2}, {"status": "ok"}, "ERROR:exit_2", "unknown"),
        ("terminal", {}, {"exit_code": 2}, {"status": "error", "error_type": "tool_error"}, "ERROR:exit_2", "unknown"),
        ("terminal", {}, {"exit_code": True}, {"status": "ok"}, "CONFIRMED", "applied"),
        ("terminal", {}, {"exit_code": -1, "status": "blocked"}, {"status": "ok"}, "ERROR:denied", "none"),
        ("terminal", {}, {"exit_code": -1, "status": "pending_approval"}, {"status": "error"}, "ERROR:denied", "none"),
        ("terminal", {"background": True}, {"exit_code": 0}, {"status": "ok"}, "CONFIRMED", "started"),
        ("delegate_task", {}, {"status": "dispatched"}, {"status": "ok"}, "CONFIRMED", "started"),
        ("delegate_task", {}, {"status": "completed"}, {"status": "ok"}, "CONFIRMED", "applied"),
        ("mcp__x__y", {}, {"exit_code": 2}, {"status": "ok"}, "CONFIRMED", "applied"),
    ],
)  # fmt: skip
def test_table(tool: str, args: Any, result: Any, said: dict[str, Any], status: str, effect: str) -> None:
    """Each row of the documented table, with the result as text and as a mapping."""
    shown = [result] if isinstance(result, str) else [result, json.dumps(result)]
    assert {(found.status, found.effect) for one in shown for found in [judge(tool, args, one, **said)]} == {
        (status, effect)
    }


@pytest.mark.parametrize(
    ("given", "stored"),
    [(12, 12), (12.9, 12), (-1, None), (float("nan"), None), (True, None), ("9", None), (2**70, None)],
)
def test_duration(given: Any, stored: int | None) -> None:
    """A duration is whole milliseconds, or unknown."""
    assert judge("write_file", {}, "", "ok", duration_ms=given).duration_ms == stored


def test_error_message_is_kept_for_failures_only() -> None:
    """A confirmed call has no error message."""
    assert judge("write_file", {}, "", "ok", error_message="x").error_message == ""
    assert judge("write_file", {}, "", "error", error_message="no space").error_message == "no space"


def test_secret_in_a_result_is_not_kept() -> None:
    """The digest of a result is redacted."""
    secret = "gh" + "p_" + "a1B2" * 9
    assert secret not in judge("write_file", {}, f"token {secret}", "ok").digest


@pytest.mark.parametrize("word", ["bad word!", "x" * 500, "a\nb", "é"])
def test_odd_words_make_one_short_status(word: str) -> None:
    """A word of any form becomes one that fits behind ERROR:."""
    found = judge("write_file", {}, "", "error", word).status
    assert found.startswith("ERROR:") and 6 < len(found) <= 66 and " " not in found and found.isascii()
