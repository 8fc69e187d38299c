"""The four hook handlers: host keywords in, host shape out. They never raise and hold no logic of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from . import hostinfo, log, process, reads, runtime
from .digest import clean_id
from .home import hermes_home
from .model import Turn
from .recorder import Ids
from .store.db import release_owned
from .store.patience import LOCK_WAIT_S
from .tools import READ_ONLY, READ_ONLY_TOOLS

_MOST_ISSUED = 4096


class Hooks:
    """The callbacks of one loaded copy of the plugin. Where it was loaded twice, only the newest copy acts."""

    def __init__(self, host_settings: Callable[[], Any] | None = None) -> None:
        self._host_settings = host_settings
        self._process = process.registry()
        # home -> (stamp of the process, its runtime, or None where another copy acts)
        self._found: dict[str, tuple[object, runtime.Runtime | None]] = {}
        # A tool that only reads is dealt with before the home is asked for, unless some home's settings say that such a
        # tool changes something, or some home may have a policy. A turn begins with pre_llm_call, so a home is known
        # before its tools run.
        self._reads_by_name = False
        self._may_judge_reads: Callable[[], bool] = lambda: False
        self._judged = False  # policy was in force once, so that a call that only reads may have a row
        # ids and tool of a call -> (stamp of the process, or None where unsure; the runtime that recorded it)
        self._issued: dict[tuple[str, ...], tuple[object, runtime.Runtime]] = {}
        process.claim(hermes_home(), self)

    def pre_tool_call(
        self,
        tool_name: Any = "",
        args: Any = None,
        task_id: Any = "",
        session_id: Any = "",
        tool_call_id: Any = "",
        turn_id: Any = "",
        **_: Any,
    ) -> dict[str, str] | None:
        """Record a call before it runs. Returns None, or a refusal: only policy ever refuses, and nothing changes a
        call."""
        try:
            if (
                self._reads_by_name
                and type(tool_name) is str
                and tool_name in READ_ONLY_TOOLS
                and not self._may_judge_reads()
            ):
                reads.note(session_id, tool_name)
                return None
            serving = self._runtime()
            if serving is None or not isinstance(tool_name, str) or not tool_name:
                return None
            judging = serving.judging()
            recorder = serving.recorder
            kind = recorder.classify(tool_name, args)
            if judging is None and not recorder.records(kind):
                if kind is READ_ONLY:
                    reads.note(session_id, tool_name)
                return None
            ids = Ids.of(session_id, task_id, turn_id, tool_call_id)
            self._note_issued(ids, tool_name, serving)
            deadline = time.monotonic() + LOCK_WAIT_S
            if judging is None:
                recorder.announce(kind, clean_id(tool_name), args, ids, deadline)
                return None
            self._judged = True
            message = serving.guard(judging, kind, clean_id(tool_name), args, ids, deadline)
            return {"action": "block", "message": message} if message else None
        except BaseException as error:
            _swallow("pre_tool_call", error)
        return None

    def post_tool_call(
        self,
        tool_name: Any = "",
        args: Any = None,
        result: Any = None,
        task_id: Any = "",
        session_id: Any = "",
        tool_call_id: Any = "",
        turn_id: Any = "",
        status: Any = None,
        error_type: Any = None,
        error_message: Any = None,
        duration_ms: Any = None,
        **_: Any,
    ) -> None:
        """Record what the host says came of a call."""
        try:
            if self._reads_by_name and type(tool_name) is str and tool_name in READ_ONLY_TOOLS and not self._judged:
                return
            ids = Ids.of(session_id, task_id, turn_id, tool_call_id)
            serving = self._issuer(ids, tool_name) or self._runtime()
            if serving is not None and isinstance(tool_name, str) and tool_name:
                serving.recorder.settle(
                    clean_id(tool_name), args, ids, time.monotonic() + LOCK_WAIT_S,
                    result, status, error_type, error_message, duration_ms,
                )  # fmt: skip
        except BaseException as error:
            _swallow("post_tool_call", error)

    def pre_llm_call(
        self,
        session_id: Any = "",
        user_message: Any = None,
        conversation_history: Any = None,
        task_id: Any = "",
        turn_id: Any = "",
        parent_session_id: Any = "",
        platform: Any = "",
        **_: Any,
    ) -> dict[str, str] | None:
        """Tell the conversation what it issued and nobody confirmed: ``{"context": text}``, or None."""
        try:
            serving = self._runtime()
            if serving is None or hostinfo.in_background_review() or parent_session_id == session_id != "":
                # A background review works under the conversation's own id; it must not use up the conversation's
                # notice.
                return None
            ids = Ids.of(session_id, task_id, turn_id, parent_session_id)
            serving.recorder.note_platform(ids.session, platform)
            serving.recorder.look_around()
            surface = platform if isinstance(platform, str) else ""
            turn = Turn(ids.session, ids.turn, ids.call, user_message, conversation_history, surface)
            text = serving.notice(turn, ids)
            return {"context": text} if text else None
        except BaseException as error:
            _swallow("pre_llm_call", error)
            return None

    def on_session_start(self, session_id: Any = "", platform: Any = "", **_: Any) -> None:
        """Take in what earlier processes left behind."""
        try:
            serving = self._runtime()
            if serving is not None:
                serving.recorder.note_platform(Ids.of(session_id, "", "", "").session, platform)
                serving.session_started()
        except BaseException as error:
            _swallow("on_session_start", error)

    def _note_issued(self, ids: Ids, tool_name: str, serving: runtime.Runtime) -> None:
        """Remember which home a call was issued in: its post belongs there, and need not ask the host once more."""
        if len(self._issued) >= _MOST_ISSUED:
            self._issued.clear()
        key = (*ids, tool_name)
        known = self._issued.setdefault(key, (self._process.stamp, serving))
        if known[1] is not serving:  # the same ids in two homes: then the host has to say
            self._issued[key] = (None, serving)

    def _issuer(self, ids: Ids, tool_name: Any) -> runtime.Runtime | None:
        """What serves the home in which this call was issued; None where that is not certain."""
        known = self._issued.pop((*ids, tool_name), None) if type(tool_name) is str else None
        return known[1] if known is not None and known[0] is self._process.stamp else None

    def _runtime(self) -> runtime.Runtime | None:
        """What serves the current home; None where a newer copy of the plugin does."""
        home = hermes_home()
        found = self._found.get(home)
        if found is not None and found[0] is self._process.stamp:
            return found[1]
        stamp = self._process.stamp
        serving = runtime.for_home(home, self._host_settings) if process.acts(home, self) else None
        self._found[home] = (stamp, serving)
        serving_all = [one for _, one in self._found.values() if one is not None]
        self._reads_by_name = bool(serving_all) and not any(one.settings.changing_tools for one in serving_all)
        questions = [one.may_judge_reads for one in serving_all]
        self._may_judge_reads = questions[0] if len(questions) == 1 else lambda: any(ask() for ask in questions)
        return serving


def _swallow(hook: str, error: BaseException) -> None:
    """Log what went wrong; current hosts block the user's tool when a pre hook raises.

    Only a real Ctrl-C or exit passes: older hosts run hooks on the main thread, where the user's interrupt arrives.
    """
    if not isinstance(error, Exception) and threading.current_thread() is threading.main_thread():
        release_owned()
        raise error
    try:
        log.warn(
            f"{hook}:{type(error).__name__}", "%s failed (%s: %s); the call runs", hook, type(error).__name__, error
        )
    except Exception:
        log.warn(f"{hook}:unprintable", "%s failed with an error that cannot be printed; the call runs", hook)
