"""A home as it looks after some weeks of work: calls of many kinds, ghosts, a policy in dry run, a history of scores."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent_ledger.home import ledger_path
from tests.cli import policies
from tests.cli.commands import folder

DAYS = 16
EARLIER = """
INSERT INTO ledger (ts, session_id, turn_id, tool_call_id, tool_name, args_json, summary, status, effect, owner, cwd,
                    platform, settled_ts, duration_ms, result_digest)
VALUES (:ts, :session, 't', :call, :tool, :args, :summary, :status, :effect, 'gone', '/srv/shop', 'gateway', :ts, :took, 'done')
"""
WORK: list[tuple[str, str, str]] = [
    ("terminal", "make test", "CONFIRMED"),
    ("write_file", "/srv/shop/prices.json", "CONFIRMED"),
    ("patch", "/srv/shop/cart.py", "CONFIRMED"),
    ("terminal", "git push origin main", "ERROR:exit_1"),
    ("mcp__shop__update_stock", "sku 1841", "CONFIRMED"),
    ("execute_code", "import csv", "CONFIRMED"),
    ("terminal", "docker compose pull", "ERROR:timeout"),
    ("send_message", "telegram:ops", "CONFIRMED"),
    ("write_file", "/etc/shop.conf", "ERROR:denied"),
    ("cronjob", 'create "report-weekly"', "CONFIRMED"),
    ("delegate_task", "compare the price lists", "CONFIRMED"),
]


def furnish(home: Path, hostile: str = "") -> None:
    """Fill the home. ``hostile``: text that stands wherever an agent can put text."""
    policies.write(home, policies.pack(), "dry_run")
    (home / "cron").mkdir(exist_ok=True)
    (home / "cron" / "jobs.json").write_text('{"jobs": []}')
    work: list[Any] = [
        policies.run("make deploy", session="20261130_180412_shop"),
        policies.run(policies.ETC, session="20261130_180412_shop"),
        ("20261130_180412_shop", *policies.SAY, "ok"),
        ("20261130_180412_shop", "write_file", {"path": "/srv/shop/index.html", "content": hostile or "<h1>Shop</h1>"}, "open"),
        ("20261129_070001_cron", "cronjob", {"action": "create", "name": hostile or "backup-daily", "schedule": "every 1d"}, "open"),
        policies.run(hostile or "make -C /srv/shop release", session="20261129_070001_cron", outcome="open"),
    ]
    policies.record(home, *work)
    _earlier(home)
    _scores(home)


def _earlier(home: Path) -> None:
    """The weeks before, more by day than by night."""
    now = datetime.now(UTC)
    rows = []
    for hour in range(DAYS * 24, 0, -1):
        start = now - timedelta(hours=hour)
        for number in range(1 + (hour * 7) % 5 + (6 if 7 <= start.hour <= 17 else 0)):
            tool, what, status = WORK[(hour * 5 + number * 3) % len(WORK)]
            moment = start + timedelta(minutes=number * 4)
            rows.append({
                "ts": moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "session": f"{start:%Y%m%d}_090000_shop",
                "call": f"call_{hour}_{number}", "tool": tool, "args": json.dumps({"what": what}),
                "summary": f"{tool} {what}", "status": status, "took": 40 + 97 * number,
                "effect": {"ERROR:denied": "none", "CONFIRMED": "applied"}.get(status, "unknown"),
            })  # fmt: skip
    with sqlite3.connect(ledger_path(str(home))) as connection:
        # Older calls have smaller ids: what was recorded just now is moved behind them.
        connection.execute("UPDATE ledger SET id = id + ?", (len(rows),))
        connection.execute("UPDATE transitions SET ledger_id = ledger_id + ?", (len(rows),))
        connection.executemany(EARLIER.replace("INTO ledger (", "INTO ledger (id, ").replace("(:ts,", "(:id, :ts,", 1),
                               [{"id": number, **row} for number, row in enumerate(rows, 1)])  # fmt: skip
    connection.close()


def _scores(home: Path) -> None:
    """A line a day, as the daily report keeps it; the rules change once."""
    place = folder(home) / "posture"
    place.mkdir(mode=0o700)
    today = datetime.now(UTC).date()
    lines = [
        {
            "day": str(today - timedelta(days=DAYS - number)), "score": score, "score_effective": score, "penalty": 100 - score,
            "rows": 180 + number, "rules_version": "1" if number < 6 else "2", "by_rule": {"ASI02-repeat": 2, "ASI10-rate": 1},
            "new": ["a"], "open": [], "resolved": [],
        }
        for number, score in enumerate([92, 92, 84, 77, 85, 89, 74, 77, 69, 81, 89, 92, 89, 97, 92, 89])
    ]  # fmt: skip
    file = place / "history.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    file.chmod(0o600)
