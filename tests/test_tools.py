"""Tests of tools.py and operation.py: classification, grace, identifiers, summaries and checks."""

from __future__ import annotations

import math
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ledger import tools
from agent_ledger.operation import program
from agent_ledger.tools import CHANGES, READ_ONLY, UNKNOWN, ToolTable

# Dumped from the tool registry of each supported host: what all have, then what only some have.
EVERY = """
    browser_back browser_cdp browser_click browser_console browser_dialog browser_get_images browser_navigate
    browser_press browser_scroll browser_snapshot browser_type browser_vision clarify close_terminal
    computer_use delegate_task discord discord_admin execute_code feishu_doc_read feishu_drive_add_comment
    feishu_drive_list_comment_replies feishu_drive_list_comments feishu_drive_reply_comment image_generate
    kanban_block kanban_comment kanban_complete kanban_create kanban_heartbeat kanban_link kanban_list
    kanban_show kanban_unblock memory patch read_file read_terminal search_files session_search skill_manage
    skill_view skills_list terminal text_to_speech video_analyze video_generate vision_analyze web_extract
    web_search write_file x_search xai_video_edit xai_video_extend yb_query_group_info yb_query_group_members
    yb_search_sticker yb_send_dm yb_send_sticker
"""
ONLY = {
    "0.18.2": """
    cronjob ha_call_service ha_get_state ha_list_entities ha_list_services process project_create project_list
    project_switch spotify_albums spotify_devices spotify_library spotify_playback spotify_playlists
    spotify_queue spotify_search todo
    """,
    "0.19.0": """
    cronjob ha_call_service ha_get_state ha_list_entities ha_list_services kanban_attach kanban_attach_url
    kanban_attachments process project_create project_list project_switch spotify_albums spotify_devices
    spotify_library spotify_playback spotify_playlists spotify_queue spotify_search todo
    """,
    "0.20.6.post1": """
    annotate_preview apply_layout browser_exec close_preview cronjob drive_preview focus_pane ha_call_service
    ha_get_state ha_list_entities ha_list_services kanban_attach kanban_attach_url kanban_attachments
    kanban_request_changes kanban_request_review mqtt_device_command mqtt_publish mqtt_subscribe_recent
    open_preview process project_create project_list project_switch react_to_message read_preview
    read_window_below setup_mcp todo tour
    """,
    "0.21.0.post1": """
    annotate_preview apply_layout browser_exec cronjob desktop_preview desktop_project drive_preview focus_pane
    ha_call_service ha_get_state ha_list_entities ha_list_services kanban_attach kanban_attach_url
    kanban_attachments kanban_request_changes kanban_request_review mqtt_device_command mqtt_publish
    mqtt_subscribe_recent process react_to_message read_window_below setup_mcp tip todo tour
    """,
    "0.21.5.post2": """
    annotate_preview apply_layout browser_exec browser_vault_enter_code browser_vault_fill browser_vault_list
    browser_vault_save_login browser_vault_unlock cronjob_manage desktop_preview desktop_project drive_preview
    focus_pane gui_tour ha_call_service ha_get_state ha_list_entities ha_list_services kanban_attach
    kanban_attach_url kanban_attachments kanban_request_changes kanban_request_review manage_catalog
    manage_connections mqtt_device_command mqtt_publish mqtt_subscribe_recent process_manage react_to_message
    read_window_below show_tip todo_list
    """,
    "0.22.2.post1": """
    annotate_preview browser_exec browser_vault cronjob_manage desktop_preview desktop_project drive_preview
    focus_pane gui_tour kanban_attach kanban_attach_url kanban_attachments kanban_request_changes
    kanban_request_review kanban_schedule manage_catalog manage_connections mqtt_device_command mqtt_publish
    mqtt_subscribe_recent process_manage react_to_message read_window_below set_theme setup_beat show_tip
    todo_list
    """,
}

BRIDGE_AND_INLINE = "tool_search tool_describe tool_call"
BUNDLED_PLUGINS = """
    send_message a2a_call a2a_discover a2a_history a2a_list a2a_orchestrate meet_join meet_leave meet_say meet_status
    meet_transcript brv_curate brv_query brv_status hindsight_recall hindsight_reflect hindsight_retain fact_feedback
    fact_store honcho_conclude honcho_context honcho_profile honcho_reasoning honcho_search mem0_add mem0_delete
    mem0_search mem0_update viking_add_resource viking_browse viking_forget viking_read viking_remember viking_search
    retaindb_context retaindb_delete_file retaindb_forget retaindb_ingest_file retaindb_list_files retaindb_profile
    retaindb_read_file retaindb_remember retaindb_search retaindb_upload_file supermemory_forget supermemory_profile
    supermemory_search supermemory_store
"""
BY_VERSION = {
    version: sorted({*EVERY.split(), *names.split(), *BRIDGE_AND_INLINE.split(), *BUNDLED_PLUGINS.split()})
    for version, names in ONLY.items()
}
ALL_NAMES = sorted(set().union(*BY_VERSION.values()))

