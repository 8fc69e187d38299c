"""What a path is, to somebody who is about to delete, read or write it. Pure text: the machine resolves links."""

from __future__ import annotations

import fnmatch
import posixpath
import re

from .model import SOME, UNKNOWN

# Top-level folders of Unix, macOS and usual servers whose loss is not undone by a build.
SYSTEM = frozenset({
    "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt", "proc", "root",
    "run", "sbin", "snap", "srv", "sys", "usr", "var", "Applications", "Library", "System", "Users", "Volumes",
    "private", "nix", "data", ".snapshots", "efi", "host", "rootfs", "storage", "backup", "backups", "export", "net",
})  # fmt: skip
# Below these, what is there was made to be thrown away.
_TEMPORARY = (
    "/tmp/",
    "/var/tmp/",
    "/private/tmp/",
    "/private/var/tmp/",
    "/dev/shm/",
    "/var/folders/",
    "/private/var/folders/",
)
_DISPOSABLE_SYSTEM = (
    "/var/cache/", "/var/lib/apt/lists/", "/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/src/app/",
    "/var/lib/dnf/", "/root/.cache/", "/root/.npm/", "/var/crash/", "/usr/local/share/doc/", "/opt/buildroot/",
)  # fmt: skip
# Names of folders that a build, a package manager or a test run makes again.
_MADE_AGAIN = frozenset({
    "node_modules", "bower_components", "jspm_packages", "build", "dist", "out", "target", "coverage", "htmlcov",
    ".venv", "venv", "virtualenv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox",
    ".next", ".nuxt", ".cache", ".parcel-cache", ".turbo", ".gradle", ".terraform", ".eggs", ".dart_tool",
    ".svelte-kit", ".output", ".angular", ".sass-cache", ".nyc_output", "storybook-static", "_build", ".serverless",
    "elm-stuff", "obj", "tmp", "temp", ".tmp", "cache", "caches", "Caches", "Cache", "DerivedData", "Pods",
    ".hypothesis", ".benchmarks", "logs", "log", ".vite", "generated", ".webpack", ".docusaurus", ".expo", ".nx",
    "site-packages", ".stack-work", "dist-newstyle", ".bundle", ".ipynb_checkpoints", "lib-cov", "test-results",
    "playwright-report", "debug", "release", "Debug", "Release", ".Trash", "Trash", "_site", "public_html_build",
    ".yarn", ".pnpm-store", ".npm", "registry", "__snapshots__", "artifacts", ".aws-sam", "cdk.out", ".mypy", ".pyre",
    ".pytype", ".scannerwork", ".idea-cache", "cover", ".coverage", "results", "reports",
})  # fmt: skip
_MADE_AGAIN_PATTERN = re.compile(
    r"^(?:.*\.egg-info|cmake-build-.*|bazel-.*|build-.*|.*\.(?:pyc|pyo|o|obj|class|log|tmp|cache))$"
)
# Files without which the machine, or a login, does not work any more.
_ETC = "/etc/"
_VITAL = frozenset(
    _ETC + name
    for name in (
        "passwd shadow group gshadow fstab hosts resolv.conf ld.so.preload ld.so.conf ssh/sshd_config crypttab inittab"
        " nsswitch.conf profile environment pam.conf bashrc bash.bashrc machine-id su" "doers"
    ).split()
)
_MADE_BY_SCRIPTS = frozenset(_ETC + name for name in ("hosts", "resolv.conf", "environment", "profile", "bashrc"))
_VITAL_FOLDERS = (
    "/bin/", "/sbin/", "/lib/", "/lib64/", "/boot/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", _ETC + "pam.d/",
    _ETC + "su" "doers.d/", "/efi/", "/System/",
)  # fmt: skip
# In the home of a user: what makes a login work, or holds its keys.
_HOME_VITAL = re.compile(
    r"^\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zlogin|zshenv)$"
    r"|^\.(?:ssh|gnupg|gitconfig|aws|kube|hermes|config|password-store)(?:/|$)"
)
_WINDOWS = re.compile(r"^[A-Za-z]:(?:[\\/]|$)")
_WINDOWS_SYSTEM = re.compile(
    r"^[a-z]:/?(?:\*(?:\.\*)?)?$|^[a-z]:/(?:windows|program files(?: \(x86\))?|programdata|users)(?:/[^/]*)?/?\*?$",
    re.IGNORECASE,
)
_PROC_ROOT = re.compile(r"^/proc/(?:self|thread-self|\d+)/root(?=/|$)")
_EVERYTHING = re.compile(r"^\.?(?:\*+|\*\.\*|\?\*|\.\[!\.\]\*|\[!\.\]\*|\.\?\?\*|\[\^\.\]\*)$")


def absolute(path: str, cwd: str) -> str:
    """The path from the root, dots taken out. UNKNOWN stays in it: a path in an unknown folder begins with it."""
    if _WINDOWS.match(path):
        return path.replace("\\", "/")
    if path.startswith((".\\", "..\\")) or ("\\" in path and "/" not in path):
        path = path.replace("\\", "/")
    if not path.startswith("/") and path[:1] not in (UNKNOWN, SOME):
        path = f"{cwd}/{path}"
    if "/." in path or "//" in path or path[-1:] == "/":
        path = posixpath.normpath(path)
    if path.startswith("//"):
        path = path[1:]
    if path.startswith("/proc/"):
        path = _PROC_ROOT.sub("", path) or "/"
    return path


