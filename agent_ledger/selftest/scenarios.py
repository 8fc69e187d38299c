"""The checks of the self test: each gets a host with the plugin loaded in an empty home, and says what it saw."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from .hosts import PLUGIN, ROOT, Failed, Home, Host, expect
from .payloads import RELIED_ON

RUNNER = ROOT / "selftest.py"
CHILD_SECONDS = 120


def loads(host: Host, home: Home) -> str:
    """The host loads the plugin with its four hooks: each once, but posts more often where the host drops some."""
    held = {hook: len(host.callbacks(hook)) for hook in RELIED_ON}
    posts = held["post_tool_call"]
    once = {**dict.fromkeys(RELIED_ON, 1), "post_tool_call": max(posts, 1)}
    expect(held == once, "one callback for each hook", held)
    return "four hooks, one callback each" + (f", {posts} for posts" if posts > 1 else "")


def issue(host: Host, home: Home) -> str:
    """A call is on disk, PENDING, once the pre hook has returned, and nothing stands in its way."""
    expect(host.fire("pre_tool_call") == [], "pre_tool_call to return nothing", "a directive")
    home.expect_row("PENDING", tool_name="write_file", tool_call_id="call_1", session_id="s1", effect="unknown")
    return "on disk as PENDING before it runs"


def confirmation(host: Host, home: Home) -> str:
    """The post of that call settles that row."""
    host.fire("pre_tool_call")
    host.fire("post_tool_call")
    home.expect_row("CONFIRMED", effect="applied", flags="")
    return "CONFIRMED, effect applied"


def failure(host: Host, home: Home) -> str:
    """A call that the host reports as failed is an error, whose effect nobody knows."""
    host.fire("pre_tool_call")
    host.fire("post_tool_call", result='{"error": "disk"}', status="error", error_type="OSError", error_message="disk")
    home.expect_row("ERROR:OSError", effect="unknown", flags="")
    return "ERROR:OSError, effect unknown"


def fallback(host: Host, home: Home) -> str:
    """A post without an id, with other arguments, settles the open row of that tool in the session."""
    host.fire("pre_tool_call")
    host.fire("post_tool_call", call="", args={"path": "other.txt", "content": "b"})
    home.expect_row("CONFIRMED", tool_call_id="call_1")
    return "a post without an id found its call by the tool's name"


def ghost_without_owner(host: Host, home: Home) -> str:
    """A call of a process that was killed is told to the conversation that issued it: once, and nobody else."""
    _issue_and_die(home)
    home.expect_row("PENDING")
    expect(host.fire("pre_llm_call", session="s2") == [], "nothing told to another conversation", "a notice")
    notice = _notice(host.fire("pre_llm_call"))
    home.expect_row("GHOST_REPORTED", effect="unknown")
    expect("write_file" in notice, "the notice to name write_file", notice)
    expect(host.fire("pre_llm_call") == [], "the notice only once", "a second one")
    return "the killed process's call was told once, and only to its conversation"


def ghost_after_grace(host: Host, home: Home) -> str:
    """A call that nobody confirmed within its grace period is told although its process lives."""
    host.fire("pre_tool_call")
    expect(host.fire("pre_llm_call") == [], "nothing told of a call within its grace period", "a notice")
    home.make_older(hours=2)
    _notice(host.fire("pre_llm_call"))
    home.expect_row("GHOST_REPORTED")
    return "open within its grace period, told after it"


def late_outcome(host: Host, home: Home) -> str:
    """The outcome of a call that was told as a ghost still upgrades its row."""
    host.fire("pre_tool_call")
    home.make_older(hours=2)
    host.fire("pre_llm_call")
    host.fire("post_tool_call")
    home.expect_row("CONFIRMED", flags="late")
    return "a ghost whose outcome came after all is CONFIRMED, marked late"


def injection(host: Host, home: Home) -> str:
    """With a ghost there is a context that names the plugin; with nothing to say there is none."""
    expect(host.fire("pre_llm_call") == [], "no context from an empty ledger", "one")
    host.fire("pre_tool_call")
    home.make_older(hours=2)
    notice = _notice(host.fire("pre_llm_call"))
    return f'{{"context": ...}} names {PLUGIN}, {len(notice)} characters'


def only_changes(host: Host, home: Home) -> str:
    """Read-only tools leave no row; a tool that changes something leaves one."""
    reads = {"read_file": {"path": "a.txt"}, "search_files": {"pattern": "x"}, "web_search": {"query": "x"}}
    for number, (tool, args) in enumerate(reads.items()):
        host.fire("pre_tool_call", call=f"read_{number}", tool_name=tool, args=args)
        host.fire("post_tool_call", call=f"read_{number}", tool_name=tool, args=args)
    expect(home.rows() == [], "no row for read-only tools", [row["tool_name"] for row in home.rows()])
    host.fire("pre_tool_call", tool_name="terminal", args={"command": "make"})
    home.expect_row("PENDING", tool_name="terminal")
    return f"{', '.join(reads)}: no row; terminal: one"


def odd_payloads(host: Host, home: Home) -> str:
    """Keywords that are missing or of the wrong type raise nothing and block nothing."""
    for hook in RELIED_ON:
        for keywords in ({}, dict.fromkeys(RELIED_ON[hook], 7), dict.fromkeys(RELIED_ON[hook], b"\xff")):
            for callback in host.callbacks(hook):
                try:
                    returned = callback(**keywords)
                except Exception as error:
                    raise Failed(f"expected {hook} to survive {keywords!r}; came: {error!r}") from error
                expect(returned is None, f"{hook} to return nothing for {keywords!r}", returned)
    return "missing and mistyped keywords raise and block nothing"


SCENARIOS: tuple[tuple[str, Callable[[Host, Home], str]], ...] = (
    ("plugin loads", loads),
    ("issue", issue),
    ("confirmation", confirmation),
    ("failure", failure),
    ("confirmation by tool name", fallback),
    ("ghost: its process is gone", ghost_without_owner),
    ("ghost: its grace period is over", ghost_after_grace),
    ("late outcome", late_outcome),
    ("context injection", injection),
    ("only state-changing tools", only_changes),
    ("odd payloads", odd_payloads),
)


def _notice(returned: list[Any]) -> str:
    expect(
        len(returned) == 1 and isinstance(returned[0], dict) and isinstance(returned[0].get("context"), str),
        'pre_llm_call to return {"context": text}', returned,
    )  # fmt: skip
    text: str = returned[0]["context"]
    expect(PLUGIN in text and len(text) <= 2000, f"a text that names {PLUGIN}, of 2000 characters at most", text)
    return text


def _issue_and_die(home: Home) -> None:
    """Have another process issue a call in that home and be killed while the call is open."""
    done = subprocess.run(  # noqa: S603 - this very test, with this interpreter
        [sys.executable, str(RUNNER), "--issue-and-die", str(home.path)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CHILD_SECONDS, check=False,
    )  # fmt: skip
    expect(done.returncode == -signal.SIGKILL, "the issuing process to end by SIGKILL", (done.returncode, done.stderr))


def issue_and_die(host: Host, home: Home) -> NoReturn:
    """In that other process: issue one call in a home that is there already, then SIGKILL."""
    host.load(home)
    host.fire("pre_tool_call")
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")