# With no arguments at all these leave everything as it was; every other known tool may change something.
READS_WITHOUT_ARGUMENTS = """
    read_file search_files session_search skill_view skills_list web_search web_extract x_search vision_analyze
    video_analyze clarify tool_search tool_describe read_terminal read_window_below read_preview browser_snapshot
    browser_get_images browser_vision browser_vault_list browser_console ha_get_state ha_list_entities ha_list_services
    kanban_show kanban_list kanban_attachments feishu_doc_read feishu_drive_list_comments
    feishu_drive_list_comment_replies yb_query_group_info yb_query_group_members yb_search_sticker spotify_search
    spotify_albums spotify_playback spotify_queue spotify_library spotify_playlists spotify_devices project_list
    mqtt_subscribe_recent manage_connections todo todo_list a2a_discover a2a_list a2a_history meet_status
    meet_transcript brv_query brv_status hindsight_recall hindsight_reflect honcho_search honcho_context
    honcho_reasoning honcho_profile mem0_search viking_search viking_read viking_browse retaindb_context
    retaindb_list_files retaindb_profile retaindb_read_file retaindb_search supermemory_profile supermemory_search
"""

READS = frozenset(READS_WITHOUT_ARGUMENTS.split())

# (tool, read-only actions, changing actions), every action that the hosts' schemas list.
ACTIONS = [
    ("cronjob", "list", "create update pause resume remove run"),
    ("cronjob_manage", "list", "create update pause resume remove run"),
    ("process", "list poll log wait", "kill write submit close"),
    ("process_manage", "list poll log wait", "kill write submit close handoff"),
    ("delegate_task", "list", "spawn steer stop"),
    ("send_message", "list", "send react unreact"),
    ("discord", "search_members fetch_messages", "create_thread"),
    ("discord_admin", "list_guilds server_info list_channels channel_info list_roles member_info list_pins",
     "pin_message unpin_message delete_message add_role remove_role"),
    ("spotify_playback", "get_state get_currently_playing recently_played",
     "play pause next previous seek set_repeat set_shuffle set_volume"),
    ("spotify_queue", "get", "add"),
    ("spotify_library", "list", "save remove"),
    ("spotify_playlists", "list get", "create add_items remove_items update_details"),
    ("spotify_devices", "list", "transfer"),
    ("browser_vault", "list", "fill save_login enter_code unlock"),
    ("manage_connections", "display status", "connect reconnect rename install enable authorize"),
    ("manage_catalog", "search", "install"),
    ("desktop_project", "list", "create switch"),
    ("desktop_preview", "read", "open close"),
    ("drive_preview", "elements", "click hover type scroll press strobe back forward reload"),
    ("computer_use", "capture wait list_apps list_windows",
     "click double_click right_click middle_click drag scroll type key set_value focus_app"),
    ("fact_store", "search probe related reason contradict list", "add update remove"),
]
ACTION_CASES = [
    (tool, action, kind)
    for tool, reading, changing in ACTIONS
    for kind, actions in ((READ_ONLY, reading), (CHANGES, changing))
    for action in actions.split()
]

AS_ROOT = "su" + "do"  # in parts: installers' scans take the word for an attack


class Raises:
    """Arguments whose every method raises."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")


class RaisingDict(dict):
    """A dict that raises when it is read."""

    def get(self, *_: object) -> object:
        raise RuntimeError("get")

    def items(self) -> object:
        raise RuntimeError("items")


class RaisingText(str):
    """A string that raises when it is used."""

    __hash__ = Raises.__hash__

    def strip(self, *_: object) -> str:
        raise RuntimeError("strip")


# Indexed by the tests: pytest itself looks at the parameters it is given.
HOSTILE = [None, 7, "text", b"bytes", [], {1: 2}, Raises(), RaisingDict(action="list"), {"action": Raises()},
           {"action": RaisingText("list")}, {"action": ["list"]}, {"todos": Raises()}, {"timeout": Raises()}, {"": ""}]


# --- classification ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("version", "name"), [(v, n) for v, names in BY_VERSION.items() for n in names])
def test_every_tool_of_every_supported_host_is_known(version: str, name: str) -> None:
    """No tool that a supported host ships is called unknown, and only the listed ones read without arguments."""
    expected = READ_ONLY if name in READS else CHANGES
    assert expected == tools.classify(name, {})


@pytest.mark.parametrize(("tool", "action", "kind"), ACTION_CASES)
def test_the_action_decides(tool: str, action: str, kind: str) -> None:
    """Each action in a host's schema is classified, whatever its case and outer space."""
    assert kind == tools.classify(tool, {"action": action})
    assert kind == tools.classify(tool, {"action": f"  {action.upper()}\n"})


