"""Recorded calls judged again, in the order in which they came: what a policy would have said of them."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from .. import shorten
from ..redact import redact_text
from ..store.judged import Recorded
from . import judge as judgement
from .decide import Decision, decide
from .rules import Called, Policy
from .session import Session
from .world import Worlds

WHOLE, IN_PART, NOT_AT_ALL = "whole", "in part", "not at all"


class Past(NamedTuple):
    """What the policy says of one recorded call. ``judged``: whether its arguments were there ``whole``, ``in part``
    (they were cut when it was recorded) or ``not at all``, and then ``why``."""

    decision: Decision = Decision()
    judged: str = WHOLE
    why: str = ""


class Conversation:
    """One conversation, call by call. The history went as it went: what ran counts for later calls, also where this
    policy would have refused it."""

    def __init__(self, policy: Policy, worlds: Worlds) -> None:
        self._policy = policy
        self._worlds = worlds
        self._session = Session()

    def judge(self, call: Recorded) -> Past:
        """Judge the next call. Never raises."""
        args, judged, why = arguments(call)
        if judged == NOT_AT_ALL:
            self._remember(call.memory, call.ran)
            return Past(judged=judged, why=why)
        session = self._session
        session.world = self._worlds.of(call.cwd or os.path.expanduser("~"), call.backend)
        try:
            found = judgement.judge(call.tool_name, args, session)
            decision = decide(found.effects, found.commands, Called(call.tool_name, args, found.paths), self._policy)
            if call.ran:
                session.delta()
        except Exception as error:
            return Past(judged=NOT_AT_ALL, why=f"judging failed ({type(error).__name__})")
        finally:
            session.forget()
        if judged == IN_PART:
            self._remember(call.memory, call.ran)
        return Past(decision._replace(what=redact_text(decision.what)), judged)

    def _remember(self, memory: str, ran: bool) -> None:
        """Take in what the call left when it was judged whole."""
        if memory and ran:
            self._session.load([memory])


def arguments(call: Recorded) -> tuple[Any, str, str]:
    """(the recorded arguments as far as they are there, how far that is, why not further)."""
    try:
        args = json.loads(call.args_json)
    except (ValueError, TypeError, RecursionError):
        return None, NOT_AT_ALL, "the recorded arguments are no JSON"
    if not isinstance(args, dict):
        return None, NOT_AT_ALL, "the recorded arguments are no object"
    if "[unreadable]" in args:
        return None, NOT_AT_ALL, "the arguments could not be recorded"
    if len(call.args_json) == call.args_len:
        return args, WHOLE, ""
    if list(args) == ["keys"]:
        return None, NOT_AT_ALL, "only hashes of the arguments are kept (store_args: hash)"
    return shorten.without_marks(args), IN_PART, "the arguments were cut when they were recorded"
