"""PowerShell and cmd.exe: their commands in any case and abbreviation, taken apart in one pass."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..model import DECODED, GLOB, NOTHING, UNKNOWN, Actions, Value
from . import windows_tools
from .values import MAX_TEXT

MAX_COMMANDS = 400

_ENCODED = re.compile(r"\s*[-/]e\w*\s+([A-Za-z0-9+/=]+)", re.IGNORECASE)
_FETCHES = re.compile(
    r"downloadstring|downloaddata|(?:^|[\s(|;&{=])(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod)\b|"
    r"start-bitstransfer|net\.webclient|httpclient",
    re.IGNORECASE,
)
_RUNS_TEXT = re.compile(
    r"(?:^|[\s(|;&{=])(?:iex|invoke-expression)\b|\[scriptblock\]::create|\.invoke\(", re.IGNORECASE
)
_IS_BASE64 = re.compile(r"frombase64string\(\s*(['\"])([A-Za-z0-9+/=]*)\1", re.IGNORECASE)
_NET_DELETE = re.compile(
    r"\[(?:system\.)?io\.(directory|file)\]::delete\(\s*(['\"])([^'\"]*)\2\s*(?:,\s*(\$true|1))?", re.IGNORECASE
)
_ENDLESS = re.compile(r"(?:while\s*\(\s*(?:\$true|1)\s*\)|for\s*\(\s*;\s*;\s*\))\s*\{([^}]*)\}", re.IGNORECASE)
_STARTS = re.compile(r"\bstart-(?:process|job|threadjob)\b|\bsaps\b|\bstart\s|&\s*\$", re.IGNORECASE)
_HOLDS_UP = re.compile(r"\bstart-sleep\b|\bsleep\b|-wait\b|\bbreak\b|read-host", re.IGNORECASE)
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\f]+)|(?P<comment><\#(?:[^#]|\#(?!>))*(?:\#>)?|\#[^\n]*)"
    r"|(?P<here>@(?P<hq>['\"])\n)"
    r"|(?P<single>'(?:[^']|'')*+'?)|(?P<double>\"(?:[^\"`]|`.|\"\")*+\"?)"
    r"|(?P<end>\|\||&&|[;\n|{}()&,])"
    r"|(?P<word>(?:`.|\$\{[^}\n]*\}|[^\s'\"`;|{}()&,])+)|(?P<other>.)",
    re.DOTALL,
)
_VARIABLE = re.compile(r"\$\{?(?:env:)?[A-Za-z_]\w*\}?|\$\{env:[^}]*\}", re.IGNORECASE)
_TEMPORARY = "/tmp"  # noqa: S108
_KNOWN = {
    "$home": "~",
    "$env:userprofile": "~",
    "$env:home": "~",
    "$env:homepath": "~",
    "$env:temp": _TEMPORARY,
    "$env:tmp": _TEMPORARY,
    "$env:systemdrive": "C:",
    "$env:systemroot": "C:\\Windows",
    "$env:windir": "C:\\Windows",
    "$pwd": ".",
    "$psscriptroot": ".",
    "$env:programfiles": "C:\\Program Files",
    "$env:appdata": "~\\AppData\\Roaming",
    "$env:localappdata": "~\\AppData\\Local",
    "$env:programdata": "C:\\ProgramData",
    "$true": "$true",
    "$false": "$false",
    "$null": "$null",
    "$env:homedrive": "C:",
}


@dataclass(slots=True)
class Call:
    """One command: its name in lower case, its words, and whether the one before pipes into it."""

    name: str
    words: list[Value] = field(default_factory=list)
    source: Call | None = None
    filtered: bool = False  # a Where-Object stands between

    def options(self) -> tuple[dict[str, Value], list[Value]]:
        """Parameters by their names in lower case, and the words without one."""
        named: dict[str, Value] = {}
        rest: list[Value] = []
        at = 0
        while at < len(self.words):
            word = self.words[at]
            at += 1
            if len(word.text) > 1 and word.text[0] == "-" and word.text[1].isalpha():
                name, colon, value = word.text[1:].partition(":")
                name = name.lower()
                if colon:
                    named[name] = Value(value)
                elif at < len(self.words) and not _is_switch(name) and not self.words[at].text.startswith("-"):
                    named[name] = self.words[at]
                    at += 1
                else:
                    named[name] = Value("$true")
            else:
                rest.append(word)
        return named, rest


def _is_switch(name: str) -> bool:
    """Parameters that take no value, abbreviated or not."""
    whole = len(name) > 1 or name in ("r", "f", "s")
    return whole and name != "fi" and any(full.startswith(name) for full in _SWITCHES)


_SWITCHES = tuple(
    "recurse recursive force whatif confirm append raw directory passthru usebasicparsing nonewline wait nonewwindow "
    "hidden asjob removedata removeoem name".split()
)


def _given(named: dict[str, Value], full: str, least: int = 1) -> Value | None:
    """The value of a parameter under any of its abbreviations."""
    for name, value in named.items():
        if len(name) >= least and full.startswith(name):
            return value
    return None


def decoded(text: str) -> Value:
    """The program behind ``-EncodedCommand``."""
    try:
        program = base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-16-le")
    except (binascii.Error, ValueError):
        program = ""
    # Another encoding, read as this one, gives signs that no program has.
    readable = program and all(char in "\t\r\n" or " " <= char < "\u2e80" for char in program)
    return Value(program) if readable else Value(UNKNOWN, DECODED)


class _Script:
    """One PowerShell program."""

    def __init__(self, text: str, act: Actions, hidden: bool) -> None:
        self.text, self.act, self.hidden = text, act, hidden
        self.variables: dict[str, str] = {}

    def value(self, text: str) -> Value:
        """A word or a double-quoted text with its variables put in."""

        def one(found: re.Match[str]) -> str:
            name = found[0].replace("{", "").replace("}", "").lower()
            if name == "$_":
                return name
            return self.variables.get(name, _KNOWN.get(name, UNKNOWN))

        text = text.replace("`", "")
        result = _VARIABLE.sub(one, text) if "$" in text else text
        if result.startswith("~"):
            result = self.act.home + result[1:].replace("\\", "/")
        return Value(result, GLOB if "*" in result or "?" in result else 0)

    def calls(self) -> list[Call]:
        """The commands of the program, in order."""
        found: list[Call] = []
        words: list[Value] = []
        source: Call | None = None
        filtered = False
        glue = False
        is_command = False  # a quoted text or a variable at the start is one only behind the operator &
        called = False
        skipping = 0  # braces open in a condition that is not looked at
        at = 0
        text = self.text

        def close(pipes: bool) -> None:
            nonlocal words, source, filtered, called
            called = False
            if not words:
                if not pipes:
                    source, filtered = None, False
                return
            call = Call(words[0].text.lower() if is_command else "", words[1:], source, filtered)
            words = []
            found.append(call)
            passes_on = call.name in _FILTERS
            filtered = pipes and (filtered or passes_on)
            source = (call.source if passes_on else call) if pipes else None

        while at < len(text) and len(found) < MAX_COMMANDS:
            token = _TOKEN.match(text, at)
            if token is None:
                break
            at = token.end()
            kind = token.lastgroup
            body = token[0]
            if skipping:
                skipping += (body == "{") - (body == "}")
                continue
            if not words and kind in ("single", "double", "here", "hq", "word"):
                is_command = called or (kind == "word" and body[0] not in "$[%@")
            if kind in ("here", "hq"):
                end = text.find(f"\n{token['hq']}@", at - 1)
                end = len(text) if end < 0 else end
                words.append(Value(text[at:end]))
                at = min(len(text), end + 3)
            elif kind == "single":
                words.append(Value(body.strip("'").replace("''", "'")))
            elif kind == "double":
                words.append(self.value(body.strip('"')))
            elif kind == "word":
                value = self.value(body)
                if glue and words and body[0] in "\\/.":  # $(..)\x and "a"\b are one word
                    words[-1] = words[-1] + value
                else:
                    words.append(value)
            elif kind == "end" and body != ",":
                if body == "&" and not words:
                    called = True
                    continue
                if body == "{" and words and words[0].text.lower() in _FILTERS:
                    skipping = 1
                    continue
                close(body == "|")
                if body == "{" and found and found[-1].name in _EACH:
                    source = found[-1].source or source
            glue = kind in ("single", "double")
        close(False)
        return found

    def run(self) -> None:
        """Judge the program."""
        self._assignments()
        code = re.sub(r"<#(?:[^#]|#(?!>))*(?:#>)?", " ", self.text)
        if _RUNS_TEXT.search(code):
            self._run_text(code)
        for found in _NET_DELETE.finditer(code):
            self.act.delete(self.value(found[3]), found[1].lower() == "directory" and bool(found[4]))
        for found in _ENDLESS.finditer(code):
            if _STARTS.search(found[1]) and not _HOLDS_UP.search(found[1]):
                self.act.effect("fork_bomb", "starts processes in an endless loop")
        for call in self.calls():
            self._judge(call)

    def _assignments(self) -> None:
        for found in re.finditer(r"(\$(?:env:)?\w+)\s*=\s*(?:'([^'\n]*)'|\"([^\"\n]*)\"|(\$[\w:]+))", self.text):
            text = found[2] if found[2] is not None else self.value(found[3] or found[4] or "").text
            self.variables[found[1].lower()] = text

    def _run_text(self, code: str) -> None:
        if _FETCHES.search(code):
            self.act.effect("download_and_run", "runs what it downloads, unseen")
        elif found := _IS_BASE64.search(code):
            try:
                data = base64.b64decode(found[2] + "=" * (-len(found[2]) % 4))
                wide = "unicode" in code.lower() or data[1:2] == b"\0"
                self.act.code("powershell", Value(data.decode("utf-16-le" if wide else "utf-8")))
            except (binascii.Error, ValueError):
                self.act.effect("unknown_code", "runs what cannot be decoded here")
        elif self.hidden or "frombase64string" in code.lower():
            self.act.effect("unknown_code", "runs text that is made while it runs")
        else:
            for literal in re.finditer(
                r"(?:iex|invoke-expression)\s+(?:-command\s+)?\(?\s*(['\"])([^'\"\n]+)\1", code, re.IGNORECASE
            ):
                self.act.code("powershell", self.value(literal[2]))

    def _judge(self, call: Call) -> None:
        handler = _CMDLETS.get(call.name)
        if handler is not None:
            named, rest = call.options()
            if _given(named, "whatif", 2) is None:
                handler(self, call, named, rest)
            return
        name = call.name
        if (
            not name
            or name in _KEYWORDS
            or name[0] in "$[@-%.="
            or re.fullmatch(r"[a-z]+-[a-z]+\w*", name)
            and name not in _PROGRAMS
        ):
            if name[:2] in (".\\", "./") and not call.words[:1]:
                self.act.run_file(name.replace("\\", "/"))
            return
        if not windows_tools.judge(name.removesuffix(".exe"), [word.text for word in call.words], self.act):
            self.act.argv([name.removesuffix(".exe"), *call.words])


_FILTERS = frozenset("where-object where ? select-object select sort-object sort".split())
_EACH = frozenset("foreach-object foreach %".split())
_KEYWORDS = frozenset(
    "if else elseif foreach for while do switch try catch finally function param return in begin process end "
    "throw exit break continue class filter trap until foreach-object % where-object where ? select-object sort- "
    "object select sort write-host write-output echo true false iex invoke-expression new-object".split()
)
_PROGRAMS = frozenset("docker-compose apt-get redis-cli".split())

Handler = Callable[[_Script, Call, dict[str, Value], list[Value]], None]


def _paths(named: dict[str, Value], rest: list[Value]) -> list[Value]:
    given = _given(named, "literalpath", 2) or _given(named, "path", 2) or named.get("lp") or named.get("fullname")
    return [given] if given is not None else rest


def _remove_item(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    recursive = _given(named, "recurse") is not None or call.name == "rmdir"
    picked = any(_given(named, name, 3) is not None for name in ("include", "filter", "exclude"))
    paths = [
        path for path in _paths(named, rest) if path.text.lower() not in ("$_", "$_.fullname") and path.text != UNKNOWN
    ]
    if not paths and call.source is not None and call.source.name in _LISTS:
        _remove_listed(script, call, recursive, picked)
        return
    for path in paths or ([Value(UNKNOWN)] if recursive and rest else []):
        if _REGISTRY.match(path.text):
            script.act.effect("overwrite", "deletes keys of the registry", path.text)
        else:
            script.act.delete(Value(windows_tools.rooted(path.text), path.marks), recursive, picked)


def _remove_listed(script: _Script, call: Call, recursive: bool, picked: bool) -> None:
    """``Get-ChildItem path | Remove-Item``: the content of the path."""
    assert call.source is not None  # noqa: S101 - asked by the caller
    named, rest = call.source.options()
    listed = _paths(named, rest) or [Value(".")]
    deep = recursive or _given(named, "recurse") is not None or "s" in named
    some = (
        picked or call.filtered or any(_given(named, name, 3) is not None for name in ("include", "filter", "exclude"))
    )
    for path in listed[:1]:
        text = (
            path.text
            if path.marks & GLOB
            else path.text.rstrip("\\/") + ("\\*" if "\\" in path.text or ":" in path.text else "/*")
        )
        script.act.delete(Value(text, path.marks | GLOB), deep, some)


def _clear_content(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    for path in _paths(named, rest)[:5]:
        script.act.write(path, NOTHING)


def _set_content(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    paths = _paths(named, rest)
    value = _given(named, "value", 1) or (rest[1] if len(rest) > 1 else Value(UNKNOWN))
    for path in paths[:1]:
        script.act.write(path, value, append=call.name in ("add-content", "ac"))


def _get_content(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    for path in _paths(named, rest)[:5]:
        script.act.read(path)


def _move(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    words = _paths(named, rest)
    target = _given(named, "destination", 3)
    both = [*words, target] if target is not None else words
    if len(both) > 1:
        script.act.argv(["mv" if call.name in _MOVES else "cp", *both])


def _disk(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    script.act.effect("disk", call.name, next((word.text for word in [*named.values(), *rest]), ""))


def _fetch(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    address = _given(named, "uri", 1) or named.get("url") or (rest[0] if rest else NOTHING)
    if target := _given(named, "outfile", 2) or _given(named, "destination", 3):
        script.act.fetched(target)
    if source := _given(named, "infile", 2):
        script.act.send(script.act.read(source, shown=False), address.text)
    elif body := _given(named, "body", 2):
        script.act.send(body, address.text)


def _registry(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    path = next(iter(_paths(named, rest)), NOTHING)
    script.act.effect("overwrite", "deletes values of the registry", path.text)


def _account(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    script.act.effect("account", call.name, next((word.text for word in [*named.values(), *rest]), ""))


def _administrators(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    if any("admin" in word.text.lower() for word in [*named.values(), *rest]):
        _account(script, call, named, rest)


def _defender(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    if any(name.startswith("disable") or "exclusion" in name for name in named):
        script.act.effect("permissions", "turns protection off", call.name)


def _start(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    program = _given(named, "filepath", 2) or (rest[0] if rest else None)
    if program is None:
        return
    given = _given(named, "argumentlist", 1)
    words = [given] if given is not None else rest[1:]
    script.act.argv([program.text.removesuffix(".exe"), *[Value(part) for word in words for part in word.text.split()]])


def _recycle(script: _Script, call: Call, named: dict[str, Value], rest: list[Value]) -> None:
    return


_REGISTRY = re.compile(r"^(?:hk(?:lm|cu|cr|u|cc):|registry::|microsoft\.powershell\.core\\registry::)", re.IGNORECASE)
_LISTS = frozenset("get-childitem gci ls dir get-item gi".split())
_MOVES = frozenset("move-item mi move mv rename-item rni ren".split())
_CMDLETS: dict[str, Handler] = {
    name: handler
    for names, handler in (
        ("remove-item ri rm del erase rd rmdir", _remove_item),
        ("clear-content clc", _clear_content),
        ("set-content sc add-content ac out-file", _set_content),
        ("get-content gc cat type", _get_content),
        ("move-item mi move mv rename-item rni ren copy-item cpi copy cp", _move),
        (
            "format-volume clear-disk initialize-disk remove-partition set-disk reset-physicaldisk remove-physicaldisk",
            _disk,
        ),
        ("invoke-webrequest iwr invoke-restmethod irm start-bitstransfer", _fetch),
        ("remove-itemproperty rp", _registry),
        ("new-localuser remove-localuser set-localuser", _account),
        ("add-localgroupmember", _administrators),
        ("set-mppreference add-mppreference", _defender),
        ("start-process saps start", _start),
        ("clear-recyclebin", _recycle),
        ("get-childitem gci ls dir", _recycle),
    )
    for name in names.split()
}


def judge_powershell(text: str, act: Actions) -> None:
    """A PowerShell program; behind ``-EncodedCommand`` stands one in base64."""
    text = text[:MAX_TEXT]
    hidden = False
    if found := _ENCODED.fullmatch(text):
        value = decoded(found[1])
        if not value.known:
            act.effect("unknown_code", "runs what cannot be decoded here")
            return
        text, hidden = value.text, True
    _Script(text, act, hidden).run()