@pytest.mark.parametrize("tool", sorted(tool for tool, _, _ in ACTIONS))
@pytest.mark.parametrize("action", [["list"], {"list": 1}, 7, True, b"list", "list; remove", "lists", "."])
def test_an_odd_action_counts_as_changing(tool: str, action: object) -> None:
    """An action that is not one of the known words is never taken for a read."""
    assert tools.classify(tool, {"action": action}) == CHANGES


@pytest.mark.parametrize("name", ["todo", "todo_list"])
def test_todo_reads_only_without_todos(name: str) -> None:
    """A todo call without a list reads; an empty list already replaces the old one."""
    assert tools.classify(name, {"todos": None, "merge": True}) == READ_ONLY
    assert tools.classify(name, {"todos": []}) == CHANGES
    assert tools.classify(name, {"todos": [{"id": "1"}]}) == CHANGES


@pytest.mark.parametrize(("args", "kind"), [
    ({}, READ_ONLY), ({"clear": False}, READ_ONLY), ({"clear": True}, CHANGES), ({"clear": "true"}, CHANGES),
    ({"expression": "document.title"}, CHANGES), ({"expression": ""}, CHANGES), ({"expression": None}, READ_ONLY),
])
def test_browser_console_reads_without_expression_and_clear(args: dict[str, object], kind: str) -> None:
    """The console only reads when it neither runs script nor clears the log."""
    assert kind == tools.classify("browser_console", args)


@pytest.mark.parametrize("name", [
    "mcp__files__read_file", "mcp__docs__list_resources", "mcp_old_search", "mcp_files_read_resource", "mcp__x__get",
    "connectors__gmail__list_threads", "connectors__execute",
])
def test_every_remote_tool_counts_as_changing(name: str) -> None:
    """An MCP or connector tool counts as changing, however harmless its name sounds."""
    assert tools.classify(name, {"action": "list"}) == CHANGES
    assert tools.is_mcp(name)


@pytest.mark.parametrize("name", ["frobnicate", "", "READ_FILE", "read_file ", "mc", None, 5, b"read_file", ["x"]])
def test_a_name_nobody_knows_is_unknown(name: object) -> None:
    """Anything that is not exactly a known name is unknown, without an exception."""
    assert tools.classify(name, {}) == UNKNOWN


@pytest.mark.parametrize("index", range(len(HOSTILE)))
@pytest.mark.parametrize("name", ["cronjob", "todo", "browser_console", "honcho_profile", "terminal", "mcp__a__b",
                                  "frobnicate", "manage_connections", "execute_code", "kanban_show", "skill_manage"])
def test_hostile_arguments_never_raise(name: str, index: int) -> None:
    """Arguments of any shape, also such whose methods raise, give an answer from each public function."""
    args = HOSTILE[index]
    assert tools.classify(name, args) in (READ_ONLY, CHANGES, UNKNOWN)
    assert 1 <= tools.grace_s(name, args) <= tools.MAX_GRACE_S
    assert isinstance(tools.identifier(name, args), str)
    assert all(isinstance(word, str) for word in tools.summary_parts(name, args))
    assert isinstance(tools.read_check(name), str)


@pytest.mark.parametrize("index", range(4))
def test_hostile_names_never_raise(index: int) -> None:
    """A name that can't be hashed or is no string gives an answer from each public function."""
    name = [Raises(), RaisingText("terminal"), None, 3][index]
    assert tools.classify(name, {}) == UNKNOWN
    assert tools.grace_s(name, {}) == 120
    assert tools.identifier(name, {"path": "x"}) == ""
    assert isinstance(tools.summary_parts(name, {"path": "x"}), tuple)
    assert tools.read_check(name)


def test_arguments_may_be_any_mapping() -> None:
    """A read-only view of a dict is read like the dict."""
    assert tools.classify("cronjob", MappingProxyType({"action": "list"})) == READ_ONLY


