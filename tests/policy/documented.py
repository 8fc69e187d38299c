"""The parts of docs/policy.md that are made from the code: ``python3 -m tests.policy.documented`` writes them anew."""

from __future__ import annotations

import re
from pathlib import Path

from agent_ledger.policy.model import EFFECTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "policy.md"
_BLOCK = re.compile(r"(<!-- effects: [^\n]*-->\n).*?(<!-- /effects -->)", re.DOTALL)


def effects() -> str:
    """The table of all effects that a rule can name."""
    return "\n".join(["| effect | the call |", "|---|---|", *(f"| `{name}` | {what} |" for name, what in EFFECTS.items())])


def current(text: str) -> str:
    """The page with what the code says now."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{effects()}\n\n{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(current(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
