"""The page of the rules says what the code does."""

from __future__ import annotations

from agent_ledger.posture import rules, taxonomy
from tests.posture import documented


def test_page_is_current() -> None:
    """docs/posture-rules.md is what the rules say of themselves; else: python3 -m tests.posture.documented."""
    assert documented.PAGE.read_text(encoding="utf-8") == documented.page()


def test_official_names() -> None:
    """The ten names of OWASP's list of 2026, and one extension that says that it is none of them."""
    names = {entry.id: entry.name for entry in taxonomy.ENTRIES.values() if entry.official}
    assert names == {
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
    assert [entry.id for entry in taxonomy.ENTRIES.values() if not entry.official] == ["ASI11"]


def test_every_rule_describes_itself() -> None:
    """Ids are unique, and every rule has words for all that is printed."""
    ids = [rule.id for rule in rules.ALL]
    assert len(ids) == len(set(ids))
    for rule in rules.ALL:
        assert rule.title and rule.predicate and rule.remediation and rule.refs
