"""The self test says of each real host that the plugin works there."""

from __future__ import annotations

import json

import pytest

from tests.hosts.checkout import ROOT
from tests.hosts.conftest import NewHome
from tests.hosts.environments import Host


@pytest.mark.parametrize("named", ["interpreter", "command", "folder"])
def test_the_self_test_passes_inside_the_host(host: Host, named: str, bare_home: NewHome) -> None:
    """``--hermes`` takes whatever a user has at hand, and every check passes with that host's own plugin manager."""
    if named != "command" and host.version != "0.22.2.post1":
        pytest.skip("how a host is named does not depend on its version")
    path = {"interpreter": host.python, "command": host.command, "folder": host.root}[named]

    told = bare_home().python(ROOT / "selftest.py", "--hermes", str(path), "--json").expect()

    report = json.loads(told.output[told.output.index("{\n") :])
    assert (report["host"], report["host_version"], report["failed"]) == ("hermes", host.version, 0)
