"""``run ...``: the commands over unattended runs."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

from ..answer import Answer


def run(options: argparse.Namespace) -> Answer:
    """Run the chosen one."""
    command: Any = importlib.import_module(f".{options.ledger_run}", __package__)
    answer: Answer = command.run(options)
    return answer
