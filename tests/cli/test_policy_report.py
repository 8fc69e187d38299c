"""``policy report``: what dry run would have refused and what enforce refused, from a ledger that the hooks wrote."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.cli.commands import as_json, assert_needs_a_ledger, folder, ledger
from tests.cli.policies import ETC, SAY, kept, pack, record, run, write


def change(home: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(folder(home) / "ledger.db")
    with connection:
        connection.execute(statement, values)
    connection.close()


@pytest.fixture
def judged(home: Path) -> Path:
    """Four calls under dry run, then two under enforce; 2, 3 and 4 would have been refused, 5 was."""
    write(home, pack(), "dry_run")
    record(home, run("ls -l"), run(ETC), run(f"cd / && {ETC}", "s2"), ("s2", *SAY, "ok"))
    write(home, mode="enforce")
    record(home, run(ETC, "s3", "blocked"), run("ls", "s3"))
    return home


def test_the_report_counts_by_rule_tool_and_day(judged: Path) -> None:
    """With row ids and examples, what would have been refused apart from what was."""
    shown = as_json(judged, "policy", "report")
    assert (shown["mode"], shown["judged"], shown["would_block"], shown["blocked"]) == ("enforce", 6, 3, 1)
    rule = shown["by_rule"][0]
    assert (rule["rule"], rule["would_block"], rule["blocked"], rule["ids"]) == ("delete-tree", 2, 1, [5, 3, 2])
    assert rule["tools"] == {"terminal": 3} and "A whole tree would go." in rule["examples"][0]["reason"]
    assert [(one["tool"], one["would_block"]) for one in shown["by_tool"]] == [("terminal", 2), ("send_message", 1)]
    assert len(shown["by_day"]) in (1, 2)
    text = ledger(judged, "policy", "report").stdout
    assert all(part in text for part in ("delete-tree", "no-orders", "send_message", "#5", ETC))


def test_since_leaves_older_calls_out(judged: Path) -> None:
    """A span counts from now."""
    change(judged, "UPDATE ledger SET ts = '2020-01-02T03:04:05.678Z' WHERE id <= 3")
    shown = as_json(judged, "policy", "report", "--since", "7d")
    assert (shown["would_block"], shown["blocked"]) == (1, 1)
    assert [one["day"] for one in as_json(judged, "policy", "report")["by_day"]][0] == "2020-01-02"


def test_a_refusal_that_the_host_did_not_honour_is_an_alarm(judged: Path) -> None:
    """Exit 1, and the row is named: the host ran what was refused."""
    assert ledger(judged, "policy", "report").returncode == 0
    write(judged, mode="enforce")
    record(judged, run(ETC, "s4", "ok"))
    done = ledger(judged, "policy", "report")
    assert done.returncode == 1 and "alarm" in done.stdout and "#7" in done.stdout
    assert as_json(judged, "policy", "report")["not_honoured"] == {"calls": 1, "ids": [7]}


def test_a_report_changes_nothing(judged: Path) -> None:
    """Neither the ledger nor the files of the policy."""
    before = kept(judged)
    ledger(judged, "policy", "report")
    assert kept(judged) == before


def test_where_nothing_was_judged_the_next_step_is_named(home: Path) -> None:
    """An empty report is no clean bill."""
    record(home, run(ETC))
    done = ledger(home, "policy", "report")
    assert (done.returncode, "policy replay" in done.stdout) == (0, True)


def test_without_a_ledger_it_is_wrong_use(home: Path) -> None:
    """Nothing was recorded, so there is nothing to report."""
    assert_needs_a_ledger(home, "policy", "report")


def test_a_wrong_span_is_named(judged: Path) -> None:
    """With what is accepted."""
    done = ledger(judged, "policy", "report", "--since", "soon")
    assert done.returncode == 2 and "'soon'" in done.stderr
