"""The settings of the host that decide whether its recorder is loaded: <hermes home>/config.yaml and .env."""

from __future__ import annotations

import re

from .model import Value

_SWITCHES = re.compile(r"HERMES_SAFE_MODE|AGENT_LEDGER_")
_OURS = re.compile(r"agent[-_]ledger")
_DISABLED = re.compile(r"\bdisabled\b[^\n]*(?:\n[ \t]*-[^\n]*)*agent[-_]ledger")
_ABOUT_PLUGINS = re.compile(r"\bplugins\b|agent[-_]ledger")


def disarms(where: str, before: Value, content: Value, append: bool, hermes: str) -> bool:
    """True where this content of a settings file keeps the recorder from being loaded.

    ``before``: what the file holds, as far as that is known.
    """
    if not hermes or not where.startswith(hermes + "/"):
        return False
    name = where[len(hermes) + 1 :]
    if name == ".env":
        had = set() if append else set(_SWITCHES.findall(before.text))
        return not had.issuperset(_SWITCHES.findall(content.text))
    if name != "config.yaml":
        return False
    if _DISABLED.search(content.text):
        return True
    if append or not content.known or _OURS.search(content.text):
        return False
    return bool(_OURS.search(before.text)) or (not before.known and "plugins" in content.text)


def disarms_by_edit(where: str, script: str, hermes: str) -> bool:
    """True where the script of an editor changes what a settings file says of plugins."""
    if not hermes or not where.startswith(hermes + "/"):
        return False
    name = where[len(hermes) + 1 :]
    return (name == ".env" and _SWITCHES.search(script) is not None) or (
        name == "config.yaml" and _ABOUT_PLUGINS.search(script) is not None
    )
