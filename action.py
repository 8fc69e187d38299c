"""The step of the GitHub Action (action.yml): inputs from the environment in, `run exec` around Hermes, outputs out."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - the runner's python3 may be any
    sys.exit("agent-ledger needs Python 3.11 or later as python3. Add actions/setup-python before this action")

sys.dont_write_bytecode = True  # the action's folder belongs to the runner
sys.path.insert(0, str(Path(__file__).resolve().parent))

from agent_ledger.cli.run.action import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
