"""Which tools change state, how long a call may stay unconfirmed, and how an agent can check on one.

Names are those of Hermes 0.18 to 0.22, bundled plugins and memory providers included. The rule is: a tool counts as
changing unless every call of it, or every call with that action, is known to leave everything as it was.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .operation import argument, identifier, summary_parts

__all__ = [
    "CHANGES", "DEFAULT", "READ_CHECK", "READ_ONLY", "UNKNOWN", "Kind", "ToolTable",
    "classify", "entry_fault", "grace_s", "identifier", "is_mcp", "read_check", "summary_parts",
]

Kind = Literal["read_only", "changes", "unknown"]
READ_ONLY: Kind = "read_only"
CHANGES: Kind = "changes"
UNKNOWN: Kind = "unknown"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


READ_ONLY_TOOLS = _names("""
    read_file search_files session_search skill_view skills_list web_search web_extract x_search vision_analyze
    video_analyze clarify tool_search tool_describe read_terminal read_window_below read_preview
    browser_snapshot browser_get_images browser_vision browser_vault_list ha_get_state ha_list_entities
    ha_list_services kanban_show kanban_list kanban_attachments feishu_doc_read feishu_drive_list_comments
    feishu_drive_list_comment_replies yb_query_group_info yb_query_group_members yb_search_sticker spotify_search
    spotify_albums project_list mqtt_subscribe_recent a2a_discover a2a_list a2a_history bfl_flux3_get_result
    bfl_flux3_prompting_guide meet_status meet_transcript brv_query brv_status hindsight_recall hindsight_reflect
    honcho_search honcho_context honcho_reasoning mem0_search viking_search viking_read viking_browse
    retaindb_context retaindb_list_files retaindb_profile retaindb_read_file retaindb_search supermemory_profile
    supermemory_search
""")

CHANGING_TOOLS = _names("""
    write_file patch terminal execute_code memory skill_manage tool_call close_terminal image_generate
    video_generate xai_video_edit xai_video_extend text_to_speech
    kanban_create kanban_complete kanban_block kanban_unblock kanban_comment kanban_link kanban_heartbeat
    kanban_attach kanban_attach_url kanban_request_review kanban_request_changes kanban_schedule
    browser_navigate browser_click browser_type browser_press browser_scroll browser_back browser_dialog browser_cdp
    browser_exec browser_vault_fill browser_vault_save_login browser_vault_enter_code browser_vault_unlock
    annotate_preview apply_layout close_preview open_preview focus_pane react_to_message set_theme setup_beat
    setup_mcp tip show_tip tour gui_tour project_create project_switch ha_call_service mqtt_publish
    mqtt_device_command a2a_call a2a_orchestrate feishu_drive_add_comment feishu_drive_reply_comment yb_send_dm
    yb_send_sticker meet_join meet_leave meet_say brv_curate fact_feedback hindsight_retain honcho_conclude
    mem0_add mem0_update mem0_delete viking_add_resource viking_forget viking_remember retaindb_delete_file
    retaindb_forget retaindb_ingest_file retaindb_remember retaindb_upload_file supermemory_forget supermemory_store
