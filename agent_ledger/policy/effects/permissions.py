"""What opens, closes or takes over files: modes, owners, access lists, attributes and capabilities."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from ..model import SOME, UNKNOWN, Actions, Command, Value
from ..options import parse
from . import places
from .verbs import Judge, programs, say, tools

KIND = "permissions"
ROOT_GROUP = "su" + "do"

# First folders that belong to the system: what is in them must not become writable for everybody.
_OWNED = frozenset("etc usr var bin sbin lib lib32 lib64 boot root opt srv sys proc run System Library private".split())
# Whole trees of which any change of all modes or owners breaks the machine.
_CORE = frozenset(
    "/ /etc /usr /var /bin /sbin /lib /lib32 /lib64 /boot /root /sys /proc /dev /run /home /Users /System /Library "
    "/usr/bin /usr/sbin /usr/lib /usr/lib64 /usr/libexec /private /private/etc /private/var C:\\ C:/ C:".split()
)
_CRITICAL = frozenset(
    "/etc/" + name for name in (
        "passwd shadow group gshadow " + ROOT_GROUP + "ers ssh ssl pam.d fstab crontab hosts.allow ld.so.preload "
        + ROOT_GROUP + "ers.d ssh/sshd_config profile environment"
    ).split()
)  # fmt: skip
_UNREADABLE = tuple("/etc/" + name for name in ("shadow", "gshadow", ROOT_GROUP + "ers"))
_KEY_FOLDERS = (".ssh", ".gnupg", ".aws", ".kube")
_PUBLIC_IN_KEYS = ("config", "known_hosts", "authorized" + "_keys", "environment")


@dataclasses.dataclass(slots=True)
class Mode:
    """What a mode does: makes writable or readable for others, sets the user id on execution, takes the owner's access
    away, only takes access from others."""

    world_write: bool = False
    world_read: bool = False
    group_read: bool = False
    sets_user: bool = False
    closes: bool = False
    only_takes: bool = False


_CLAUSE = re.compile(r"([ugoa]*)((?:[-+=][rwxXstugo]*)+)")
_STEP = re.compile(r"([-+=])([rwxXstugo]*)")


def read_mode(text: str) -> Mode | None:
    """Read an octal or symbolic mode; None where it is neither."""
    if text.isdigit():
        if len(text) > 5 or not set(text) <= set("01234567"):
            return None
        bits = int(text, 8)
        return Mode(
            bool(bits & 0o002), bool(bits & 0o004), bool(bits & 0o040), bool(bits & 0o4000), not bits & 0o400,
            only_takes=not bits & 0o077 and bits & 0o700 == 0o700,
        )  # fmt: skip
    mode = Mode(only_takes=True)
    for clause in text.split(","):
        found = _CLAUSE.fullmatch(clause)
        if found is None:
            return None
        who = found[1] or "a"
        everybody = "a" in who
        for operator, letters in _STEP.findall(found[2]):
            if operator == "-":
                mode.closes |= (everybody or "u" in who) and ("r" in letters or "x" in letters)
                continue
            mode.only_takes &= not letters or who == "u"
            others = everybody or "o" in who
            # Without a letter for whom, the umask keeps others from writing.
            mode.world_write |= others and "w" in letters and bool(found[1])
            mode.world_read |= others and "r" in letters
            mode.group_read |= (everybody or "g" in who) and "r" in letters
            mode.sets_user |= (everybody or "u" in who) and "s" in letters
            mode.closes |= operator == "=" and "r" not in letters and (everybody or who == "u")
    return mode


_AS_OWNER = "makes it run as its owner, whoever starts it"


def _owned(path: str) -> bool:
    """In one of the system's folders, and not in one for temporary files."""
    return path.startswith("/") and path[1:].partition("/")[0] in _OWNED and not places.is_temporary(path)


