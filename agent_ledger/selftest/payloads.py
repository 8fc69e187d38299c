"""Which keywords a host passes to each hook, read from its source by syntax alone: nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CALL = ("tool_name", "args", "session_id", "task_id", "turn_id", "tool_call_id")
# What the plugin cannot do its work without, by hook.
RELIED_ON: dict[str, tuple[str, ...]] = {
    "pre_tool_call": _CALL,
    "post_tool_call": (*_CALL, "result", "status", "error_type", "error_message", "duration_ms"),
    "pre_llm_call": ("session_id", "turn_id", "user_message", "conversation_history", "platform"),
    "on_session_start": ("session_id", "platform"),
}
_FOLDERS = ("hermes_cli", "agent", "gateway", "tui_gateway", "acp_adapter", "cron", "tools")


@dataclass(frozen=True)
class Payload:
    """What a hook is fired with. ``unread``: some of it is spread from a place that could not be read."""

    keywords: frozenset[str]
    unread: bool = False


def keywords_sent(packages: Path) -> dict[str, Payload]:
    """Hook -> what every place that fires it passes, for the hooks that the plugin uses.

    ``packages``: the folder that holds the host's packages. A hook that no place fires is absent.
    """
    found: dict[str, list[Payload]] = {}
    files = [*packages.glob("*.py"), *(file for name in _FOLDERS for file in (packages / name).rglob("*.py"))]
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        if "invoke" in text and any(f'"{hook}"' in text for hook in RELIED_ON):
            for hook, payload in _fired(ast.parse(text)):
                found.setdefault(hook, []).append(payload)
    return {
        hook: Payload(
            # The host's `invoke_hook` adds this one itself.
            frozenset.intersection(*(payload.keywords for payload in payloads)) | {"telemetry_schema_version"},
            any(payload.unread for payload in payloads),
        )
        for hook, payloads in found.items()
    }


def _fired(tree: ast.Module) -> Iterator[tuple[str, Payload]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        hook, called = node.args[0].value, _name(node.func)
        if isinstance(hook, str) and hook in RELIED_ON and "invoke" in called and called.endswith("hook"):
            named = {keyword.arg for keyword in node.keywords if keyword.arg}
            spread = [_spread(tree, keyword.value) for keyword in node.keywords if keyword.arg is None]
            yield hook, Payload(frozenset(named.union(*spread)), any(not names for names in spread))


def _spread(tree: ast.Module, value: ast.expr) -> set[str]:
    """What ``**record.method()`` spreads, where the method stands in a class of the same file: the fields of the class,
    as its one use is to hand them on. Empty where that is not so."""
    if not isinstance(value, ast.Call):
        return set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(
            isinstance(part, ast.FunctionDef) and part.name == _name(value.func) for part in node.body
        ):
            fields = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
            return {target.id for target in fields if isinstance(target, ast.Name)}
    return set()


def _name(called: ast.expr) -> str:
    return str(getattr(called, "attr", getattr(called, "id", "")))
