"""``register(ctx)``: the only file that knows the host's plugin context."""

from __future__ import annotations

from typing import Any

from .hooks import Hooks

PLUGIN = "agent-ledger"


def register(ctx: Any) -> None:
    """Register the four hooks, ``hermes ledger`` and ``/ledger``. Imports no command code: that waits until it is used."""
    hooks = Hooks(lambda: _host_settings(ctx))
    ctx.register_hook("pre_tool_call", hooks.pre_tool_call)
    ctx.register_hook("post_tool_call", hooks.post_tool_call)
    ctx.register_hook("pre_llm_call", hooks.pre_llm_call)
    ctx.register_hook("on_session_start", hooks.on_session_start)


def _host_settings(ctx: Any) -> Any:
    """The table ``plugins.entries.agent-ledger.settings`` of the host's configuration, None where there is none."""
    try:
        from hermes_cli.config import load_config
    except ImportError:
        return None
    node: Any = load_config()
    for key in ("plugins", "entries", PLUGIN, "settings"):
        if not isinstance(node, dict):
            return None
        node = node.get(key)
    return node
