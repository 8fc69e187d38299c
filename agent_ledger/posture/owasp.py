"""The names of the OWASP Top 10 for Agentic Applications 2026, and of the one entry here that is not on that list."""

from __future__ import annotations

from typing import Final

# Names as on the contents page and in the headings of the entries.
OFFICIAL: Final = {
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
EXTENSION: Final = {"ASI11": "Excessive Agency"}
NAMES: Final = OFFICIAL | EXTENSION
