"""``policy mode [off|dry_run|enforce]``: what is in force, or the operator's switch."""

from __future__ import annotations

import argparse
import contextlib
import os

from ...errors import LedgerError, UsageError
from ...home import data_folder, make_private_folder
from ...policy import load
from ...policy.state import DRY_RUN, ENFORCE, MODE_FILE, OFF
from ...settings import Settings
from .. import exits, guard, where
from ..answer import Answer
from ..output import Screen
from ..text import safe
from . import pack

_FOLLOWS = {
    OFF: ("no call is judged and none is refused", "hermes ledger policy mode dry_run"),
    DRY_RUN: ("calls are judged and recorded, and none is refused", "hermes ledger policy report"),
    ENFORCE: ("a call that a rule denies is refused before it runs", "hermes ledger policy report"),
}


def run(options: argparse.Namespace) -> Answer:
    home = where.home_of(options.ledger_home)
    chosen = where.settings_of(home)
    asked = options.ledger_mode
    before = guard.look(home, chosen, {}).state.mode
    if asked is not None:
        _may_switch(home, chosen, asked)
        _write(os.path.join(data_folder(home), MODE_FILE), asked)
    found = guard.look(home, chosen, {})
    data = guard.as_json(found) | {"changed_from": before if asked is not None and before != found.state.mode else None}

    def show(screen: Screen) -> None:
        if asked is not None:
            screen.line(f"the mode is {found.state.mode}; it counts from the next call on, in running agents too")
        for line in guard.lines(found):
            screen.line(line)
        follows, following = _FOLLOWS[found.state.mode]
        if found.state.active and found.state.policy is None:
            follows, following = "no call is judged, since there is no policy", _copy(home)
        elif not found.state.active and not os.path.lexists(found.path):
            following = f"{_copy(home)} && {following}"
        screen.line(f"so        {follows}")
        screen.line(f"next      {safe(following)}")

    return Answer(exits.OK, data, show)


def _copy(home: str) -> str:
    return f"install -D -m 600 {pack.example_path()} {os.path.join(data_folder(home), 'policy.json')}"


def _may_switch(home: str, settings: Settings, asked: str) -> None:
    """Raises UsageError where the switch would have no effect, or would enforce nothing."""
    if asked not in load.MODES:
        raise UsageError(f"there is no mode {safe(asked)!r}; it is one of {', '.join(load.MODES)}")
    if settings.policy_mode != "file":
        source = settings.sources.get("policy_mode", "the settings")
        raise UsageError(
            f"the setting policy_mode is {settings.policy_mode}, from {source}, and wins over this switch. Change it"
            " there, or set it to file"
        )
    if asked != ENFORCE:
        return
    files, state = pack.look(home, settings)
    if not os.path.lexists(files.path) and state.policy is None:
        raise UsageError(f"there is no policy to enforce. Copy one first: {_copy(home)}")
    if state.broken:
        raise UsageError(
            f"the policy is broken and will not be enforced: {state.problems[0]}. Correct it, then look with: hermes"
            " ledger policy check"
        )


def _write(path: str, mode: str) -> None:
    """The file appears whole or not at all, readable and writable by this user alone. Raises LedgerError."""
    half = f"{path}.new-{os.getpid()}"
    try:
        make_private_folder(os.path.dirname(path))
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(descriptor, f"{mode}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(half, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(half)
        raise LedgerError(f"cannot write {path} ({error.strerror}). The mode is as it was") from error
