"""The OWASP Top 10 for Agentic Applications 2026: ids, official names, and what no ledger can show."""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "OWASP Top 10 for Agentic Applications 2026 (OWASP GenAI Security Project, December 2025)"
ATLAS = "MITRE ATLAS 5.6.0"

# Id -> the name as the list has it.
OFFICIAL = {
    "ASI01": "Agent Goal Hijack",
    "ASI02": "Tool Misuse and Exploitation",
    "ASI03": "Identity and Privilege Abuse",
    "ASI04": "Agentic Supply Chain Vulnerabilities",
    "ASI05": "Unexpected Code Execution (RCE)",
    "ASI06": "Memory & Context Poisoning",
    "ASI07": "Insecure Inter-Agent Communication",
    "ASI08": "Cascading Failures",
    "ASI09": "Human-Agent Trust Exploitation",
    "ASI10": "Rogue Agents",
}

# What the community adds: it is on no list of OWASP's under this number.
EXTENSIONS = {"ASI11": "Excessive agency"}
EXTENSION_BASIS = "OWASP LLM03:2026 (was LLM06:2025)"

NOT_OBSERVABLE = {
    "ASI07": "a row holds no sender, signature, nonce or channel of a message between agents",
    "ASI09": "a row holds no human, no prompt, no rationale and no approval",
}

# What is seen of an entry where a row shows only a part of it.
PARTIAL = {
    "ASI01": "consequences only: prompts and goals are not in rows",
    "ASI03": "the act only: not whose credential it was, nor its scope",
    "ASI04": "installs and writes of configuration only: not provenance, hashes or descriptors",
    "ASI06": "writes with a memory tool only: not what is retrieved from the store",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. ``official``: False for what is not on OWASP's list."""

    id: str
    name: str
    official: bool


ENTRIES = {
    **{asi: Entry(asi, name, True) for asi, name in OFFICIAL.items()},
    **{asi: Entry(asi, name, False) for asi, name in EXTENSIONS.items()},
}


def label(asi: str) -> str:
    """``ASI02 Tool Misuse and Exploitation``; what is not official says so."""
    entry = ENTRIES[asi]
    return f"{asi} {entry.name}" + ("" if entry.official else " (community extension, not an official entry)")
