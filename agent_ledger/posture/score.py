"""The score of a ledger: what the rules found in a window, and every number that comes with it."""

from __future__ import annotations

import dataclasses
import fnmatch
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from ..errors import NoData
from ..model import now_iso, parse_iso
from ..policy.rules import Policy
from ..store.readonly import ReadOnly
from ..store.stream import Stream
from . import rows, rules, taxonomy
from .commands import NOTHING
from .engine import Engine
from .model import WEIGHTS, Finding, Report
from .rules.asi10 import Rate
from .rules.base import Context, Note
from .suppressions import Accepted

Progress = Callable[[int, int], None]


def score_ledger(
    path: str,
    *,
    since: str = "",
    until: str = "",
    session: str = "",
    now: datetime,
    suppressions: Sequence[Accepted] = (),
    policy: Policy | None = None,
    progress: Progress | None = None,
    budget: int = 0,
    declared: Iterable[str] = (),
) -> Report:
    """Score the rows of the ledger at ``path`` that were issued at ``since`` or later and before ``until`` (times as
    the ledger writes them, '' for no bound). ``declared``: the tools that this agent is meant to have; ``budget``: how
    many calls a session may have, 0 for any number; ``progress``: told (rows looked at, about how many there are). The
    file is opened read-only, and the same rows, rules, policy and
    ``now`` always give the same report.

    Raises NoLedger, LedgerUnreadable or NewerLedger, and NoData where the window holds no row.
    """
    context = Context(now.timestamp(), policy, budget, frozenset(declared), lambda row: NOTHING)
    engine = Engine(context)
    with ReadOnly(path) as ledger:
        stream = rows.stream_of(ledger)
        about = stream.about()
        names = (session,) if session else ()
        for batch in rows.batches(stream, since, until, names):
            engine.take(batch)
            if progress is not None:
                progress(engine.seen.rows, about)
        seen = engine.seen
        if not seen.rows:
            raise NoData(_no_data(path, since, until, session))
        rate = next((rule for rule in engine.rules if isinstance(rule, Rate)), None)
        if rate is not None and not session:
            rate.earlier = _earlier(stream, since, until, Rate.MOST)
            rate.edges = [
                Note(row_id, ts, "", "", "", 0, 0)
                for row_id, ts in ((seen.first_id, seen.first_ts), (seen.last_id, seen.last_ts))
            ]
        sessions = stream.sessions(seen.first_id, seen.last_id, since, until, names)
    engine.end()
    findings, notices = _suppressed(engine.findings, suppressions, now)
    penalty = sum(WEIGHTS[finding.severity] for finding in findings)
    effective = sum(WEIGHTS[finding.severity] for finding in findings if finding.suppressed is None)
    return Report(
        score=max(0, 100 - penalty),
        score_effective=max(0, 100 - effective),
        penalty=penalty,
        penalty_per_1000=round(penalty * 1000 / seen.rows, 3),
        findings=findings,
        subtotals=_subtotals(findings),
        assessed=_assessed(engine),
        not_assessed=_not_assessed(engine),
        coverage=_coverage(engine, sessions, stream.missing),
        rules_version=rules.VERSION,
        policy_sha256=policy.sha256 if policy is not None else seen.policy_sha256,
        since=since,
        until=until,
        session=session,
        rule_errors=dict(sorted(engine.errors.items())),
        notices=notices,
    )


def _no_data(path: str, since: str, until: str, session: str) -> str:
    window = "".join(
        f" {word} {value}" for word, value in (("since", since), ("until", until), ("in session", session)) if value
    )
    return (
        f"no data: the ledger at {path} has no call{window}. Nothing can be said of it; choose another window, or see"
        " `hermes ledger doctor` where you expected calls"
    )


def _suppressed(
    findings: Iterable[Finding], suppressions: Sequence[Accepted], now: datetime
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """The findings in order, those that were accepted marked; and a notice for each acceptance that is over."""
    today = now.astimezone(UTC).date().isoformat()
    kept, over = list[Finding](), dict[str, None]()
    for finding in sorted(findings, key=lambda one: (one.asi, one.rule_id, one.rows[0] if one.rows else 0,
                                                     one.fingerprint)):  # fmt: skip
        for accepted in suppressions:
            if accepted.rule_id != finding.rule_id or not (
                accepted.fingerprint == finding.fingerprint
                if accepted.fingerprint
                else fnmatch.fnmatchcase(finding.session_id, accepted.session)
            ):
                continue
            if accepted.why.expires < today:
                over[f"the suppression of {accepted.rule_id} by {accepted.why.by} ended on {accepted.why.expires}:"
                     " its findings count again"] = None  # fmt: skip
                continue
            finding = dataclasses.replace(finding, suppressed=accepted.why)
            break
        kept.append(finding)
    return tuple(kept), tuple(over)


def _subtotals(findings: Iterable[Finding]) -> dict[str, int]:
    points: dict[str, int] = {}
    for finding in findings:
        points[finding.asi] = points.get(finding.asi, 0) + WEIGHTS[finding.severity]
    return dict(sorted(points.items()))


def _assessed(engine: Engine) -> tuple[str, ...]:
    """The entries with at least one rule that looked, in the order of the list."""
    looked = {rule.asi() for rule in engine.rules if not rule.not_assessed()}
    return tuple(asi for asi in taxonomy.ENTRIES if asi in looked)


def _not_assessed(engine: Engine) -> dict[str, str]:
    """Entries, and single rules, that nothing can be said of here; and what is not seen of the others."""
    reasons = dict(taxonomy.NOT_OBSERVABLE)
    reasons.update({rule.id: reason for rule in engine.rules if (reason := rule.not_assessed())})
    return dict(sorted(reasons.items()))


def _coverage(engine: Engine, sessions: int, missing: Sequence[str]) -> dict[str, object]:
    seen = engine.seen

    def share(count: int) -> float:
        return round(count / seen.rows, 4)

    return {
        "rows": seen.rows,
        "sessions": sessions,
        "first_id": seen.first_id,
        "last_id": seen.last_id,
        "first_ts": seen.first_ts,
        "last_ts": seen.last_ts,
        "statuses": dict(sorted(seen.statuses.items())),
        "args_at_limit": share(seen.args_cut),
        "digests_at_limit": share(seen.digests_full),
        "pending": share(seen.pending),
        "id_gaps": seen.gaps,
        "time_reversals": engine.clock.reversals,
        "unreadable_times": engine.clock.unreadable,
        "commands_parsed": engine.reader.parsed,
        "commands_unparsed": engine.reader.unparsed,
        "missing_columns": list(missing),
        "partial": dict(taxonomy.PARTIAL),
    }


def _earlier(stream: Stream, since: str, until: str, most: int) -> list[int] | None:
    """Rows in each earlier window of the same length, as far back as the ledger goes; None without a window."""
    start, end = parse_iso(since), parse_iso(until)
    first = parse_iso(stream.first_time())
    if start is None or end is None or first is None or end <= start:
        return None
    length = end - start
    many = min(most, int((start - first) // length))
    if many < 1:
        return []
    edges = [start - length * back for back in range(many, -1, -1)]
    counts = [0] * many
    for minute, rows_in_it in stream.spread(now_iso(edges[0]), since):
        moment = parse_iso(f"{minute}:00Z")
        at = bisect_right(edges, moment) - 1 if moment is not None else -1
        if 0 <= at < many:
            counts[at] += rows_in_it
    return counts
