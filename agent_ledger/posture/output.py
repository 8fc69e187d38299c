"""A report as JSON for programs: the same bytes for the same report."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from . import taxonomy
from .model import Finding, Report


def as_json(report: Report) -> dict[str, Any]:
    """The report in plain values."""
    return {
        "score": report.score,
        "score_effective": report.score_effective,
        "penalty": report.penalty,
        "penalty_per_1000": report.penalty_per_1000,
        "findings": [_finding(finding) for finding in report.findings],
        "subtotals": dict(report.subtotals),
        "assessed": list(report.assessed),
        "not_assessed": dict(report.not_assessed),
        "entries": {
            entry.id: {"name": entry.name, "official": entry.official}
            | ({} if entry.official else {"basis": taxonomy.EXTENSION_BASIS})
            for entry in taxonomy.ENTRIES.values()
        },
        "coverage": dict(report.coverage),
        "rules_version": report.rules_version,
        "policy_sha256": report.policy_sha256,
        "window": {"since": report.since, "until": report.until, "session": report.session},
        "rule_errors": dict(report.rule_errors),
        "changes": {name: list(found) for name, found in report.changes.items()},
        "notices": list(report.notices),
        "source": taxonomy.SOURCE,
        "atlas": taxonomy.ATLAS,
        "note": report.note,
    }


def as_text(report: Report) -> str:
    """The JSON text, plain ASCII, with a newline at its end."""
    return json.dumps(as_json(report), indent=2, ensure_ascii=True) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule_id": finding.rule_id,
        "asi": finding.asi,
        "official": finding.official,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "status_seen": finding.status_seen,
        "message": finding.message,
        "evidence": {
            "rows": list(finding.rows),
            "session_id": finding.session_id,
            "ts_first": finding.ts_first,
            "ts_last": finding.ts_last,
        },
        "fingerprint": finding.fingerprint,
        "remediation": finding.remediation,
        "refs": list(finding.refs),
        "excerpt": finding.excerpt,
        "suppressed": dataclasses.asdict(finding.suppressed) if finding.suppressed is not None else None,
    }
