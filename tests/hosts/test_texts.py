"""What a real host calls its tools, and what it writes in place of results, is what the plugin knows."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_ledger import tools
from agent_ledger.ghosts.host_texts import Meaning
from agent_ledger.ghosts.placeholders import meaning
from tests.hosts.environments import Host

SCRIPT = Path(__file__).parent / "scripts" / "texts.py"


@pytest.fixture(scope="module")
def texts(host: Host, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The host's tool names and texts, from its own functions."""
    environment = {
        "HERMES_HOME": str(tmp_path_factory.mktemp("home")),
        "PATH": "/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run([str(host.python), str(SCRIPT)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_every_tool_of_the_host_is_known(texts: dict[str, Any]) -> None:
    """A user of a supported host never sees a row marked unknown_tool for a tool that came with it."""
    assert len(texts["tools"]) > 50
    assert [name for name in texts["tools"] if tools.classify(name, {}) == tools.UNKNOWN] == []


def test_every_summary_of_a_pruned_result_says_that_there_was_one(texts: dict[str, Any]) -> None:
    """Whatever the tool and its arguments, what compaction leaves of a result is not taken for a missing one."""
    assert [
        (name, text) for name, text in texts["summaries"] if meaning(text, name) is not Meaning.FINISHED_RESULT_GONE
    ] == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("not_started", Meaning.NEVER_STARTED),
        ("skipped", Meaning.NOT_A_RESULT),
        ("dangling", Meaning.NOT_A_RESULT),
    ],
)
def test_a_placeholder_is_read_as_the_host_stores_it(texts: dict[str, Any], kind: str, expected: Meaning) -> None:
    """Wrapped or not, a placeholder is recognised; 0.18 strips a dangling call instead of answering it."""
    assert [(name, text) for name, text in texts[kind] if meaning(text, name) is not expected] == []
