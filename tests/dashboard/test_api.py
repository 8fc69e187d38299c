"""The API behind the dashboards of real hosts: mounted, guarded and answering."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agent_ledger
from tests.dashboard import lived_in
from tests.dashboard.serving import API, Dashboard, serve
from tests.hosts import environments
from tests.hosts.checkout import ROOT
from tests.store.rows import content

# 0.19.0 ships the web build. The newest host is asked without one: its API, in process and in the plugin process.
HOSTS = [
    ("0.19.0", {}),
    ("0.22.2.post1", {}),
    ("0.22.2.post1", {"plugins": {"enabled": ["agent-ledger"], "isolation": "host"}}),
]
SETTLED = b'{"effect": "applied"}'


@pytest.fixture(scope="module", params=HOSTS, ids=["0.19.0", "0.22.2", "0.22.2-isolated"])
def dashboard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A running dashboard over a home that was lived in."""
    version, settings = request.param
    with serve(environments.ensure(version), tmp_path_factory.mktemp("served"), **settings) as served:
        lived_in.furnish(served.home, hostile="<script>alert(1)</script>")
        yield served


def ghosts(dashboard: Dashboard) -> list[int]:
    return [ghost["id"] for ghost in dashboard.ask("/ghosts").data["ghosts"]]


def ledger_of(dashboard: Dashboard) -> list[str]:
    return content(dashboard.home / "plugin-data" / "agent-ledger" / "ledger.db")


@pytest.mark.parametrize(
    "path", ["/overview", "/ghosts", "/calls?limit=3", "/changes?after=1", "/calls/1", "/activity?span=7d", "/policy?since=7d",
             "/posture", "/posture/score", "/doctor"],
)  # fmt: skip
def test_every_question_is_answered(dashboard: Dashboard, path: str) -> None:
    """As JSON in ASCII that no cache keeps and no browser takes for anything else."""
    reply = dashboard.ask(path)
    assert reply.code == 200 and isinstance(reply.data, dict)
    headers = {name.lower(): value for name, value in reply.headers.items()}
    assert (headers["content-type"], headers["cache-control"], headers["x-content-type-options"]) == ("application/json", "no-store", "nosniff")


def test_who_has_no_token_gets_nothing(dashboard: Dashboard) -> None:
    """The host's own door stands before every path."""
    for path, body in (("/overview", None), ("/calls/1", None), (f"/calls/{ghosts(dashboard)[0]}/settle", SETTLED)):
        assert dashboard.fetch(API + path, body, token="", content_type="application/json").code == 401


def test_settling_takes_json_and_nothing_else(dashboard: Dashboard) -> None:
    """A form of another site is no JSON, a wrong host is no host, and neither changes anything."""
    path, before = f"{API}/calls/{ghosts(dashboard)[0]}/settle", ledger_of(dashboard)
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "application/jsonp"):
        assert dashboard.fetch(path, SETTLED, content_type=kind).code == 415
    assert dashboard.fetch(path, b'{"effect": "gone"}', content_type="application/json").code == 400
    assert dashboard.fetch(path, b" " * 20_000, content_type="application/json").code == 413
    assert dashboard.fetch(path, SETTLED, content_type="application/json", host="evil.example").code in (400, 403)
    assert dashboard.fetch(path, None, method="GET").code == 404
    assert ledger_of(dashboard) == before


def test_what_is_not_there_is_not_found(dashboard: Dashboard) -> None:
    """Whatever the path and the method."""
    for method in ("GET", "POST", "DELETE"):
        assert dashboard.fetch(f"{API}/no/such/path", b"{}" if method == "POST" else None, method=method).code == 404


def test_unknown_calls_are_not_found(dashboard: Dashboard) -> None:
    """With the same form of error as the host's own."""
    for reply in (dashboard.ask("/calls/999999"), dashboard.settle(999999, {"effect": "applied"})):
        assert reply.code == 404 and "there is no call 999999" in reply.data["detail"]
    for wrong in ("0", "x", "1%20OR%201", "9" * 400):
        assert dashboard.ask(f"/calls/{wrong}").code == 400
        assert dashboard.settle(wrong, {"effect": "applied"}).code == 400
    assert dashboard.settle(1, {"effect": "applied"}).code == 400  # it has its outcome


def test_settling_names_the_person(dashboard: Dashboard) -> None:
    """The user that the dashboard runs as, where the host asks for no login."""
    row_id = ghosts(dashboard)[0]
    reply = dashboard.settle(row_id, {"effect": "not_applied", "note": "<b>not there</b>"})
    assert reply.code == 200 and row_id not in ghosts(dashboard)
    life = dashboard.ask(f"/calls/{row_id}").data
    assert life["call"]["effect"] == "none"
    assert life["transitions"][-1]["why"].startswith("settled by ") and life["transitions"][-1]["why"].endswith(" in the dashboard: not applied; <b>not there</b>")


def test_only_the_pages_own_files_are_served(dashboard: Dashboard) -> None:
    """Scripts and style, with their types; no source of the API, nothing above the folder."""
    place = "/dashboard-plugins/agent-ledger/"
    for file in (ROOT / "dashboard").iterdir():
        if file.is_file():
            reply = dashboard.fetch(place + file.name, token="")
            assert reply.code == (404 if file.suffix == ".py" else 200), file
    assert "javascript" in {name.lower(): value for name, value in dashboard.fetch(place + "app.js").headers.items()}["content-type"]
    assert dashboard.fetch(place + "../plugin.yaml").code in (403, 404)


def test_the_manifest_says_what_is_there() -> None:
    """The name is the plugin's, so that enabling it enables the tab; the version is the package's; the files exist."""
    manifest: dict[str, Any] = json.loads((ROOT / "dashboard" / "manifest.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("agent-ledger", agent_ledger.__version__)
    for part in ("entry", "css", "api"):
        assert (ROOT / "dashboard" / manifest[part]).is_file()


def test_no_stored_text_becomes_markup() -> None:
    """The scripts have no way to make markup, code or requests to elsewhere out of a text."""
    for script in (ROOT / "dashboard").glob("*.js"):
        text = script.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write", "eval" "(", "new Function", "http://", "https://", "srcdoc"):
            assert way not in text, f"{script.name}: {way}"


def test_the_api_finds_its_package_by_place_alone(tmp_path: Path) -> None:
    """Another agent_ledger on the path is not taken, and without the package beside it the file says what is missing."""
    host = environments.ensure("0.19.0")
    (tmp_path / "path" / "agent_ledger").mkdir(parents=True)
    (tmp_path / "path" / "agent_ledger" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    load = (
        "import importlib.util, sys; spec = importlib.util.spec_from_file_location('hermes_dashboard_plugin_agent-ledger', sys.argv[1]);"
        " module = importlib.util.module_from_spec(spec); sys.modules[spec.name] = module; before = list(sys.path);"
        " spec.loader.exec_module(module); assert sys.path == before; print(len(module.router.routes), 'agent_ledger' in sys.modules)"
    )

    def run(file: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(host.python), "-c", load, str(file)], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "path")},
                              capture_output=True, text=True, timeout=60, check=False)  # fmt: skip

    assert run(ROOT / "dashboard" / "plugin_api.py").stdout.split() == ["12", "False"]
    alone = tmp_path / "elsewhere" / "dashboard"
    shutil.copytree(ROOT / "dashboard", alone)
    assert "inside the plugin's folder" in run(alone / "plugin_api.py").stderr
