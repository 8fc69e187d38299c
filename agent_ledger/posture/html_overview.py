"""The score of the HTML page, its course over the days, and what was and was not assessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from ..cli.text import plural
from .charts import Bar, Point, Series, figure, gauge, horizontal_bars, legend, line, stacked_bars, swatch
from .html_activity import MOST_BARS, day
from .html_findings import official_mark, title
from .markup import Markup, el, join, number
from .model import SEVERITIES, WEIGHTS
from .taxonomy import ENTRIES, OFFICIAL


def _severities(report: Mapping[str, Any]) -> list[tuple[str, int]]:
    found = [finding["severity"] for finding in report["findings"]]
    return [(severity, found.count(severity)) for severity in SEVERITIES]


def summary(report: Mapping[str, Any], activity: Mapping[str, Any]) -> Markup:
    counts = _severities(report)
    lost = [(name, name.lower(), float(count * WEIGHTS[name])) for name, count in counts]
    in_words = ", ".join(f"{name} {count}" for name, count in counts if count) or "none"
    chart = gauge(
        "score", f"Score {report['score']} of 100",
        f"{number(report['penalty'])} points were taken. Findings: {in_words}.", score=report["score"], lost=lost,
    )  # fmt: skip
    changes = report["changes"]
    tiles = [
        ("Penalty", number(report["penalty"]), "points, not cut at 100"),
        ("Per 1,000 calls", number(report["penalty_per_1000"]), "points"),
        ("Without accepted", number(report["score_effective"]), "score of 100"),
        ("Open ghosts", number(len(activity["ghosts"])), "outcome unknown"),
        ("New", number(len(changes.get("new", ()))), "since the report before"),
        ("Resolved", number(len(changes.get("resolved", ()))), "since the report before"),
    ]
    entries = [(name.capitalize(), name.lower(), f"{count}") for name, count in counts]
    return el(
        "div",
        el("div", chart, legend(entries), class_="card score"),
        el(
            "div",
            el("p", _verdict(report), class_="verdict"),
            el("dl", *(_tile(*tile) for tile in tiles), class_="tiles"),
            el("p", report["note"], class_="note"),
            class_="beside",
        ),
        class_="summary",
    )


def _tile(name: str, value: str, unit: str) -> Markup:
    return el("div", el("dt", name), el("dd", el("b", value), el("span", unit)), class_="card tile")


def _verdict(report: Mapping[str, Any]) -> str:
    found = len(report["findings"])
    if not found:
        return "Nothing suspicious in what was recorded."
    gravest = next((name for name, count in _severities(report) if count), "of no known severity")
    accepted = sum(finding["suppressed"] is not None for finding in report["findings"])
    tail = f"; {accepted} accepted" if accepted else ""
    return f"{plural(found, 'finding')}, the gravest {gravest}{tail}."


def _count(value: Any) -> int:
    """History keeps numbers or fingerprints."""
    return value if isinstance(value, int) else len(value)


def trend(history: Sequence[Mapping[str, Any]]) -> Markup:
    days = sorted(history, key=lambda entry: str(entry["day"]))
    if len(days) < 2:
        return el("p", "A trend needs two scored days; posture_daily.py keeps one entry a day.", class_="card empty")
    first, last = (_ordinal(days[index]["day"], index) for index in (0, -1))
    points = [
        Point(
            x=(_ordinal(entry["day"], index) - first) / max(last - first, 1),
            value=max(0, min(100, entry["score"])),
            tick=day(entry["day"]),
            label=f"{entry['day']}: score {entry['score']}, penalty {entry['penalty']}",
            group=f"rules {entry['rules_version']}",
        )
        for index, entry in enumerate(days)
    ]
    scores = [entry["score"] for entry in days]
    words = (
        f"From {days[0]['day']} to {days[-1]['day']} the score went from {scores[0]} to {scores[-1]}; lowest"
        f" {min(scores)}, highest {max(scores)}."
    )
    head = ("Day", "Score", "Penalty", "Calls", "New", "Resolved", "Rules")
    rows = [
        (entry["day"], entry["score"], number(entry["penalty"]), number(entry["rows"]), _count(entry["new"]),
         _count(entry["resolved"]), entry["rules_version"])
        for entry in days
    ]  # fmt: skip
    recent = days[-MOST_BARS :]
    penalty = Series("penalty", "series-0", tuple(float(entry["penalty"]) for entry in recent))
    most = max(recent, key=lambda entry: float(entry["penalty"]))
    return el(
        "div",
        figure("Score by day", line("trend-score", "Score by day", words, points, top=100), head=head, rows=rows,
               note="A dot for each scored day. The line breaks where the rules changed: scores before and after do not"
               " compare."),
        figure("Penalty by day", stacked_bars(
            "trend-penalty", "Penalty by day", f"Points taken each day; most on {most['day']}: {most['penalty']}.",
            [day(entry["day"]) for entry in recent], [penalty]),
            head=("Day", "Penalty"), rows=[(entry["day"], number(entry["penalty"])) for entry in recent],
            note="Not cut at 100, so that a bad day and a worse one differ."),
        class_="pair",
    )  # fmt: skip


def _ordinal(text: str, otherwise: int) -> int:
    try:
        return date.fromisoformat(text[:10]).toordinal()
    except ValueError:
        return otherwise


def by_asi(report: Mapping[str, Any]) -> Markup | None:
    """Points taken by each entry of the list, coloured by severity."""
    bars, rows = [], []
    for asi in sorted({*report["subtotals"], *(finding["asi"] for finding in report["findings"])}):
        found = [finding["severity"] for finding in report["findings"] if finding["asi"] == asi]
        if not found:
            continue
        points = number(report["subtotals"].get(asi, 0))
        name = title(asi) + ("" if asi in OFFICIAL else " (not official)")
        counts = [(severity, found.count(severity)) for severity in SEVERITIES]
        parts = tuple((severity, severity.lower(), float(count * WEIGHTS[severity])) for severity, count in counts)
        bars.append(Bar(name, parts, points))
        rows.append([name, *(str(count) for _, count in counts), points])
    if not bars:
        return None
    words = "; ".join(f"{bar.label}: {bar.value}" for bar in bars)
    chart = horizontal_bars("by-asi", "Points taken by each entry", words, bars)
    entries = [(f"{name.capitalize()}, {weight} points each", name.lower(), "") for name, weight in WEIGHTS.items()]
    return figure(
        "Points taken by each entry", chart, head=("Entry", *(name.capitalize() for name in SEVERITIES), "Points"),
        rows=rows, key=legend(entries),
    )  # fmt: skip


def assessed(report: Mapping[str, Any]) -> Markup:
    """Every entry, looked at or not; of those that were not, why."""
    reasons, partial = report["not_assessed"], report["coverage"].get("partial", {})
    items = []
    for asi in sorted({*ENTRIES, *report["assessed"], *(key[:5] for key in reasons)}):
        found = [finding["severity"] for finding in report["findings"] if finding["asi"] == asi]
        count = len(found)
        gravest = next((severity.lower() for severity in SEVERITIES if severity in found), None)
        looked = asi in report["assessed"]
        state = (plural(count, "finding") if count else "nothing found") if looked else "not assessed"
        style = ("found" if count else "clear") if looked else "blind"
        # A single rule can lack what it needs while the others of its entry have it.
        why = [text if key == asi else f"{key}: {text}" for key, text in sorted(reasons.items()) if key[:5] == asi]
        if looked and asi in partial:
            why.insert(0, f"Seen in part: {partial[asi]}")
        items.append(
            el(
                "li",
                el("div", el("code", asi), official_mark(asi in OFFICIAL),
                   el("span", swatch(gravest) if gravest else None, state, class_=f"state {style}")),
                el("b", ENTRIES[asi].name if asi in ENTRIES else ""),
                *(el("p", text, class_="quiet") for text in why),
                class_=None if looked else "unseen",
            )  # fmt: skip
        )
    blind = len([asi for asi in reasons if asi in OFFICIAL])
    return join(
        el("p", "What no row of a ledger can show is not assessed, which is no pass:"
                f" {blind} of {len(OFFICIAL)} official entries.", class_="lead"),
        el("ul", *items, class_="entries"),
    )  # fmt: skip