def covers_everything(name: str) -> bool:
    """True for a last component that matches all there is in its folder."""
    return _EVERYTHING.match(name) is not None


def is_temporary(path: str) -> bool:
    """True for temporary folders and what is in them."""
    return path.startswith(_TEMPORARY) or path in ("/tmp", "/var/tmp", "/private/tmp", "/dev/shm")


def is_made_again(path: str) -> bool:
    """True where a component of the path names what a build or a package manager makes again."""
    return any(name in _MADE_AGAIN or _MADE_AGAIN_PATTERN.match(name) for name in path.split("/") if name)


def danger_of_deleting(path: str, home: str, project: str, recursive: bool, place: str) -> str:
    """Why deleting this absolute path would be a disaster, '' where it would not.

    ``recursive``: whole trees, or all in a folder. A glob may stand in the path. ``place``: 'here', or elsewhere,
    where neither home nor project is known.
    """
    if _WINDOWS.match(path):
        return "a system folder or a whole drive" if recursive and _WINDOWS_SYSTEM.match(path) else ""
    unresolved = UNKNOWN in path
    if unresolved:
        bare = path.strip(UNKNOWN + "/*.")
        if not bare:
            return "its target cannot be resolved" if recursive else ""
        # An unset variable leaves nothing: what would be hit then?
        path = posixpath.normpath(path.replace(UNKNOWN, "")) if path.startswith(("/", UNKNOWN)) else path
        if path.startswith("//"):
            path = path[1:]
        if not path.startswith("/"):
            return ""
    folder, _, last = path.rpartition("/")
    if not path.startswith("/"):  # a variable in front that is not empty, or a folder that is not known
        return "its target cannot be resolved" if recursive and covers_everything(last) and UNKNOWN in folder else ""
    everything = covers_everything(last)
    if everything:
        if not recursive and place == "here" and _same(folder or "/", project, home) == "":
            return _vital_file(folder + "/x", home)
        path, recursive = folder or "/", True
    if is_temporary(path):
        return ""
    if path == "/":
        return "the whole file system" if recursive else ""
    if place == "here":
        if said := _same(path, project, home):
            return said if recursive else ""
        if project and (project + "/").startswith(path + "/"):
            return "a folder that holds the project" if recursive else ""
        if project and path.startswith(project + "/"):
            inside = path[len(project) + 1 :]
            return (
                "the repository itself"
                if inside == ".git" or (inside.startswith(".git/") and inside.count("/") < 2 and recursive)
                else ""
            )
        if _is_repository(path) and recursive:
            return "the repository of another project"
        if home and path.startswith(home + "/"):
            inside = path[len(home) + 1 :]
            if not recursive:
                return "a file that a login needs" if _HOME_VITAL.match(inside) and inside.count("/") == 0 else ""
            if is_made_again(inside) and not _HOME_VITAL.match(inside.partition("/.cache")[0]):
                return ""
            if SOME in inside or any(char in last for char in "*?[") and inside.count("/"):
                return ""
            return "your files, outside the project"
    return _danger_outside(path, last, recursive)


def _same(path: str, project: str, home: str) -> str:
    if project and path == project:
        return "the project itself"
    if home and path == home:
        return "your home folder"
    return ""


def _is_repository(path: str) -> bool:
    return path.endswith("/.git")


def _vital_file(path: str, home: str) -> str:
    if path in _VITAL or path.startswith(_VITAL_FOLDERS):
        return "a file that the system needs"
    return ""


def _danger_outside(path: str, last: str, recursive: bool) -> str:
    parts = path.split("/")[1:]
    top = parts[0]
    if not recursive:
        return _vital_file(path, "")
    if any(char in top for char in "*?["):
        if len(parts) == 1 and any(fnmatch.fnmatchcase(name, top) for name in SYSTEM):
            return "system folders"
        return ""
    if (path + "/").startswith(_DISPOSABLE_SYSTEM):
        return ""
    if top not in SYSTEM:
        return (
            "a folder at the root of the file system"
            if len(parts) == 1 and SOME not in top and not is_made_again(path)
            else ""
        )
    if len(parts) == 1 or top in ("bin", "boot", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys", "System"):
        return "a system folder"
    if is_made_again(path) and len(parts) > 2 and not (top == "var" and parts[1] in ("log", "lib")):
        return ""
    if SOME in path or (any(char in last for char in "*?[") and len(last) > 2):
        return ""  # some of what is in a folder
    return "a folder outside the project"


# --- secrets ------------------------------------------------------------------------------------------------------


# --- what runs by itself, who may log in ---------------------------------------------------------------------------


def is_vital(path: str, home: str) -> bool:
    """True for a file without which the system or a login does not work."""
    inside = path[len(home) + 1 :] if home and path.startswith(home + "/") else ""
    return _vital_file(path, home) != "" or (
        inside != "" and "/" not in inside and _HOME_VITAL.match(inside) is not None
    )


def is_kept_whole(path: str) -> bool:
    """True for vital files that nobody writes anew: others, such as the table of hosts, are often made by scripts."""
    return path in _VITAL and path not in _MADE_BY_SCRIPTS
