"""The self test passes on a sound plugin, fails on a broken one, and stays away from the user's home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_ledger.selftest.hosts import Failed, Simulation
from agent_ledger.selftest.payloads import RELIED_ON, Payload, keywords_sent
from agent_ledger.selftest.scenarios import SCENARIOS
from tests.hosts import checkout

# Added to a copy of agent_ledger/plugin.py: one hook of the plugin is replaced by something that does not do its work.
SABOTAGE = """
_sound_register = register


class _Saboteur:
    def __init__(self, ctx):
        self._ctx = ctx

    def register_hook(self, name, callback):
        if name == {hook!r}:
            callback = (lambda sound: {replacement})(callback)
        if callback is not None:
            self._ctx.register_hook(name, callback)

    def __getattr__(self, name):
        return getattr(self._ctx, name)


def register(ctx):
    _sound_register(_Saboteur(ctx))
"""


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the self test of that plugin folder as a user would."""
    return subprocess.run(
        [sys.executable, str(folder / "selftest.py"), *arguments],
        env={**os.environ, **environment}, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


def failures(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The names of the checks that a run with ``--json`` reports as failed."""
    return {check["name"] for check in json.loads(done.stdout)["checks"] if not check["passed"]}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the plugin folder that a test may break."""
    return checkout.export(tmp_path / "agent-ledger")


def test_a_sound_plugin_passes_in_the_simulation() -> None:
    """Without a Hermes every check passes, each on a line of its own, and the report says that it was a simulation."""
    done = run(checkout.ROOT)

    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert "simulation" in lines[0]
    assert [line for line in lines[1:-1] if not line.startswith("ok  ")] == []
    assert lines[-1] == f"{len(lines) - 2} passed, 0 failed"
    assert all(any(f"  {name}: " in line for line in lines) for name, _ in SCENARIOS)


def test_the_json_report_counts_its_checks() -> None:
    """``--json`` prints one object, whose counts are those of its list."""
    report = json.loads(run(checkout.ROOT, "--json").stdout)

    assert report["host"] == "simulation"
    assert (report["passed"], report["failed"]) == (len(report["checks"]), 0)


@pytest.mark.parametrize(
    ("hook", "replacement", "caught_by"),
    [
        ("pre_tool_call", "None", {"plugin loads"}),
        ("pre_tool_call", "lambda **_: None", {"issue", "confirmation", "only state-changing tools"}),
        ("pre_tool_call", "lambda **kw: sound(**{**kw, 'tool_name': 'terminal'})", {"only state-changing tools"}),
        ("pre_tool_call", "lambda **kw: {'action': 'block', 'message': 'no'}", {"issue", "odd payloads"}),
        ("pre_tool_call", "lambda tool_name, args: None", {"payload of pre_tool_call", "odd payloads"}),
        ("post_tool_call", "lambda **_: None", {"confirmation", "failure", "confirmation by tool name"}),
        ("post_tool_call", "lambda **kw: sound(**{**kw, 'status': 'ok', 'result': ''})", {"failure"}),
        ("post_tool_call", "lambda **kw: kw['tool_call_id'] and sound(**kw)", {"confirmation by tool name"}),
        ("pre_llm_call", "lambda **_: None", {"ghost: its process is gone", "ghost: its grace period is over"}),
        ("pre_llm_call", "lambda **_: {'context': 'agent-ledger'}", {"context injection", "odd payloads"}),
        ("pre_llm_call", "lambda **kw: sound(**kw) and {'context': 'unnamed'}", {"context injection"}),
        ("on_session_start", "lambda **_: 1 / 0", {"odd payloads"}),
    ],
)
def test_a_broken_hook_is_caught(copy: Path, hook: str, replacement: str, caught_by: set[str]) -> None:
    """A hook that does nothing, too much or the wrong thing fails the checks that are about it."""
    file = copy / "agent_ledger" / "plugin.py"
    file.write_text(file.read_text(encoding="utf-8") + SABOTAGE.format(hook=hook, replacement=replacement))

    done = run(copy, "--json")

    assert done.returncode == 1
    assert caught_by <= failures(done)


def test_a_plugin_that_cannot_be_imported_is_one_clear_failure(copy: Path) -> None:
    """A syntax error makes every check fail with its cause, and no traceback."""
    (copy / "agent_ledger" / "hooks.py").write_text("def (:\n")

    done = run(copy)

    assert done.returncode == 1
    assert "SyntaxError" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_the_users_home_is_not_touched(tmp_path: Path) -> None:
    """Neither the home that the environment names nor the one below the user's own is read, written or created."""
    user, chosen = tmp_path / "user", tmp_path / "chosen"
    for home in (user / ".hermes", chosen):
        folder = home / "plugin-data" / "agent-ledger"
        folder.mkdir(parents=True)
        (folder / "ledger.db").write_bytes(b"not a database")
    before = sorted((path, path.lstat().st_mtime_ns) for path in tmp_path.rglob("*"))

    done = run(checkout.ROOT, HOME=str(user), HERMES_HOME=str(chosen), TMPDIR=str(tmp_path_outside(tmp_path)))

    assert done.returncode == 0, done.stdout
    assert sorted((path, path.lstat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


def tmp_path_outside(tmp_path: Path) -> Path:
    """A folder for temporary files beside ``tmp_path``."""
    folder = tmp_path.parent / f"{tmp_path.name}-scratch"
    folder.mkdir()
    return folder


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """The throw-away homes are gone afterwards."""
    assert run(checkout.ROOT, TMPDIR=str(tmp_path)).returncode == 0

    assert list(tmp_path.iterdir()) == []


def test_the_users_settings_decide_nothing() -> None:
    """A variable that turns recording down for the user does not make the self test fail."""
    done = run(checkout.ROOT, AGENT_LEDGER_READ_ONLY_TOOLS="write_file,terminal", AGENT_LEDGER_GRACE="write_file=90000")

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("/no/such/hermes", "no such file"),
        (sys.executable, "cannot import hermes_cli"),
        (str(checkout.ROOT), "no Python interpreter found"),
        (str(checkout.ROOT / "plugin.yaml"), "no Python interpreter found"),
    ],
)
def test_a_path_that_is_no_hermes_is_named(named: str, says: str) -> None:
    """``--hermes`` with anything else ends with 2 and one line: what was named, why it will not do, what to name."""
    done = run(checkout.ROOT, "--hermes", named)

    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr and says in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("hook", RELIED_ON)
def test_a_host_that_no_longer_passes_what_is_relied_on_fails(hook: str) -> None:
    """A keyword that the plugin needs and a host leaves out is named by the check of that hook."""
    host = Simulation()
    gone = RELIED_ON[hook][-1]
    host.sends[hook] = Payload(host.sends[hook].keywords - {gone})

    with pytest.raises(Failed, match=f"not passed: {gone}"):
        dict(host.contract())[f"payload of {hook}"]()


def test_a_host_that_fires_a_hook_nowhere_fails() -> None:
    """A hook that has no call site is no hook."""
    host = Simulation()
    del host.sends["pre_llm_call"]

    with pytest.raises(Failed, match="fires pre_llm_call; came: none"):
        dict(host.contract())["payload of pre_llm_call"]()


def source(tmp_path: Path, **files: str) -> dict[str, Payload]:
    """What is read from a host whose package ``agent`` has these modules."""
    (tmp_path / "agent").mkdir()
    for name, text in files.items():
        (tmp_path / "agent" / f"{name}.py").write_text(text, encoding="utf-8")
    return keywords_sent(tmp_path)


def test_what_every_place_passes_counts(tmp_path: Path) -> None:
    """Where two places fire a hook, the plugin can rely on what both pass, and on what the host adds."""
    found = source(
        tmp_path,
        one='invoke_hook("on_session_start", session_id=a, model=b)',
        two='def f():\n    plugins._invoke_hook("on_session_start", session_id=a, platform=b)',
    )

    assert found == {"on_session_start": Payload(frozenset({"session_id", "telemetry_schema_version"}))}


def test_a_spread_record_counts_with_its_fields(tmp_path: Path) -> None:
    """Keywords that come from a record's method in the same file are the record's fields."""
    text = """
class Ids:
    task_id: str
    turn_id: str = ""

    def spread(self): ...

invoke_hook("post_tool_call", result=r, **Ids(a, b).spread())
"""
    found = source(tmp_path, one=text)["post_tool_call"]

    assert found == Payload(frozenset({"result", "task_id", "turn_id", "telemetry_schema_version"}))


def test_a_spread_from_elsewhere_is_marked_as_unread(tmp_path: Path) -> None:
    """What cannot be read from the source is neither claimed nor called missing."""
    found = source(tmp_path, one='invoke_hook("pre_tool_call", args=a, **elsewhere)')["pre_tool_call"]

    assert found.unread and "args" in found.keywords


@pytest.mark.parametrize(
    "text", ['has_hook("pre_tool_call")', 'log("pre_tool_call", invoke=1)', "invoke_hook(name, args=1)"]
)
def test_other_mentions_of_a_hook_are_no_call_sites(tmp_path: Path, text: str) -> None:
    """Only a call that invokes the hook by its name counts."""
    assert source(tmp_path, one=f'{text}\nHOOKS = ["pre_tool_call"]; invoke = None') == {}
