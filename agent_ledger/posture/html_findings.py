"""The findings of the HTML page: each with its rows, and the commands with which anyone can look at them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..cli.text import plural
from .charts import table
from .markup import Child, Markup, el, join
from .model import SEVERITIES
from .taxonomy import ENTRIES

IN_FULL = 200  # findings with everything about them; what is beyond has one line each
_RANGES = 40  # parts of a list of rows that are written out
_SHOWN = 5  # rows with a command of their own

_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z")

# What the host or the policy said of the calls, in the words of a reader.
STATUS = {
    "CONFIRMED": "the host returned a result",
    "PENDING": "may have happened: no outcome is known",
    "GHOST_REPORTED": "may have happened: no outcome is known",
    "ERROR:blocked": "attempt stopped",
}


def ranges(rows: Iterable[int]) -> list[tuple[int, int]]:
    """Row ids as runs: 3, 4, 5, 9 gives (3, 5), (9, 9)."""
    runs: list[tuple[int, int]] = []
    for row in sorted(set(rows)):
        if runs and row == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs


def rows_text(rows: Sequence[int]) -> str:
    """``3-5, 9``, cut after so many runs."""
    runs = ranges(rows)
    shown = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs[:_RANGES])
    return f"{shown} and more, up to {runs[-1][1]}" if len(runs) > _RANGES else shown


def sqlite_command(ledger: str, rows: Sequence[int]) -> str:
    """The command that prints the rows of a finding. Very scattered rows give the whole stretch that they lie in."""
    runs = ranges(rows)
    if len(runs) > _RANGES:
        runs = [(runs[0][0], runs[-1][1])]
    singles = [str(first) for first, last in runs if first == last]
    conditions = [f"id BETWEEN {first} AND {last}" for first, last in runs if first != last]
    if singles:
        conditions.append(f"id IN ({', '.join(singles)})")
    query = (
        "SELECT id, ts, tool_name, status, summary FROM ledger"  # noqa: S608 - shown to people, made of numbers
        f" WHERE {' OR '.join(conditions)} ORDER BY id"
    )
    # The shell must still see the tilde of a home folder.
    tilde = "~/" if ledger.startswith("~/") else ""
    return f"sqlite3 -readonly {tilde}{shlex.quote(ledger.removeprefix(tilde))} {shlex.quote(query)}"


def moment(stamp: str) -> str:
    """``2026-11-30 10:15:02`` for a time of the ledger, in UTC as it stands there; anything else unchanged."""
    found = _STAMP.fullmatch(stamp)
    return f"{found[1]} {found[2]}" if found else stamp


def title(asi: str) -> str:
    """``ASI02 Tool Misuse and Exploitation``."""
    return f"{asi} {ENTRIES[asi].name}" if asi in ENTRIES else asi


def severity_mark(severity: str) -> Markup:
    """The severity as a coloured word; one that is not known stays without a colour."""
    return el("span", severity, class_=f"mark {style_of(severity)}")


def style_of(severity: str) -> str:
    """The CSS class of a severity."""
    return severity.lower() if severity in SEVERITIES else "unknown"


def official_mark(official: bool) -> Markup:
    """Says of an entry whether it is on OWASP's list."""
    if official:
        return el("span", "official", class_="tag", title="On the OWASP Top 10 for Agentic Applications 2026")
    return el("span", "not official", class_="tag warn", title="An extension of this project, not on the OWASP list")


def findings(report: Mapping[str, Any], ledger: str) -> Markup:
    """Every finding, gravest first."""
    found = sorted(report["findings"], key=_order)
    if not found:
        return el("p", "No rule found anything in the rows of this window.", class_="card empty")
    new = set(report["changes"].get("new", ()))
    cards = [_card(finding, finding["fingerprint"] in new, ledger) for finding in found[:IN_FULL]]
    return join(el("ol", *cards, class_="findings"), _in_short(found[IN_FULL:]))


def _order(finding: Mapping[str, Any]) -> tuple[Any, ...]:
    severity = finding["severity"]
    rank = SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)
    rows = finding["evidence"]["rows"]
    return (finding["suppressed"] is not None, rank, finding["asi"], finding["rule_id"], rows[0] if rows else 0)


def _card(finding: Mapping[str, Any], new: bool, ledger: str) -> Markup:
    evidence, accepted = finding["evidence"], finding["suppressed"]
    asi, status = finding["asi"], finding["status_seen"]
    head = el(
        "div",
        severity_mark(finding["severity"]),
        el("span", "new", class_="tag new") if new else None,
        el("span", "accepted", class_="tag") if accepted else None,
        el("code", finding["rule_id"]),
        el("span", title(asi), class_="quiet"),
        official_mark(finding["official"]),
        class_="marks",
    )
    facts: list[tuple[str, Child]] = [
        ("Seen", join(el("code", status), el("span", STATUS[status]) if status in STATUS else None)),
        ("Confidence", finding["confidence"]),
        ("When (UTC)", _span(evidence["ts_first"], evidence["ts_last"])),
        ("Session", el("code", evidence["session_id"]) if evidence["session_id"] else "none recorded"),
        ("Rows", el("code", rows_text(evidence["rows"]))),
    ]
    return el(
        "li",
        head,
        el("h3", finding["message"]),
        el("p", el("code", finding["excerpt"]), class_="excerpt") if finding["excerpt"] else None,
        facts_list(facts),
        el("p", el("b", "Accepted: "), f"{accepted['reason']} (by {accepted['by']}, until {accepted['expires']})")
        if accepted else None,
        el("p", el("b", "What to do: "), finding["remediation"]) if finding["remediation"] else None,
        _verify(finding, ledger),
        class_=f"card finding edge-{style_of(finding['severity'])}" + (" accepted" if accepted else ""),
    )  # fmt: skip


def _span(first: str, last: str) -> Markup:
    start = el("time", moment(first), datetime=first)
    if first == last:
        return start
    end = moment(last)
    # The day is said once.
    return join(start, " to ", el("time", end[11:] if end[:11] == moment(first)[:11] else end, datetime=last))


def facts_list(facts: Sequence[tuple[str, Child]]) -> Markup:
    """Names and what they are, one beside the other."""
    return el("dl", *(el("div", el("dt", name), el("dd", value)) for name, value in facts), class_="facts")


def _verify(finding: Mapping[str, Any], ledger: str) -> Markup:
    rows = finding["evidence"]["rows"]
    commands = []
    if rows:
        commands.append(el("pre", el("code", sqlite_command(ledger, rows))))
        shows = [f"hermes ledger show {row}" for row in rows[:_SHOWN]]
        commands.append(el("pre", [el("code", show) for show in shows]))
        if len(rows) > _SHOWN:
            commands.append(el("p", f"and so on, for {plural(len(rows), 'row')} in all.", class_="quiet"))
    refs = finding["refs"]
    return el(
        "details",
        el("summary", "How to verify"),
        *commands,
        facts_list([("Fingerprint", el("code", finding["fingerprint"])), *(("Reference", ref) for ref in refs)]),
    )


def _in_short(rest: Sequence[Mapping[str, Any]]) -> Markup | None:
    if not rest:
        return None
    rows = [
        (el("code", one["rule_id"]), severity_mark(one["severity"]), official_mark(one["official"]), one["message"],
         el("code", rows_text(one["evidence"]["rows"])))
        for one in rest
    ]  # fmt: skip
    heading = f"{plural(len(rest), 'further finding')}, in short"
    return el(
        "details",
        el("summary", heading),
        table(heading, ("Rule", "Severity", "On the OWASP list", "Finding", "Rows"), rows),
        class_="card",
    )
