"""The page shows what the report holds, quotes stored text as text, and is the same bytes for the same input."""

from __future__ import annotations

import base64
import copy
import hashlib
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_ledger.cli.text import safe
from agent_ledger.posture import html_activity, html_findings, taxonomy
from agent_ledger.posture.charts import nice_ceiling
from agent_ledger.posture.html import render
from agent_ledger.posture.markup import el, join
from agent_ledger.store.schema import TABLES
from tests.hosts.checkout import ROOT
from tests.posture import samples

HOSTILE = (
    "</code></style><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "<!--", "]]>",
    "&lt;b&gt; &#x3c;", "</title></svg><svg onload=alert(1)>", "\u202egpj.exe", "a\x00b\x1b[2J\r\n", "\ud800", "javascript:alert(1)",
    "<base href=//evil.example>", "{{7*7}}${7*7}", "`id` $(id) '; --",
)  # fmt: skip
TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(), min_size=1, max_size=60)).filter(
    lambda text: text not in html_findings.STATUS
)


class Page(HTMLParser):
    """The elements of a page with the names of their attributes, its text, and what must be looked at one by one."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.shape = Counter[tuple[str, tuple[str, ...]]]()
        self.attributes: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.strange: list[str] = []
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shape[tag, tuple(name for name, _ in attrs)] += 1
        self.attributes.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.strange.append(data)

    def handle_pi(self, data: str) -> None:
        self.strange.append(data)

    def unknown_decl(self, data: str) -> None:
        self.strange.append(data)


def page(report: dict[str, Any] | None = None, **changed: Any) -> str:
    """The page of the samples, or of what is given."""
    given = {"history": samples.history(), "activity": samples.activity()} | changed
    return render(report or samples.report(), given["history"], given["activity"])


def filled(text: str) -> str:
    """A page where ``text`` stands wherever a ledger, a policy file or a file of suppressions can put words."""
    found = samples.finding("ASI02-01", "HIGH", [3])
    for key in ("rule_id", "asi", "severity", "confidence", "status_seen", "message", "fingerprint", "remediation", "excerpt"):
        found[key] = text
    found |= {"refs": [text], "suppressed": {"reason": text, "by": text, "expires": text},
              "evidence": {"rows": [3, 4], "session_id": text, "ts_first": text, "ts_last": text}}  # fmt: skip
    known = samples.finding("ASI08-03", "LOW", [9], message=text, excerpt=text)
    report = samples.report(
        [known], subtotals={"ASI08": 3, text: 15}, not_assessed={"ASI07": text}, coverage={"rows": text, "more": [text], "statuses": {text: 1}, "partial": {"ASI01": text}},
        notices=[text], source=text, atlas=text,
        rules_version=text, policy_sha256=text, window={"since": text, "until": text, "session": text},
        rule_errors={"ASI02-01": text}, changes={"new": [text], "resolved": [text]}, note=text,
    ) | {"findings": [known, found]}  # fmt: skip
    history = copy.deepcopy(samples.history(4))
    for entry in history:
        entry["rules_version"] = text
    bucket = {"start": "2026-11-30T01:00:00Z", "tools": {text: 2}, "outcomes": {f"ERROR:{text}": 2}}
    ghost = {"id": 1, "ts": text, "tool": text, "summary": text, "session_id": text}
    return render(report, history, {"unit": "hour", "buckets": [bucket], "ghosts": [ghost]}, ledger=text)


PLAIN = Page(filled("plain words"))


@settings(max_examples=120, deadline=None)
@given(TEXTS)
@example("</code></style><script>alert(1)</script>")
@example("' onmouseover='alert(1)")
def test_stored_text_is_shown_as_text(text: str) -> None:
    """Whatever stands in a ledger adds no element, no attribute, no comment and no address to the page."""
    source = filled(text)
    seen = Page(source)

    assert seen.shape == PLAIN.shape
    assert seen.strange == [] and seen.open == []
    assert safe(text).strip() in "".join(seen.texts)
    source.encode("utf-8")
    for tag, attributes in seen.attributes:
        assert not any(name.startswith("on") or name in ("style", "src", "srcset", "action") for name in attributes)
        assert tag not in ("script", "iframe", "object", "embed", "base", "form", "img", "foreignobject", "use", "image")
        assert attributes.get("href", "#").startswith("data:image/svg+xml," if tag == "link" else "#")


def test_the_policy_of_the_page_allows_its_own_style_and_nothing_else() -> None:
    """No script, no address, no other style: the style element's hash is the only thing that is let in."""
    source = page()
    style = re.search("<style>(.*)</style>", source, re.DOTALL)
    policy = next(one["content"] for _, one in Page(source).attributes if one.get("http-equiv"))
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"url\(|@import|expression", style[1])