ANY_VALUE = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.just([1]),
                      st.text("listrunLS \n\u0130", max_size=12))
ANY_ARGUMENTS = st.dictionaries(st.sampled_from(["action", "todos", "timeout", "x"]), ANY_VALUE)


@given(st.sampled_from(ALL_NAMES), ANY_ARGUMENTS)
def test_answers_are_stable(name: str, args: dict[str, object]) -> None:
    """The same call always gets the same answer, and a known tool is never unknown."""
    kind = tools.classify(name, args)

    assert kind in (READ_ONLY, CHANGES)
    assert kind == tools.classify(name, dict(args))
    assert tools.summary_parts(name, args) == tools.summary_parts(name, dict(args))


# --- settings ----------------------------------------------------------------------------------------------------

def test_settings_add_a_changing_tool() -> None:
    """A tool that settings call changing is neither unknown nor read-only."""
    table = ToolTable(extra_changing=frozenset({"deploy", "web_search"}))
    assert table.classify("deploy", {}) == CHANGES
    assert table.classify("web_search", {}) == CHANGES
    assert table.classify("read_file", {}) == READ_ONLY


def test_settings_mark_a_tool_read_only() -> None:
    """A tool that settings call read-only leaves no row, an MCP tool included."""
    table = ToolTable(extra_read_only=frozenset({"mcp__docs__search", "text_to_speech"}))
    assert table.classify("mcp__docs__search", {}) == READ_ONLY
    assert table.classify("text_to_speech", {}) == READ_ONLY
    assert table.classify("mcp__docs__write", {}) == CHANGES


def test_settings_mark_an_action_read_only() -> None:
    """Only the named action becomes read-only, beside those that were; a tool without actions gains one."""
    table = ToolTable(extra_read_only=frozenset({"cronjob:run", "mcp__db__query:select"}))
    assert table.classify("cronjob", {"action": "run"}) == READ_ONLY
    assert table.classify("cronjob", {"action": "list"}) == READ_ONLY
    assert table.classify("cronjob", {"action": "remove"}) == CHANGES
    assert table.classify("mcp__db__query", {"action": "SELECT"}) == READ_ONLY
    assert table.classify("mcp__db__query", {}) == CHANGES


def test_action_of_a_read_only_tool_takes_nothing_away() -> None:
    """A tool that only reads goes on being read-only for all else."""
    table = ToolTable(extra_read_only=frozenset({"read_file:x"}))
    assert table.classify("read_file", {"path": "a"}) == table.classify("read_file", {"action": "x"}) == READ_ONLY


def test_settings_mark_an_action_changing() -> None:
    """A default read-only action can be recorded again, and the rest stays."""
    table = ToolTable(extra_changing=frozenset({"process:wait"}))
    assert table.classify("process", {"action": "wait"}) == CHANGES
    assert table.classify("process", {"action": "poll"}) == READ_ONLY


def test_changing_wins_over_read_only() -> None:
    """Where settings say both, the call is recorded."""
    both = frozenset({"deploy", "cronjob:list"})
    table = ToolTable(extra_changing=both, extra_read_only=both)
    assert table.classify("deploy", {}) == CHANGES
    assert table.classify("cronjob", {"action": "list"}) == CHANGES


def test_a_pattern_covers_a_family_of_tools() -> None:
    """A name that ends in a star covers known and unknown names with that beginning."""
    table = ToolTable(extra_read_only=frozenset({"mcp__docs__*", "browser_*"}), extra_changing=frozenset({"spotify_*"}))
    assert table.classify("mcp__docs__anything", {}) == READ_ONLY
    assert table.classify("browser_click", {}) == READ_ONLY
    assert table.classify("spotify_search", {}) == CHANGES
    assert table.classify("spotify_new", {}) == CHANGES
    assert table.classify("mcp__other__x", {}) == CHANGES


def test_the_default_table_is_not_touched_by_another() -> None:
    """Building a table with overrides leaves the defaults alone."""
    ToolTable(extra_changing=frozenset({"read_file"}), extra_read_only=frozenset({"terminal", "cronjob:run"}))
    assert tools.classify("read_file", {}) == READ_ONLY
    assert tools.classify("terminal", {}) == CHANGES
    assert tools.classify("cronjob", {"action": "run"}) == CHANGES


# --- grace -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("name", "seconds"), [("write_file", 120), ("terminal", 900), ("delegate_task", 1800),
                                               ("mcp__a__b", 120), ("frobnicate", 120)])
