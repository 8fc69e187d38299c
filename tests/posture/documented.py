"""docs/posture-rules.md, made from the rules: ``python3 -m tests.posture.documented`` writes it anew."""

from __future__ import annotations

from pathlib import Path

from agent_ledger.posture import rules, taxonomy
from agent_ledger.posture.model import WEIGHTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "posture-rules.md"


def page() -> str:
    """The whole page."""
    weights = ", ".join(f"{name} {points}" for name, points in WEIGHTS.items())
    lines = [
        "# The rules of the posture score",
        "",
        f"Made from the code, version {rules.VERSION} of the rules. {taxonomy.SOURCE}",
        "",
        f"A finding takes points by its severity: {weights}. One finding is one episode, with the ids of all its rows."
        " The severity is that of a confirmed call; a call that policy refused counts as LOW, one that failed one step"
        " less, and one whose outcome nobody knows keeps its severity with less confidence.",
    ]
    for entry in taxonomy.ENTRIES.values():
        official = "" if entry.official else " (an extension, not on the official list)"
        lines += ["", f"## {entry.id} {entry.name}{official}"]
        found = [rule for rule in rules.ALL if rule.asi() == entry.id]
        if not found:
            lines += ["", "Not assessed: no row can show it."]
        for rule in found:
            lines += [
                "",
                f"### {rule.id} {rule.title}",
                "",
                f"{rule.severity}, confidence {rule.confidence}. {rule.predicate}",
                "",
                f"What to do: {rule.remediation}",
                "",
                f"References: {', '.join(rule.refs)}",
            ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
