"""What the host's own modules say about the place of a call. Asked only where they are loaded already, never
imported."""

from __future__ import annotations

import os
import re
import sys

from . import digest


def in_background_review() -> bool:
    """True inside a background review or curator: a fork that works under the session id of the conversation it looks
    at. Every supported host keeps the origin in a context variable that hook threads inherit."""
    provenance = sys.modules.get("tools.skill_provenance")
    if provenance is None:
        return False
    try:
        return bool(provenance.get_current_write_origin() == "background_review")
    except Exception:  # another version of that module: nothing is known, so it counts as the conversation itself
        return False


def terminal_backend() -> str:
    """Where terminal commands run: local, docker, ssh, ...; '' where the host does not say, which means local."""
    return digest.clean_id(os.environ.get("TERMINAL_ENV", ""), 40)


def terminal_folder() -> str:
    """The folder in which the host was told to work, '' where it was not."""
    return digest.clean_id(os.environ.get("TERMINAL_CWD", ""), 1000)


def process_folder() -> str:
    """The process's own folder."""
    try:
        return digest.clean_id(os.getcwd(), 1000)
    except OSError:  # deleted under us
        return ""


def version() -> tuple[int, int, int] | None:
    """The version of the Hermes around us; None outside of one, or where it can be had only by an expensive look-up."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", str(vars(sys.modules.get("hermes_cli", object)).get("__version__", "")))
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def drops_posts() -> bool:
    """True on a host that skips a post callback while it is busy with another call."""
    known = version()
    return known is not None and (0, 20, 6) <= known < (0, 21, 4)


def loses_notice_on_merge() -> bool:
    """True on a host that merges a user message into an unanswered one before it after the plugins spoke, and drops on
    the way what they said (0.21.0: ``repair_message_sequence``)."""
    known = version()
    return known is not None and known < (0, 21, 4)


def loses_notice_after_compaction() -> bool:
    """True on a host that compacts at the beginning of a turn and then looks for the user's message where it stood
    before (0.18: the index is not moved; ``reanchor_current_turn_user_idx`` came with 0.19)."""
    known = version()
    return known is not None and known < (0, 19, 0)


def plugin_host_parent() -> int | None:
    """The pid of the Hermes process, where this one is its helper that runs plugins (0.22, ``plugins.isolation:
    host``)."""
    if os.environ.get("HERMES_PLUGIN_HOST_PROCESS") != "1":
        return None
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return os.getppid() if getattr(spec, "name", "") == "hermes_cli.plugin_host_child" else None
