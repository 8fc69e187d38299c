"""A policy from its file: who may have written it, what it says, and the last good one beside it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from dataclasses import dataclass
from typing import Any, NoReturn

from ..settings import no_duplicates
from . import examples, validate
from .rules import Policy

MAX_FILE = 1024 * 1024
CHECK_S = 0.3  # what a hook may spend on a policy's examples
MODES = ("off", "dry_run", "enforce")
LAST_GOOD = ".last-good"


class Broken(Exception):
    """A file that does not count; ``str()`` says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a policy file holds. ``policy`` is None where the file as a whole cannot be used; ``problems`` also name the
    rules that were refused by their own examples."""

    policy: Policy | None
    problems: tuple[str, ...] = ()


def read(path: str, most: int = MAX_FILE) -> bytes:
    """The content of a plain file of this user (or root) that nobody else may write. Raises Broken; FileNotFoundError
    where there is none."""
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise
    except OSError as error:
        mend = f"chmod 600 {path}" if error.errno in (errno.EACCES, errno.EPERM) else "look at the file and its disk"
        raise Broken(f"{path} cannot be read ({error.strerror}), so it does not count; {mend}") from error
    try:
        _check_owner(path, os.fstat(descriptor), most)
        with open(descriptor, "rb", closefd=False) as file:
            raw = file.read(most + 1)
    except OSError as error:
        raise Broken(f"{path} cannot be read ({error.strerror}); look at the file and its disk") from error
    finally:
        os.close(descriptor)
    if len(raw) > most:
        raise Broken(f"{path} has more than {most} bytes; that is the most")
    return raw


def _check_owner(path: str, status: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Broken(f"{path} is no plain file, so it does not count; put a file there")
    if hasattr(os, "geteuid") and status.st_uid not in (os.geteuid(), 0):
        raise Broken(f"{path} belongs to another user (uid {status.st_uid}), so it does not count; make it yours")
    if os.name != "nt" and status.st_mode & 0o022:
        raise Broken(f"{path} can be written by others, so it does not count; fix it with: chmod 600 {path}")
    if status.st_size > most:
        raise Broken(f"{path} has {status.st_size} bytes, so it does not count; {most} are the most")


def parse(raw: bytes, path: str, budget_s: float = float("inf")) -> Loaded:
    """A policy from its bytes; ``path`` is for messages. Never raises."""
    try:
        text = raw.decode("utf-8-sig")  # editors on Windows begin a file with a byte order mark; it says nothing
        found = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=_no_constant)
        made, problems = validate.rules_of(found)
    except UnicodeDecodeError as error:
        coding = "it looks like UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else f"byte {error.start}"
        return Loaded(None, (f"{path} is not UTF-8 ({coding}); save it as UTF-8",))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        cut = " (is it cut off?)" if error.pos >= len(text.rstrip()) - 1 else ""
        return Loaded(None, (f"{path} is not JSON: {error.msg} at {where}{cut}",))
    except (ValueError, RecursionError) as error:
        told = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return Loaded(None, (f"{path} is not usable JSON: {told}",))
    if problems:
        return Loaded(None, tuple(f"{path}: {problem}" for problem in problems))
    kept, failed = examples.check(made, budget_s)
    policy = Policy.of(tuple(kept), hashlib.sha256(raw).hexdigest())
    return Loaded(policy, tuple(f"{path}: {problem}" for problem in failed))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def mode_in(raw: bytes, path: str) -> str:
    """The mode that the file ``policy_mode`` says. Raises Broken."""
    text = raw.decode("utf-8-sig", "replace").strip()
    if text in MODES:
        return text
    lower = text.lower().replace("-", "_")
    hint = f"; write {lower}" if lower in MODES else ""
    raise Broken(f"{path} says {_cut(text)}, which is no mode: one of {', '.join(MODES)} is expected{hint}")


def keep_good(path: str, raw: bytes) -> None:
    """Keep a copy of a good file beside it. What the disk refuses is left: the copy is for a later mishap."""
    target = path + LAST_GOOD
    with contextlib.suppress(OSError), open(target, "rb") as file:
        if file.read(MAX_FILE + 1) == raw:
            return
    half = f"{target}.new-{os.getpid()}"
    try:
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with open(descriptor, "wb") as file:
            file.write(raw)
        os.replace(half, target)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(half)


def last_good(path: str) -> bytes | None:
    """The copy that ``keep_good`` made; None where there is none that counts."""
    with contextlib.suppress(Broken, OSError):
        return read(path + LAST_GOOD)
    return None


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
