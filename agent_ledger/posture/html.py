"""One page that a person would rather look at than read: it loads nothing, runs nothing, shows stored text as text.

The same input gives the same bytes: nothing here asks the clock or the machine.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import html_activity, html_findings, html_overview
from .charts import table
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
        ("Window", _window(report)),
        ("Sum", f"score = 100 - penalty, not below 0; each finding takes by its severity: {weights}. Every finding is"
                f" listed above, so the {number(report['penalty'])} points can be added up by hand."),
    ]  # fmt: skip
    errors = [(rule, text) for rule, text in sorted(report["rule_errors"].items())]
    facts = [(key.replace("_", " "), _plain(key, value)) for key, value in report["coverage"].items()]
    return join(
        el("div", el("h3", "Rules that failed"), el("p", "What these would have found is missing from the score."),
           table("Rules that failed", ("Rule", "What went wrong"), errors), class_="card alarm") if errors else None,
        el(
            "div",
            el("div", el("h3", "How it was scored"), _list(identity), class_="card"),
            el("div", el("h3", "What the ledger held"), _list(facts), class_="card"),
            class_="pair",
        ),
    )  # fmt: skip


def _list(facts: Sequence[tuple[str, Child]]) -> Markup:
    return el("dl", *(el("div", el("dt", name), el("dd", value)) for name, value in facts), class_="facts")


def _plain(key: str, value: Any) -> Child:
    """A coverage fact for people. Shares are parts of one."""
    if isinstance(value, float) and "share" in key and 0 <= value <= 1:
        return f"{number(100 * value)}%"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "unknown"}[value]
    if isinstance(value, int | float):
        return number(value)
    return value if isinstance(value, str) else el("code", json.dumps(value, ensure_ascii=False, sort_keys=True))
