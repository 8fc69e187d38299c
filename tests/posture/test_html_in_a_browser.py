"""The page in a real headless browser: quiet, alone, readable on a phone, in the dark, by keyboard and by ear."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_ledger.posture.html import render
from tests.posture import browser, samples

CHROMIUM = browser.find()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine; Debian has one in its package chromium"
)
HOSTILE = "</style><script>document.title = 'taken'</script><img src=https://evil.example/x.png onerror=alert(1)>" + "w" * 300

# Text against the nearest filled ground behind it, as WCAG counts contrast; texts of charts lie on their card.
CONTRAST = """(() => {
  const parts = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = text => parts(text).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = node => {
    for (; node; node = node.parentElement) {
      const colour = parts(getComputedStyle(node).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return getComputedStyle(node).backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  const weak = [];
  for (const node of document.body.querySelectorAll('*')) {
    if (node.closest('title, desc') || ![...node.childNodes].some(c => c.nodeType === 3 && c.data.trim())) continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(node instanceof SVGElement ? style.fill : style.color), light(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) weak.push(`${node.tagName} ${node.className.baseVal ?? node.className} ${ratio.toFixed(2)}`);
  }
  return JSON.stringify([...new Set(weak)]);
})()"""

# Pairs of chart texts that lie on each other, and texts that leave the screen.
COLLISIONS = """(() => {
  const found = [];
  for (const chart of document.querySelectorAll('svg.chart')) {
    const boxes = [...chart.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    boxes.forEach(([text, a], i) => {
      if (a.left < 0 || a.right > innerWidth) found.push(`outside: ${text}`);
      for (const [other, b] of boxes.slice(i + 1))
        if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2)
          found.push(`${text} on ${other}`);
    });
  }
  return JSON.stringify(found);
})()"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    """One browser for all tests here."""
    assert CHROMIUM
    with browser.Browser(CHROMIUM, tmp_path_factory.mktemp("profile")) as one:
        yield one


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the samples, with findings in all entries so that every name is drawn."""
    every = [samples.finding(f"ASI{number:02d}-01", "LOW", [number]) for number in range(1, 12)]
    report = samples.report([*samples.FINDINGS, *every], rule_errors={"ASI05-02": "ValueError: no such column"})
    target = tmp_path_factory.mktemp("page") / "posture.html"
    target.write_text(render(report, samples.history(), samples.activity()), encoding="utf-8")
    return target


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_it_is_readable_at_every_width_in_light_and_dark(
    chromium: browser.Browser, page: Path, width: int, dark: bool
) -> None:
    """Nothing scrolls sideways, no text of a chart lies on another, and all text has a contrast of 4.5 at least."""
    chromium.show(page, width=width, dark=dark)
    chromium.value("document.querySelectorAll('details').forEach(one => { one.open = true })")

    assert chromium.value("document.documentElement.scrollWidth") == width
    assert json.loads(chromium.value(COLLISIONS)) == []
    assert json.loads(chromium.value(CONTRAST)) == []
    assert (chromium.value("getComputedStyle(document.body).backgroundColor") == "rgb(16, 19, 23)") is dark


def test_it_asks_for_nothing_and_complains_of_nothing(chromium: browser.Browser, page: Path) -> None:
    """The file itself is the only thing that is loaded; console and log stay empty."""
    chromium.show(page, width=1280)

    assert set(chromium.requests) == {page.as_uri()}
    assert chromium.complaints == []


def test_hostile_text_does_nothing(chromium: browser.Browser, tmp_path: Path) -> None:
    """Stored markup is shown: no script, no picture, no request, and the page keeps its width."""
    target = tmp_path / "hostile.html"
    found = [samples.finding("ASI02-01", "HIGH", [1], message=HOSTILE, excerpt=HOSTILE, remediation=HOSTILE)]
    activity = samples.activity()
    activity["ghosts"][0] |= {"tool": HOSTILE, "summary": HOSTILE, "session_id": HOSTILE}
    activity["buckets"][0]["tools"] = {HOSTILE: 9}
    target.write_text(render(samples.report(found), samples.history(), activity), encoding="utf-8")
    before = len(chromium.requests)
    chromium.show(target, width=390)

    assert chromium.requests[before:] == [target.as_uri()]
    assert chromium.complaints == []
    assert chromium.value("document.title").startswith("Posture 85")
    assert chromium.value("document.querySelectorAll('script, img').length") == 0
    assert chromium.value("document.documentElement.scrollWidth") == 390


def test_the_keyboard_reaches_and_opens_everything(chromium: browser.Browser, page: Path) -> None:
    """Tab visits every link and every part that opens, in their order; Enter opens a part."""
    chromium.show(page, width=1280)
    wanted = chromium.value("document.querySelectorAll('a[href], summary').length")
    visited, opened = 0, False
    for _ in range(wanted + 40):
        chromium.press("Tab", 9)
        kind = chromium.value("document.activeElement.tagName")
        if kind == "BODY":
            break
        assert chromium.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        visited += kind in ("A", "SUMMARY")
        if kind == "SUMMARY" and not opened:
            chromium.press("Enter", 13)
            opened = chromium.value("document.activeElement.parentElement.open")
            assert opened
    assert visited == wanted


def test_a_screen_reader_hears_charts_headings_and_landmarks(chromium: browser.Browser, page: Path) -> None:
    """Every chart is an image with a name and a description; headings descend without a gap."""
    chromium.show(page, width=1280)
    nodes = [node for node in chromium.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    by_role: dict[str, list[dict[str, dict[str, str]]]] = {}
    for node in nodes:
        by_role.setdefault(node["role"]["value"], []).append(node)
    levels = [int(one["value"]["value"]) for node in by_role["heading"] for one in node["properties"] if one["name"] == "level"]  # type: ignore[index, misc]

    images = by_role.get("image", []) + by_role.get("img", [])
    assert len(images) == 6
    assert all(node["name"]["value"] and node["description"]["value"] for node in images)
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))
    assert by_role["main"] and by_role["navigation"] and by_role["banner"] and by_role["contentinfo"]
