"""Tools that the host did not bring, MCP servers' above all: judged by the names of tool and arguments."""

from __future__ import annotations

import re
from typing import Any

from ..operation import argument
from .foreign_objects import MAX_TEXT, judge_object, text_argument
from .model import Actions, Value

MAX_DEPTH = 5
MAX_VALUES = 200

LANGUAGES = {
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
_MOVES = re.compile(r"(?:^|_)(?:move|rename|copy|mv|cp)(?:_|$)")
_PROGRAMS = frozenset("kubectl git helm aws gcloud az terraform tofu gh npm docker podman ansible pulumi".split())
SQL = re.compile(r"\s*(?:drop|truncate|delete\s+from|update|alter\s+table|grant)\s", re.IGNORECASE)
_GENERIC = frozenset("run exec execute command cmd cli call tool raw invoke".split())
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


def _words(text: str) -> str:
    """A tool's name in lower case with one underscore between words: ``deleteBucket`` gives ``delete_bucket``."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()).strip("_")


class Foreign:
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
            judge_object(self.server, self.tool, args, self.act)
            if _MOVES.search(self.tool) and self.place() == "here":
                self.move(args)
            self.walk(args, 0)

    def place(self) -> str:
        """Where a command of this server runs."""
        if re.search(r"(?:^|_)ssh(?:_|$)|remote", self.server + "_" + self.tool):
            return "host"
        if re.search(r"docker|podman|kubernetes|k8s|container|sandbox|e2b|(?:^|_)kube", self.server):
            return "container"
        return "here"

    def move(self, args: dict[Any, Any]) -> None:
        """A tool that moves or copies a path."""
        source = text_argument(args, "source", "src", "from", "source_path", "old_path", "oldPath")
        target = text_argument(args, "destination", "dest", "dst", "to", "target", "target_path", "new_path", "newPath")
        if source and target and "://" not in source + target:
            words = ["cp", "-r"] if "copy" in self.tool else ["mv"]
            self.act.argv([*words, source, target])

    def program(self) -> str:
        """The program that the tool stands for, where its name says no more: ``run_kubectl``, ``git_command``."""
        if "exec" in self.tool.split("_") and self.place() == "container":
            return ""  # what runs in a container, not what manages it
        rest = [word for word in self.tool.split("_") if word not in _GENERIC]
        return rest[0] if len(rest) == 1 and rest[0] in _PROGRAMS else ""

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
            or (name == "args" and not text_argument(args, "command", "cmd") and _runs(self.tool))
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
        if _REDIS.search(self.server):
            self.act.code("redis", " ".join(_texts(value)))
        elif isinstance(value, str):
            self.line(value[:MAX_TEXT], args)
        elif isinstance(value, list) and (words := _texts(value)):
            if len(words) == len(value) and (len(words) == 1 or " " in words[0].strip()):
                for word in words:
                    self.line(word, {})
            else:
                program = self.program()
                in_front = [program] if program and words[0] != program else []
                self.act.argv([*in_front, *words], place=self.place_of(program))

    def line(self, text: str, args: dict[Any, Any]) -> None:
        """One command line; further words may stand in ``args``."""
        program = self.program()
        place = self.place_of(program)
        rest = argument(args, "args")
        words = _texts(rest) if isinstance(rest, list) else []
        if SQL.match(text):
            self.act.code("sql", text)
        elif words and " " not in text.strip():
            self.act.argv([text, *words], place=place)
        elif program and text.split(None, 1)[:1] != [program]:
            self.act.shell(f"{program} {text}", place=place)
        else:
            self.act.shell(text, place=place)

    def place_of(self, program: str) -> str:
        """A program that manages containers runs here, whatever its server is called."""
        return "here" if program else self.place()

    def code(self, name: str, value: str, args: dict[Any, Any]) -> None:
        """Source code: in the language that the call, the argument or the server names."""
        if _LOOKS.search(self.tool) and not _runs(self.tool):
            return
        named = text_argument(args, "language", "lang", "runtime", "interpreter").lower()
        if not named:
            about = f"{name}_{self.server}_{self.tool}"
            named = next((word for word in re.split(r"_", about) if word in LANGUAGES and word), "")
        if named:
            if named in LANGUAGES:
                self.act.code(LANGUAGES[named], value[:MAX_TEXT])
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
            content = text_argument(args, "content", "contents", "text", "data", "new_string", "new_text")
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
