"""What a call of any tool but the terminal would do: code, files, schedules, processes, and tools of MCP servers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from .. import tools as known_tools
from ..operation import argument
from . import patches
from .model import Actions, Value

MAX_TEXT = 64 * 1024
MAX_DEPTH = 5
MAX_VALUES = 200

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
        _Foreign(tool_name, act).judge(args)


def _text(args: object, *names: str) -> str:
    for name in names:
        value = argument(args, name)
        if isinstance(value, str) and value:
            return value[:MAX_TEXT]
    return ""


# --- the host's own tools


def _execute_code(args: object, act: Actions) -> None:
    language = _text(args, "language").lower() or "python"
    if code := _text(args, "code", "script", "source"):
        act.code(_LANGUAGES.get(language, "python"), code)


def _write_file(args: object, act: Actions) -> None:
    if path := _text(args, "path", "file_path", "filename"):
        content = argument(args, "content")
        act.write(path, Value(content[: patches.MAX_TEXT] if isinstance(content, str) else ""))


def _patch(args: object, act: Actions) -> None:
    path = _text(args, "path", "file_path")
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
    if path := _text(args, "path", "file_path", "filename"):
        act.read(path)


def _search_files(args: object, act: Actions) -> None:
    if _text(args, "target").lower() in ("files", "names"):
        return
    mode = _text(args, "output_mode").lower()
    if (path := _text(args, "path")) and mode not in ("files_with_matches", "files_only", "count"):
        act.read(path)


_QUOTED = re.compile(r"`([^`\n]{1,2000})`")
_FENCED = re.compile(r"```(?:sh|bash|shell|console)?[ \t]*\n([^`]{1,8000})```")
# An order in front of a command; talk about a command has none.
_ORDER = re.compile(
    r"(?:^|[.;!?\n]\s*|\b(?:and|then|please|first|to|always)\s+)(?:run|execute|exec|invoke|call|do|launch|use)\b", re.I
)
_NOT = re.compile(
    r"\b(?:never|not|don't|dont|avoid|without|dangerous|remind|refuse|warn|explain|why|instead of)\b", re.I
)
_RUN_LINE = re.compile(
    r"(?:^|[.!?\n]\s*)(?:please\s+)?(?:run|execute|exec)(?:\s+(?:the\s+)?(?:command|shell command))?\s*:?\s+"
    r"([^\n`]{2,2000})",
    re.I,
)


def commands_of(prompt: str) -> Iterator[str]:
    """The commands that a prompt orders to run: quoted ones behind an order, or all behind ``Execute:``."""
    prompt = prompt[:MAX_TEXT]
    for found in _FENCED.finditer(prompt):
        before = prompt[max(0, found.start() - 200) : found.start()]
        if _ORDER.search(before) and not _NOT.search(before):
            yield found[1]
    for found in _QUOTED.finditer(prompt):
        start = max(prompt.rfind(". ", 0, found.start()), prompt.rfind("\n", 0, found.start()), found.start() - 200, 0)
        before = prompt[start : found.start()]
        if _ORDER.search(before) and not _NOT.search(before):
            yield found[1]
    for found in _RUN_LINE.finditer(prompt):
        line = found[1].strip().strip("'\"")
        first = line.split(None, 1)[0]
        if re.fullmatch(r"[a-z0-9_./~-]+|[A-Z_]+=\S*", first) and first not in _PROSE:
            yield (
                line.rstrip(".") if line.endswith(".") and not line.endswith(" .") and not line.endswith("..") else line
            )


_PROSE = frozenset(
    "the a an this that it all my our your tests test some any each every daily weekly once when if only in on".split()
)


def _cronjob(args: object, act: Actions) -> None:
    action = _text(args, "action").strip().lower()
    if action in ("list", "remove", "delete", "pause", "status", "show", "get"):
        return
    for command in commands_of(_text(args, "prompt", "task", "message")):
        act.shell(command)
    for name in ("command", "cmd"):
        if command := _text(args, name):
            act.shell(command)
    if script := _text(args, "script"):
        if "\n" in script or " " in script.strip():
            act.shell(script)
        else:
            act.run_file(script)


_SQL = re.compile(r"\s*(?:drop|truncate|delete\s+from|update|alter\s+table|grant)\s", re.IGNORECASE)


def _process(args: object, act: Actions) -> None:
    if _text(args, "action").strip().lower() in ("write", "submit"):
        data = _text(args, "data", "input", "text")
        if data and _SQL.match(data):
            act.code("sql", data)
        elif data:
            act.shell(data)


# --- tools of other servers, by the names of their arguments

_LANGUAGES = {
    "": "python", "python": "python", "python3": "python", "py": "python", "node": "node", "javascript": "node",
    "js": "node", "typescript": "node", "ts": "node", "bash": "shell", "sh": "shell", "shell": "shell", "zsh": "shell",
    "ruby": "ruby",
    "perl": "perl", "php": "php", "lua": "lua", "powershell": "powershell", "pwsh": "powershell", "sql": "sql",
}  # fmt: skip
_SHELL_NAMES = frozenset("command cmd cli_command shell_command commandline command_line bash shell commands".split())
_SQL_NAMES = frozenset("sql statement statements sql_query ddl".split())
_CODE_NAMES = frozenset("code script source source_code javascript python snippet".split())
_PATH_NAMES = frozenset("path file filename file_path filepath filename_path paths files directory dir folder uri "
                        "source_path absolute_path target_path destination".split())  # fmt: skip
# Words that people read; what stands in them is never run.
_PROSE_NAMES = frozenset(
    "body text content contents title message messages prompt description q comment summary note notes subject html "
    "markdown reason caption question answer name label labels tags value values topic system user assistant".split()
)
_READS = re.compile(r"(?:^|_)(?:read|get|cat|show|download|view|open|fetch|load|head|tail)(?:_|$)")
_DELETES = re.compile(r"(?:^|_)(?:delete|remove|rm|unlink|rmdir|destroy|purge|erase)(?:_|$)")
_WRITES = re.compile(r"(?:^|_)(?:write|create|save|put|append|edit|update)(?:_|$)")
_LOOKS = re.compile(
    r"(?:^|_)(?:search|list|find|describe|explain|lookup|grep|validate|lint|format|parse|plan|dry_?run)(?:_|$)"
)
_DATABASES = re.compile(
    r"sql|postgres|database|(?:^|_)db(?:_|$)|duckdb|clickhouse|snowflake|bigquery|supabase|neon|oracle|redshift|databricks|"
    r"turso|planetscale|cockroach|prisma|motherduck|athena|trino|cassandra|query"
)
_REDIS = re.compile(r"redis|valkey|dragonfly")
_MONGO = re.compile(r"mongo")
_DESTROYS = re.compile(r"(?:^|_)(?:delete|drop|destroy|terminate|purge|wipe|truncate|flush|reset|remove)(?:_|$)")


def _words(text: str) -> str:
    """A tool's name in lower case with one underscore between words: ``deleteBucket`` gives ``delete_bucket``."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()).strip("_")


