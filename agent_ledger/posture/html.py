"""One page that a person would rather look at than read: it loads nothing, runs nothing, shows stored text as text.

The same input gives the same bytes: nothing here asks the clock or the machine.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import html_activity, html_findings, html_overview
from .charts import table
from .html_findings import facts_list
from .markup import Child, Markup, el, join, number, trusted
from .model import WEIGHTS

DEFAULT_LEDGER = "~/.hermes/plugin-data/agent-ledger/ledger.db"
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='5.5'"
    " fill='none' stroke='%230f766e' stroke-width='3'/%3E%3C/svg%3E"
)
_SECTIONS = (
    ("trend", "Trend"), ("list", "OWASP list"), ("findings", "Findings"), ("ghosts", "Open ghosts"),
    ("activity", "Activity"), ("basis", "Basis"),
)  # fmt: skip

# Coverage facts as a reader calls them; those among them that are parts of one.
_COVERAGE = {
    "rows": "Calls", "sessions": "Sessions", "first_id": "First row", "last_id": "Last row", "first_ts": "First call",
    "last_ts": "Last call", "statuses": "By status", "args_at_limit": "Arguments cut",
    "digests_at_limit": "Results cut", "pending": "Still pending", "id_gaps": "Gaps in row ids",
    "time_reversals": "Steps back in time", "unreadable_times": "Times unreadable",
    "commands_parsed": "Commands parsed", "commands_unparsed": "Not parsed", "missing_columns": "Columns missing",
}  # fmt: skip
_SHARES = ("args_at_limit", "digests_at_limit", "pending")


def render(
    report: Mapping[str, Any],
    history: Sequence[Mapping[str, Any]],
    activity: Mapping[str, Any],
    *,
    ledger: str = DEFAULT_LEDGER,
) -> str:
    """The page as text. ``report``: what ``output.as_json`` gives; ``history``: one entry a scored day, with ``day``,
    ``score``, ``penalty``, ``rows``, ``rules_version``, ``new`` and ``resolved``; ``activity``: ``unit`` (``day`` or
    ``hour``), ``buckets`` of ``start``, ``tools`` and ``outcomes``, and the open ``ghosts``; ``ledger``: the path that
    the commands name."""
    body = join(
        _header(report),
        el(
            "main",
            html_overview.summary(report, activity),
            _section("trend", "Trend", html_overview.trend(history)),
            _section(
                "list", "By entry of the OWASP list", html_overview.by_asi(report), html_overview.assessed(report)
            ),
            _section("findings", f"Findings ({len(report['findings'])})", html_findings.findings(report, ledger)),
            _section("ghosts", f"Open ghosts ({len(activity['ghosts'])})", html_activity.ghosts(activity)),
            _section("activity", "Activity", html_activity.charts(activity)),
            _section("basis", "What this rests on", _basis(report)),
            id="main",
        ),
        el("footer", el("p", "One file: it loads nothing and runs no script. Times are UTC.")),
    )
    return f"<!DOCTYPE html>\n{el('html', _head(report), el('body', body), lang='en')}\n"


def _head(report: Mapping[str, Any]) -> Markup:
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", f"Posture {report['score']} of 100, {_window(report)}"),
        el("link", rel="icon", href=trusted(_ICON)),
        el("style", trusted(style)),
    )


def _window(report: Mapping[str, Any]) -> str:
    window = report["window"]
    since, until, session = (window.get(name) or "" for name in ("since", "until", "session"))
    start, end = html_findings.moment(since), html_findings.moment(until)
    span = f"{start or 'the first call'} to {end or 'the last call'} UTC" if since or until else "the whole ledger"
    return f"{span}, session {session}" if session else span


def _header(report: Mapping[str, Any]) -> Markup:
    links = [el("li", el("a", name, href=f"#{key}")) for key, name in _SECTIONS]
    return el(
        "header",
        el("a", "Skip to the report", href="#main", class_="skip"),
        el("div", el("h1", "Agent posture"), el("p", _window(report), class_="quiet"), class_="titles"),
        el("nav", el("ul", *links), aria_label="Sections"),
    )


def _section(key: str, title: str, *children: Child) -> Markup:
    return el("section", el("h2", title, id=f"{key}-h"), *children, id=key, aria_labelledby=f"{key}-h")


def _basis(report: Mapping[str, Any]) -> Markup:
    weights = ", ".join(f"{name} {points}" for name, points in WEIGHTS.items())
    identity = [
        ("Rules", el("code", report["rules_version"])),
        ("Policy", el("code", report["policy_sha256"]) if report["policy_sha256"] else "none was in force"),
        ("Lists", ", ".join(report[name] for name in ("source", "atlas") if report.get(name)) or "not named"),
        ("Window", _window(report)),
        ("Sum", f"score = 100 - penalty, not below 0; each finding takes by its severity: {weights}. Every finding is"
                f" listed above, so the {number(report['penalty'])} points can be added up by hand."),
    ]  # fmt: skip
    facts = [
        (_COVERAGE.get(key, key.replace("_", " ")), _plain(key, value))
        for key, value in report["coverage"].items()
        if key != "partial"  # stands with the entries of the list
    ]
    return join(
        _failed(sorted(report["rule_errors"].items())),
        _notices(report.get("notices", ())),
        el(
            "div",
            el("div", el("h3", "How it was scored"), facts_list(identity), class_="card"),
            el("div", el("h3", "What the ledger held"), facts_list(facts), class_="card"),
            class_="pair",
        ),
    )


def _failed(errors: Sequence[tuple[str, str]]) -> Markup | None:
    if not errors:
        return None
    words = "What these would have found is missing from the score."
    title = "Rules that failed"
    return el(
        "div", el("h3", title), el("p", words), table(title, ("Rule", "What went wrong"), errors), class_="card alarm"
    )


def _notices(notices: Sequence[str]) -> Markup | None:
    if not notices:
        return None
    return el("div", el("h3", "To know besides"), *(el("p", notice) for notice in notices), class_="card alarm")


def _plain(key: str, value: Any) -> Child:
    """A coverage fact for people."""
    if key in _SHARES and isinstance(value, int | float):
        return f"{number(100 * value)}%"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, Mapping):
        return [el("span", f"{name}: ", _plain("", one)) for name, one in value.items()] or "none"
    if isinstance(value, list | tuple):
        return ", ".join(str(one) for one in value) or "none"
    return html_findings.moment(value) if isinstance(value, str) else None
