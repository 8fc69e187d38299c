"""Run by a host's interpreter: announce a call, reload every plugin, then report the outcome to the reloaded ones."""

from __future__ import annotations

import json

from hermes_cli.plugins import discover_plugins, get_plugin_manager, invoke_hook

SESSION = "20300101_000000_reload"


def kwargs(tool: str, call: str, **more: object) -> dict[str, object]:
    """What the host gives to both tool hooks."""
    given: dict[str, object] = {
        "tool_name": tool,
        "args": {"path": f"{call}.txt", "content": call},
        "session_id": SESSION,
        "task_id": SESSION,
        "turn_id": f"{SESSION}:{SESSION}:00000001",
        "tool_call_id": call,
    }
    return {**given, **more}


def callbacks(hook: str) -> int:
    """How many callbacks the host holds for a hook."""
    return len(get_plugin_manager()._hooks.get(hook, []))


def main() -> None:
    """Print as JSON how many callbacks there were before and after the reload."""
    discover_plugins()
    before = callbacks("pre_tool_call")
    invoke_hook("pre_tool_call", **kwargs("write_file", "across"))
    discover_plugins(force=True)
    after = callbacks("pre_tool_call")
    invoke_hook("post_tool_call", **kwargs("write_file", "across", result="{}", duration_ms=5, status="ok"))
    invoke_hook("pre_tool_call", **kwargs("write_file", "later"))
    invoke_hook("post_tool_call", **kwargs("write_file", "later", result="{}", duration_ms=5, status="ok"))
    print(json.dumps({"before": before, "after": after}))


main()