class _Foreign:
    """One call of a tool that the host did not bring."""

    def __init__(self, tool_name: str, act: Actions) -> None:
        self.act = act
        server, tool = _split(tool_name)
        self.server, self.tool = _words(server), _words(tool)
        self.left = MAX_VALUES

    def judge(self, args: object) -> None:
        """Judge by the tool's name, then each argument by its own."""
        if isinstance(args, dict):
            if self.place() == "here" and _DELETES.search(self.tool):
                self.delete(args)
            _judge_object(self.server, self.tool, args, self.act)
            self.walk(args, 0)

    def place(self) -> str:
        """Where a command of this server runs."""
        if re.search(r"(?:^|_)ssh(?:_|$)|remote", self.server + "_" + self.tool):
            return "host"
        if re.search(r"docker|podman|kubernetes|k8s|container|sandbox|e2b|(?:^|_)kube", self.server):
            return "container"
        return "here"

    def walk(self, args: dict[Any, Any], depth: int) -> None:
        """Judge each argument; only the named kinds are looked at, at any depth."""
        for key, value in args.items():
            self.left -= 1
            if self.left < 0:
                return
            if isinstance(key, str):
                self.argument(_words(key), value, args, depth)

    def argument(self, name: str, value: Any, args: dict[Any, Any], depth: int) -> None:
        """Judge one argument by its name."""
        if name in _PROSE_NAMES and not isinstance(value, (dict, list)):
            return
        if (
            name in _SHELL_NAMES
            or name == "argv"
            or (name == "args" and not _text(args, "command", "cmd") and _runs(self.tool))
        ):
            self.command(value, args)
        elif name in _SQL_NAMES or (name == "query" and self.is_database()):
            for text in _texts(value):
                self.act.code("sql", text)
        elif name in _CODE_NAMES and isinstance(value, str):
            self.code(name, value, args)
        elif name in _PATH_NAMES:
            for text in _texts(value):
                self.path(text, args)
        elif depth < MAX_DEPTH:
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, dict):
                    self.walk(each, depth + 1)

    def is_database(self) -> bool:
        """Whether ``query`` means SQL here, and not the words of a search."""
        return bool(_DATABASES.search(f"{self.server}_{self.tool}")) and not _LOOKS.search(self.tool)

    def command(self, value: Any, args: dict[Any, Any]) -> None:
        """A command line, or the words of one, or several lines."""
        place = self.place()
        if _REDIS.search(self.server):
            self.act.code("redis", " ".join(_texts(value)))
        elif isinstance(value, str):
            rest = argument(args, "args")
            words = [text for text in rest if isinstance(text, str)] if isinstance(rest, list) else []
            if words and " " not in value.strip():
                self.act.argv([value[:MAX_TEXT], *[word[:MAX_TEXT] for word in words[:MAX_VALUES]]], place=place)
            else:
                self.act.shell(value[:MAX_TEXT], place=place)
        elif isinstance(value, list) and value:
            words = _texts(value)
            if len(words) == len(value) and (len(words) == 1 or any(" " in word.strip() for word in words[:1])):
                for word in words:
                    self.act.shell(word, place=place)
            elif words:
                self.act.argv(words, place=place)

    def code(self, name: str, value: str, args: dict[Any, Any]) -> None:
        """Source code: in the language that the call, the argument or the server names."""
        if _LOOKS.search(self.tool) and not _runs(self.tool):
            return
        named = _text(args, "language", "lang", "runtime", "interpreter").lower()
        if not named:
            about = f"{name}_{self.server}_{self.tool}"
            named = next((word for word in re.split(r"_", about) if word in _LANGUAGES and word), "")
        if named:
            if named in _LANGUAGES:
                self.act.code(_LANGUAGES[named], value[:MAX_TEXT])
        elif _MONGO.search(self.server):
            self.act.code("mongo", value[:MAX_TEXT])
        elif name == "script":
            self.act.shell(value[:MAX_TEXT], place=self.place())
        elif _runs(self.tool):
            self.act.code("python", value[:MAX_TEXT])

    def path(self, text: str, args: dict[Any, Any]) -> None:
        """A path: read or written, as the tool's name says. A host or container has paths of its own."""
        if text.startswith("file://"):
            text = text[7:]
        elif "://" in text:
            return
        if self.place() != "here" or not text:
            return
        if _DELETES.search(self.tool):
            return
        if _WRITES.search(self.tool) and not self.tool.startswith("read"):
            content = _text(args, "content", "contents", "text", "data", "new_string", "new_text")
            if content or re.search(r"write|save|append", self.tool):
                self.act.write(text, Value(content), append="append" in self.tool)
        elif _READS.search(self.tool) and not _LOOKS.search(self.tool) and "info" not in self.tool:
            self.act.read(text)

    def delete(self, args: dict[Any, Any]) -> None:
        """A tool that deletes a path."""
        recursive = any(argument(args, name) in (True, "true") for name in ("recursive", "force", "recurse"))
        folder = bool(re.search(r"dir|folder|tree", self.tool))
        for key, value in list(args.items())[:MAX_VALUES]:
            if isinstance(key, str) and _words(key) in _PATH_NAMES:
                for text in _texts(value):
                    if "://" not in text or text.startswith("file://"):
                        self.act.delete(
                            text.removeprefix("file://"), recursive=recursive or folder or "." not in text[-6:]
                        )


