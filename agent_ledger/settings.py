"""What the user may choose, where it is read from, and what is said about a wrong value."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import spans, tools
from .home import data_folder, is_private_file

FILE = "settings.json"
ENVIRONMENT_PREFIX = "AGENT_LEDGER_"
_MAX_FILE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Spec:
    """One setting: its ``kind`` (choice, names, seconds, span), default, what is accepted, and a line of help."""

    name: str
    kind: str
    default: Any
    help: str
    choices: tuple[str, ...] = ()

    @property
    def accepted(self) -> str:
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "span":
            return "off, or a span of a day or more, such as 90d"
        if self.kind == "names":
            return "a list of tool names; tool:action and a name that ends in * are understood"
        return "a table of tool name to whole seconds, 1 to 2592000"


SPECS: tuple[Spec, ...] = (
    Spec(
        "synchronous", "choice", "normal",
        "normal survives the death of the process, full also the death of the machine (one disk flush a write)",
        ("normal", "full"),
    ),
    Spec(
        "store_args", "choice", "redacted",
        "what of a call's arguments is kept: redacted text, the full text with its secrets, or only hashes",
        ("redacted", "full", "hash"),
    ),
    Spec(
        "unknown_tools", "choice", "record",
        "a tool that nobody knows may change something: record it, or ignore it",
        ("record", "ignore"),
    ),
    Spec("changing_tools", "names", (), "further tools that change something"),
    Spec("read_only_tools", "names", (), "tools, or tool:action, that change nothing and need no row"),
    Spec("grace", "seconds", {}, "seconds before an open call counts as a ghost, by tool name"),
    Spec("retention", "span", "off", "remove settled calls older than this once a day, such as 90d; off keeps all"),
    Spec(
        "policy_mode", "choice", "file",
        "off, dry_run or enforce; file takes what policy_mode in the data folder says, off where there is none",
        ("file", "off", "dry_run", "enforce"),
    ),
    Spec(
        "on_broken_policy", "choice", "keep",
        "a policy that cannot be read: keep the last good one, or block every state-changing call while it is enforced",
        ("keep", "block"),
    ),
)  # fmt: skip
_BY_NAME = {spec.name: spec for spec in SPECS}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force. ``sources``: setting -> where its value comes from; ``problems``: what was wrong with
    others."""

    synchronous: str = "normal"
    store_args: str = "redacted"
    unknown_tools: str = "record"
    changing_tools: tuple[str, ...] = ()
    read_only_tools: tuple[str, ...] = ()
    grace: Mapping[str, int] = field(default_factory=dict)
    retention: str = "off"
    policy_mode: str = "file"
    on_broken_policy: str = "keep"
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    problems: tuple[str, ...] = ()

    def tool_table(self) -> tools.ToolTable:
        return tools.ToolTable(
            extra_changing=frozenset(self.changing_tools),
            extra_read_only=frozenset(self.read_only_tools),
            grace=dict(self.grace),
        )

    def values(self) -> dict[str, Any]:
        """Setting -> value in force, in the order of the documentation."""
        return {spec.name: getattr(self, spec.name) for spec in SPECS}


