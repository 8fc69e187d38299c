"""What belongs to the operating-system process and must outlive a reload of the plugin.

A host may import the plugin again (a reload, a second profile, a stale copy). Rows that the old copy issued still
belong to this process, its lock file must stay held, and only one copy may act. So this state hangs on a module object
of its own in ``sys.modules``, as plain values that any version of the plugin can read.
"""

from __future__ import annotations

import os
import sys
import threading
import types
from typing import Any

_NAME = "_agent_ledger_process"
_first_use = threading.Lock()


def registry() -> Any:
    """The process-wide state, made on first use.

    Attributes: ``stamp`` (another object after each registration and in a forked child: whatever was looked up before
    must be looked up again), ``generation`` (another object in a forked child), ``lock``, ``copies`` (home -> token of
    the newest copy registered there), ``newest`` (token), ``owners`` (folder -> (owner id, descriptor or None)),
    ``connections`` (path
    -> shared connection state), ``spools`` (folder -> spool state), ``abandoned`` (connections that must never be
    closed).
    """
    found = sys.modules.get(_NAME)
    if found is not None:
        return found
    with _first_use:
        found = sys.modules.get(_NAME)
        if found is None:
            found = types.ModuleType(_NAME, "State of agent-ledger in this process.")
            found.abandoned = []  # type: ignore[attr-defined]
            found.copies = {}  # type: ignore[attr-defined]
            found.newest = None  # type: ignore[attr-defined]
            _fresh(found)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_after_fork)
            sys.modules[_NAME] = found
    return found


def _fresh(state: Any) -> None:
    state.generation = state.stamp = object()
    state.lock = threading.RLock()
    state.owners = {}
    state.connections = {}
    state.spools = {}


def _after_fork() -> None:
    """In a forked child: nothing of the parent's may be used.

    SQLite forbids carrying a connection across fork, and closing it here would act on the parent's files, so it is kept
    unused. Our copy of the parent's lock descriptor is closed, or the parent would look alive as long as this child is.
    """
    state: Any = sys.modules.get(_NAME)
    if state is None:
        return
    state.abandoned.extend(state.connections.values())
    for _, descriptor in state.owners.values():
        if descriptor is not None:
            try:
                os.close(descriptor)
            except OSError:
                pass
    _fresh(state)


def claim(home: str, token: object) -> None:
    """Make ``token`` the acting copy: for ``home``, and for every home where no copy was registered."""
    state = registry()
    with state.lock:
        state.copies[home] = token
        state.newest = token
        state.stamp = object()


def acts(home: str, token: object) -> bool:
    """True where the copy ``token`` is the one that handles hooks of ``home``.

    Current hosts load one copy a profile, older ones one copy for all: the newest copy that was registered under this
    very home acts, and where none was, the newest of all.
    """
    state = registry()
    return state.copies.get(home, state.newest) is token
