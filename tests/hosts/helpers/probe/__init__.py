"""A plugin that writes down what the host hands to each hook, one JSON line a call, to `probe.jsonl` in the home."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOOKS = ("pre_tool_call", "post_tool_call", "pre_llm_call", "on_session_start")


def recorder(hook: str) -> Callable[..., None]:
    """The callback that records one hook."""

    def record(**given: Any) -> None:
        line = json.dumps({"hook": hook, **given}, default=repr) + "\n"
        with (Path(os.environ["HERMES_HOME"]) / "probe.jsonl").open("a", encoding="utf-8") as sink:
            sink.write(line)

    return record


def register(ctx: Any) -> None:
    """Record every hook that the ledger uses."""
    for hook in HOOKS:
        ctx.register_hook(hook, recorder(hook))