def _split(tool_name: str) -> tuple[str, str]:
    """Server and tool of a name: ``mcp__server__tool``, ``mcp_server_tool``, ``connectors__server__tool``."""
    parts = tool_name.split("__")
    if len(parts) >= 3:
        return parts[1], "_".join(parts[2:])
    if tool_name.startswith("mcp_"):
        server, _, tool = tool_name[4:].partition("_")
        return server, tool or server
    return "", tool_name


def _runs(tool: str) -> bool:
    return bool(
        re.search(
            r"(?:^|_)(?:run|exec|execute|eval|evaluate|shell|bash|terminal|command|invoke|start|spawn|repl)(?:_|$)",
            tool,
        )
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value[:MAX_TEXT]]
    if isinstance(value, list):
        return [text[:MAX_TEXT] for text in value[:MAX_VALUES] if isinstance(text, str)]
    return []


# --- objects of clouds, clusters and databases, by what a tool is called and what kind it is told

_CLUSTER_KINDS = frozenset(
    "namespace namespaces ns node nodes no persistentvolume persistentvolumes pv pvs persistentvolumeclaim "
    "persistentvolumeclaims pvc pvcs crd crds customresourcedefinition customresourcedefinitions storageclass "
    "storageclasses clusterrole clusterroles statefulset statefulsets all".split()
)
_OBJECTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"namespace|persistent_?volume|(?:^|_)pvc?(?:_|$)|volume|(?:^|_)node(?:s|_|$)|(?:^|_)cluster"),
     "container_destruction"),
    (re.compile(r"database|(?:^|_)db(?:_|$)|schema|table|collection|keyspace|(?:^|_)all_data"), "database_destruction"),
    (re.compile(r"bucket|instance|stack|(?:^|_)vpc|hosted_?zone|(?:^|_)vm(?:_|$)|server|project|repo|repository|account|"
                r"subscription|resource_?group|environment|droplet|app(?:_|$)|service_?account|user_?pool|backup|snapshot|"
                r"domain|function|distribution|infrastructure|(?:^|_)kms|key_?vault|organization|org(?:_|$)|workspace"),
     "cloud_destruction"),
)  # fmt: skip
_CLUSTERS = re.compile(r"kube|k8s|helm|openshift|docker|podman|container|nomad")
_DRY = ("dry_run", "dryRun", "DryRun", "dryrun", "preview")


