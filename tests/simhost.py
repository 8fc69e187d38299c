"""A simulated Hermes: mounts the plugin folder as the host does and calls its hooks as each family of hosts does.

The families (B: 0.18 and 0.19, C: 0.20.0, D: 0.20.6 and 0.21.0, E: 0.21.4 and later) differ in the keywords they send,
in the thread that runs a hook, and in what they do with a second call of a callback that still runs. Each family is a
set of pluggy hookspecs: pluggy complains about a call that leaves a declared keyword out.
"""

from __future__ import annotations

import contextvars
import importlib.util
import inspect
import json
import os
import sqlite3
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pluggy

PLUGIN_FOLDER = Path(__file__).resolve().parents[1]
MODULE = "hermes_plugins.agent_ledger"
HOOKS = ("pre_tool_call", "post_tool_call", "pre_llm_call", "on_session_start")
SCHEMA_VERSION = "hermes.observer.v1"
STILL_RUNNING = {"action": "block", "message": "pre_tool_call plugin callback timed out or is still running"}

spec = pluggy.HookspecMarker("hermes")
impl = pluggy.HookimplMarker("hermes")


class SpecB:
    """0.18 and 0.19: pre_llm_call does not name the parent session."""

    @spec
    def pre_tool_call(
        self, payload, tool_name, args, task_id, session_id, tool_call_id, turn_id, api_request_id, middleware_trace,
        telemetry_schema_version,
    ): ...  # fmt: skip

    @spec
    def post_tool_call(
        self, payload, tool_name, args, result, task_id, session_id, tool_call_id, turn_id, api_request_id, duration_ms,
        status, error_type, error_message, middleware_trace, telemetry_schema_version,
    ): ...  # fmt: skip

    @spec
    def pre_llm_call(
        self, payload, session_id, task_id, turn_id, user_message, conversation_history, is_first_turn, model, platform,
        sender_id, telemetry_schema_version,
    ): ...  # fmt: skip

    @spec
    def on_session_start(self, payload, session_id, model, platform, telemetry_schema_version): ...


class SpecC(SpecB):
    """0.20 and later: pre_llm_call names the session that delegated to this one."""

    @spec
    def pre_llm_call(
        self, payload, session_id, task_id, turn_id, user_message, conversation_history, is_first_turn, model, platform,
        sender_id, parent_session_id, telemetry_schema_version,
    ): ...  # fmt: skip


@dataclass(frozen=True)
class Family:
    """How one family of hosts behaves. ``gate`` keys what may not run twice at once; None: everything may."""

    name: str
    specs: type
    fresh_thread: bool
    gate: Callable[[str, dict[str, Any]], object] | None
    nested_posts: bool
    keeps_submodules: bool


FAMILIES = {
    "B": Family("B", SpecB, False, None, True, True),
    "C": Family("C", SpecC, False, None, True, True),
    "D": Family("D", SpecC, True, lambda hook, payload: hook, False, False),
    "E": Family(
        "E", SpecC, True,
        lambda hook, payload: (hook, payload.get("tool_call_id") or payload.get("turn_id")), False, False,
    ),
}  # fmt: skip


class Context:
    """What ``register(ctx)`` gets: hooks are kept, any other ``register_*`` is taken, nothing else is there."""

    def __init__(self) -> None:
        self.hooks: dict[str, list[Callable[..., Any]]] = {}

    def register_hook(self, name: str, callback: Callable[..., Any]) -> None:
        self.hooks.setdefault(name, []).append(callback)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("register_"):
            return lambda *args, **kwargs: None
        raise AttributeError(name)


class _Adapter:
    """Stands in pluggy for one registered copy of the plugin."""

    def __init__(self, host: SimHost, hooks: dict[str, list[Callable[..., Any]]]) -> None:
        self._host = host
        self._hooks = hooks

    def _all(self, name: str, payload: dict[str, Any]) -> list[Any]:
        return [self._host.deliver(name, callback, payload) for callback in self._hooks.get(name, [])]

    @impl
    def pre_tool_call(self, payload):
        return self._all("pre_tool_call", payload)

    @impl
    def post_tool_call(self, payload):
        return self._all("post_tool_call", payload)

    @impl
    def pre_llm_call(self, payload):
        return self._all("pre_llm_call", payload)

    @impl
    def on_session_start(self, payload):
        return self._all("on_session_start", payload)


