"""``policy ...``: the commands over the policy of a home."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

from ..answer import Answer


def run(options: argparse.Namespace) -> Answer:
    """Run the chosen one; without one, say what is in force."""
    command: Any = importlib.import_module(f".{options.ledger_policy or 'mode'}", __package__)
    answer: Answer = command.run(options)
    return answer
