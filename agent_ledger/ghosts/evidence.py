"""Probes: is the effect of an unconfirmed call there? Read-only, bounded, and never more certain than what they saw."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..model import APPLIED, NONE, UNKNOWN, parse_iso
from ..store import readonly
from . import footprint, owner

BUDGET_S = 0.05  # for all probes of one turn together
MOST_BYTES = 8 * 1024 * 1024
_LOCAL = ("", "local")


@dataclass(frozen=True, slots=True)
class Subject:
    """A call to look after, as its row has it."""

    id: int
    ts: str
    tool_name: str
    args_json: str
    probe_json: str
    backend: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe saw: ``effect`` applied, none or unknown, and the words for it."""

    effect: str
    saw: str


CANNOT_TELL = "cannot tell"
_TELL_NOTHING = Finding(UNKNOWN, CANNOT_TELL)


def look(subjects: Sequence[Subject], home: str, key: bytes | None, budget_s: float = BUDGET_S) -> dict[int, Finding]:
    """Probe what can be probed, within ``budget_s`` in all; row id -> finding.

    The work runs in a thread that is abandoned, not awaited, when a mount hangs.
    """
    chosen = [subject for subject in subjects if subject.tool_name in _PROBES and subject.backend in _LOCAL]
    if not chosen:
        return {}
    found: dict[int, Finding] = {}

    def work() -> None:
        for subject in chosen:
            found[subject.id] = _probe(subject, home, key)

    thread = threading.Thread(target=work, name="agent-ledger-probe", daemon=True)
    try:
        thread.start()
        thread.join(budget_s)
    except RuntimeError:  # no thread to be had: then nothing was seen
        pass
    seen = dict(found)
    return {subject.id: seen.get(subject.id, _TELL_NOTHING) for subject in chosen}


def _probe(subject: Subject, home: str, key: bytes | None) -> Finding:
    try:
        args = json.loads(subject.args_json)
        probe = json.loads(subject.probe_json) if subject.probe_json else {}
        if not isinstance(args, dict) or not isinstance(probe, dict):
            return _TELL_NOTHING
        return _PROBES[subject.tool_name](subject, args, probe, home, key)
    except Exception:  # whatever a file holds, a probe never does harm
        return _TELL_NOTHING


# --- files


def _wrote_file(subject: Subject, args: dict[str, Any], probe: dict[str, Any], home: str, key: bytes | None) -> Finding:
    if key is None or "hash" not in probe:
        return _TELL_NOTHING
    data = read_plain(probe["path"])
    if data is None:
        return _TELL_NOTHING
    if len(data) == probe["size"] and footprint.keyed_hash(data, key) == probe["hash"]:
        return Finding(APPLIED, "the file holds exactly that content")
    return Finding(UNKNOWN, f"{CANNOT_TELL}: the file holds other content")


def _patched(subject: Subject, args: dict[str, Any], probe: dict[str, Any], home: str, key: bytes | None) -> Finding:
    old = _genuine(args, footprint.OLD_NAMES, probe.get("old"), key)
    new = _genuine(args, footprint.NEW_NAMES, probe.get("new"), key)
    data = read_plain(probe.get("path", ""))
    if not old or not new or data is None:
        return _TELL_NOTHING
    if new in data and old not in data:
        return Finding(APPLIED, "the file has the new text and no longer the old")
    return _TELL_NOTHING


def _genuine(args: dict[str, Any], names: Sequence[str], wanted: Any, key: bytes | None) -> bytes:
    """One side of an edit from the row, where it was neither cut nor redacted: its hash tells."""
    for name in names:
        text = args.get(name)
        if isinstance(text, str) and key is not None:
            data = text.encode("utf-8", "surrogatepass")
            return data if footprint.keyed_hash(data, key) == wanted else b""
    return b""