@dataclass
class SimHost:
    """One Hermes process. ``home``: its Hermes home; ``raised``: what hooks raised, which must stay empty."""

    home: Path
    family: Family = field(default_factory=lambda: FAMILIES["E"])
    raised: list[BaseException] = field(default_factory=list)
    blocked: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._current = contextvars.ContextVar("hermes_home", default=self.home)
        self._running: set[object] = set()
        self._lock = threading.Lock()
        self.contexts: dict[str, Context] = {}
        self._manager = pluggy.PluginManager("hermes")

    # --- the host's own parts

    def install(self) -> SimHost:
        """Put the host's modules in place (sys.modules) and load the plugin."""
        constants = types.ModuleType("hermes_constants")
        constants.get_hermes_home = self._current.get  # type: ignore[attr-defined]
        sys.modules["hermes_constants"] = constants
        parent = types.ModuleType("hermes_plugins")
        parent.__path__ = []
        sys.modules["hermes_plugins"] = parent
        return self.mount()

    def mount(self, module_name: str = MODULE, folder: Path = PLUGIN_FOLDER) -> SimHost:
        """Import the plugin folder under the host's name for it, and register it in the place of an older copy."""
        for name in list(sys.modules):
            stale = name.startswith(module_name + ".") and not self.family.keeps_submodules
            if name == module_name or stale:
                del sys.modules[name]
        module_spec = importlib.util.spec_from_file_location(
            module_name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert module_spec is not None and module_spec.loader is not None
        module = importlib.util.module_from_spec(module_spec)
        sys.modules[module_name] = module
        module_spec.loader.exec_module(module)
        context = Context()
        module.register(context)
        self.contexts[module_name] = context
        self._manager = pluggy.PluginManager("hermes")
        self._manager.add_hookspecs(self.family.specs)
        for copy in self.contexts.values():
            self._manager.register(_Adapter(self, copy.hooks))
        return self

    reload = mount

    @contextmanager
    def at_home(self, home: Path) -> Iterator[None]:
        """Serve another profile meanwhile."""
        token = self._current.set(home)
        try:
            yield
        finally:
            self._current.reset(token)

    def deliver(self, hook: str, callback: Callable[..., Any], payload: dict[str, Any]) -> Any:
        """Run one callback the way this family does. What it raises is kept in ``raised``."""
        key = (callback, self.family.gate(hook, payload)) if self.family.gate else None
        if key is not None:
            with self._lock:
                if key in self._running:
                    (self.blocked if hook == "pre_tool_call" else self.skipped).append(payload)
                    return STILL_RUNNING if hook == "pre_tool_call" else None
                self._running.add(key)
        try:
            return self._in_its_thread(hook, callback, payload)
        finally:
            if key is not None:
                with self._lock:
                    self._running.discard(key)

    def _in_its_thread(self, hook: str, callback: Callable[..., Any], payload: dict[str, Any]) -> Any:
        box: list[Any] = []

        def work() -> None:
            try:
                box.append(callback(**payload))
            except BaseException as error:
                self.raised.append(error)

        if self.family.fresh_thread:
            context = contextvars.copy_context()
            thread = threading.Thread(target=lambda: context.run(work), name=f"hermes-hook-{hook}", daemon=True)
            thread.start()
            thread.join(20)
        else:
            work()
        return box[0] if box else None

    def call(self, hook: str, payload: dict[str, Any]) -> list[Any]:
        """Call one hook with exactly ``payload``, past the gate; what its callbacks returned, without None."""
        callbacks = [one for copy in self.contexts.values() for one in copy.hooks.get(hook, [])]
        found = [self._in_its_thread(hook, callback, payload) for callback in callbacks]
        return [value for value in found if value is not None]

    def _hook(self, name: str, payload: dict[str, Any]) -> list[Any]:
        payload = {"telemetry_schema_version": SCHEMA_VERSION, **payload}
        wanted = set(inspect.signature(getattr(self.family.specs, name)).parameters) - {"self", "payload"}
        payload = {key: value for key, value in payload.items() if key in wanted}
        answers = getattr(self._manager.hook, name)(payload=payload, **payload)
        return [value for found in answers for value in found if value is not None]

    # --- what an agent does

    def pre(
        self,
        tool: str,
        args: Any = None,
        call: str = "c1",
        session: str = "s0",
        task: str = "t0",
        turn: str | None = None,
    ) -> dict[str, Any] | None:
        """Announce a call; returns the first directive."""
        turn = turn_id(session, task) if turn is None else turn
        answers = self._hook(
            "pre_tool_call",
            {"tool_name": tool, "args": {} if args is None else args, "task_id": task, "session_id": session,
             "tool_call_id": call, "turn_id": turn, "api_request_id": f"{turn}:api:1", "middleware_trace": []},
        )  # fmt: skip
        return answers[0] if answers else None

    def post(
        self, tool: str, args: Any = None, result: Any = '{"success": true}', call: str = "c1", session: str = "s0",
        task: str = "t0", turn: str | None = None, status: Any = "ok", error_type: Any = None, error_message: Any = None,
        duration_ms: Any = 12,
    ) -> None:  # fmt: skip
        """Report what came of a call."""
        turn = turn_id(session, task) if turn is None else turn
        self._hook(
            "post_tool_call",
            {"tool_name": tool, "args": {} if args is None else args, "result": result, "task_id": task,
             "session_id": session, "tool_call_id": call, "turn_id": turn, "api_request_id": f"{turn}:api:1",
             "duration_ms": duration_ms, "status": status, "error_type": error_type, "error_message": error_message,
             "middleware_trace": []},
        )  # fmt: skip

    def run(self, tool: str, args: Any = None, result: Any = '{"success": true}', **ids: Any) -> None:
        """A call that the host announces, runs and reports."""
        where = {key: ids[key] for key in ("call", "session", "task", "turn") if key in ids}
        self.pre(tool, args, **where)
        self.post(tool, args, result, **ids)

    def execute_code(self, nested: Sequence[tuple[str, dict[str, Any]]], call: str = "x1", **ids: Any) -> None:
        """A script that calls tools: those have no ids, and only older hosts report them."""
        args = {"code": "from hermes_tools import *"}
        self.pre("execute_code", args, call=call, **ids)
        for tool, inner in nested:
            without = {"session": ids.get("session", "s0"), "task": ids.get("task", "t0"), "turn": "", "call": ""}
            self.pre(tool, inner, **without)
            if self.family.nested_posts:
                self.post(tool, inner, **without)
        self.post("execute_code", args, '{"status": "success"}', call=call, **ids)

    def batch(self, calls: Sequence[tuple[str, dict[str, Any], str]], **ids: Any) -> None:
        """Calls that the model asked for at once: all announced first, then run and reported in parallel."""
        for tool, args, call in calls:
            self.pre(tool, args, call=call, **ids)
        start = threading.Barrier(len(calls))

        def work(tool: str, args: dict[str, Any], call: str) -> None:
            start.wait(10)
            self.post(tool, args, call=call, **ids)

        threads = [threading.Thread(target=work, args=one) for one in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)

    def turn(
        self, session: str = "s0", message: Any = "please go on", history: Any = None, task: str = "t0",
        turn: str | None = None, parent: str = "", platform: str = "cli",
    ) -> str | None:  # fmt: skip
        """Begin a turn; returns the notice that goes into the user message, None where there is none.

        Without ``history`` the conversation holds nothing but the message, as after compaction.
        """
        shown = [{"role": "user", "content": message}] if history is None else history
        answers = self._hook(
            "pre_llm_call",
            {"session_id": session, "task_id": task, "turn_id": turn_id(session, task, 9) if turn is None else turn,
             "user_message": message, "conversation_history": shown, "is_first_turn": False, "model": "demo",
             "platform": platform, "sender_id": "", "parent_session_id": parent},
        )  # fmt: skip
        texts = [answer["context"] for answer in answers]
        return "\n\n".join(texts) if texts else None

    def start(self, session: str = "s0", platform: str = "cli") -> None:
        """A brand-new session."""
        self._hook("on_session_start", {"session_id": session, "model": "demo", "platform": platform})

    # --- its ledger

    @property
    def ledger(self) -> Path:
        return self.home / "plugin-data" / "agent-ledger" / "ledger.db"

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement on the ledger as a user's own program would."""
        connection = sqlite3.connect(self.ledger, timeout=5)
        try:
            with connection:
                return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    def age(self, seconds: float, where: str = "1") -> None:
        """Make calls older, as if so many seconds had gone by since they were announced."""
        self.sql(
            f"UPDATE ledger SET ts = strftime('%Y-%m-%dT%H:%M:%fZ', julianday(ts) - ? / 86400.0) WHERE {where}",  # noqa: S608
            seconds,
        )


def turn_id(session: str, task: str, number: int = 1) -> str:
    """A turn id in the host's form."""
    return f"{session}:{task}:{number:08x}"


def asked(call: str, tool: str, args: Any) -> dict[str, Any]:
    """An assistant message with one tool call, as conversation_history holds it."""
    function = {"name": tool, "arguments": json.dumps(args)}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": call, "type": "function", "function": function}]}


def told(call: str, tool: str, content: Any) -> dict[str, Any]:
    """The tool message that answers a call."""
    text = content if isinstance(content, str) else json.dumps(content)
    return {"role": "tool", "tool_call_id": call, "name": tool, "content": text}


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str = "done") -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def in_process(home: Path, family: str = "E") -> SimHost:
    """For a child process: a host of its own on ``home``."""
    os.environ["HERMES_HOME"] = str(home)
    return SimHost(home, FAMILIES[family]).install()
