"""ASI04 Agentic Supply Chain Vulnerabilities: installs, and writes of configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...policy import patterns
from .. import toolsets
from .base import FOREIGN, TOLD, Call, Context, Episode, Rule, shown

_OWASP = "OWASP ASI04:2026"
_VERBS = {
    "pip": ("install",), "pip3": ("install",), "pipx": ("install", "run"), "npm": ("install", "i", "add", "exec"),
    "pnpm": ("add", "dlx"), "yarn": ("add", "dlx"), "bun": ("add", "x"), "gem": ("install",), "cargo": ("install",),
    "go": ("install", "get"), "uv": ("add",), "npx": (), "uvx": (), "bunx": (),
}  # fmt: skip
_VALUED = frozenset(
    "-i --index-url --extra-index-url --index -t --target --prefix --python -p --registry --features --path --root -w "
    "--workspace -C --cache-dir --find-links -f --with".split()
)
_REQUIREMENTS = frozenset("-r --requirement -c --constraint -e --editable".split())
_URL = re.compile(r"(?:git\+|https?://|git://|git@|github:|[\w.-]+/[\w.-]+#)")


class Unpinned(Rule):
    id = "ASI04-01"
    title = "An install without a version, or from an address"
    severity = "LOW"
    confidence = "low"
    predicate = (
        "A package manager installs or runs a named package without a version, or from an address or an untrusted"
        " source. Requirement files, local folders and pinned versions do not count."
    )
    remediation = "Pin the version, best with a hash or a lock file, and install from the usual index."
    refs = (_OWASP,)
    on = TOLD

    def see(self, call: Call) -> None:
        untrusted = call.facts.of_kind("package_source")
        found = untrusted[0].what if untrusted else next(
            (" ".join(words) for words in call.facts.commands if _is_loose(words)), ""
        )  # fmt: skip
        if found:
            self.report(Episode.of(call), "installs what nobody has pinned", found, call.row.args_json)


def _is_loose(words: tuple[str, ...]) -> bool:
    name = words[0]
    words = words[1:]
    if name == "python" or name == "python3":
        if words[:2] != ("-m", "pip"):
            return False
        name, words = "pip", words[2:]
    elif name == "uv" and words[:1] == ("pip",):
        name, words = "pip", words[1:]
    verbs = _VERBS.get(name)
    if verbs is None or (verbs and (not words or words[0] not in verbs)) or "--help" in words or "--dry-run" in words:
        return False
    named = list(_packages(words[1:] if verbs else words))
    return any(_is_unpinned(name, word) for word in (named if verbs else named[:1]))


def _packages(words: tuple[str, ...]) -> Iterator[str]:
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _VALUED or word in _REQUIREMENTS:
            skip = True
        elif not word.startswith("-"):
            yield word


def _is_unpinned(manager: str, word: str) -> bool:
    if _URL.match(word):
        return re.search(r"@[0-9a-f]{7,40}\b|#[0-9a-f]{7,40}\b|#sha256=", word) is None
    if word.startswith((".", "/", "~", "file:")) or word.endswith((".whl", ".tar.gz", ".tgz", ".gem")):
        return False
    if manager in ("pip", "pip3", "pipx", "uv", "uvx"):
        return "==" not in word and "@" not in word
    return re.search(r".@v?\d", word) is None


_CONFIG = re.compile(
    r"""(?:^|/)(?:\.mcp\.json | mcp(?:_config|_settings|-servers)?\.json | claude_desktop_config\.json
    | \.claude/(?:settings(?:\.local)?\.json | commands/.+ | agents/.+ | skills/.+ | hooks/.+) | \.claude\.json
    | \.curso[r]/(?:mcp\.json | hooks\.json | rules/.+) | \.code[x]/config\.toml | \.gemin[i]/settings\.json
    | \.vscode/(?:mcp|tasks|settings)\.json | \.continue/config\.(?:json|ya?ml) | \.windsurf/.+ | \.openclaw/.+\.json
    | \.hermes/(?:profiles/[^/]+/)?(?:config\.ya?ml | plugins/.+ | skills/.+ | hooks/.+ | mcp.*\.json)
    | opencode\.jsonc? | \.aider\.conf\.yml | plugin\.ya?ml | goose/config\.ya?ml
    )$""",
    re.VERBOSE,
)


class ConfigWrite(Rule):
    id = "ASI04-02"
    title = "The configuration of an agent, its servers or plugins is written"
    severity = "HIGH"
    confidence = "medium"
    predicate = (
        "write_file, patch or edit_file, or a shell's redirection, writes a file that says which servers, plugins,"
        " hooks or skills an agent loads. The path counts, the content is not searched."
    )
    remediation = "Compare the file with what you want there, and let a person make such changes."
    refs = (_OWASP, "AML.T0081")
    on = TOLD

    def see(self, call: Call) -> None:
        tool = call.row.tool_name
        if tool in toolsets.WRITERS or tool in toolsets.SHELL:
            path = next((path for path in call.facts.written if _CONFIG.search(path)), "")
            if path:
                self.report(Episode.of(call), "writes the configuration of an agent", path, call.row.args_json)


class UnknownTool(Rule):
    id = "ASI04-03"
    title = "A tool that the policy does not name"
    severity = "LOW"
    confidence = "low"
    predicate = (
        "The first call of a tool that the host does not bring, where the policy in force names tools and not this one."
        " One finding for each such tool."
    )
    remediation = "Name the tool in the policy, or remove the server or plugin that brings it."
    refs = (_OWASP,)
    on = FOREIGN

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._seen: set[str] = set()
        self._named = tuple(name for rule in context.policy.rules for name in rule.tools) if context.policy else ()

    def not_assessed(self) -> str:
        return "" if self._named else "no policy that names tools was given"

    def see(self, call: Call) -> None:
        tool = call.row.tool_name
        if self._named and tool not in self._seen:
            self._seen.add(tool)
            if not any(patterns.wild(name, tool) for name in self._named):
                self.report(Episode.of(call), f"{shown(tool)} is named by no rule of the policy")


RULES: tuple[type[Rule], ...] = (Unpinned, ConfigWrite, UnknownTool)
