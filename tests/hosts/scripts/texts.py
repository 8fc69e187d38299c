"""Run inside a host: print its tool names and the texts it writes in place of results, as one JSON object."""

from __future__ import annotations

import json
import logging

logging.disable(logging.CRITICAL)

import model_tools  # noqa: E402, F401
from agent.context_compressor import _summarize_tool_result  # noqa: E402
from agent.replay_cleanup import sanitize_replay_history  # noqa: E402
from agent.tool_dispatch_helpers import make_tool_result_message  # noqa: E402
from hermes_cli.plugins import discover_plugins  # noqa: E402
from tools.registry import registry  # noqa: E402

DONE = json.dumps({"output": "x" * 900, "exit_code": 0})
FAILED = json.dumps({"error": "no such thing", "success": False, "more": "y" * 900})
SAMPLES = {"integer": 5, "number": 5, "boolean": True, "array": [{"action": "patch", "name": "n"}], "object": {"a": 1}}
NOT_STARTED = "[Tool execution skipped — {} was not started. User sent a new message]"
SKIPPED = "[Tool execution cancelled — {} was skipped due to user interrupt]"


def arguments(schema: dict) -> dict:
    """A value of the right type for every argument of a tool."""
    properties = ((schema or {}).get("parameters") or {}).get("properties") or {}
    return {name: SAMPLES.get(spec.get("type"), "some (odd) value") for name, spec in properties.items()}


def dangling(name: str) -> list[dict]:
    """The tool messages that the host adds to a history which ends in an unanswered call."""
    asked = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    history = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "", "tool_calls": [asked]}]
    return [message for message in sanitize_replay_history(history) if message.get("role") == "tool"]


discover_plugins()
entries = dict(registry._tools)
print(
    json.dumps(
        {
            "tools": sorted(entries),
            "summaries": [
                [name, _summarize_tool_result(name, json.dumps(given), result)]
                for name, entry in entries.items()
                for given in ({}, arguments(getattr(entry, "schema", {})))
                for result in (DONE, FAILED)
            ],
            "not_started": [
                [n, make_tool_result_message(n, NOT_STARTED.format(n), "c1")["content"]]
                for n in ("patch", "mcp__a__b", "browser_click")
            ],
            "skipped": [
                [n, make_tool_result_message(n, SKIPPED.format(n), "c1")["content"]]
                for n in ("patch", "mcp__a__b", "browser_click")
            ],
            "dangling": [[n, message["content"]] for n in ("patch", "mcp__a__b") for message in dangling(n)],
        }
    )
)
