"""The plugin's side of a run on a host without ``--format stream-json``: its own hooks write the events of that run.

Imported only where ``run exec`` started the host: it names a private file in the variable ``AGENT_LEDGER_RUN_EVENTS``.
A line of that file is an event of the stream as it stands (``type``), or a ``note`` for what the runner makes of the
end: ``turn`` (one has begun), ``usage``, ``trouble`` (the provider failed), ``answer`` and ``end``.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from .. import __version__, hostinfo, log, outcome, process
from ..home import is_private_file
from ..model import CANCELLED, CONFIRMED

VARIABLE = "AGENT_LEDGER_RUN_EVENTS"
PRODUCED_BY = f"agent-ledger {__version__}"
OUTPUT_MOST = 5000  # characters, as the host's own stream cuts them

Hook = Callable[..., Any]


def requested() -> Emitter | None:
    """What writes the events of this run; None where nobody asked.

    The variable is taken out of the environment at once, so that a Hermes which a tool starts does not write into this
    run's file; a reload of the plugin finds the emitter in the process's own state.
    """
    state = process.registry()
    path = os.environ.pop(VARIABLE, "")
    if path:
        state.run_events = path if is_private_file(path) else ""
        if not state.run_events:
            log.warn("run:file", "%s names %s, which is no private file of this user: no events", VARIABLE, path)
    path = getattr(state, "run_events", "")
    return Emitter(path) if path else None


class Emitter:
    """Writes the events of the run's own conversation, as they happen: not those of delegated children, of background
    reviews or of calls inside ``execute_code``, which the host's own stream does not show either."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._session = ""
        self._turns: set[str] = set()
        self._shown: set[str] = set()  # ids of calls that have a tool_use and no result yet

    def register(self, ctx: Any) -> None:
        """Ask the host for the hooks that only such a run needs. They observe: none of them returns anything."""
        for name, hook in (
            ("on_session_end", self._ended),
            ("post_llm_call", self._answered),
            ("post_api_request", self._model_said),
            ("api_request_error", self._provider_failed),
        ):
            ctx.register_hook(name, _quietly(name, hook))

    def around_pre(self, pre: Hook) -> Hook:
        """``pre`` with a ``tool_use`` after it, unless it refused the call. One callback, since two host versions block
        a call while a callback of another one is still busy."""
        show = _quietly("pre_tool_call", self._called)

        def pre_tool_call(**given: Any) -> Any:
            answer = pre(**given)
            if answer is None:
                show(**given)
            return answer

        return pre_tool_call

    def around_post(self, post: Hook) -> Hook:
        """``post`` with a ``tool_result`` after it."""
        show = _quietly("post_tool_call", self._returned)

        def post_tool_call(**given: Any) -> None:
            post(**given)
            show(**given)

        return post_tool_call

    def around_turn(self, turn: Hook) -> Hook:
        """``turn`` (pre_llm_call) with the beginning of the run's own turns written down before it."""
        begin = _quietly("pre_llm_call", self._began)

        def pre_llm_call(**given: Any) -> Any:
            begin(**given)
            return turn(**given)

        return pre_llm_call

    def _began(
        self, session_id: Any = "", turn_id: Any = "", model: Any = "", parent_session_id: Any = "", **_: Any
    ) -> None:
        session, turn = _word(session_id), _word(turn_id)
        if not session or hostinfo.in_background_review() or _word(parent_session_id) == session:
            return
        if not self._session:
            self._session = session
            self._write(
                type="system", subtype="init", model=_word(model), session_id=session, produced_by=PRODUCED_BY
            )
        elif session != self._session:
            return  # a delegated child
        self._turns.add(turn)
        self._write(note="turn", session_id=session)

    def _called(
        self, tool_name: Any = "", args: Any = None, tool_call_id: Any = "", turn_id: Any = "", **_: Any
    ) -> None:
        call = _word(tool_call_id)
        if turn_id not in self._turns or not call:
            return
        self._shown.add(call)
        event: dict[str, Any] = {"type": "tool_use", "name": _word(tool_name) or "unknown", "tool_call_id": call}
        if isinstance(args, dict):
            event["input"] = args
        self._write(**event)

    def _returned(
        self,
        tool_name: Any = "",
        args: Any = None,
        result: Any = None,
        tool_call_id: Any = "",
        turn_id: Any = "",
        status: Any = None,
        error_type: Any = None,
        duration_ms: Any = None,
        **_: Any,
    ) -> None:
        call = _word(tool_call_id)
        if turn_id not in self._turns or call not in self._shown:
            return
        judged = outcome.judge(_word(tool_name), args, result, status, error_type, None, duration_ms)
        if judged.status == CANCELLED:
            return  # given up, outcome unknown: it stays without a result, as in the host's own stream
        self._shown.discard(call)
        said = "" if result is None else str(result)
        self._write(
            type="tool_result",
            name=_word(tool_name) or "unknown",
            tool_call_id=call,
            output=said if len(said) <= OUTPUT_MOST else said[:OUTPUT_MOST] + "...",
            duration_ms=duration_ms if isinstance(duration_ms, int) else 0,
            is_error=judged.status != CONFIRMED,
        )

    def _model_said(self, turn_id: Any = "", assistant_message: Any = None, usage: Any = None, **_: Any) -> None:
        """One answer of the model, with or without tool calls: hosts of that age tell plugins of whole answers only."""
        if turn_id not in self._turns:
            return
        text = getattr(assistant_message, "content", None)
        if isinstance(text, str) and text:
            self._write(type="text", text=text)
        counts = usage if isinstance(usage, dict) else {}
        self._write(note="usage", **{name: value for name, value in counts.items() if type(value) is int})

    def _provider_failed(self, turn_id: Any = "", status_code: Any = None, error: Any = None, **_: Any) -> None:
        if turn_id in self._turns:
            said = error.get("message") if isinstance(error, dict) else None
            code = f"HTTP {status_code}" if isinstance(status_code, int) else ""
            self._write(note="trouble", text=str(said or "").strip() or code, code=code)

    def _answered(self, turn_id: Any = "", assistant_response: Any = None, **_: Any) -> None:
        if turn_id in self._turns and isinstance(assistant_response, str):
            self._write(note="answer", text=assistant_response)

    def _ended(self, session_id: Any = "", turn_id: Any = "", **given: Any) -> None:
        # An interrupt outside of a turn's own end may come without the turn's id.
        if turn_id in self._turns or (not turn_id and session_id == self._session):
            words = {name: given.get(name) for name in ("completed", "interrupted", "failed")}
            self._write(note="end", session_id=_word(session_id), why=_word(given.get("turn_exit_reason")), **words)

    def _write(self, **line: Any) -> None:
        """Append one line. A plain file: it never makes the agent wait for a reader."""
        line["timestamp"] = time.time_ns() // 1_000_000
        data = (json.dumps(line, default=str, skipkeys=True) + "\n").encode()
        with self._lock:
            # Opened each time: hooks also run in forked children, and nothing must stay open in a tool's process.
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            try:
                os.write(descriptor, data)
            finally:
                os.close(descriptor)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _quietly(name: str, hook: Hook) -> Hook:
    """``hook`` without its errors: current hosts block the user's tool when a pre hook raises."""

    def observe(**given: Any) -> None:
        try:
            hook(**given)
        except Exception as error:
            log.warn(f"run:{name}", "an event of this run was not written (%s: %s)", type(error).__name__, error)

    return observe