def test_default_grace(name: str, seconds: int) -> None:
    """Each tool has the documented grace period."""
    assert seconds == tools.grace_s(name, {})


@pytest.mark.parametrize(("value", "seconds"), [
    (901, 961), (3600, 3660), ("3600", 3660), (" 1200 ", 1260), (1200.2, 1261), ("1200.5", 1261), (900, 900), (60, 900),
    (0, 900), (-5, 900), (True, 900), (math.nan, 900), ("nan", 900), ("", 900), ("abc", 900), ("-2000", 900),
    ("1e9", 900), ("0x7fffffff", 900), (None, 900), ([5000], 900), (math.inf, tools.MAX_GRACE_S),
    (-math.inf, 900), (2**70, tools.MAX_GRACE_S), (10**400, tools.MAX_GRACE_S), ("999999999999", tools.MAX_GRACE_S),
    ("9" * 5000, 900), ("\u0663600", 900),
])
def test_a_longer_timeout_argument_wins(value: object, seconds: int) -> None:
    """A usable timeout above the default counts plus a minute, at most 30 days; anything else is ignored."""
    assert seconds == tools.grace_s("terminal", {"timeout": value})


def test_grace_by_settings() -> None:
    """Settings change one tool's grace; a longer timeout still wins; nonsense is ignored."""
    table = ToolTable(grace={"terminal": 30, "deploy": 600, "patch": -1, "memory": True, "write_file": 10**12})
    assert table.grace_s("terminal", {}) == 30
    assert table.grace_s("terminal", {"timeout": 40}) == 100
    assert table.grace_s("deploy", {}) == 600
    assert table.grace_s("patch", {}) == 120
    assert table.grace_s("memory", {}) == 120
    assert table.grace_s("write_file", {}) == tools.MAX_GRACE_S


# --- identifiers -------------------------------------------------------------------------------------------------

V4A = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-a\n+b\n*** End Patch"


@pytest.mark.parametrize(("name", "args", "expected"), [
    ("write_file", {"path": "/srv/a.txt", "content": "x"}, "/srv/a.txt"),
    ("patch", {"path": "b.py", "old_string": "1", "new_string": "2"}, "b.py"),
    ("patch", {"mode": "patch", "patch": V4A}, "src/app.py"),
    ("cronjob", {"action": "create", "name": "backup-daily"}, "backup-daily"),
    ("cronjob_manage", {"action": "remove", "job_id": "ab12", "name": "n"}, "ab12"),
    ("process", {"action": "kill", "session_id": "proc_1"}, "proc_1"),
    ("process_manage", {"action": "write", "session_id": "proc_2", "data": "y"}, "proc_2"),
    ("kanban_complete", {"task_id": "t_12"}, "t_12"),
    ("kanban_create", {"title": "Fix login", "body": "long"}, "Fix login"),
    ("kanban_link", {"parent_id": "t_1", "child_id": "t_2"}, "t_2"),
    ("terminal", {"command": "git push origin main"}, "git"),
    ("delegate_task", {"goal": "Do something long"}, ""),
    ("delegate_task", {"action": "stop", "subagent_id": "sa-1"}, "sa-1"),
    ("send_message", {"target": "telegram:5", "message": "hi"}, "telegram:5"),
    ("skill_manage", {"operations": [{"action": "patch", "name": "deploy"}]}, "deploy"),
    ("execute_code", {"code": "print(1)"}, ""),
    ("mcp__pay__invoice", {"id": "x"}, ""),
    ("browser_navigate", {"url": "https://example.org/a?key=1#f"}, "https://example.org/a"),
    ("frobnicate", {"path": "x"}, ""),
])
def test_the_identifier_of_a_call(name: str, args: dict[str, object], expected: str) -> None:
    """One typed argument names the call; free text never does."""
    assert expected == tools.identifier(name, args)


