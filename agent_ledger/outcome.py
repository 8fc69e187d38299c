"""What the words of a host mean: status, error type and result in; the ledger's status and effect out."""

from __future__ import annotations

import json
import re
from typing import Any

from . import digest
from .model import (
    APPLIED,
    BLOCKED,
    CANCELLED,
    CONFIRMED,
    DENIED,
    ERROR_PREFIX,
    INVALID_ARGS,
    NONE,
    SKIPPED,
    STARTED,
    TIMEOUT,
    UNKNOWN,
    Outcome,
)

# A result longer than this is not parsed for its keys: hosts cut their own long before.
_MAX_PARSED = 4_000_000

# Error types that say the tool never ran, whatever the status beside them.
_NEVER_RAN = {
    "plugin_block": BLOCKED,
    "guardrail_block": BLOCKED,
    "tool_scope_block": BLOCKED,
    "edit_approval_denied": DENIED,
    "edit_approval_error": DENIED,
    "invalid_tool_arguments": INVALID_ARGS,
    "suspected_pruned_tool_arguments": INVALID_ARGS,
    "user_interrupt": SKIPPED,
}
_SHELLS = frozenset({"terminal", "execute_code"})
_KEYS_DECIDE = _SHELLS | {"delegate_task"}
_APPROVAL_WORDS = frozenset({"blocked", "pending_approval"})
_COMMON = frozenset({"ok", "error", "blocked", "timeout", "cancelled", "tool_error"})
_NOT_A_WORD = re.compile(r"[^A-Za-z0-9_.-]+")


def judge(
    tool_name: str,
    args: object,
    result: object,
    status: object = None,
    error_type: object = None,
    error_message: object = None,
    duration_ms: object = None,
) -> Outcome:
    """The outcome of a call, from a post_tool_call or from a result in the conversation (then without a status).

    Any value of any type is accepted. The host's status decides; without one, the result's own top-level keys do. Text
    is never searched.
    """
    said, kind = _word(status), _word(error_type)
    # The host's own word is enough for most tools; a shell's exit code and a launch stand in the result alone.
    keys = {} if said == "ok" and tool_name not in _KEYS_DECIDE else result_keys(result)
    word, effect = _decide(tool_name, args, keys, said, kind, error_message)
    message = ""
    if word != CONFIRMED:
        told = error_message if error_message is not None else keys.get("error")
        message = digest.clean_error(told)
    return Outcome(word, effect, digest.digest_result(result), message, _milliseconds(duration_ms))


def _decide(
    tool_name: str, args: object, keys: dict[str, Any], said: str, kind: str, error_message: object
) -> tuple[str, str]:
    if kind in _NEVER_RAN and (said != "blocked" or _NEVER_RAN[kind] != INVALID_ARGS):
        return _NEVER_RAN[kind], NONE
    if said == "blocked":
        return BLOCKED, NONE
    if tool_name in _SHELLS and _text(keys.get("status")) in _APPROVAL_WORDS:
        return DENIED, NONE
    if said == "timeout" or kind == "tool_timeout":
        return TIMEOUT, UNKNOWN
    if said == "cancelled":
        return CANCELLED, UNKNOWN
    if tool_name == "terminal" and (code := _exit_code(keys)) and (code > 0 or said != "error"):
        return f"{ERROR_PREFIX}exit_{code}", UNKNOWN
    if said == "error" or (not said and (kind or _holds(error_message))):
        return ERROR_PREFIX + (kind or "tool_error"), UNKNOWN
    if not said and (_holds(keys.get("error")) or keys.get("success") is False):
        return ERROR_PREFIX + "tool_error", UNKNOWN
    if said not in ("", "ok"):
        return ERROR_PREFIX + said, UNKNOWN
    return CONFIRMED, STARTED if is_launch(tool_name, args, keys) else APPLIED


def is_launch(tool_name: str, args: object, keys: dict[str, Any]) -> bool:
    """True where the result only says that something was started: a background command, a dispatched delegation."""
    if tool_name == "delegate_task":
        return _text(keys.get("status")) == "dispatched"
    return tool_name == "terminal" and is_background(tool_name, args)


def is_background(tool_name: str, args: object) -> bool:
    """True for a terminal call whose arguments ask for the background."""
    if tool_name != "terminal" or type(args) is not dict:
        return False
    asked = args.get("background")
    return asked is True or (isinstance(asked, str) and asked.strip().lower() in ("true", "1", "yes"))


def result_keys(result: object) -> dict[str, Any]:
    """The top-level keys of a result that is a JSON object, as text or as a dict; empty for anything else."""
    if type(result) is dict:
        return result
    if (
        isinstance(result, str)
        and len(result) <= _MAX_PARSED
        and (result[:1] == "{" or result[:40].lstrip()[:1] == "{")
    ):
        try:
            parsed = json.loads(result)
        except (ValueError, RecursionError):
            return {}
        return parsed if isinstance(parsed, dict) else {}
    return {}


def _exit_code(keys: dict[str, Any]) -> int:
    """The exit code of a command that did not end well, 0 otherwise. Negative: it died of that signal."""
    code = keys.get("exit_code")
    if type(code) is int and code and abs(code) < 100_000:
        return code
    return 0


def _holds(value: object) -> bool:
    """True where an ``error`` key or message says something."""
    if value is None or value is False:
        return False
    if isinstance(value, str):
        return bool(value.strip())
    try:
        return bool(value)
    except Exception:  # an object whose truth cannot be asked is something
        return True


def _text(value: object) -> str:
    return value.strip().lower() if isinstance(value, str) else ""


def _word(value: object) -> str:
    """A status or error type as one word that fits behind ``ERROR:``."""
    if type(value) is not str:
        return _word(str.__str__(value)) if isinstance(value, str) else ""
    if value in _COMMON:
        return value
    return _NOT_A_WORD.sub("_", value.strip()[:80])[:60].strip("_")


def _milliseconds(value: object) -> int | None:
    if type(value) in (int, float) and 0 <= value < 2**53:  # type: ignore[operator]  # NaN fails both comparisons
        return int(value)  # type: ignore[call-overload, no-any-return]
    return None


__all__ = ["is_background", "is_launch", "judge", "result_keys"]
