"""Scores a ledger: ``python3 posture.py [LEDGER]``, or ``python3 -m posture LEDGER``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from agent_ledger.cli.main import main  # noqa: E402 - the folder of this file is where the package is

if __name__ == "__main__":
    raise SystemExit(main(["posture", *sys.argv[1:]]))
