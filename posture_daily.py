"""Score the last full UTC day and send the report to Telegram: python3 posture_daily.py [--dry-run] [--date YYYY-MM-DD]

For cron or a systemd timer; README.md shows both. Standard library only; Python 3.11 or later.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # a plugin folder is the user's clone: leave nothing in it
sys.path.insert(0, str(Path(__file__).resolve().parent))

if __name__ == "__main__":
    from agent_ledger.posture.daily import main

    sys.exit(main())