def _judge_object(server: str, tool: str, args: dict[Any, Any], act: Actions) -> None:
    if not _DESTROYS.search(tool) or any(
        argument(args, name) not in (None, False, "", "none", "false") for name in _DRY
    ):
        return
    name = _text(args, "name", "id", "bucket", "Bucket", "table", "collection", "database", "stack", "repo", "target")
    if _CLUSTERS.search(server) or _CLUSTERS.search(tool):
        kind = _text(args, "kind", "resource", "resource_type", "resourceType", "type").lower().partition(".")[0]
        everything = argument(args, "all") is True or name in ("*", "all", "--all")
        if kind in _CLUSTER_KINDS or everything or _OBJECTS[0][0].search(tool):
            act.effect("container_destruction", f"{tool} {kind}".strip(), name)
        return
    if server in (
        "git",
        "filesystem",
        "fs",
        "slack",
        "notion",
        "gmail",
        "calendar",
        "memory",
        "linear",
        "jira",
        "todoist",
    ):
        return
    if tool.startswith(("flush", "drop_all", "wipe")):
        act.effect("database_destruction", tool, name)
        return
    if re.search(r"(?:^|_)(?:delete_many|remove_many)(?:_|$)", tool):
        given = argument(args, "filter")
        if isinstance(given, dict) and not given:
            act.effect("database_destruction", f"{tool} of everything", name)
        return
    if re.search(
        r"_(?:item|row|record|key|object|entry|label|tag|comment|file|member|branch|rule|policy|alias|message|event)s?$",
        tool,
    ):
        return
    for pattern, kind in _OBJECTS:
        if (
            pattern.search(tool)
            and not tool.startswith("reset")
            and not re.search(r"(?:^|_)(?:index|column|view|trigger)", tool)
        ):
            act.effect(kind, tool, name)
            return


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
