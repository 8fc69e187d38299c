"""What evidence says of open ghosts now: the probes that a notice uses, behind a memory that keeps a page that asks
every few seconds from reading the same files every few seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from ..ghosts import evidence, footprint
from ..home import data_folder
from ..store.shapes import Row

FRESH_S = 30.0
MOST = 10  # ghosts that are looked after at once
_MOST_KNOWN = 1000
_known: dict[tuple[str, int], tuple[float, dict[str, str] | None]] = {}


def look(home: str, rows: Sequence[Row]) -> dict[int, dict[str, str]]:
    """Row id -> ``effect`` and ``saw``, where a probe applies; of the first rows only. Reads, and makes nothing."""
    folder = data_folder(home)
    if not os.path.lexists(os.path.join(folder, footprint.KEY_FILE)):  # load_key would make one
        return {}
    now = time.monotonic()
    asked = [row for row in rows[:MOST] if _stale(home, row.id, now)]
    if asked:
        subjects = [
            evidence.Subject(row.id, row.ts, row.tool_name, row.args_json, row.probe_json, row.backend) for row in asked
        ]
        found = evidence.look(subjects, home, footprint.load_key(folder))
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        for row in asked:
            finding = found.get(row.id)
            _known[home, row.id] = now, {"effect": finding.effect, "saw": finding.saw} if finding else None
    seen = {row.id: _known.get((home, row.id), (0.0, None))[1] for row in rows[:MOST]}
    return {row_id: said for row_id, said in seen.items() if said is not None}


def _stale(home: str, row_id: int, now: float) -> bool:
    known = _known.get((home, row_id))
    return known is None or now - known[0] > FRESH_S
