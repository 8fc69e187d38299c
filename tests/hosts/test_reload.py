"""The host's own plugin manager reloads the plugin while a call is open."""

from __future__ import annotations

import json
from pathlib import Path

from tests.hosts.conftest import NewHome

SCRIPT = Path(__file__).parent / "scripts" / "reload.py"


def test_a_reload_between_announcement_and_outcome_loses_and_doubles_nothing(ledger_home: NewHome) -> None:
    """One row a call, each confirmed, and the host holds as many callbacks after the reload as before."""
    home = ledger_home()
    done = home.python(SCRIPT).expect()
    counts = json.loads(done.output.splitlines()[-1])

    rows = [(row["tool_call_id"], row["status"]) for row in home.ledger.rows()]
    assert rows == [("across", "CONFIRMED"), ("later", "CONFIRMED")]
    assert counts["before"] == counts["after"] >= 1
