"""``register(ctx)``: the only file that knows the host's plugin context."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import delivery, log, process
from .hooks import Hooks

if TYPE_CHECKING:
    from .runs.emitter import Emitter

PLUGIN = "agent-ledger"
_RUN_EVENTS = "AGENT_LEDGER_RUN_EVENTS"  # runs/emitter.py


def register(ctx: Any) -> None:
    """Register the four hooks, ``hermes ledger`` and ``/ledger``. No command code is imported before it is used."""
    hooks = Hooks(lambda: _host_settings(ctx))
    pre, post, turn = hooks.pre_tool_call, hooks.post_tool_call, hooks.pre_llm_call
    emitter = _emitter()
    if emitter is not None:
        pre, post, turn = emitter.around_pre(pre), emitter.around_post(post), emitter.around_turn(turn)
        emitter.register(ctx)
    ctx.register_hook("pre_tool_call", pre)
    for callback in delivery.callbacks(post):
        ctx.register_hook("post_tool_call", callback)
    ctx.register_hook("pre_llm_call", turn)
    ctx.register_hook("on_session_start", hooks.on_session_start)
    _register_commands(ctx)


def _emitter() -> Emitter | None:
    """What writes the events of a run that ``run exec`` started on a host without a stream of its own; else None, and
    nothing of it is imported or registered."""
    if _RUN_EVENTS not in os.environ and not getattr(process.registry(), "run_events", ""):
        return None
    from .runs.emitter import requested

    return requested()


def _register_commands(ctx: Any) -> None:
    """Register ``hermes ledger`` and ``/ledger``. Recording must not hang on it: a host that runs plugins in a process
    of its own, and one that only validates them, offer less."""
    try:
        ctx.register_cli_command(
            "ledger",
            help="what the agent changed, and what it never saw confirmed",
            setup_fn=_set_up,
            handler_fn=_run,
            description="The record of every call of an agent that changes something.",
        )
    except Exception as error:
        log.warn("register:cli", "`hermes ledger` is not available here (%s: %s)", type(error).__name__, error)
    try:
        ctx.register_command(
            "ledger",
            handler=_answer,
            description="Calls that were issued and never confirmed, and the newest ones",
            args_hint="[status|ghosts|show ID|tail|policy]",
        )
    except Exception as error:
        log.warn("register:chat", "`/ledger` is not available here (%s: %s)", type(error).__name__, error)


def _set_up(parser: Any) -> None:
    from .cli.main import hermes_setup

    hermes_setup(parser)


def _run(arguments: Any) -> None:
    from .cli.main import hermes_run

    hermes_run(arguments)


def _answer(raw: str = "") -> str:
    from .cli.chat import answer

    return answer(raw)


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
