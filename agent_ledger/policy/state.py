"""Which policy is in force in a home, and how: looked at on every call by the metadata of two files, read when those
change, never parsed twice."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass

from .. import log
from ..home import data_folder
from ..settings import Settings
from . import load
from .load import Broken
from .rules import Policy

POLICY_FILE = "policy.json"
MODE_FILE = "policy_mode"
MOST_MODE = 4096  # bytes
# Two writes within this time can leave the same metadata, so a file that young is compared by content once more.
_YOUNG_NS = 50_000_000
_WAIT_S = 0.5

OFF, DRY_RUN, ENFORCE = load.MODES
FROM_FILE, FROM_LAST_GOOD, NOWHERE = "file", "last good", ""


@dataclass(frozen=True, slots=True)
class State:
    """``mode`` in force and where it comes ``mode_from``; the ``policy`` in force (None for none) and whether it comes
    ``policy_from`` the file or is the last good one; what is wrong. ``broken``: a file does not count as a whole."""

    mode: str = OFF
    mode_from: str = ""
    policy: Policy | None = None
    policy_from: str = NOWHERE
    problems: tuple[str, ...] = ()
    broken: bool = False

    @property
    def active(self) -> bool:
        return self.mode != OFF

    @property
    def enforces(self) -> bool:
        return self.mode == ENFORCE


class PolicyFiles:
    """The policy files of one home. ``remembers``: keep good copies on disk, which hooks do and commands do not."""

    def __init__(self, home: str, settings: Settings, remembers: bool = True) -> None:
        folder = data_folder(home)
        self.path = os.path.join(folder, POLICY_FILE)
        self.mode_path = os.path.join(folder, MODE_FILE)
        self._fixed = settings.policy_mode if settings.policy_mode != "file" else ""
        self._fixed_from = settings.sources.get("policy_mode", "")
        self._remembers = remembers
        self._budget_s = load.CHECK_S if remembers else float("inf")
        self._lock = threading.Lock()
        self._mode_stamp: object = None
        self._policy_stamp: object = None
        self._young = True
        self._mode_raw: bytes | None = None  # what was read last; None where nothing that counts was
        self._policy_raw: bytes | None = None
        self._mode = (OFF, "", "")  # mode, where from, problem
        self._good_mode = ""
        self._policy: tuple[Policy | None, str, tuple[str, ...], bool] = (None, NOWHERE, (), False)
        self._state: State | None = None

    def look(self) -> State:
        """What is in force now. Costs two ``stat`` where nothing changed."""
        state = self._state
        if state is not None and not self._young:
            mode_is_same = self._fixed or _stamp(self.mode_path) == self._mode_stamp
            if mode_is_same and (state.mode == OFF or _stamp(self.path) == self._policy_stamp):
                return state
        # A thread that comes while another one reads goes on with what was in force; only the first must wait.
        if not self._lock.acquire(timeout=_WAIT_S if state is None else 0):
            return state or State()
        try:
            self._state = self._read()
            return self._state
        finally:
            self._lock.release()

    def _read(self) -> State:
        self._young = False
        before = self._state
        if self._fixed:
            self._mode = (self._fixed, self._fixed_from, "")
        else:
            self._read_mode()
        mode, mode_from, problem = self._mode
        if mode == OFF:
            state = State(OFF, mode_from, problems=(problem,) if problem else (), broken=bool(problem))
        else:
            self._read_policy()
            policy, policy_from, problems, broken = self._policy
            told = (problem, *problems) if problem else problems
            state = State(mode, mode_from, policy, policy_from, told, broken or bool(problem))
        if self._remembers and (before is None or before.problems != state.problems):
            for text in state.problems[:5]:
                log.warn(f"policy:{text}", "%s%s", text, _in_force(state))
        return before if before == state else state

    def _read_mode(self) -> None:
        stamp = _stamp(self.mode_path)
        self._note_age(stamp)
        try:
            raw = load.read(self.mode_path, MOST_MODE)
            if raw != self._mode_raw:
                self._mode = (load.mode_in(raw, self.mode_path), self.mode_path, "")
                self._good_mode, self._mode_raw = self._mode[0], raw
                if self._remembers:
                    load.keep_good(self.mode_path, raw)
        except FileNotFoundError:
            self._mode, self._good_mode, self._mode_raw = (OFF, "", ""), OFF, None
        except (Broken, OSError) as wrong:
            self._good_mode = self._good_mode or _mode_of(load.last_good(self.mode_path))
            self._mode, self._mode_raw = (self._good_mode, FROM_LAST_GOOD, str(wrong)), None
        self._mode_stamp = stamp

    def _read_policy(self) -> None:
        stamp = _stamp(self.path)
        self._note_age(stamp)
        try:
            raw = load.read(self.path)
            if raw != self._policy_raw:
                self._take(raw)
                self._policy_raw = raw
        except FileNotFoundError:
            self._policy_raw = None
            self._fall_back((f"there is no {self.path}, and the mode is {self._mode[0]}; put a policy there",))
        except (Broken, OSError) as wrong:
            self._policy_raw = None
            self._fall_back((str(wrong),))
        self._policy_stamp = stamp

    def _take(self, raw: bytes) -> None:
        loaded = load.parse(raw, self.path, self._budget_s)
        if loaded.policy is None:
            self._fall_back(loaded.problems)
            return
        self._policy = (loaded.policy, FROM_FILE, loaded.problems, False)
        if self._remembers and not loaded.problems:
            load.keep_good(self.path, raw)

    def _fall_back(self, problems: tuple[str, ...]) -> None:
        """The policy in force stays; a process that has none yet takes the last good one from disk."""
        policy = self._policy[0]
        if policy is None and (kept := load.last_good(self.path)) is not None:
            policy = load.parse(kept, self.path + load.LAST_GOOD, self._budget_s).policy
        self._policy = (policy, FROM_LAST_GOOD if policy is not None else NOWHERE, problems, True)

    def _note_age(self, stamp: tuple[int, ...] | None) -> None:
        if stamp is not None and time.time_ns() - max(stamp[0], stamp[1]) < _YOUNG_NS:
            self._young = True


def _stamp(path: str) -> tuple[int, ...] | None:
    """What changes when a file does; None where there is none, or nothing can be said."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (
        found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev, found.st_mode, found.st_uid,
    )  # fmt: skip


def _mode_of(raw: bytes | None) -> str:
    try:
        return load.mode_in(raw, "") if raw is not None else OFF
    except Broken:
        return OFF


def _in_force(state: State) -> str:
    if state.policy is None:
        return "; no policy is in force" if state.broken else ""
    return f"; the last good policy stays in force ({state.mode})" if state.policy_from == FROM_LAST_GOOD else ""
