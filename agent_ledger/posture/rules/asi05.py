"""ASI05 Unexpected Code Execution (RCE)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...policy import registry
from .. import toolsets
from ..commands import Facts
from .base import FOREIGN, TOLD, UNTRUSTED, Call, Context, Episode, Note, Recent, Rule, shown

_OWASP = "OWASP ASI05:2026"


class DownloadAndRun(Rule):
    id = "ASI05-01"
    title = "Code run as it is downloaded"
    severity = "CRITICAL"
    confidence = "high"
    predicate = (
        "An interpreter reads what curl, wget or the like fetched: by a pipe, a process substitution, `-c` with a"
        " command substitution, or a file that the same call downloaded. Interpreters that only format their input"
        " (json.tool) do not count."
    )
    remediation = "Treat the machine as touched by unknown code; pin such scripts by checksum and read them before."
    refs = (_OWASP, "AML.T0050")
    on = TOLD

    def see(self, call: Call) -> None:
        for effect in call.facts.of_kind("download_and_run")[:1]:
            self.report(Episode.of(call), "runs what it downloads, unseen", effect.what, call.row.args_json)


class RemoteShell(Rule):
    id = "ASI05-02"
    title = "A shell for another machine"
    severity = "CRITICAL"
    confidence = "high"
    predicate = "The call connects a shell or terminal of this machine to another machine."
    remediation = "Cut the machine off from the network, look for the other end of the connection, change credentials."
    refs = (_OWASP, "AML.T0072")
    on = TOLD

    def see(self, call: Call) -> None:
        for effect in call.facts.of_kind("remote_shell")[:1]:
            self.report(Episode.of(call), "connects a shell to another machine", effect.what, call.row.args_json)


_INTERPRETERS = frozenset(registry.SHELLS | frozenset("python python3 node perl ruby php eval source .".split()))
_DECODED_CODE = re.compile(
    r"\b(?:exec|eval|Function|system|popen)\s*\(.{0,80}?\b(?:b64decode|fromhex|unhexlify|atob|decompress|unpack)\b"
    r"|\b(?:exec|eval)\s*\(.{0,40}?\.decode\(|-[Ee](?:nc|ncodedCommand)?\s+[A-Za-z0-9+/=]{40,}",
    re.DOTALL,
)


class Encoded(Rule):
    id = "ASI05-03"
    title = "Code in an encoded payload"
    severity = "HIGH"
    confidence = "medium"
    predicate = (
        "What is run was decoded from base64, hex or the like in the same call: by a decoder in front of an"
        " interpreter, or by decode and exec in source code. Decoding into a file that is not run does not count."
    )
    remediation = "Decode the payload by hand, away from the machine, and read what it did."
    refs = (_OWASP, "AML.T0050")
    on = TOLD

    def see(self, call: Call) -> None:
        facts = call.facts
        found = facts.of_kind("unknown_code")
        if found:
            self.report(Episode.of(call), "runs code that was decoded", found[0].what, call.row.args_json)
        elif _decodes_for_interpreter(facts) or any(_DECODED_CODE.search(text) for text in _code(call)):
            self.report(Episode.of(call), "runs code that was decoded")


def _decodes_for_interpreter(facts: Facts) -> bool:
    for decoder, after in zip(facts.commands, facts.commands[1:], strict=False):
        if after[0] in _INTERPRETERS and _decodes(decoder) and (len(after) == 1 or after[1] in ("-", "-s", "-x", "-e")):
            return True
    return any(words[0] == "eval" and _decodes(before) for before, words in zip(facts.commands, facts.commands[1:],
                                                                                 strict=False))  # fmt: skip


def _decodes(words: tuple[str, ...]) -> bool:
    name, args = words[0], words[1:]
    if name in ("base64", "gbase64", "base32", "basenc"):
        return not {"-d", "-D", "--decode", "-di"}.isdisjoint(args)
    return (name == "xxd" and any("r" in arg for arg in args if arg[:1] == "-")) or (
        name == "openssl" and "-d" in args
    )


def _code(call: Call) -> Iterator[str]:
    for name in ("code", "script", "source", "command"):
        text = call.facts.args.get(name)
        if isinstance(text, str):
            yield text[:65_536]


_NAMES = frozenset(
    """path file filename file_path filepath host hostname branch ref repo repository name id target directory dir
    folder key bucket table image package version tag source destination user username email_id container
    service""".split()
)
_META = re.compile(r"(?:;|&&|\|\|?|\n|`|\$\()\s*(?:[A-Z_]+=\S* +)*(?:su" r"do +)?(?:/(?:usr/)?s?bin/)?([a-z][\w.+-]*)")


class Metacharacters(Rule):
    id = "ASI05-04"
    title = "Shell metacharacters in another tool's argument"
    severity = "MEDIUM"
    confidence = "medium"
    predicate = (
        "An argument of a tool other than a shell that names a file, host, branch or the like holds `;`, `&&`, `|`, a"
        " backtick or `$(` in front of the name of a known program. Prose, code and addresses of web pages do not"
        " count."
    )
    remediation = "Look whether the tool passes this argument to a shell; it must pass it as one word."
    refs = (_OWASP,)
    on = TOLD | FOREIGN

    def see(self, call: Call) -> None:
        tool = call.row.tool_name
        if tool in toolsets.SHELL or tool in toolsets.CODE:
            return
        for value in _named(call.facts.args, 3):
            found = _META.search(value)
            if found and (found[1] in registry.PROGRAMS or registry.judge_of(found[1]) is not None):
                self.report(
                    Episode.of(call), f"an argument of {shown(tool)} holds a shell command", value, call.row.args_json
                )
                return


def _named(args: dict[str, Any], depth: int) -> Iterator[str]:
    for name, value in list(args.items())[:100]:
        if isinstance(value, dict) and depth:
            yield from _named(value, depth - 1)
        elif name in _NAMES:
            for one in value[:50] if isinstance(value, list) else (value,):
                if isinstance(one, str) and len(one) <= 300 and "://" not in one:
                    yield one


class FetchedFileRun(Rule):
    id = "ASI05-05"
    title = "A file made after reading strangers' text, then run"
    severity = "HIGH"
    confidence = "medium"
    predicate = (
        "In one session: a call that brings untrusted content (a web page, a download, a message), then within 10 rows"
        " a file written, then within 10 rows of that the same file run. A file that is only written or only read does"
        " not count."
    )
    remediation = (
        "Read the file; let a person see what an agent writes after it read strangers' text, before it is run."
        " "
    )
    refs = (_OWASP,)
    on = UNTRUSTED

    ROWS, MOST_FILES = 10, 20

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.watched = self._untrusted = Recent[Note]()
        self._files: Recent[dict[str, tuple[Note, Note]]] = Recent()

    def see(self, call: Call) -> None:
        session = call.row.session_id
        if call.marks & UNTRUSTED:
            self._untrusted.put(session, call.note())
        source = self._untrusted.get(session)
        if source is None:
            return
        files = self._files.get(session)
        if files:
            self._run(call, files)
        if call.place - source.place <= self.ROWS:
            self._written(call, source)
        elif not files:
            del self._untrusted[session]

    def _run(self, call: Call, files: dict[str, tuple[Note, Note]]) -> None:
        for path in [path for path, (_, note) in files.items() if call.place - note.place > self.ROWS]:
            del files[path]
        if not files or call.row.tool_name in toolsets.WRITERS:
            return
        for path in call.facts.ran:
            if (found := files.pop(path, None)) is not None:
                source, written = found
                episode = Episode.of(source, written, call)
                episode.status = call.row.status  # whether it ran is what the last step says
                self.report(episode, "runs a file made after reading untrusted content", path, call.row.args_json)

    def _written(self, call: Call, source: Note) -> None:
        if call.refused or not (call.row.tool_name in toolsets.WRITERS or call.marks & TOLD):
            return
        paths = (*call.facts.written, *call.facts.fetched)
        if not paths:
            return
        files = self._files.get(call.row.session_id)
        if files is None:
            files = {}
            self._files.put(call.row.session_id, files)
        for path in paths[: self.MOST_FILES]:
            files[path] = (source, call.note())
            if len(files) > self.MOST_FILES:
                del files[next(iter(files))]


RULES: tuple[type[Rule], ...] = (DownloadAndRun, RemoteShell, Encoded, Metacharacters, FetchedFileRun)
