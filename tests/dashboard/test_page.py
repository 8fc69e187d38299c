"""The tab in a real browser, on the real dashboard of a host that ships its pages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dashboard import lived_in
from tests.dashboard.browser import Page, browser, why_not
from tests.dashboard.serving import WITH_PAGES, Dashboard, serve
from tests.hosts import environments
from tests.hosts.harness import wait_until
from tests.store.rows import filled

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "a browser is here")

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\u202e"
PARTS = ["Ghosts", "Calls", "Activity", "Posture", "Policy", "Health"]
SIGNS = {  # what each part shows once it has its answer
    "Ghosts": "never confirmed", "Calls": "#2216", "Activity": "By outcome", "Posture": "of 100 on", "Policy": "delete-tree",
    "Health": "In the spool",
}  # fmt: skip
OF_THE_HOST = "/api/auth/me"  # the host asks who is logged in, and logs the refusal where nobody has to be
DARK, LIGHT = "default", "nous-blue"
WIDE, TELEPHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    with serve(environments.ensure(WITH_PAGES), tmp_path_factory.mktemp("served")) as served:
        lived_in.furnish(served.home, HOSTILE)
        yield served


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def open_tab(page: Page, dashboard: Dashboard, size: tuple[int, int] = WIDE, theme: str = DARK) -> None:
    """Open the tab in a theme; what the console said before is forgotten."""
    said = json.dumps({"name": theme}).encode()
    assert dashboard.fetch("/api/dashboard/theme", said, method="PUT", content_type="application/json").code == 200
    page.size(*size)
    page.open(f"{dashboard.url}/ledger")
    page.see("Open ghosts")


def complaints(page: Page) -> list[str]:
    return [line for line in page.complaints() if OF_THE_HOST not in line]


@pytest.mark.parametrize("theme", [DARK, LIGHT])
@pytest.mark.parametrize("size", [WIDE, TELEPHONE])
def test_every_part_shows_without_a_complaint_and_fits(page: Page, dashboard: Dashboard, theme: str, size: tuple[int, int], tmp_path: Path) -> None:
    """No error in the console, nothing to scroll sideways, on a desk and on a telephone, in the dark and in the light."""
    open_tab(page, dashboard, size, theme)
    for part in PARTS:
        page.press(part, ".al-tabs")
        page.see(SIGNS[part])
        wide, held = page.run("const p = document.querySelector('.al-page'); return [document.documentElement.scrollWidth, p.scrollWidth - p.clientWidth]")
        assert wide <= size[0] and held <= 4, part
        if os.environ.get("LEDGER_PICTURES"):
            page.picture(Path(os.environ["LEDGER_PICTURES"]) / f"{theme}-{size[0]}-{part}.png")
    assert complaints(page) == []


def test_hostile_text_only_shows(page: Page, dashboard: Dashboard) -> None:
    """Markup that an agent stored is seen as the text that it is, in lists and in the record."""
    open_tab(page, dashboard)
    page.see("<img src=x onerror")
    page.press("The record", ".al-ghost")
    page.see("Arguments")
    page.see("\\u202e")
    assert page.run("return [document.title.includes('owned'), document.querySelectorAll('.al-page img, .al-page script').length]") == [False, 0]
    assert complaints(page) == []


def test_filters_and_pages(page: Page, dashboard: Dashboard) -> None:
    """The ledger filters, and pages lead back and forth."""
    open_tab(page, dashboard)
    page.press("Calls", ".al-tabs")
    page.see("#2216")
    page.type("#al-tool", "mcp__*")
    tools = "return [...new Set([...document.querySelectorAll('.al-feed td[data-name=Tool]')].map((one) => one.innerText))]"
    wait_until(lambda: page.run(tools) == ["mcp__shop__update_stock"], "only the tool that was asked for")
    first = page.run("return document.querySelector('.al-feed td').innerText")
    page.press("Older", ".al-row")
    page.see("Older calls")
    page.press("Newest", ".al-row")
    page.see(first)
    page.type("#al-tool", "no-such-tool")
    page.see("No call is like that.")
    assert complaints(page) == []


def test_a_new_call_appears_by_itself(page: Page, dashboard: Dashboard) -> None:
    """The feed is live."""
    open_tab(page, dashboard)
    page.press("Calls", ".al-tabs")
    page.see("#2216")
    filled(dashboard.home, 1)
    page.see("#2217", seconds=15)
    assert complaints(page) == []


def test_a_ghost_is_settled_in_two_steps(page: Page, dashboard: Dashboard) -> None:
    """Choose, say how one knows, record: the ghost goes, and the record has the words."""
    open_tab(page, dashboard)
    page.see("#2214")
    before = dashboard.ask("/ghosts").data["open"]
    page.press("It took effect", ".al-ghost:last-of-type")
    field = page.run("return document.querySelector('.al-ghost form input').id")
    page.type(f"#{field}", "opened the page <b>myself</b>")
    page.press("Record", ".al-ghost")
    page.see(f"{before - 1} call")
    life = dashboard.ask(f"/calls/{field.removeprefix('al-note-')}").data
    assert (life["call"]["effect"], life["open_ghost"]) == ("applied", False)
    assert life["transitions"][-1]["why"].endswith(" in the dashboard: applied; opened the page <b>myself</b>")
    assert complaints(page) == []


def test_doctor_runs_when_asked(page: Page, dashboard: Dashboard) -> None:
    """The checks come with what to do about them."""
    open_tab(page, dashboard, TELEPHONE)
    page.press("Health", ".al-tabs")
    page.press("Run the checks")
    page.see("owner locks")
    assert complaints(page) == []


def test_trouble_is_said(page: Page, dashboard: Dashboard) -> None:
    """A ledger that cannot be read is named on the page, and it recovers by itself."""
    open_tab(page, dashboard)
    page.see("#2216")
    file = dashboard.home / "plugin-data" / "agent-ledger" / "ledger.db"
    aside = file.with_name("elsewhere.db")
    file.rename(aside)
    file.mkdir()
    try:
        page.see("is a folder", seconds=20)
    finally:
        file.rmdir()
        aside.rename(file)
    page.see("never confirmed", seconds=20)
