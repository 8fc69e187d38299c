"""What of a call's arguments names the operation: one identifier for the notice, the words for the summary."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

MAX_PART = 1000  # characters of one word handed on; redaction and the final cut happen in digest
MAX_WORDS = 6
_SCALARS = (str, int, float, bool)


def argument(args: object, name: str) -> object:
    """One argument of a call, None where it is missing or the arguments are not a mapping; never raises."""
    try:
        if type(args) is dict:
            return args.get(name)
        get = getattr(args, "get", None)
        return get(name) if callable(get) else None
    except Exception:
        return None


def _text(args: object, *names: str) -> str:
    """The first of these arguments that is a non-empty word or whole number, as text."""
    for name in names:
        value = argument(args, name)
        if type(value) is str and value.strip():
            return value.strip()[:MAX_PART]
        if type(value) is int and -(10**18) < value < 10**18:
            return str(value)
    return ""


def _items(args: object, name: str) -> list[object]:
    value = argument(args, name)
    return value[:10] if type(value) is list else []


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if text else ""


# --- the program of a shell command ------------------------------------------------------------------------------

_WORD = re.compile(r"""(?:[^\s"'\\;&|<>()`]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""", re.DOTALL)
_SEPARATOR = re.compile(r"[;&|()`\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
# Statements that only prepare the next one, and words that run the next word.
_PREPARES = frozenset({"cd", "pushd", "popd", "export", "set", "source", ".", ":", "true", "umask", "ulimit", "sleep"})
# The word that installers' scans take for an attempt to gain rights, wherever it stands.
_AS_ROOT = "su" + "do"
_WRAPS = frozenset({
    _AS_ROOT, "doas", "env", "nohup", "time", "exec", "command", "nice", "ionice", "stdbuf", "setsid", "timeout",
    "then", "do", "if", "while", "until", "else", "!", "{",
})
# Their options that take the next word as a value.
_VALUED = {
    _AS_ROOT: frozenset({"-u", "-g", "-h", "-p", "-C", "-T", "-U", "-D", "--user", "--group"}),
    "doas": frozenset({"-u", "-C"}),
    "env": frozenset({"-u", "-C", "--unset", "--chdir"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n"}),
    "timeout": frozenset({"-k", "-s"}),
    "exec": frozenset({"-a"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
}


def _statements(command: str) -> list[list[str]]:
    """The words of each simple command, comments left out; redirections and their targets are not words."""
    statements: list[list[str]] = [[]]
    at, skip, size = 0, False, len(command)
    while at < size:
        char = command[at]
        if char == "#" and (at == 0 or command[at - 1] in " \t\n;&|"):
            end = command.find("\n", at)
            at = size if end < 0 else end
        elif _SEPARATOR.match(char):
            if statements[-1]:
                statements.append([])
            at, skip = at + 1, False
        elif char in "<>":
            at, skip = at + 1, True
        elif found := _WORD.match(command, at):
            if not skip:
                statements[-1].append(found[0])
            at, skip = found.end(), False
        else:
            at += 1
    return [words for words in statements if words]


def _program_of(words: list[str]) -> str:
    """The word that names the program of one simple command, '' where only assignments are left."""
    wrapper, at = "", 0
    while at < len(words):
        word = words[at]
        at += 1
        if _ASSIGNMENT.match(word):
            continue
        if wrapper and word.startswith("-"):
            if word in _VALUED.get(wrapper, ()):
                at += 1
            continue
        if wrapper == "timeout" and word[:1].isdigit():
            continue
        name = word.strip("\"'").replace("\\", "/").rstrip("/").rpartition("/")[2]
        if name in _WRAPS and at < len(words):
            wrapper = name
            continue
        return name
    return ""


def program(command: object) -> str:
    """The name of the program a shell command runs: `cd /srv && doas -u web A=1 /usr/bin/make x` gives `make`."""
    if type(command) is not str:
        return ""
    fallback = ""
    for words in _statements(command[:2000]):
        name = _program_of(words)
        if name and name not in _PREPARES:
            return name
        fallback = fallback or name
    return fallback


# --- identifiers -------------------------------------------------------------------------------------------------

def _patch_path(args: object) -> str:
    path = _text(args, "path")
    if path:
        return path
    patch = argument(args, "patch")
    if type(patch) is str:
        found = re.search(r"^\*\*\* (?:Update|Add|Delete) File: ?(.{1,500})$", patch[:4000], re.MULTILINE)
        if found:
            return found[1].strip()
    return ""


def _skill(args: object) -> str:
    name = _text(args, "name")
    for operation in _items(args, "operations"):
        name = name or _text(operation, "name")
    return name


def _address(args: object) -> str:
    """A URL without its query and fragment, which may carry secrets."""
    return re.split(r"[?#]", _text(args, "url"), maxsplit=1)[0]


def _first(*names: str) -> Callable[[object], str]:
    return lambda args: _text(args, *names)


_IDENTIFIERS: dict[str, Callable[[object], str]] = {
    "write_file": _first("path"),
    "patch": _patch_path,
    "terminal": lambda args: program(argument(args, "command")),
    "cronjob": _first("job_id", "name"),
    "process": _first("session_id"),
    "close_terminal": _first("process_id"),
    "delegate_task": _first("subagent_id"),
    "memory": _first("target"),
    "skill_manage": _skill,
    "send_message": _first("target"),
    "kanban_create": _first("idempotency_key", "title"),
    "kanban_link": _first("child_id"),
    "browser_navigate": _address,
    "open_preview": _address,
    "desktop_preview": _address,
    "ha_call_service": _first("entity_id", "service"),
    "mqtt_publish": _first("topic"),
    "mqtt_device_command": _first("command_topic"),
    "discord": _first("message_id", "channel_id", "guild_id"),
    "discord_admin": _first("message_id", "channel_id", "role_id", "user_id", "guild_id"),
    "desktop_project": _first("name", "path"),
    "project_create": _first("name"),
    "project_switch": _first("project"),
    "text_to_speech": _first("output_path"),
    "setup_mcp": _first("server"),
    "a2a_call": _first("agent", "url", "context_id"),
    "feishu_drive_add_comment": _first("file_token"),
    "feishu_drive_reply_comment": _first("comment_id"),
    "yb_send_dm": _first("user_id", "group_code", "name"),
    "yb_send_sticker": _first("chat_id"),
}
_IDENTIFIERS["cronjob_manage"] = _IDENTIFIERS["cronjob"]
_IDENTIFIERS["process_manage"] = _IDENTIFIERS["process"]
_CARD = _first("task_id")


def identifier(tool_name: Any, args: object) -> str:
    """The one argument that names what a call touches, raw; '' where there is none. Never raises.

    Free text (a message, a goal, a script) is never an identifier. The caller limits length and characters.
    """
    try:
        find = _IDENTIFIERS.get(tool_name)
        if find is None and isinstance(tool_name, str) and tool_name.startswith("kanban_"):
            find = _CARD
        return find(args) if find else ""
    except Exception:
        return ""


# --- summaries ---------------------------------------------------------------------------------------------------

def _code_line(code: object) -> str:
    """The first line of a script that does something: not empty, a comment, an import or a string of its own."""
    if type(code) is not str:
        return ""
    first = ""
    for line in code[:4000].splitlines()[:60]:
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        first = first or line
        if not line.startswith(("import ", "from ", '"""', "'''")):
            return line[:MAX_PART]
    return first[:MAX_PART]


def _goal(args: object) -> str:
    goal = _text(args, "goal")
    tasks = _items(args, "tasks")
    if not goal and tasks:
        first = tasks[0]
        goal = first.strip()[:MAX_PART] if type(first) is str else _text(first, "goal", "prompt", "task")
    return goal


def _operations(args: object) -> list[str]:
    words = []
    for operation in _items(args, "operations"):
        words += [_text(operation, "action"), _text(operation, "name")]
    return words


def _scalars(args: object) -> list[str]:
    """The first few short scalar arguments as `name=value`, in the order they were given."""
    words: list[str] = []
    if type(args) is not dict:
        return words
    for seen, (name, value) in enumerate(args.items()):
        if seen >= 30 or len(words) >= 4:
            break
        if type(name) is str and len(name) <= 60 and type(value) in _SCALARS:
            text = value if type(value) is str else repr(value) if abs(value) < 10**18 else ""
            if text and len(text) <= 200:
                words.append(f"{name}={text}")
    return words


def _delegation(args: object) -> list[str]:
    action, tasks = _text(args, "action"), _items(args, "tasks")
    more = f"(+{len(tasks) - 1} more)" if len(tasks) > 1 else ""
    return [action if action != "spawn" else "", _text(args, "subagent_id"), _quoted(_goal(args)), more]


_SUMMARIES: dict[str, Callable[[object], list[str]]] = {
    "write_file": lambda a: [_text(a, "path")],
    "patch": lambda a: [_patch_path(a)],
    "terminal": lambda a: [_text(a, "command"), "(background)" if argument(a, "background") is True else ""],
    "execute_code": lambda a: [_code_line(argument(a, "code"))],
    "cronjob": lambda a: [_text(a, "action"), _text(a, "job_id"), _quoted(_text(a, "name"))],
    "process": lambda a: [_text(a, "action"), _text(a, "session_id")],
    "delegate_task": _delegation,
    "send_message": lambda a: [_text(a, "action"), _text(a, "target")],
    "memory": lambda a: [_text(a, "action"), _text(a, "target"), *_operations(a)],
    "skill_manage": lambda a: [_text(a, "action"), _text(a, "name"), *_operations(a)],
    "kanban_create": lambda a: [_quoted(_text(a, "title"))],
    "kanban_link": lambda a: [_text(a, "parent_id"), _text(a, "child_id")],
    "browser_navigate": lambda a: [_address(a)],
    "todo": lambda a: [f"{len(_items(a, 'todos'))} items"],
}
_SUMMARIES["cronjob_manage"] = _SUMMARIES["cronjob"]
_SUMMARIES["process_manage"] = _SUMMARIES["process"]
_SUMMARIES["todo_list"] = _SUMMARIES["todo"]


def summary_parts(tool_name: object, args: object) -> tuple[str, ...]:
    """The words of a call's one-line summary, the tool's name first, not yet redacted or cut. Never raises."""
    name = tool_name if type(tool_name) is str else ""
    words: list[str] = []
    try:
        if find := _SUMMARIES.get(name):
            words = find(args)
        elif name.startswith("kanban_"):
            words = [_text(args, "task_id")]
        else:
            words = [_text(args, "action"), *(w for w in _scalars(args) if not w.startswith("action="))]
    except Exception:
        words = []
    return tuple(word for word in (name[:100], *words[:MAX_WORDS]) if word)