def _private_key(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    in_keys = any(f"/{keys}" in folder for keys in _KEY_FOLDERS)
    return in_keys and not name.endswith(".pub") and not name.startswith(_PUBLIC_IN_KEYS)


def _flags_and_words(args: Sequence[Value], letters: str) -> tuple[set[str], list[Value]]:
    """Options of these letters; all else, ``-x`` as a mode included, are words."""
    flags: set[str] = set()
    words: list[Value] = []
    allowed = set(letters)
    for at, arg in enumerate(args):
        text = arg.text
        if text == "--":
            words.extend(args[at + 1 :])
            break
        if text.startswith("--"):
            flags.add(text.partition("=")[0])
        elif len(text) > 1 and text[0] == "-" and set(text[1:]) <= allowed:
            flags.update("-" + letter for letter in text[1:])
        else:
            words.append(arg)
    return flags, words


def _chmod(command: Command, act: Actions) -> None:
    flags, words = _flags_and_words(command.args, "RvfchHLP")
    if flags & {"--help", "--version", "--reference"} or not words:
        return
    mode = read_mode(words[0].text)
    if mode is None:
        return
    recursive = bool(flags & {"-R", "--recursive"})
    for target in words[1:]:
        note = _mode_note(mode, target, recursive, command, act)
        if note:
            told: list[Value | str] = ["-R", words[0], target] if recursive else [words[0], target]
            act.effect(KIND, say(command.name, told, note), target.text)
            return


def _mode_note(mode: Mode, target: Value, recursive: bool, command: Command, act: Actions) -> str:
    text = target.text
    path = places.resolve(text, command.cwd)
    if mode.sets_user and not path.endswith("/chrome-sandbox"):
        return _AS_OWNER
    if places.is_device(path):
        return "opens a disk to everybody" if mode.world_read or mode.world_write else ""
    if path.startswith(_UNREADABLE) and (mode.world_read or mode.group_read):
        return "lets others read what must stay secret"
    if recursive:
        return _recursive_note(mode, text, command, act)
    if mode.world_write and (_owned(path) or path in (act.home, "/home", "/Users") or path.startswith("/" + UNKNOWN)):
        return "lets everybody change it"
    if (mode.world_read or mode.group_read) and _private_key(path) and not path.endswith(_KEY_FOLDERS):
        return "lets others read a private key"
    if mode.world_write and any(f"/{keys}" in path for keys in _KEY_FOLDERS):
        return "lets everybody change keys"
    if mode.closes and not mode.world_read and _owned(path) and (path in _CORE or path in _CRITICAL or "/bin/" in path):
        return "takes away the access that the system needs"
    return ""


def _recursive_note(mode: Mode, text: str, command: Command, act: Actions) -> str:
    where = places.tree(text, command.cwd)
    if where in _CORE:
        return "changes the modes of the whole system"
    if places.is_unknown(where):
        return "changes all modes of something not known" if mode.world_write or mode.closes else ""
    if places.inside(act.home, where) and (mode.world_write or mode.closes or mode.world_read):
        return "changes the modes of a whole home"
    if any(where.endswith("/" + keys) for keys in _KEY_FOLDERS) and (mode.world_read or mode.world_write):
        return "lets others read or change keys"
    if (mode.world_write or mode.closes) and places.inside(act.project, where):
        return "lets everybody change the whole project" if mode.world_write else "locks the whole project"
    if mode.world_write and _owned(where):
        return "lets everybody change it"
    return ""


def _chown(command: Command, act: Actions) -> None:
    """``chown``, ``chgrp``."""
    flags, words = _flags_and_words(command.args, "RvfchHLP")
    if flags & {"--help", "--version"} or not words:
        return
    owner, targets = ("", words) if "--reference" in flags else (words[0].text, words[1:])
    recursive = bool(flags & {"-R", "--recursive"})
    for target in targets:
        note = _owner_note(owner, target.text, recursive, command, act)
        if note:
            told: list[Value | str] = ["-R", owner, target] if recursive else [owner, target]
            act.effect(KIND, say(command.name, told, note), target.text)
            return


def _owner_note(owner: str, text: str, recursive: bool, command: Command, act: Actions) -> str:
    user = re.split(r"[:.]", owner, maxsplit=1)[0]
    to_root = user in ("root", "0", "")
    if recursive:
        where = places.tree(text, command.cwd)
        if where in _CORE:
            return "changes the owner of the whole system"
        if where in _CRITICAL and not to_root:
            return "takes over what the system trusts"
        mine = user == act.home.rpartition("/")[2] or user.isdigit() or UNKNOWN in user or SOME in user
        if where == act.home and command.name == "chown" and user and (to_root or not mine):
            return "gives a whole home away"
        return ""
    path = places.resolve(text, command.cwd)
    if to_root and command.name == "chown":
        return ""
    if places.is_device(path):
        return "takes over a disk"
    return "takes over what the system trusts" if path in _CORE or path in _CRITICAL else ""


_OTHERS_WRITE = re.compile(r"(?:^|,)(?:o|other):{1,2}[r-]?w|(?:^|,)(?:o|other):{1,2}[2367]\b")


def _setfacl(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-m", "--modify", "-x", "--remove", "--set", "-M", "-X"))
    if options.any("--test", "--help", "-v"):
        return
    entries = [options.values[name].text for name in ("-m", "--modify", "--set") if name in options.values]
    opens = any(_OTHERS_WRITE.search(entry) for entry in entries)
    recursive = options.any("-R", "--recursive")
    for target in options.operands:
        where = places.tree(target.text, command.cwd)
        whole = recursive and (where in _CORE or (opens and places.is_unknown(where)))
        if whole or (opens and (_owned(where) or (recursive and places.inside(act.project, where)))):
            act.effect(KIND, say("setfacl", [*entries, target], "changes who may use it"), target.text)
            return


def _chattr(command: Command, act: Actions) -> None:
    """``chattr -i``: takes the protection off; ``+i`` on a whole tree locks it."""
    flags, words = _flags_and_words(command.args, "RVfvp")
    recursive = "-R" in flags
    changes = [word.text for word in words if word.text[:1] in "+-=" and len(word.text) > 1]
    targets = [word for word in words if word.text not in changes]
    takes = any(change[0] in "-=" and set(change) & set("ia") for change in changes)
    locks = any(change[0] in "+=" and set(change) & set("ia") for change in changes)
    for target in targets:
        where = places.tree(target.text, command.cwd)
        if (takes and _owned(where)) or (locks and recursive and (where in _CORE or where in (act.home, act.project))):
            note = "takes the protection off" if takes else "locks a whole tree"
            act.effect(KIND, say("chattr", [*changes, target], note), target.text)
            return


def _chflags(command: Command, act: Actions) -> None:
    flags, words = _flags_and_words(command.args, "RvfhHLPx")
    for target in words[1:]:
        where = places.tree(target.text, command.cwd)
        if where in _CORE and "-R" in flags:
            act.effect(KIND, say("chflags", ["-R", *words[:2]], "changes the flags of the whole system"), where)
            return


# Rights that are as good as being root.
_CAPABILITIES = re.compile(
    r"cap_(?:set[ug]id|sys_admin|sys_ptrace|sys_module|sys_rawio|dac_override|dac_read_search|fowner|chown|setfcap)|"
    r"^(?:all)?[=+]"
)


def _setcap(command: Command, act: Actions) -> None:
    for arg in command.args:
        text = arg.text.lower()
        if text in ("-r", "-v"):
            return
        if _CAPABILITIES.search(text):
            act.effect(KIND, say("setcap", command.args[:2], "gives a program the rights of root"))
            return


def _install(command: Command, act: Actions) -> None:
    """``install -m MODE``: only the mode is judged here."""
    options = parse(command.args, ("-m", "--mode", "-o", "--owner", "-g", "--group", "-t", "-S"))
    value = options.values.get("-m") or options.values.get("--mode")
    mode = read_mode(value.text) if value is not None else None
    if mode is None or value is None:
        return
    for target in options.operands[-1:]:
        path = places.resolve(target.text, command.cwd)
        if mode.sets_user:
            act.effect(KIND, say("install -m", [value, target], _AS_OWNER), path)
        elif mode.world_write and _owned(path):
            act.effect(KIND, say("install -m", [value, target], "lets everybody change it"), path)


def _umask(command: Command, act: Actions) -> None:
    if command.args and command.args[0].text and not command.args[0].text.strip("0"):
        act.effect(KIND, "umask 0 (makes all new files writable for everybody)")


# --- Windows

_EVERYBODY = re.compile(
    r"(?:everyone|\*s-1-1-0|users|authenticated users|\*s-1-5-11):(?:\(\w+\))*[(]?(?:f|m|w)\b", re.IGNORECASE
)
_WINDOWS = re.compile(r"[a-z]:[\\/]*(?:$|\*|windows|program files|users[\\/]*$)", re.IGNORECASE)


def _icacls(command: Command, act: Actions) -> None:
    words = [arg.text for arg in command.args]
    options = {word.lower() for word in words if word.startswith("/")}
    if not words or not options & {"/grant", "/grant:r", "/setowner", "/reset", "/remove", "/deny", "/g", "/p", "/e"}:
        return
    system = _WINDOWS.match(words[0]) is not None
    opened = any(_EVERYBODY.search(word) for word in words)
    if system or (opened and ("/t" in options and words[0] in (".", "*", "..", ".\\", ".\\*"))):
        act.effect(KIND, say(command.name, words[:3], "changes who may use it"), words[0])


def _takeown(command: Command, act: Actions) -> None:
    for arg in command.args:
        if _WINDOWS.match(arg.text):
            act.effect(KIND, say("takeown", [arg], "takes over the system's files"), arg.text)
            return


PROGRAMS: dict[str, Judge] = programs(
    tools("chmod gchmod", _chmod),
    tools("chown chgrp gchown", _chown),
    tools("setfacl", _setfacl),
    tools("chattr", _chattr),
    tools("chflags", _chflags),
    tools("setcap", _setcap),
    tools("install ginstall", _install),
    tools("umask", _umask),
    tools("icacls cacls icacls.exe", _icacls),
    tools("takeown takeown.exe", _takeown),
)
