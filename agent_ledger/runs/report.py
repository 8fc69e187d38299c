"""A verdict as reports have it: no secret that the redactor knows, no character that a file cannot hold, and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from ..redact import redact_text
from .model import CallSeen, ToolStats
from .verdict import LedgerCall, LedgerFindings, Verdict

_MAX_REASON = 2_000
_MAX_OUTPUT = 300
_MARGIN = 512  # dropped at the end of an answer that was cut, where half a secret may stand


def clean(verdict: Verdict) -> Verdict:
    """``verdict`` for the eyes of others. Every report is made of what this returns."""
    text = _text(verdict.text)
    return replace(
        verdict,
        reasons=tuple(_text(reason, _MAX_REASON) for reason in verdict.reasons),
        session_id=_text(verdict.session_id),
        model=_text(verdict.model),
        text=text[:-_MARGIN] if verdict.answer_cut else text,
        tools=_tools(verdict.tools),
        calls=tuple(
            CallSeen(_text(call.name), call.state, call.duration_ms, _text(call.output, _MAX_OUTPUT))
            for call in verdict.calls
        ),
        unfinished=tuple(map(_text, verdict.unfinished)),
        ledger=_findings(verdict.ledger) if verdict.ledger is not None else None,
    )


def as_json(verdict: Verdict) -> dict[str, Any]:
    """The verdict for programs."""
    return {
        "outcome": verdict.outcome,
        "reasons": list(verdict.reasons),
        "exit_code": verdict.exit_code,
        "record_code": verdict.record_code,
        "process_rc": verdict.process_rc,
        "session_id": verdict.session_id,
        "model": verdict.model,
        "text": verdict.text,
        "answer_cut": verdict.answer_cut,
        "tokens": verdict.tokens,
        "duration_ms": verdict.duration_ms,
        "tools": {
            name: {
                "calls": stats.calls, "errors": stats.errors, "unfinished": stats.unfinished,
                "duration_ms": stats.duration_ms,
            }
            for name, stats in verdict.tools.items()
        },
        "unfinished": list(verdict.unfinished),
        "unfinished_count": verdict.unfinished_count,
        "pairing": verdict.pairing,
        "unreadable": verdict.unreadable,
        "foreign": verdict.foreign,
        "unknown": verdict.unknown,
        "after_result": verdict.after_result,
        "ledger": asdict(verdict.ledger) if verdict.ledger is not None else None,
    }  # fmt: skip


def json_text(verdict: Verdict) -> str:
    """The verdict as a JSON document in plain ASCII. Nothing in it is a command to a CI runner that reads the output:
    one of GitHub's old kind would be found anywhere in a line."""
    return json.dumps(as_json(verdict), indent=2, ensure_ascii=True, allow_nan=False).replace("##[", "\\u0023#[") + "\n"


def _text(text: str, most: int | None = None) -> str:
    """Redacted, and only then cut: half a secret is none that the redactor knows. Lone surrogates become U+FFFD."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if not text.isascii() else text
    whole = redact_text(whole)
    return whole if most is None or len(whole) <= most else f"{whole[:most]}..."


def _tools(tools: dict[str, ToolStats]) -> dict[str, ToolStats]:
    found: dict[str, ToolStats] = {}
    for name, stats in tools.items():
        known = found.get(_text(name))
        if known is not None:  # two names that are one after redaction
            stats = ToolStats(*(a + b for a, b in zip(_fields(known), _fields(stats), strict=True)))  # type: ignore[arg-type]
        found[_text(name)] = stats
    return found


def _fields(stats: ToolStats) -> Iterable[float]:
    return asdict(stats).values()


def _findings(ledger: LedgerFindings) -> LedgerFindings:
    return replace(
        ledger,
        ghosts=tuple(map(_call, ledger.ghosts)),
        blocked=tuple(map(_call, ledger.blocked)),
        only_stream={_text(name): many for name, many in ledger.only_stream.items()},
        only_ledger={_text(name): many for name, many in ledger.only_ledger.items()},
        trouble=_text(ledger.trouble),
    )


def _call(call: LedgerCall) -> LedgerCall:
    return replace(
        call, tool=_text(call.tool), summary=_text(call.summary), status=_text(call.status),
        session_id=_text(call.session_id),
    )  # fmt: skip