def test_the_same_input_gives_the_same_bytes() -> None:
    """The order of sets and dicts of another process changes nothing."""
    code = (
        "import hashlib; from agent_ledger.posture.html import render; from tests.posture import samples as s;"
        "print(hashlib.sha256(render(s.report(), s.history(), s.activity()).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True,
            text=True, check=True, timeout=60,
        ).stdout.strip()
        for seed in ("0", "1", "2")
    }  # fmt: skip

    assert digests == {hashlib.sha256(page().encode()).hexdigest()}


def test_every_chart_has_a_name_a_description_and_a_table() -> None:
    """Who does not see the picture reads the same numbers."""
    source = page()
    seen = Page(source)
    ids = [one["id"] for _, one in seen.attributes if "id" in one]
    charts = [one for tag, one in seen.attributes if tag == "svg" and one.get("role") == "img"]
    figures = source.count("<figure ")

    assert len(ids) == len(set(ids))
    assert len(charts) == 6 and figures == 5  # the ring's numbers are the legend and the tiles beside it
    assert all(one[name] in ids for one in charts for name in ("aria-labelledby", "aria-describedby"))
    assert source.count("The numbers as a table</summary>") == figures


def test_every_finding_is_there_with_its_rows_and_how_to_verify() -> None:
    """Message, severity, rows, fingerprint, the command for SQLite and the one for each row."""
    text = "".join(Page(page()).texts)

    for one in samples.FINDINGS:
        rows = one["evidence"]["rows"]
        assert one["message"] in text and one["fingerprint"] in text
        assert html_findings.sqlite_command("~/.hermes/plugin-data/agent-ledger/ledger.db", rows) in text
        assert f"hermes ledger show {rows[0]}" in text
    assert "Polling a build; agreed with the team (by mara, until 2027-01-31)" in text


def test_the_page_says_what_the_score_rests_on() -> None:
    """The note, what was not assessed and why, rules that failed, coverage, rules version and policy."""
    report = samples.report(rule_errors={"ASI05-02": "ValueError: no such column"})
    text = "".join(Page(page(report)).texts)

    for words in (report["note"], report["policy_sha256"], *report["not_assessed"].values(), "ValueError: no such column",
                  "1,842", "21.8%", "CRITICAL 25, HIGH 15, MEDIUM 8, LOW 3"):  # fmt: skip
        assert words in text


def test_what_is_not_on_the_owasp_list_is_marked() -> None:
    """ASI11 says so in the chart, in the list of entries and at each of its findings; the ten others say official."""
    source = page(samples.report([samples.finding("ASI11-01", "LOW", [1])]))

    assert source.count(">not official<") == 2 and source.count("ASI11 Excessive agency (not official)") >= 2
    assert source.count(">official<") == len(taxonomy.OFFICIAL) == 10


def test_a_report_without_findings_claims_no_more_than_it_knows() -> None:
    """A score of 100 comes with what it does not mean, and with what was not looked at."""
    report = samples.report([])
    text = "".join(Page(page(report, history=[], activity={"unit": "day", "buckets": [], "ghosts": []})).texts)

    assert "Nothing suspicious in what was recorded." in text and report["note"] in text
    assert "not assessed" in text and "A trend needs two scored days" in text
    assert "No call was recorded" in text


