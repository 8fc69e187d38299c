"""cmd.exe and the programs that Windows brings along."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..model import GLOB, UNKNOWN, Actions, Value
from .values import MAX_TEXT

_TEMPORARY = "/tmp"  # noqa: S108
_KNOWN = {
    "userprofile": "~",
    "homepath": "~",
    "temp": _TEMPORARY,
    "tmp": _TEMPORARY,
    "systemdrive": "C:",
    "systemroot": "C:\\Windows",
    "windir": "C:\\Windows",
    "programfiles": "C:\\Program Files",
    "appdata": "~\\AppData\\Roaming",
    "cd": ".",
    "~dp0": ".",
    "localappdata": "~\\AppData\\Local",
    "programdata": "C:\\ProgramData",
    "homedrive": "C:",
}
_VARIABLE = re.compile(r"%(~dp0|\w+)%|%(~dp0)")
_WORD = re.compile(r'(?:"[^"\n]*"?|\^.|[^\s"^])+', re.DOTALL)
_END = re.compile(r'("[^"\n]*"?)|(\^.)|(&&|\|\||[&|\n()])', re.DOTALL)
_BOMB = re.compile(r"%0\s*\|\s*%0|:(\w+)\s*\n\s*start\b[^\n]*\n\s*goto\s+:?\1\b", re.IGNORECASE)
_FOR = re.compile(
    r"\bfor\s+(?:/r\s+(\S+)\s+|/d\s+)?%+\w\s+in\s+\(([^)\n]*)\)\s+do\s+@?(del|erase|rd|rmdir)\b", re.IGNORECASE
)
_SPECIFIC = re.compile(r"\*\.(?!\*)\w+$|[\w-]+\*|\*[\w-]+")


def _lines(text: str) -> Iterator[str]:
    """The commands between operators and new lines."""
    start = 0
    for found in _END.finditer(text):
        if found[3]:
            yield text[start : found.start()]
            start = found.end()
    yield text[start:]


def judge_cmd(text: str, act: Actions) -> None:
    """Commands as cmd.exe or a batch file has them."""
    text = text[:MAX_TEXT]
    if _BOMB.search(text):
        act.effect("fork_bomb", "starts itself without end")
    for found in _FOR.finditer(text):
        target = found[1].rstrip("\\") + "\\*" if found[1] else found[2].strip()
        act.delete(Value(target, GLOB), bool(found[1]) or found[3].lower().startswith("r"))
    variables: dict[str, str] = {}
    for count, line in enumerate(_lines(text)):
        if count > 400:
            return
        _line(line, variables, act)


def _line(line: str, variables: dict[str, str], act: Actions) -> None:
    def one(found: re.Match[str]) -> str:
        name = (found[1] or found[2]).lower()
        return variables.get(name, _KNOWN.get(name, UNKNOWN))

    line = _VARIABLE.sub(one, line) if "%" in line else line
    words = [re.sub(r"\^(.)", r"\1", word).replace('"', "") for word in _WORD.findall(line)]
    words = [act.home + word[1:].replace("\\", "/") if word.startswith("~") else word for word in words]
    while words:
        head = words[0].lower().lstrip("@")
        if head in ("", "call", "do", "else", "cmd", "cmd.exe", "/c", "/k", "/s", "/q", "/d"):
            words = words[1:]
        elif head == "start":
            words = words[1:]
            while words and (words[0].startswith("/") or " " in words[0]):
                words = words[1:]
        elif head == "if":
            skip = 2 if _second(words) == "not" else 1
            words = words[skip + 1 + (_second(words[skip - 1 :]) == "exist") :]
        elif head == "for":
            words = []
        else:
            break
    if not words:
        return
    name = words[0].lower().lstrip("@").removesuffix(".exe")
    if name in ("rem", "echo", "echo.", "::", "goto", "exit", "title", "cls", "pause", "setlocal", "endlocal"):
        return
    if name == "set" and len(words) > 1:
        key, equals, value = " ".join(words[1:]).partition("=")
        if equals:
            variables[key.strip().lower()] = value.strip()
        return
    if not judge(name, words[1:], act):
        act.argv([name, *words[1:]])


def rooted(path: str) -> str:
    """``C:x`` as ``C:\\x``: a shell that stands in front has taken the backslash away."""
    return path[:2] + "\\" + path[2:] if re.match(r"[A-Za-z]:(?![\\/])", path) else path


def _second(words: Sequence[str]) -> str:
    """The second word in lower case, '' where there is none."""
    return words[1].lower() if len(words) > 1 else ""


def _switches(words: Sequence[str]) -> tuple[set[str], list[str]]:
    flags: set[str] = set()
    rest: list[str] = []
    for word in words:
        if re.fullmatch(r"(?:/[a-zA-Z?](?::[^/\s]*)?)+", word) and not word.startswith("//"):
            flags.update(part[:1].lower() for part in word.split("/")[1:])
        else:
            rest.append(word)
    return flags, rest


def judge(name: str, words: Sequence[str], act: Actions) -> bool:
    """One command; False where it is none that is known here."""
    lower = [word.lower() for word in words]
    if name in ("del", "erase"):
        flags, paths = _switches(words)
        for path in map(rooted, paths[:20]):
            act.delete(
                Value(path, GLOB if "*" in path or "?" in path else 0), "s" in flags, bool(_SPECIFIC.search(path))
            )
    elif name in ("rd", "rmdir"):
        flags, paths = _switches(words)
        for path in map(rooted, paths[:20] if "s" in flags else ()):
            act.delete(path, True)
    elif name == "deltree":
        for path in _switches(words)[1]:
            act.delete(path, True)
    elif name == "format" and words and re.match(r"^[a-z]:", lower[0]):
        act.effect("disk", "format of a drive", words[0])
    elif name == "diskpart":
        if any(word.startswith("/s") for word in lower):
            act.effect("disk", "diskpart with a script")
    elif name in ("vssadmin", "wbadmin", "wmic"):
        if "delete" in lower and (name != "wmic" or "shadowcopy" in lower):
            act.effect("recursive_delete", f"{name} deletes backups", " ".join(words)[:80])
    elif name == "bcdedit":
        if any(word in ("/delete", "/deletevalue") or word == "/set" for word in lower):
            act.effect("overwrite", "changes how the machine starts", " ".join(words)[:80])
    elif name == "cipher":
        if any(word.startswith("/w") for word in lower):
            act.effect("disk", "wipes free space", " ".join(words)[:80])
    elif name == "reg":
        _registry(lower, words, act)
    elif name == "takeown":
        _tree(lower, words, act, "takes over a tree", "/r", "/f")
    elif name == "icacls":
        opens = any(
            word.startswith(("everyone:", "*s-1-1-0:", "users:")) and ("f" in word.split(":", 1)[1]) for word in lower
        )
        if opens and words:
            act.effect("permissions", "gives everyone all rights", words[0])
    elif name == "net":
        if "/add" in lower and (lower[:1] == ["user"] or "administrators" in lower):
            act.effect("account", "adds a user or an administrator", " ".join(words)[:80])
    elif name == "schtasks":
        if "/create" in lower and "/tr" in lower and lower.index("/tr") + 1 < len(words):
            judge_cmd(words[lower.index("/tr") + 1], act)
    elif name == "robocopy":
        if ("/mir" in lower or "/purge" in lower) and "/l" not in lower and len(words) > 1:
            act.delete(Value(words[1].rstrip("\\/") + "\\*", GLOB), True, filtered=_is_source(words[0]))
    elif name in ("certutil", "bitsadmin"):
        if any("http" in word for word in lower) and words:
            act.fetched(words[-1])
    elif name in ("mshta", "regsvr32"):
        if any("http" in word for word in lower):
            act.effect("download_and_run", f"{name} runs what it downloads", words[-1] if words else "")
    elif name == "type":
        for path in words[:5]:
            act.read(path)
    elif name in ("move", "ren", "rename", "copy", "xcopy"):
        paths = _switches(words)[1]
        if len(paths) > 1:
            act.argv(["cp" if "copy" in name else "mv", *paths])
    elif name in ("cd", "chdir", "pushd", "md", "mkdir", "dir", "attrib", "ver", "shutdown"):
        if name == "shutdown":
            act.argv(["shutdown", *words])
    else:
        return False
    return True


def _is_source(path: str) -> bool:
    """Whether a mirror is made of something; an empty folder is named to wipe."""
    return not re.search(r"empty|nul|blank", path, re.IGNORECASE)


def _registry(lower: list[str], words: Sequence[str], act: Actions) -> None:
    if lower[:1] == ["delete"] and len(words) > 1 and "/v" not in lower:
        act.effect("overwrite", "deletes keys of the registry", words[1])
    elif lower[:1] == ["delete"] and re.match(r"hklm|hkey_local_machine", lower[1] if len(lower) > 1 else ""):
        act.effect("overwrite", "deletes values of the registry", words[1])
    elif lower[:1] == ["add"] and len(words) > 1 and re.search(r"\\currentversion\\run(?:once)?$", lower[1]):
        act.effect("persistence", "starts a program at each login", words[1])
    elif lower[:1] == ["save"] and len(words) > 1 and re.search(r"\\(?:sam|security|system)$", lower[1]):
        act.effect("credential_read", "saves password hashes", words[1])


def _tree(lower: list[str], words: Sequence[str], act: Actions, what: str, *needed: str) -> None:
    if all(word in lower for word in needed):
        target = words[lower.index(needed[-1]) + 1] if lower.index(needed[-1]) + 1 < len(words) else ""
        if re.match(r"^[a-z]:\\?(?:\*|windows.*|program.*|users)?$", target.lower()):
            act.effect("permissions", what, target)
