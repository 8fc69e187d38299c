"""The classes of tools that rules speak of."""

from __future__ import annotations

import functools
import re

from .. import tools

SHELL = frozenset(("terminal",))
CODE = frozenset(("execute_code",))
WRITERS = frozenset(("write_file", "patch", "edit_file"))

_UNTRUSTED = frozenset(
    "web_search web_extract x_search browser_navigate browser_snapshot browser_vision browser_console browser_back "
    "browser_click read_window_below read_preview feishu_doc_read feishu_drive_list_comments "
    "feishu_drive_list_comment_replies discord_fetch a2a_discover a2a_history meet_transcript video_analyze "
    "mqtt_subscribe_recent".split()
)
_UNTRUSTED_MCP = re.compile(r"(?:^|_)(?:fetch|browse|scrape|crawl|navigate|web|url|inbox|email|mail|gmail)(?:_|$)")
_EGRESS = frozenset(
    "send_message discord browser_type yb_send_dm mqtt_publish a2a_call feishu_drive_add_comment "
    "feishu_drive_reply_comment meet_say retaindb_upload_file kanban_attach_url".split()
)
_SENDS = re.compile(
    r"(?:^|_)(?:send|post|publish|upload|reply|share|tweet|dm|email|webhook|push|transfer|export|forward)(?:_|$)"
)
_ONCE = re.compile(
    r"(?:^|_)(?:send|post|pay|publish|reply|tweet|dm|charge|refund|transfer|invoice|order|buy|purchase|checkout|book"
    r"|comment|forward|withdraw|payout)(?:_|$)"
)
_LOOKS = re.compile(r"(?:^|_)(?:get|list|search|read|find|show|describe|fetch|status|count|preview|draft)(?:_|$)")
_ONCE_OWN = frozenset("send_message yb_send_dm yb_send_sticker discord mqtt_publish a2a_call meet_say "
                      "feishu_drive_add_comment feishu_drive_reply_comment kanban_comment".split())  # fmt: skip
_MEMORY = re.compile(r"(?:^|_)(?:memor(?:y|ies)|remember|retain|conclude)(?:_|$)|^mem0_(?:add|update)$|^fact_store$"
                     r"|^supermemory_store$|^brv_curate$")  # fmt: skip


@functools.lru_cache(4096)
def words_of(tool: str) -> str:
    """A tool's name in lower case with one underscore between words."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tool).lower()).strip("_")


@functools.lru_cache(4096)
def is_foreign(tool: str) -> bool:
    """A tool that the host did not bring: its arguments are judged by their names."""
    return bool(tool) and tool not in WRITERS and (tools.is_mcp(tool) or tools.classify(tool) == tools.UNKNOWN)


@functools.lru_cache(4096)
def is_untrusted(tool: str) -> bool:
    """What it returns was written by strangers."""
    return tool in _UNTRUSTED or (is_foreign(tool) and _UNTRUSTED_MCP.search(words_of(tool)) is not None)


@functools.lru_cache(4096)
def is_egress(tool: str) -> bool:
    """It takes what it is given to somebody else."""
    if tool in _EGRESS:
        return True
    return is_foreign(tool) and _SENDS.search(words_of(tool)) is not None and not _LOOKS.search(words_of(tool))


@functools.lru_cache(4096)
def acts_once(tool: str) -> bool:
    """Changing, and a second time is a second effect: a message, a payment."""
    if tool in _ONCE_OWN:
        return True
    return is_foreign(tool) and _ONCE.search(words_of(tool)) is not None and not _LOOKS.search(words_of(tool))


@functools.lru_cache(4096)
def is_memory(tool: str) -> bool:
    """It writes what later conversations are told."""
    return _MEMORY.search(words_of(tool)) is not None and not _LOOKS.search(words_of(tool))


def is_read(tool: str, args: object) -> bool:
    """A call that only looks."""
    return tools.classify(tool, args) == tools.READ_ONLY


@functools.lru_cache(4096)
def known_names() -> tuple[str, ...]:
    """The names of the host's own tools."""
    return tuple(sorted(tools.READ_ONLY_TOOLS | tools.CHANGING_TOOLS | set(tools.ACTION_TOOLS) | set(tools.READS_WHEN)))


_TELLING = re.compile(
    r"(?:^|_)(?:delete|remove|rm|drop|destroy|purge|erase|wipe|truncate|flush|reset|terminate|kill|exec|execute|run|eval|shell"
    r"|bash|command|cmd|sql|query|write|save|append|read|cat|download|unlink|rmdir)(?:_|$)"
)


@functools.lru_cache(4096)
def is_telling(tool: str) -> bool:
    """A foreign tool whose name says that its arguments are worth a look."""
    return _TELLING.search(words_of(tool)) is not None


def is_remote(tool: str) -> bool:
    """A tool of an MCP server or connector."""
    return tools.is_mcp(tool)
