"""The files of this checkout as a user would get them: listed, copied, or made into a repository to install from."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GIT_SECONDS = 60
# Nobody receives these with a clone; named here so that a checkout without its .gitignore is listed right too.
NEVER_SHIPPED = frozenset({".git", ".hosts", ".venv", "__pycache__"})


def source_files(root: Path = ROOT) -> list[Path]:
    """Paths relative to `root` of every file that git tracks or would track; all files where `root` is no checkout."""
    if (root / ".git").exists():
        listed = _git(root, "ls-files", "-co", "--exclude-standard", "-z")
        names = [Path(name) for name in listed.split("\0") if name]
    else:
        names = [path.relative_to(root) for path in root.rglob("*")]
    kept = {name for name in names if NEVER_SHIPPED.isdisjoint(name.parts) and (root / name).is_file()}
    return sorted(kept)


def export(target: Path, root: Path = ROOT) -> Path:
    """Copy the files of the checkout into the new folder `target` and return it."""
    for name in source_files(root):
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, place)
    return target


def repository(target: Path, root: Path = ROOT) -> str:
    """Make `target` a git repository with one commit of the checkout's files; returns its file:// address."""
    export(target, root)
    _git(target, "init", "--quiet")
    _git(target, "add", "--all")
    _git(target, "commit", "--quiet", "--message", "A clean copy of the plugin")
    return target.as_uri()


def _git(folder: Path, *arguments: str) -> str:
    """Run git there without the user's configuration; RuntimeError holds what git said."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Test",
        "GIT_AUTHOR_EMAIL": "test@example.invalid",
        "GIT_COMMITTER_NAME": "Test",
        "GIT_COMMITTER_EMAIL": "test@example.invalid",
    }
    # Ownership differs where a container mounts the checkout; listing files there is no risk.
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=GIT_SECONDS, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"git {arguments[0]} failed in {folder}: {done.stderr.strip()}")
    return done.stdout