def test_no_finding_is_dropped_from_a_long_list() -> None:
    """Beyond a number that a person can read each has one line, with its rule and its rows."""
    found = [samples.finding("ASI02-02", "LOW", [number]) for number in range(1000, 1000 + html_findings.IN_FULL + 50)]
    source = page(samples.report(found))

    assert "50 further findings, in short" in source
    assert all(f">{number}<" in source for number in range(1000, 1000 + len(found)))


@given(st.lists(st.integers(1, 400), min_size=1, max_size=120))
def test_the_command_of_a_finding_prints_its_rows(rows: list[int]) -> None:
    """The query finds every row of the finding, and no other unless they lie too scattered to be named."""
    words = shlex.split(html_findings.sqlite_command("/a folder/it's.db", rows))
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(TABLES)
        connection.executemany("INSERT INTO ledger (id, ts) VALUES (?, '')", [(number,) for number in range(1, 402)])
        found = [row[0] for row in connection.execute(words[3])]
    finally:
        connection.close()

    assert words[:3] == ["sqlite3", "-readonly", "/a folder/it's.db"] and len(words) == 4
    if len(html_findings.ranges(rows)) <= 40:
        assert found == sorted(set(rows))
    else:
        assert found == list(range(min(rows), max(rows) + 1))


def test_a_home_folder_stays_one_for_the_shell() -> None:
    """The tilde is outside of quotes, whatever follows it."""
    assert html_findings.sqlite_command("~/my ledger.db", [1]).startswith("sqlite3 -readonly ~/'my ledger.db' ")


@given(
    st.sampled_from(("day", "hour")),
    st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 50)), max_size=80, unique_by=lambda one: one[0]),
)
def test_bars_hold_every_call_however_long_the_time(unit: str, calls: list[tuple[int, int]]) -> None:
    """Long times are added up into at most 60 bars, empty ones included; no call is lost."""
    step = 86_400 if unit == "day" else 3_600
    buckets = [
        {"start": f"{html_activity.datetime.fromtimestamp(place * step, html_activity.UTC):%Y-%m-%dT%H:%M:%SZ}",
         "tools": {"terminal": count}, "outcomes": {"CONFIRMED": count}}
        for place, count in calls
    ]  # fmt: skip
    bars, size = html_activity.buckets_of({"unit": unit, "buckets": buckets})

    assert len(bars) <= html_activity.MOST_BARS and size >= 1
    assert sum(bar.tools["terminal"] for bar in bars) == sum(count for _, count in calls)


@given(st.floats(0, 1e15))
def test_an_axis_ends_at_a_round_number_not_far_above(value: float) -> None:
    """The highest bar fits and takes at least half of the height, save where there is next to nothing to show."""
    top = nice_ceiling(value)

    assert value <= top * (1 + 1e-6)
    assert top == 2 or top <= 2 * value


@pytest.mark.parametrize(
    ("status", "word"),
    [("CONFIRMED", "confirmed"), ("ERROR:blocked", "refused by policy"), ("ERROR:exit_1", "failed"),
     ("PENDING", "outcome unknown"), ("GHOST_REPORTED", "outcome unknown"), ("ERROR:timeout", "outcome unknown"),
     ("ERROR:cancelled", "outcome unknown")],
)  # fmt: skip
def test_an_outcome_has_the_ledgers_meaning(status: str, word: str) -> None:
    """Time-outs and cancellations often take effect later: nobody knows their outcome."""
    assert html_activity.outcome_of(status) == word


def test_an_attribute_has_a_plain_name_and_an_escaped_value() -> None:
    """Names come from the code alone; a value cannot end its quotes."""
    assert el("p", "<", None, [join("&"), 3], class_="a\"'", hidden=True, id=None) == (
        '<p class="a&quot;&#x27;" hidden>&lt;&amp;3</p>'
    )
    with pytest.raises(ValueError, match="no attribute name"):
        el("p", **{"a b": "c"})


def test_the_page_of_a_day_is_a_file_that_anyone_can_send(tmp_path: Path) -> None:
    """With 30 days, 7 findings and 24 hours it takes less than 200 kB."""
    target = tmp_path / "posture.html"
    target.write_text(page(), encoding="utf-8")

    assert target.stat().st_size < 200_000
