"""A plugin that refuses some tool calls, to see what the ledger makes of a call that another plugin blocks."""

from __future__ import annotations

from typing import Any


def refuse(args: Any = None, **_: Any) -> dict[str, str] | None:
    """Block a call whose arguments hold the word `forbidden`."""
    if "forbidden" in str(args):
        return {"action": "block", "message": "The blocker refuses this call."}
    return None


def register(ctx: Any) -> None:
    """Tell the host about the one hook."""
    ctx.register_hook("pre_tool_call", refuse)
