"""What a call of any tool but the terminal would do: code, files, schedules, processes, and tools of MCP servers."""

from __future__ import annotations

from collections.abc import Callable

from .. import tools as known_tools
from ..operation import argument
from . import patches
from .foreign import LANGUAGES, MAX_VALUES, SQL, Foreign
from .foreign_objects import MAX_TEXT, text_argument
from .model import Actions, Value
from .prompts import commands_of

# Tools that only talk, remember or look: what their text says is never run.
_TALK = frozenset(
    "memory todo todo_list clarify session_search skills_list skill_view skill_manage send_message text_to_speech "
    "delegate_task kanban_create kanban_comment kanban_complete tool_search tool_describe web_search web_extract "
    "image_generate video_generate terminal".split()
)


def judge_tool(tool_name: object, args: object, act: Actions) -> None:
    """Note what a call would do; nothing is raised, whatever the arguments are."""
    if not isinstance(tool_name, str):
        return
    handler = _TOOLS.get(tool_name)
    if handler is not None:
        handler(args, act)
    elif tool_name not in _TALK and (
        known_tools.is_mcp(tool_name) or known_tools.classify(tool_name) == known_tools.UNKNOWN
    ):
        Foreign(tool_name, act).judge(args)


# --- the host's own tools


def _execute_code(args: object, act: Actions) -> None:
    language = text_argument(args, "language").lower() or "python"
    if code := text_argument(args, "code", "script", "source"):
        act.code(LANGUAGES.get(language, "python"), code)


def _write_file(args: object, act: Actions) -> None:
    if path := text_argument(args, "path", "file_path", "filename"):
        content = argument(args, "content")
        act.write(path, Value(content[: patches.MAX_TEXT] if isinstance(content, str) else ""))


def _patch(args: object, act: Actions) -> None:
    path = text_argument(args, "path", "file_path")
    new = argument(args, "new_string")
    if path and isinstance(new, str):
        content = act.read(path, shown=False)
        old = argument(args, "old_string")
        everywhere = argument(args, "replace_all") is True
        after = patches.replaced(content, old if isinstance(old, str) else "", new[:MAX_TEXT], everywhere)
        act.write(path, after)
    text = argument(args, "patch")
    if isinstance(text, str):
        for section in list(patches.sections(text))[:MAX_VALUES]:
            _patch_section(section, act)


def _patch_section(section: patches.Section, act: Actions) -> None:
    if section.kind == "delete":
        act.delete(section.path, recursive=False)
        return
    before = act.read(section.path, shown=False) if section.kind == "update" else Value()
    act.write(section.target or section.path, patches.applied(section, before))


def _read_file(args: object, act: Actions) -> None:
    if path := text_argument(args, "path", "file_path", "filename"):
        act.read(path)


def _search_files(args: object, act: Actions) -> None:
    if text_argument(args, "target").lower() in ("files", "names"):
        return
    mode = text_argument(args, "output_mode").lower()
    if (path := text_argument(args, "path")) and mode not in ("files_with_matches", "files_only", "count"):
        act.read(path)


def _cronjob(args: object, act: Actions) -> None:
    action = text_argument(args, "action").strip().lower()
    if action in ("list", "remove", "delete", "pause", "status", "show", "get"):
        return
    for command in commands_of(text_argument(args, "prompt", "task", "message")):
        act.shell(command)
    for name in ("command", "cmd"):
        if command := text_argument(args, name):
            act.shell(command)
    if script := text_argument(args, "script"):
        if "\n" in script or " " in script.strip():
            act.shell(script)
        else:
            act.run_file(script)


def _process(args: object, act: Actions) -> None:
    if text_argument(args, "action").strip().lower() in ("write", "submit"):
        data = text_argument(args, "data", "input", "text")
        if data and SQL.match(data):
            act.code("sql", data)
        elif data:
            act.shell(data)


_TOOLS: dict[str, Callable[[object, Actions], None]] = {
    "execute_code": _execute_code,
    "write_file": _write_file,
    "patch": _patch,
    "read_file": _read_file,
    "search_files": _search_files,
    "cronjob": _cronjob,
    "cronjob_manage": _cronjob,
    "process": _process,
    "process_manage": _process,
}