""")

ActionRule = tuple[str, frozenset[str], str | None]


def _by_action(actions: str, default: str | None = None) -> ActionRule:
    return ("action", _names(actions), default)


# tool -> (argument that decides, its read-only values, the value the host takes when the argument is missing)
ACTION_TOOLS: dict[str, ActionRule] = {
    "cronjob": _by_action("list"),
    "cronjob_manage": _by_action("list"),
    "process": _by_action("list poll log wait"),
    "process_manage": _by_action("list poll log wait"),
    "delegate_task": _by_action("list", "spawn"),
    "discord": _by_action("search_members fetch_messages"),
    "discord_admin": _by_action(
        "list_guilds list_channels list_roles list_pins server_info channel_info member_info"),
    "send_message": _by_action("list", "send"),
    "spotify_playback": _by_action("get_state get_currently_playing recently_played", "get_state"),
    "spotify_queue": _by_action("get", "get"),
    "spotify_library": _by_action("list", "list"),
    "spotify_playlists": _by_action("list get", "list"),
    "spotify_devices": _by_action("list", "list"),
    "browser_vault": _by_action("list"),
    "manage_connections": _by_action("status display", "status"),
    "manage_catalog": _by_action("search"),
    "desktop_project": _by_action("list"),
    "desktop_preview": _by_action("read"),
    "drive_preview": _by_action("elements"),
    "computer_use": _by_action("capture wait list_apps list_windows"),
    "fact_store": _by_action("search probe related reason contradict list"),
}


def _todo_reads(args: object) -> bool:
    return argument(args, "todos") is None


def _console_reads(args: object) -> bool:
    # The host evaluates any expression that is not None, an empty one included.
    return argument(args, "expression") is None and argument(args, "clear") in (None, False)


def _profile_reads(args: object) -> bool:
    return argument(args, "card") is None


READS_WHEN: dict[str, Callable[[object], bool]] = {
    "todo": _todo_reads,
    "todo_list": _todo_reads,
    "browser_console": _console_reads,
    "honcho_profile": _profile_reads,
}

# No hint about an MCP or connector tool reaches a hook, and a name proves nothing.
REMOTE_PREFIXES = ("mcp__", "mcp_", "connectors__")

DEFAULT_GRACE_S = 120
GRACE_S: dict[str, int] = {"terminal": 900, "delegate_task": 1800}
TIMEOUT_MARGIN_S = 60
MAX_GRACE_S = 30 * 86_400
_TIMEOUT_ARGUMENTS = ("timeout", "timeout_s", "timeout_seconds")
_NUMBER = re.compile(r"\s*\+?(\d{1,12})(?:\.(\d{1,12}))?\s*", re.ASCII)

Rule = str | ActionRule | Callable[[object], bool]

_DEFAULT_RULES: dict[str, Rule] = {
    **dict.fromkeys(READ_ONLY_TOOLS, READ_ONLY),
    **dict.fromkeys(CHANGING_TOOLS, CHANGES),
    **ACTION_TOOLS,
    **READS_WHEN,
}


def is_mcp(tool_name: object) -> bool:
    """Whether a name belongs to an MCP server's or connector's tool."""
    return isinstance(tool_name, str) and tool_name.startswith(REMOTE_PREFIXES)


def _action(args: object, name: str) -> str | None:
    """The action argument in lower case without outer space, None where it is missing or empty, '?' where odd."""
    value = argument(args, name)
    if value is None:
        return None
    if type(value) is not str:
        return "?"
    return value.strip().lower() or None


def _seconds(value: Any) -> int:
    """A timeout argument as whole seconds, rounded up; 0 for anything that is not a positive number."""
    kind = type(value)
    if kind is int:
        return max(int(value), 0)
    if kind is float:
        if not value > 0:
            return 0
        return MAX_GRACE_S if value >= MAX_GRACE_S else math.ceil(value)
    if kind is str and len(value) <= 40 and (found := _NUMBER.fullmatch(value)):
        return int(found[1]) + (1 if (found[2] or "").strip("0") else 0)
    return 0


def entry_fault(entry: str, kind: Kind) -> str:
    """Why an entry of ``extra_changing`` (kind CHANGES) or ``extra_read_only`` decides nothing, '' where it does."""
    name, colon, action = entry.partition(":")
    name = name.strip()
    if not name:
        return "it names no tool"
    if "*" in (entry if colon else entry[:-1]):
        return "a * counts only at the end of a tool's name, and not beside an action"
    rule = _DEFAULT_RULES.get(name)
    if kind == CHANGES and action.strip() and (rule == READ_ONLY or callable(rule)):
        return f"no action decides about {name}; name the tool alone"
    return ""


@dataclass(frozen=True, slots=True)
class ToolTable:
    """The defaults plus what settings and extensions say.

    An entry of `extra_changing` and `extra_read_only` is `tool`, `tool:action`, or a name that ends in `*`. Where both
    match, changing wins. `grace` maps a tool to seconds.
    """

    extra_changing: frozenset[str] = frozenset()
    extra_read_only: frozenset[str] = frozenset()
    grace: Mapping[str, int] = field(default_factory=dict)
    _rules: dict[str, Rule] = field(init=False, repr=False, compare=False)
    _changing_prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _reading_prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _grace: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rules = dict(_DEFAULT_RULES)
        for entry in sorted(self.extra_read_only):
            self._apply(rules, entry, READ_ONLY)
        for entry in sorted(self.extra_changing):
            self._apply(rules, entry, CHANGES)
        changing = tuple(e[:-1] for e in sorted(self.extra_changing) if e.endswith("*"))
        reading = tuple(e[:-1] for e in sorted(self.extra_read_only) if e.endswith("*"))
        if changing or reading:
            # Names the table already holds must obey a pattern too; doing it here keeps classify at one look-up.
            named = {e.partition(":")[0] for e in self.extra_changing | self.extra_read_only}
            for name in rules:
                if changing and name.startswith(changing) and name not in self.extra_read_only:
                    rules[name] = CHANGES
                elif reading and name.startswith(reading) and name not in named:
                    rules[name] = READ_ONLY
        object.__setattr__(self, "_rules", rules)
        object.__setattr__(self, "_changing_prefixes", changing)
        object.__setattr__(self, "_reading_prefixes", reading)
        grace = dict(GRACE_S)
        for name, value in self.grace.items():
            if (seconds := _seconds(value)) > 0:
                grace[name] = min(seconds, MAX_GRACE_S)
        object.__setattr__(self, "_grace", grace)

    @staticmethod
    def _apply(rules: dict[str, Rule], entry: str, kind: Kind) -> None:
        name, colon, action = entry.partition(":")
        name, action = name.strip(), action.strip().lower()
        if not name or name.endswith("*"):
            return
        if not colon or not action:
            rules[name] = kind
            return
        rule = rules.get(name)
        key, reading, default = rule if isinstance(rule, tuple) else ("action", frozenset[str](), None)
        if kind == READ_ONLY and rule != READ_ONLY:
            rules[name] = (key, reading | {action}, default)
        elif isinstance(rule, tuple):
            rules[name] = (key, reading - {action}, default)
        elif rule is None:
            rules[name] = CHANGES

    def classify(self, tool_name: Any, args: object = None) -> Kind:
        """READ_ONLY, CHANGES or UNKNOWN for one call; never raises, whatever it is given."""
        try:
            rule: Any = self._rules.get(tool_name)
            if rule.__class__ is str:
                return rule  # type: ignore[return-value]
            if rule.__class__ is tuple:
                key, reading, default = rule
                action = _action(args, key) or default
                return READ_ONLY if action in reading else CHANGES
            if rule is not None:
                return READ_ONLY if rule(args) else CHANGES
            if not isinstance(tool_name, str):
                return UNKNOWN
            if self._changing_prefixes and tool_name.startswith(self._changing_prefixes):
                return CHANGES
            if self._reading_prefixes and tool_name.startswith(self._reading_prefixes):
                return READ_ONLY
            return CHANGES if tool_name.startswith(REMOTE_PREFIXES) else UNKNOWN
        except Exception:
            # A hostile name or argument may change something: an unsure answer is the one that leaves a row.
            return UNKNOWN

    def grace_s(self, tool_name: Any, args: object = None) -> int:
        """Seconds that a call may stay unconfirmed before it counts as a ghost, 1 to 30 days; never raises."""
        try:
            base: int = self._grace.get(tool_name, DEFAULT_GRACE_S)
        except Exception:
            base = DEFAULT_GRACE_S
        for name in _TIMEOUT_ARGUMENTS:
            value = argument(args, name)
            if value is not None and (seconds := _seconds(value)) > base:
                return min(seconds + TIMEOUT_MARGIN_S, MAX_GRACE_S)
        return base


DEFAULT = ToolTable()
classify = DEFAULT.classify
grace_s = DEFAULT.grace_s

_KANBAN = "call kanban_show for that card"
_BROWSER = "call browser_snapshot and look at the page"
_ASK_PROVIDER = "ask the memory provider with its own search tool"

# tool -> what to run to see whether the effect is there; plain ASCII, no argument values.
READ_CHECK: dict[str, str] = {
    "write_file": "read_file that path",
    "patch": "read_file that path and look for the new text",
    "terminal": "look for its effect with a read-only command",
    "execute_code": "look for its effects with read_file, search_files or a read-only command",
    "cronjob": "call cronjob with action=list",
    "cronjob_manage": "call cronjob_manage with action=list",
    "process": "call process with action=list, then action=poll",
    "process_manage": "call process_manage with action=list, then action=poll",
    "close_terminal": "call read_terminal",
    "delegate_task": "use session_search for the delegated task and look for its effects",
    "kanban_create": "call kanban_list and look for that card",
    **dict.fromkeys((n for n in sorted(CHANGING_TOOLS) if n.startswith("kanban_") and n != "kanban_create"), _KANBAN),
    "kanban_attach": "call kanban_attachments for that card",
    "kanban_attach_url": "call kanban_attachments for that card",
    **dict.fromkeys((n for n in sorted(CHANGING_TOOLS) if n.startswith("browser_")), _BROWSER),
    "browser_console": _BROWSER,
    "memory": "compare with the memory in the system prompt of a new session, or read the memory file",
    "skill_manage": "call skill_view for that skill",
    "todo": "call todo without todos",
    "todo_list": "call todo_list without todos",
    "send_message": "look in that conversation, or ask the user whether the message arrived",
    "discord": "call discord with action=fetch_messages",
    "discord_admin": "call discord_admin with action=channel_info",
    "ha_call_service": "call ha_get_state for that entity",
    "mqtt_publish": "call mqtt_subscribe_recent for that topic",
    "mqtt_device_command": "call mqtt_subscribe_recent for that topic",
    "a2a_call": "call a2a_history",
    "a2a_orchestrate": "call a2a_history",
    "feishu_drive_add_comment": "call feishu_drive_list_comments",
    "feishu_drive_reply_comment": "call feishu_drive_list_comment_replies",
    "project_create": "call project_list",
    "project_switch": "call project_list",
    "desktop_project": "call desktop_project with action=list",
    "manage_connections": "call manage_connections with action=status",
    "image_generate": "look for the file with search_files",
    "video_generate": "look for the file with search_files",
    "text_to_speech": "look for the file with search_files",
    "computer_use": "call computer_use with action=capture",
    "meet_join": "call meet_status",
    "meet_leave": "call meet_status",
    **dict.fromkeys(
        (n for n in sorted(CHANGING_TOOLS)
         if n.startswith(("brv_", "fact_", "hindsight_", "honcho_", "mem0_", "viking_", "retaindb_", "supermemory_"))),
        _ASK_PROVIDER),
}


def read_check(tool_name: Any) -> str:
    """The read-only check to recommend for a tool, one short phrase; never raises."""
    try:
        if tool_name in READ_CHECK:
            return READ_CHECK[tool_name]
        if is_mcp(tool_name):
            return "use a read tool of the same server"
    except Exception:
        return "look for its effect with a read-only tool"
    return "look for its effect with a read-only tool"