def load(
    home: str,
    host: Callable[[], Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings of one Hermes home. Environment over host settings, or over ``settings.json`` where the host
    has none. Never raises: a wrong value is described in ``problems`` and does not count."""
    environ = os.environ if environ is None else environ
    problems: list[str] = []
    refused: list[tuple[Spec, Any, str]] = []
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    from_host = _host_values(host, problems)
    where = "host settings (plugins.entries.agent-ledger.settings)"
    if not from_host:
        from_host, where = _file_values(home, problems)
    for name, value in from_host.items():
        _take(str(name), value, where, values, sources, problems, refused)
    for variable in sorted(environ):
        if variable.startswith(ENVIRONMENT_PREFIX):
            name = variable[len(ENVIRONMENT_PREFIX) :].lower()
            value = _from_text(name, environ[variable])
            _take(name, value, f"environment variable {variable}", values, sources, problems, refused)
    for spec, value, source in refused:
        # Only now it is known what holds instead.
        holds = f"{_short(values[spec.name])} from {sources[spec.name]}" if spec.name in values else "The default"
        problems.append(
            f"{source}: {spec.name} = {_short(value)} is not accepted; expected {spec.accepted}. {holds} holds"
        )
    for name, kind in (("changing_tools", tools.CHANGES), ("read_only_tools", tools.READ_ONLY)):
        for entry in values.get(name, ()):
            if why := tools.entry_fault(entry, kind):
                problems.append(f"{sources[name]}: {name}: {_short(entry)} has no effect: {why}")
    return Settings(**values, sources=sources, problems=tuple(problems))


def config_schema() -> dict[str, dict[str, Any]]:
    """The ``config_schema`` of plugin.yaml, so that the manifest can be checked against this file."""
    kinds = {"choice": "str", "names": "list", "seconds": "dict", "span": "str"}
    empty: dict[str, Any] = {"names": [], "seconds": {}}
    return {
        spec.name: {"type": kinds[spec.kind], "default": empty.get(spec.kind, spec.default), "description": spec.help}
        for spec in SPECS
    }


def _host_values(host: Callable[[], Any] | None, problems: list[str]) -> dict[str, Any]:
    if host is None:
        return {}
    try:
        found = host()
    except Exception as error:
        problems.append(f"host settings could not be read ({type(error).__name__}: {error}), so they do not count")
        return {}
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        problems.append(f"host settings are {_short(found)}; a table of settings is expected, so they do not count")
        return {}
    return dict(found)


def _file_values(home: str, problems: list[str]) -> tuple[dict[str, Any], str]:
    path = os.path.join(data_folder(home), FILE)
    if not os.path.lexists(path):
        return {}, path
    if not is_private_file(path):
        problems.append(
            f"{path} is not a plain file of yours that only you can write, so it does not count; fix it with: chmod 600"
        )
        return {}, path
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(_MAX_FILE + 1)
        if len(text) > _MAX_FILE:
            raise ValueError(f"longer than {_MAX_FILE} characters")
        found = json.loads(text, object_pairs_hook=no_duplicates)
    except (OSError, ValueError, RecursionError) as error:
        problems.append(f"{path} cannot be read as JSON ({error}), so it does not count")
        return {}, path
    if not isinstance(found, dict):
        problems.append(f"{path} holds {_short(found)}; a JSON object is expected, so it does not count")
        return {}, path
    return found, path


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The ``object_pairs_hook`` for files that people write: a key that is there twice is an error (ValueError)."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        where = f" in the object with the id {found['id']!r}" if twice != "id" and "id" in found else ""
        raise ValueError(f"the key {twice!r} is there twice{where}")
    return found


def _take(
    name: str, value: Any, where: str, values: dict[str, Any], sources: dict[str, str], problems: list[str],
    refused: list[tuple[Spec, Any, str]],
) -> None:  # fmt: skip
    spec = _BY_NAME.get(name)
    if spec is None:
        known = ", ".join(_BY_NAME)
        problems.append(f"{where}: unknown setting {name!r} = {_short(value)}; the settings are: {known}")
        return
    checked = _checked(spec, value)
    if checked is None:
        refused.append((spec, value, where))
        return
    values[name] = checked
    sources[name] = where


def _checked(spec: Spec, value: Any) -> Any:
    """The value in its internal form, None where it is not accepted."""
    if spec.kind == "choice":
        if value is False and "off" in spec.choices:  # what YAML makes of a plain off
            return "off"
        return value if isinstance(value, str) and value in spec.choices else None
    if spec.kind == "span":
        if value is False:  # what YAML makes of a plain off
            return "off"
        return value if isinstance(value, str) and (value == "off" or spans.is_span(value)) else None
    if spec.kind == "names":
        if isinstance(value, (list, tuple)) and all(isinstance(name, str) and name.strip() for name in value):
            return tuple(name.strip() for name in value)
        return None
    if not isinstance(value, Mapping):
        return None
    for tool, seconds in value.items():
        if not isinstance(tool, str) or not tool or type(seconds) is not int or not 1 <= seconds <= tools.MAX_GRACE_S:
            return None
    return dict(value)


def _from_text(name: str, text: str) -> Any:
    """An environment variable's value: JSON for a list or table, names also comma-separated, ``tool=60,other=5``
    too."""
    spec = _BY_NAME.get(name)
    if spec is None or spec.kind in ("choice", "span"):
        return text.strip()
    stripped = text.strip()
    if stripped[:1] in ("[", "{"):
        try:
            return json.loads(stripped)
        except (ValueError, RecursionError):
            return text
    parts = [part.strip() for part in stripped.split(",") if part.strip()]
    if spec.kind == "names":
        return parts
    table: dict[str, Any] = {}
    for part in parts:
        tool, equals, seconds = part.rpartition("=")
        if not equals or not re.fullmatch(r"[0-9]{1,9}", seconds.strip()):
            return text
        table[tool.strip()] = int(seconds)
    return table


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
