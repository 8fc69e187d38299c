"""Charts as inline SVG: gauge, line, stacked bars, horizontal bars.

Every chart is one image with a title and a description for those who do not see it; the marks have titles of their
own for a pointer. Colours are classes (``series-0``, ``critical``...), so that the page's style decides them in the
dark and in the light. Lengths are percentages and text is never scaled: the same chart is readable on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..cli.text import cut
from .markup import Child, Markup, el, join, number

_ROW = 46  # height of one horizontal bar with its label, pixels
_BAR = 12
_STEPS = (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)
_LABEL_COLUMNS = 44  # what fits above a bar on a phone


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a stacked chart. ``style``: its CSS class; ``values``: one a bar."""

    name: str
    style: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One horizontal bar. ``parts``: (name, CSS class, value); ``value``: the short number at its right end."""

    label: str
    parts: tuple[tuple[str, str, float], ...]
    value: str


@dataclass(frozen=True, slots=True)
class Point:
    """One dot of a line. ``x``: where it stands, 0 to 1; ``tick``: its name on the axis; ``label``: what a pointer is
    told; ``group``: the line breaks where it changes."""

    x: float
    value: float
    tick: str
    label: str
    group: str = ""


def _image(key: str, title: str, description: str, style: str, *children: Child, **attributes: str | int) -> Markup:
    return el(
        "svg",
        el("title", title, id=f"{key}-title"),
        el("desc", description, id=f"{key}-desc"),
        *children,
        class_=f"chart {style}",
        role="img",
        aria_labelledby=f"{key}-title",
        aria_describedby=f"{key}-desc",
        **attributes,
    )


def _short(value: float) -> str:
    """A coordinate: two decimals are finer than a screen, and the same on every machine."""
    return f"{round(value, 2):g}"


def _percent(share: float) -> str:
    return f"{_short(100 * share)}%"


def nice_ceiling(value: float) -> float:
    """The round number at or above ``value`` on which an axis can end; its half is round too."""
    if value <= 10:
        return max(2, 2 * math.ceil(value / 2))
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in _STEPS if value <= step * power * (1 + 1e-9))


def _grid(top: float) -> list[Markup]:
    lines = []
    for share in (0.0, 0.5, 1.0):
        y = _percent(1 - share)
        if share:
            lines.append(el("line", x1="0", x2="100%", y1=y, y2=y, class_="grid"))
        lines.append(el("text", number(top * share), x="-8", y=y, dy="0.32em", text_anchor="end", class_="tick"))
    return lines


def _axis(labels: Sequence[tuple[float, str]]) -> list[Markup]:
    """The line at zero and at most three labels under it, the outer ones kept inside."""
    count = min(3, len(labels))
    picked = [labels[round(step * (len(labels) - 1) / max(count - 1, 1))] for step in range(count)]
    marks = [el("line", x1="0", x2="100%", y1="100%", y2="100%", class_="axis")]
    for x, label in picked:
        anchor = "start" if x < 0.1 else "end" if x > 0.9 else "middle"
        marks.append(el("text", cut(label, 16), x=_percent(x), y="100%", dy="1.6em", text_anchor=anchor, class_="tick"))
    return marks


def gauge(key: str, title: str, description: str, *, score: int, lost: Sequence[tuple[str, str, float]]) -> Markup:
    """A ring of 100 points with the score in it. ``lost``: (name, CSS class, points) of what was taken, scaled down to
    what the score left over where more points were taken than there are."""
    radius, taken = 80, sum(points for _, _, points in lost)
    scale = (100 - score) / taken if taken else 0
    parts = [("left over", "kept", float(score)), *((name, style, points * scale) for name, style, points in lost)]
    arcs, start = [], 0.0
    for name, style, points in parts:
        if points > 0:
            gap = 0.8 if points < 100 else 0
            shape = f"{_short(max(points - gap, 0.2))} {_short(100 - max(points - gap, 0.2))}"
            arcs.append(
                el(
                    "circle", el("title", f"{name}: {number(points / scale if style != 'kept' and scale else points)}"),
                    cx=100, cy=100, r=radius, pathLength=100, class_=f"arc stroke-{style}",
                    stroke_dasharray=shape, stroke_dashoffset=_short(-start),
                )
            )  # fmt: skip
        start += points
    return _image(
        key, title, description, "gauge",
        el("circle", cx=100, cy=100, r=radius, class_="arc track"),
        el("g", *arcs, transform="rotate(-90 100 100)"),
        el("text", score, x=100, y=112, text_anchor="middle", class_="gauge-number"),
        el("text", "of 100", x=100, y=138, text_anchor="middle", class_="gauge-unit"),
        viewBox="0 0 200 200",
    )  # fmt: skip


def line(key: str, title: str, description: str, points: Sequence[Point], *, top: float) -> Markup:
    """Values over time, between 0 and ``top``. Where the group changes the line breaks, and a mark names the new."""
    runs: list[list[Point]] = []
    for point in points:
        if runs and runs[-1][-1].group == point.group:
            runs[-1].append(point)
        else:
            runs.append([point])
    paths, breaks, dots = [], [], []
    for number_of_run, run in enumerate(runs):
        corners = [f"{_short(100 * point.x)} {_short(100 * (1 - point.value / top))}" for point in run]
        if len(run) > 1:
            first, last = _short(100 * run[0].x), _short(100 * run[-1].x)
            paths.append(el("path", d=f"M{first} 100 L{' L'.join(corners)} L{last} 100 Z", class_="area"))
            paths.append(el("path", d=f"M{' L'.join(corners)}", class_="line"))
        if number_of_run:
            middle = _percent((runs[number_of_run - 1][-1].x + run[0].x) / 2)
            breaks.append(el("line", x1=middle, x2=middle, y1="-4%", y2="100%", class_="break"))
            late = run[0].x > 0.6
            breaks.append(
                el("text", cut(run[0].group, 24), x=middle, y="-4%", dx="-0.4em" if late else "0.4em", dy="0.4em",
                   text_anchor="end" if late else "start", class_="tick")
            )  # fmt: skip
    for point in points if len(points) <= 62 else points[-1:]:
        spot = {"cx": _percent(point.x), "cy": _percent(1 - point.value / top)}
        dots.append(el("circle", el("title", point.label), r=5 if point is points[-1] else 3, class_="dot", **spot))
    drawing = el(
        "svg", *paths, viewBox="0 0 100 100", width="100%", height="100%", preserveAspectRatio="none", class_="open"
    )
    labels = [(point.x, point.tick) for point in points]
    return _image(key, title, description, "plot", *_grid(top), *breaks, drawing, *_axis(labels), *dots)


def stacked_bars(
    key: str, title: str, description: str, labels: Sequence[str], series: Sequence[Series], *, low: bool = False
) -> Markup:
    """One bar a label, the series on top of each other. ``low``: a chart of half the height."""
    sums = [sum(one.values[index] for one in series) for index in range(len(labels))]
    top = nice_ceiling(max(sums, default=0))
    slot = 1 / max(len(labels), 1)
    width = min(slot * 0.72, 0.09)
    bars: list[Markup] = []
    for index, label in enumerate(labels):
        left, below = (index + 0.5) * slot - width / 2, 0.0
        for one in series:
            value = one.values[index]
            if value > 0:
                below += value / top
                bars.append(
                    el("rect", el("title", f"{label}, {one.name}: {number(value)}"), x=_percent(left),
                       y=_percent(1 - below), width=_percent(width), height=_percent(value / top),
                       class_=f"bar {one.style}")
                )  # fmt: skip
    middles = [((index + 0.5) * slot, label) for index, label in enumerate(labels)]
    return _image(key, title, description, "plot low" if low else "plot", *_grid(top), *bars, *_axis(middles))


def horizontal_bars(key: str, title: str, description: str, bars: Sequence[Bar]) -> Markup:
    """One row a bar: its label above, the parts beside each other, its value after them."""
    top = max((sum(value for _, _, value in bar.parts) for bar in bars), default=0) or 1
    rows: list[Markup] = []
    for index, bar in enumerate(bars):
        y, left = index * _ROW, 0.0
        rows.append(el("text", cut(bar.label, _LABEL_COLUMNS), x="0", y=y + 16, class_="label"))
        rows.append(el("text", bar.value, x="100%", dx="0.7em", y=y + 34, class_="value"))
        rows.append(el("rect", x="0", y=y + 24, width="100%", height=_BAR, rx=3, class_="track"))
        for name, style, value in bar.parts:
            if value > 0:
                rows.append(
                    el("rect", el("title", f"{bar.label}, {name}: {number(value)}"), x=_percent(left), y=y + 24,
                       width=_percent(value / top), height=_BAR, rx=3, class_=f"bar {style}")
                )  # fmt: skip
                left += value / top
    return _image(key, title, description, "rows", *rows, height=max(len(bars), 1) * _ROW)


def swatch(style: str) -> Markup:
    """A small square of a colour, for the eye alone."""
    return el("svg", el("rect", width=12, height=12, rx=3, class_=style), width=12, height=12, aria_hidden="true")


def legend(entries: Sequence[tuple[str, str, str]]) -> Markup:
    """What the colours mean: (name, CSS class, value)."""
    items = []
    for name, style, value in entries:
        items.append(el("li", swatch(style), el("span", name), el("b", value) if value else None))
    return el("ul", *items, class_="legend")


def figure(title: str, chart: Markup, *, head: Sequence[str], rows: Sequence[Sequence[Child]], note: Child = None,
           key: Markup | None = None) -> Markup:  # fmt: skip
    """A chart with its heading, its legend, and the same numbers as a table. ``rows``: the first cell names the row."""
    return el(
        "figure",
        el("figcaption", el("h3", title), el("p", note, class_="quiet") if note else None),
        key,
        chart,
        el("details", el("summary", "The numbers as a table"), table(title, head, rows), class_="numbers"),
        class_="card",
    )


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[Child]], style: str = "") -> Markup:
    """A table that scrolls by itself where it is wider than the screen."""
    names = [el("th", name, scope="col") for name in head]
    body = [el("tr", el("th", row[0], scope="row"), *(el("td", cell) for cell in row[1:])) for row in rows]
    inner = join(el("caption", caption, class_="hidden"), el("thead", el("tr", *names)), el("tbody", *body))
    return el(
        "div", el("table", inner, class_=style or None), class_="scroll", tabindex=0, role="region", aria_label=caption
    )