def read_plain(path: Any) -> bytes | None:
    """The content of a regular file of at most 8 MiB, None for anything else.

    The path is walked by folder handles and no link is followed, so what is read is what was named at the time of the
    call. Opening does not block, whatever waits at the other end.
    """
    if not isinstance(path, str) or not os.path.isabs(path) or "\0" in path:
        return None
    parts = [part for part in path.split("/") if part]
    if not parts or ".." in parts:
        return None
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        at = os.open("/", flags | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        for part in parts[:-1]:
            below = os.open(part, flags | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        file = os.open(parts[-1], flags | os.O_NONBLOCK, dir_fd=at)
    except OSError:
        return None
    finally:
        with contextlib.suppress(OSError):
            os.close(at)
    with os.fdopen(file, "rb") as opened:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            return None
        return opened.read(MOST_BYTES + 1)


# --- scheduled jobs: <home>/cron/jobs.json, the same format in every supported host


def _scheduled(subject: Subject, args: dict[str, Any], probe: dict[str, Any], home: str, key: bytes | None) -> Finding:
    jobs = _jobs(home)
    action = str(args.get("action", "")).strip().lower()
    if jobs is None:
        return _TELL_NOTHING
    if action == "create":
        name = args.get("name")
        if not isinstance(name, str) or not name.strip():
            return _TELL_NOTHING
        issued = parse_iso(subject.ts)
        made = [job for job in jobs if job.get("name") == name.strip() and _not_before(job.get("created_at"), issued)]
        if made:
            return Finding(APPLIED, "a job of that name was created then")
        if any(job.get("name") == name.strip() and _unreadable(job.get("created_at")) for job in jobs):
            return _TELL_NOTHING
        # A job that runs once leaves the file after its run, so only a repeating schedule makes absence certain.
        if not _repeats(args):
            return _TELL_NOTHING
        older = any(job.get("name") == name.strip() for job in jobs)
        return Finding(NONE, "no such job was created then" if older else "no such job exists")
    if action == "remove":
        wanted = next((str(args[n]) for n in ("job_id", "id", "name") if isinstance(args.get(n), str) and args[n]), "")
        if not wanted:
            return _TELL_NOTHING
        if any(job.get("id") == wanted for job in jobs):
            return Finding(NONE, "that job still exists")
        if any(job.get("name") == wanted for job in jobs):
            return Finding(UNKNOWN, f"{CANNOT_TELL}: a job of that name still exists")
        return Finding(APPLIED, "no such job exists")
    return _TELL_NOTHING


def _jobs(home: str) -> list[dict[str, Any]] | None:
    path = os.path.join(os.path.realpath(home), "cron", "jobs.json")
    if not os.path.lexists(path):
        # No file means no jobs, as long as the home itself is there to look into.
        return [] if os.path.isdir(home) else None
    data = read_plain(path)
    if data is None:
        return None
    found = json.loads(data)
    jobs = found.get("jobs") if isinstance(found, dict) else None
    return [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else None


def _repeats(args: dict[str, Any]) -> bool:
    """True for a cron expression or ``every ...``: other schedules run once and then vanish."""
    schedule = args.get("schedule")
    if not isinstance(schedule, str) or "repeat" in args:
        return False
    words = schedule.strip().lower().split()
    return len(words) == 5 or (len(words) > 1 and words[0] == "every")


def _not_before(stamp: Any, issued: float | None) -> bool:
    created = parse_iso(stamp) if isinstance(stamp, str) else None
    return created is not None and issued is not None and created >= issued - 1


def _unreadable(stamp: Any) -> bool:
    return not isinstance(stamp, str) or parse_iso(stamp) is None


# --- kanban: the board's SQLite file, shared by all profiles


def _carded(subject: Subject, args: dict[str, Any], probe: dict[str, Any], home: str, key: bytes | None) -> Finding:
    path = _board(home, args)
    if path is None or not os.path.isfile(path):
        return _TELL_NOTHING
    with contextlib.closing(readonly.connect(path, 0.02)) as board:
        if subject.tool_name == "kanban_create":
            title, issued = args.get("title"), parse_iso(subject.ts)
            if not isinstance(title, str) or issued is None:
                return _TELL_NOTHING
            count = board.execute(
                "SELECT count(*) FROM tasks WHERE title = ? AND created_at >= ?", (title.strip(), int(issued) - 1)
            ).fetchone()[0]
            return (
                Finding(APPLIED, "a card of that title was created then")
                if count
                else Finding(NONE, "no such card exists")
            )
        wanted = {"kanban_complete": "done", "kanban_block": "blocked"}[subject.tool_name]
        card = next((args[n] for n in ("task_id", "id", "card_id") if isinstance(args.get(n), str)), None)
        row = board.execute("SELECT status FROM tasks WHERE id = ?", (card,)).fetchone() if card else None
    if row is None:
        return _TELL_NOTHING
    if row[0] == wanted:
        return Finding(APPLIED, f"the card is {wanted}")
    return Finding(UNKNOWN, f"{CANNOT_TELL}: the card is not {wanted}")


def _board(home: str, args: dict[str, Any]) -> str | None:
    pinned = os.environ.get("HERMES_KANBAN_DB")
    if pinned:
        return pinned
    root = os.environ.get("HERMES_KANBAN_HOME")
    if not root:
        # A profile's home lies under <root>/profiles/<name>; the boards belong to the root.
        above = os.path.dirname(home)
        root = os.path.dirname(above) if os.path.basename(above) == "profiles" else home
    name = args.get("board") or os.environ.get("HERMES_KANBAN_BOARD") or _current_board(root)
    if not isinstance(name, str) or name in ("", "default"):
        return os.path.join(root, "kanban.db")
    if "/" in name or name.startswith("."):
        return None
    return os.path.join(root, "kanban", "boards", name, "kanban.db")


def _current_board(root: str) -> str:
    data = read_plain(os.path.join(os.path.realpath(root), "kanban", "current"))
    return data.decode("utf-8", "replace").strip() if data else ""


# --- background commands


def still_running(probe_json: str) -> bool | None:
    """Whether the process of a background command still runs; None where that cannot be known."""
    try:
        probe = json.loads(probe_json)
        pid, started = probe["pid"], probe["start"]
        same = probe["boot"] == owner.boot_id() and probe["ns"] == owner.pid_namespace(os.getpid())
    except (ValueError, TypeError, KeyError):
        return None
    if not same or not probe["boot"] or type(pid) is not int:
        return None
    return bool(owner.start_ticks(pid) == started)


_PROBES: dict[str, Callable[[Subject, dict[str, Any], dict[str, Any], str, bytes | None], Finding]] = {
    "write_file": _wrote_file,
    "patch": _patched,
    "cronjob": _scheduled,
    "cronjob_manage": _scheduled,
    "kanban_create": _carded,
    "kanban_complete": _carded,
    "kanban_block": _carded,
}