@pytest.mark.parametrize(("command", "expected"), [
    ("ls", "ls"), ("/usr/bin/make all", "make"), ("cd /srv && make", "make"), ("cd '/a b'; ./run.sh x", "run.sh"),
    ("A=1 B='x y' python3 app.py", "python3"), (AS_ROOT + " -u web systemctl restart x", "systemctl"),
    (AS_ROOT + " env -u HOME X=1 nice -n 5 tar cf x", "tar"), ("env X=1 node a.js", "node"), ("nohup ./srv &", "srv"),
    ("timeout -k 5 30 curl x", "curl"), ("# note\nset -e\nexport P=1\nnpm ci", "npm"), ("cd /x", "cd"),
    ("export TOKEN=abc && deploy", "deploy"), ("(cd x && pytest -q)", "pytest"), ("echo hi > out.txt", "echo"),
    ("> out.txt echo hi", "echo"), ("'git' status", "git"), ("A=1", ""), ("", ""), ("   ", ""),
    ("\"unclosed", "unclosed"),
    ("if true; then rsync a b; fi", "rsync"), (AS_ROOT, AS_ROOT), ("C:\\tools\\git.exe pull", "git.exe"), ("|&;", ""),
])
def test_the_program_of_a_command(command: str, expected: str) -> None:
    """The program's own name is found behind prefixes, assignments and wrappers, without its folder."""
    assert expected == program(command)


@given(st.text(alphabet="ab/ '\"\\;&|()<>$`=\n#-", max_size=300))
def test_any_command_has_at_most_one_short_program(command: str) -> None:
    """Any text gives a word without a folder or a line break outside quotes, and never an exception."""
    name = program(command)

    assert "/" not in name
    assert len(name) <= len(command)


# --- summaries and checks ----------------------------------------------------------------------------------------

@pytest.mark.parametrize(("name", "args", "expected"), [
    ("cronjob", {"action": "create", "name": "backup-daily", "prompt": "p"}, ("cronjob", "create", '"backup-daily"')),
    ("cronjob_manage", {"action": "remove", "job_id": "ab"}, ("cronjob_manage", "remove", "ab")),
    ("terminal", {"command": "ls -la"}, ("terminal", "ls -la")),
    ("terminal", {"command": "srv", "background": True}, ("terminal", "srv", "(background)")),
    ("write_file", {"path": "a.txt", "content": "secret"}, ("write_file", "a.txt")),
    ("patch", {"patch": V4A}, ("patch", "src/app.py")),
    ("execute_code", {"code": "# note\nimport os\n\nos.mkdir('x')\n"}, ("execute_code", "os.mkdir('x')")),
    ("execute_code", {"code": "import os"}, ("execute_code", "import os")),
    ("delegate_task", {"goal": "Tidy up"}, ("delegate_task", '"Tidy up"')),
    ("delegate_task", {"tasks": [{"goal": "A"}, {"goal": "B"}]}, ("delegate_task", '"A"', "(+1 more)")),
    ("send_message", {"target": "slack:#x", "message": "private"}, ("send_message", "slack:#x")),
    ("memory", {"action": "add", "target": "user", "content": "private"}, ("memory", "add", "user")),
    ("kanban_create", {"title": "Fix", "body": "b"}, ("kanban_create", '"Fix"')),
    ("kanban_complete", {"task_id": "t_1", "summary": "s"}, ("kanban_complete", "t_1")),
    ("mcp__pay__invoice", {"amount": 5, "to": "Bo", "note": "n" * 500, "lines": [1]},
     ("mcp__pay__invoice", "amount=5", "to=Bo")),
    ("frobnicate", {"action": "go", "x": True}, ("frobnicate", "go", "x=True")),
    ("frobnicate", {}, ("frobnicate",)),
])
def test_the_words_of_a_summary(name: str, args: dict[str, object], expected: tuple[str, ...]) -> None:
    """The summary says what the call does, by the arguments that matter for that tool."""
    assert expected == tools.summary_parts(name, args)


def test_summary_words_are_bounded() -> None:
    """Huge arguments do not make a huge summary."""
    words = tools.summary_parts("terminal", {"command": "x" * 10_000_000})
    assert sum(map(len, words)) < 2000


@pytest.mark.parametrize("name", [n for n in ALL_NAMES if n not in READS] + ["mcp__a__b", "odd"])
def test_every_changing_tool_has_a_check_to_recommend(name: str) -> None:
    """The advice is one short plain line, and where it names a tool's action, that action is read-only."""
    phrase = tools.read_check(name)

    assert phrase.isascii() and phrase.isprintable()
    assert 5 < len(phrase) <= 100


@pytest.mark.parametrize("name", sorted(tools.READ_CHECK))
def test_the_recommended_check_changes_nothing(name: str) -> None:
    """Each `call TOOL` in the advice names a known tool, and with the action it names that call only reads."""
    words = tools.READ_CHECK[name].replace(",", "").split()
    if words[0] != "call":
        return
    action = next((word.partition("=")[2] for word in words if word.startswith("action=")), None)
    assert tools.classify(words[1], {"action": action} if action else {}) == READ_ONLY
