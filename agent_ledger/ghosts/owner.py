"""Which process issued a call, and whether that process still lives."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets

try:
    import fcntl
except ImportError:  # Windows: no lock file, owners are judged by pid and start time
    fcntl = None  # type: ignore[assignment]

from .. import hostinfo, process
from ..home import make_private_folder

# pid, start time in clock ticks, boot, pid namespace, and a random part. `x` at the end: no lock file could be had.
_FORM = re.compile(r"p(\d{1,10})-s(\d{1,20})-b([0-9a-f]{0,8})-n(\d{0,20})-([0-9a-f]{8})(x?)")


def own(folder: str) -> str:
    """The id of the Hermes process that this code runs in or for; takes its lock file in ``folder`` on first use.

    The lock is held until the process ends, however it ends: it tells across containers and reused pids that the
    process is gone.
    """
    state = process.registry()
    found = state.owners.get(folder)
    if found is not None:
        return str(found[0])
    with state.lock:
        found = state.owners.get(folder)
        if found is None:
            found = state.owners[folder] = _take(folder)
        return str(found[0])


def _take(folder: str) -> tuple[str, int | None]:
    pid = hermes_pid()
    name = f"p{pid}-s{start_ticks(pid) or 0}-b{boot_id()}-n{pid_namespace(pid)}-{secrets.token_hex(4)}"
    if pid != os.getpid() or fcntl is None:
        # The plugin runs in a helper process of the host, which may be restarted while the host goes on.
        return name + "x", None
    path = os.path.join(folder, name + ".lock")
    building = path + ".new"
    try:
        make_private_folder(folder)
        descriptor = os.open(building, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return name + "x", None
    try:
        # Locked before it has its name: a lock file that nobody holds says that its owner is gone.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(building, path)
    except OSError:  # a file system without locks
        os.close(descriptor)
        with contextlib.suppress(OSError):
            os.unlink(building)
        return name + "x", None
    return name, descriptor


def is_alive(owner: str, folder: str) -> bool | None:
    """True, False, or None where it cannot be known; then only the grace period decides."""
    form = _FORM.fullmatch(owner)
    if form is None:
        return None
    held = process.registry().owners.get(folder)
    if held is not None and held[0] == owner:
        return True
    if not form[6] and fcntl is not None:
        by_lock = _locked(os.path.join(folder, owner + ".lock"))
        if by_lock is not None:
            return by_lock
    return _running(int(form[1]), int(form[2]), form[3], form[4])


def is_gone(owner: str, folder: str) -> bool:
    """True only where the process is known to have ended."""
    return is_alive(owner, folder) is False


def _locked(path: str) -> bool | None:
    """True where some process holds the lock, False where nobody does, None where there is no telling."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    try:
        # Shared, so that two judges at one moment do not take each other for the owner.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError as error:
        return True if error.errno in (errno.EAGAIN, errno.EACCES) else None
    finally:
        os.close(descriptor)


def _running(pid: int, ticks: int, boot: str, namespace: str) -> bool | None:
    here = boot_id()
    if not boot or not here or not ticks:
        return None
    if boot != here or namespace != pid_namespace(os.getpid()):
        return None  # another machine or container, or before a reboot: pids say nothing
    return start_ticks(pid) == ticks


def remove_lock_of(owner: str, folder: str) -> None:
    """Tidy up the lock file of a process that is known to be gone. From then on its pid and start time tell."""
    if _FORM.fullmatch(owner):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, owner + ".lock"))


def hermes_pid() -> int:
    """The process whose end ends the calls: this one, or the host that runs plugins in a child process."""
    return hostinfo.plugin_host_parent() or os.getpid()


def start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None where it does not run or the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name may hold spaces and parentheses, so count from the last one: proc(5), fields 3 and 22.
            fields = file.read().rpartition(b")")[2].split()
            return None if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, ValueError, IndexError):
        return None


def boot_id() -> str:
    """Eight hex digits that change with every boot of the machine, '' where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(8)
    except (OSError, ValueError):
        return ""


def pid_namespace(pid: int) -> str:
    """The inode of the pid namespace, '' where the system does not say."""
    try:
        return str(os.stat(f"/proc/{pid}/ns/pid").st_ino)
    except OSError:
        return ""
