"""The recorded calls of the HTML page: by outcome and by tool over time, and the ghosts that are still open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..cli.text import plural
from ..model import parse_iso
from .charts import Series, figure, legend, stacked_bars, table
from .html_findings import moment
from .markup import Markup, el, number

MOST_BARS = 60  # more are added up in pairs, triples, ...
_MOST_STEPS = 20_000  # days or hours between the first and the last: more come from a clock that was wrong
_TOOLS = 6  # with a colour of their own
_DAY = 86_400
_STEP_S = {"day": _DAY, "hour": 3_600}

_LATE = ("ERROR:timeout", "ERROR:cancelled")

# Outcomes as a reader sees them: (name, CSS class), from the foot of the bars. The few that matter stand on the axis,
# where they can be compared.
OUTCOMES = (
    ("outcome unknown", "open"),
    ("refused by policy", "refused"),
    ("failed", "failed"),
    ("confirmed", "good"),
)


@dataclass(frozen=True, slots=True)
class Bucket:
    """The calls of one stretch of time."""

    label: str
    tools: Counter[str]
    outcomes: Counter[str]


def outcome_of(status: str) -> str:
    """The word for a status of the ledger."""
    if status == "CONFIRMED":
        return "confirmed"
    if status == "ERROR:blocked":
        return "refused by policy"
    # What timed out or was cancelled often takes effect later.
    return "failed" if status.startswith("ERROR:") and status not in _LATE else "outcome unknown"


def day(stamp: str) -> str:
    """``30 Nov`` for a day or a time of the ledger; what is none stands as it is."""
    return stamp if parse_iso(stamp) is None else f"{datetime.fromisoformat(stamp):%d %b}".lstrip("0")


def buckets_of(activity: Mapping[str, Any]) -> tuple[list[Bucket], int]:
    """The bars to draw, those without calls too, and how many days or hours each holds."""
    unit = activity["unit"]
    step = _STEP_S[unit]
    stretches: dict[int, Bucket] = {}
    stray: list[Bucket] = []
    for one in activity["buckets"]:
        counts = Counter[str]()
        for status, count in one["outcomes"].items():
            counts[outcome_of(status)] += count
        at = parse_iso(one["start"] if "T" in one["start"] else f"{one['start']}T00:00:00Z")
        bucket = Bucket(one["start"], Counter(one["tools"]), counts)
        if at is None:
            stray.append(bucket)
        else:
            place = int(at // step)
            stretches[place] = _sum([stretches[place], bucket]) if place in stretches else bucket
    first, last = min(stretches, default=0), max(stretches, default=-1)
    places = range(first, last + 1) if last - first < _MOST_STEPS else sorted(stretches)
    size = -(-max(len(places), 1) // MOST_BARS)
    none = Bucket("", Counter(), Counter())
    found = [(place, stretches.get(place, none)) for place in places]
    form = "%d %b" if unit == "day" else "%H:%M" if last * step // _DAY == first * step // _DAY else "%d %b %H:%M"
    named = [Bucket(_name(place * step, form), one.tools, one.outcomes) for place, one in found]
    return [_sum(named[start : start + size]) for start in range(0, len(named), size)] + stray, size


def _name(seconds: int, form: str) -> str:
    text = datetime.fromtimestamp(seconds, UTC).strftime(form)
    return text.lstrip("0") if form.startswith("%d") else text


def _sum(buckets: Sequence[Bucket]) -> Bucket:
    tools, outcomes = Counter[str](), Counter[str]()
    for one in buckets:
        tools.update(one.tools)
        outcomes.update(one.outcomes)
    return Bucket(buckets[0].label, tools, outcomes)


def charts(activity: Mapping[str, Any]) -> Markup:
    """Calls over time by outcome and by tool."""
    buckets, size = buckets_of(activity)
    if not buckets:
        return el("p", "No call was recorded in this window.", class_="card empty")
    unit = activity["unit"] if size == 1 else plural(size, activity["unit"])
    total = _sum(buckets)
    tools = [name for name, _ in sorted(total.tools.items(), key=lambda item: (-item[1], item[0]))]
    styles = {name: f"series-{index}" for index, name in enumerate(tools[:_TOOLS])}
    by_tool = [Series(name, style, tuple(one.tools[name] for one in buckets)) for name, style in styles.items()]
    if tools[_TOOLS:]:
        rest = tuple(sum(one.tools[name] for name in tools[_TOOLS:]) for one in buckets)
        by_tool.append(Series(f"{plural(len(tools) - _TOOLS, 'other tool')}", "series-rest", rest))
    by_outcome = [Series(name, style, tuple(one.outcomes[name] for one in buckets)) for name, style in OUTCOMES]
    return el(
        "div",
        _figure("calls-by-outcome", "Calls by outcome", unit, buckets, by_outcome),
        _figure("calls-by-tool", "Calls by tool", unit, buckets, by_tool),
        class_="pair",
    )


def _figure(key: str, title: str, unit: str, buckets: Sequence[Bucket], series: Sequence[Series]) -> Markup:
    totals = [(one.name, one.style, number(sum(one.values))) for one in series]
    rows = [(one.label, *(number(part.values[index]) for part in series)) for index, one in enumerate(buckets)]
    in_all = ", ".join(f"{name} {count}" for name, _, count in totals)
    description = f"Stacked bars, one for each {unit}. In all: {in_all}."
    chart = stacked_bars(key, f"{title} per {unit}", description, [one.label for one in buckets], series)
    head = ("From", *(one.name for one in series))
    return figure(title, chart, head=head, rows=rows, note=f"Per {unit}, UTC", key=legend(totals))


def ghosts(activity: Mapping[str, Any]) -> Markup:
    """Calls of this home whose outcome nobody knows, whichever session they belong to."""
    found = activity["ghosts"]
    if not found:
        return el("p", "None: the outcome of every call is known, or its conversation was told.", class_="card empty")
    rows = [
        (el("code", f"#{one['id']}"), el("time", moment(one["ts"]), datetime=one["ts"]), el("code", one["tool"]),
         one["summary"], el("code", one["session_id"] or "none"))
        for one in found
    ]  # fmt: skip
    return el(
        "div",
        el(
            "p",
            "Look at the world before repeating one of these: the call may have happened. ",
            el("code", "hermes ledger show ID"), " tells all about one, ",
            el("code", "hermes ledger ghosts"), " lists them.",
        ),
        table("Open ghosts", ("Call", "Announced", "Tool", "What it does", "Session"), rows, "wide"),
        class_="card",
    )  # fmt: skip
