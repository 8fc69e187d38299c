"""The plugin gets into a host the way a user would put it there, and the host's own gates let it pass."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.hosts import checkout
from tests.hosts.conftest import NewHome
from tests.hosts.environments import Host
from tests.hosts.harness import PLUGIN
from tests.hosts.model_server import Call, ModelServer, calls, text

SCRIPTS = Path(__file__).parent / "scripts"
# From this version on the installer downloads an interpreter, which a machine without a network cannot do.
NEEDS_NETWORK = (0, 22)
HAS_VALIDATOR = (0, 21, 5)
# From this version on the installer scans what it cloned. Older scans are stricter, so each counts.
SCANS = (0, 20, 6)


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file:// address of a repository that holds a clean copy of the checkout."""
    return checkout.repository(tmp_path_factory.mktemp("origin") / PLUGIN)


@pytest.fixture(scope="session")
def clean_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a clone of the checkout would hold."""
    return checkout.export(tmp_path_factory.mktemp("copy") / PLUGIN)


def test_the_hosts_own_command_installs_it_without_a_question(
    host: Host, address: str, bare_home: NewHome, model: ModelServer
) -> None:
    """`hermes plugins install` with nobody to answer ends well, says how to verify, and the next chat is recorded."""
    if host.numbers >= NEEDS_NETWORK:
        pytest.skip("this version's installer needs a network")
    home = bare_home()
    done = home.hermes("plugins", "install", address, "--enable").expect()
    assert not re.search(r"\[y/n\]|python dep|--yes-deps|consent|caution", done.output, re.IGNORECASE), str(done)
    assert "ledger.db" in done.output, "after-install.md was not shown"

    target = home.work / "note.txt"
    model.play(calls(Call("write_file", {"path": str(target), "content": "x"}, id="first")), text("done"))
    home.chat("write it")
    assert home.ledger.only(tool_call_id="first")["status"] == "CONFIRMED"


def test_the_host_lists_the_plugin_as_enabled(ledger_home: NewHome) -> None:
    """A folder copied into the home and named in config.yaml is what the host calls an enabled plugin."""
    told = ledger_home().hermes("plugins", "list", "--plain").expect()

    line = next((line for line in told.output.splitlines() if PLUGIN in line), "")
    assert "enabled" in line and "not enabled" not in line, str(told)


def test_the_host_finds_no_python_dependency(host: Host, clean_copy: Path, bare_home: NewHome) -> None:
    """What the host reads from the plugin's folder asks for no Python package, so the installer has no question."""
    if host.numbers < HAS_VALIDATOR:
        pytest.skip("this version knows no Python dependencies of plugins")
    told = bare_home().python(SCRIPTS / "dependencies.py", str(clean_copy)).expect()

    assert json.loads(told.output.splitlines()[-1]) == {"member": False, "requirements": []}


def test_the_hosts_validator_accepts_it(host: Host, clean_copy: Path, bare_home: NewHome) -> None:
    """`hermes plugins validate` ends with 0 and reports no failure."""
    if host.numbers < HAS_VALIDATOR:
        pytest.skip("this version has no validator")
    told = bare_home().hermes("plugins", "validate", str(clean_copy)).expect()

    assert not re.search(r"\bFAIL", told.output), str(told)


def test_the_installers_scan_finds_it_safe(host: Host, clean_copy: Path, bare_home: NewHome) -> None:
    """The scan that decides about an installation says safe: nothing in the tree needs a confirmation."""
    if host.numbers < SCANS:
        pytest.skip("this version's installer scans nothing")
    told = bare_home().python(SCRIPTS / "scan.py", str(clean_copy)).expect()
    report = json.loads(told.output.splitlines()[-1])

    assert (report["verdict"], report["grave"]) == ("safe", []), str(told)
