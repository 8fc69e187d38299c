"""What `status` and `doctor` say of the policy: mode, file, rules, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..policy import load
from ..policy.state import FROM_LAST_GOOD, PolicyFiles, State
from ..settings import Settings
from ..store.refusals import NOT_HONOURED
from .checks import FAIL, OK, WARN, Check
from .text import plural, safe


@dataclass(frozen=True, slots=True)
class Guard:
    """The policy of a home as it stands. ``not_honoured``: refused calls that the host ran; ``last_error``: of
    judging."""

    path: str
    state: State
    not_honoured: int
    last_error: str

    @property
    def rules(self) -> int:
        return len(self.state.policy.rules) if self.state.policy is not None else 0

    @property
    def sha256(self) -> str:
        return self.state.policy.sha256 if self.state.policy is not None else ""


def look(home: str, settings: Settings, meta: Mapping[str, str]) -> Guard:
    """Read the policy files as a hook would, without keeping anything."""
    files = PolicyFiles(home, settings, remembers=False)
    count = meta.get(NOT_HONOURED, "0")
    return Guard(files.path, files.look(), int(count) if count.isdigit() else 0, meta.get("policy_error", ""))


def as_json(guard: Guard) -> dict[str, Any]:
    state = guard.state
    return {
        "mode": state.mode,
        "mode_from": state.mode_from or None,
        "path": guard.path,
        "in_force": state.policy_from or None,
        "sha256": guard.sha256 or None,
        "rules": guard.rules,
        "broken": state.broken,
        "problems": list(state.problems),
        "not_honoured": guard.not_honoured,
        "last_error": guard.last_error or None,
    }


def lines(guard: Guard) -> list[str]:
    """Lines for `status`."""
    found = [f"policy    {_in_short(guard)}"]
    found += [f"problem   {safe(text)}" for text in guard.state.problems[:5]]
    if len(guard.state.problems) > 5:
        found.append(f"problem   and {len(guard.state.problems) - 5} more")
    if guard.not_honoured:
        found.append(
            f"alarm     {plural(guard.not_honoured, 'refused call')} ran all the same: the host did not honour the"
            " refusal; the rows are marked not_honoured"
        )
    if guard.last_error:
        found.append(f"trouble   a call could not be judged, so it ran: {safe(guard.last_error)}")
    return found


def check(guard: Guard) -> Check:
    """One check for `doctor`."""
    problems, short = guard.state.problems, _in_short(guard)
    if guard.not_honoured:
        ran = plural(guard.not_honoured, "refused call")
        return Check("policy", FAIL, f"{short}; {ran} ran all the same: the host did not honour the refusal",
                     "look for rows marked not_honoured, and update Hermes")  # fmt: skip
    if problems:
        return Check("policy", FAIL if guard.state.broken else WARN, f"{short}; {'; '.join(problems)}",
                     "correct the file; until then what is said above is in force")  # fmt: skip
    if guard.last_error:
        return Check("policy", WARN, f"{short}; could not judge: {guard.last_error}", "report this error")
    return Check("policy", OK, short)


def _in_short(guard: Guard) -> str:
    state = guard.state
    if not state.active:
        return "off" + (f" ({safe(state.mode_from)})" if state.mode_from and not state.broken else "")
    if state.policy is None:
        return f"{state.mode}, but no policy is in force"
    which = guard.path + (load.LAST_GOOD if state.policy_from == FROM_LAST_GOOD else "")
    return f"{state.mode}, {plural(guard.rules, 'rule')} of {safe(which)} (sha256 {guard.sha256[:12]})"
