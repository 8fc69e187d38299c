"""``python3 -m agent_ledger.cli``: the same commands where no console script is installed."""

from __future__ import annotations

import sys

from .main import main

sys.exit(main())
