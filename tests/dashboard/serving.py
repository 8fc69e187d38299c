"""A real `hermes dashboard` on the loopback interface, and requests as its own page makes them."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.hosts import environments
from tests.hosts.environments import Host
from tests.hosts.harness import Home, HostFailure, wait_until

WITH_PAGES = "0.19.0"
API = "/api/plugins/agent-ledger"
TOKEN = "-".join(["a", "token", "of", "the", "tests"])  # of a dashboard that lives as long as a test
NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Reply(NamedTuple):
    """What the dashboard answered; ``data`` is its JSON, or its text where it is none."""

    code: int
    data: Any
    headers: dict[str, str]


class Dashboard:
    """A running dashboard: where it is, and the session token that its page holds too."""

    def __init__(self, url: str, home: Path, token: str) -> None:
        self.url = url
        self.home = home
        self.token = token

    def fetch(
        self, path: str, body: bytes | None = None, method: str | None = None, token: str | None = None,
        **headers: str,
    ) -> Reply:  # fmt: skip
        """Any request; ``content_type="..."`` becomes that header. ``token=""`` sends none."""
        token = self.token if token is None else token
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            named["X-Hermes-Session-Token"] = token
        request = urllib.request.Request(self.url + path, body, named, method=method)  # noqa: S310 - loopback
        try:
            with NO_PROXY.open(request, timeout=60) as answer:
                return _reply(answer.status, answer.read(), dict(answer.headers))
        except urllib.error.HTTPError as refused:
            with refused:
                return _reply(refused.code, refused.read(), dict(refused.headers))

    def ask(self, path: str) -> Reply:
        """A question to the plugin's API."""
        return self.fetch(API + path)

    def settle(self, row_id: object, said: Any) -> Reply:
        """Settle a call as the page does."""
        return self.fetch(f"{API}/calls/{row_id}/settle", json.dumps(said).encode(), content_type="application/json")


def _reply(code: int, raw: bytes, headers: dict[str, str]) -> Reply:
    text = raw.decode("utf-8", "replace")
    try:
        return Reply(code, json.loads(text), headers)
    except ValueError:
        return Reply(code, text, headers)


# The repackaged 0.22.2 cannot start its own dashboard: a module that its start-up imports lacks an import. The same
# application without that start-up is what it would serve.
WITHOUT_STARTUP = """
import sys, uvicorn
from hermes_cli.web_server import app
app.state.bound_host = "127.0.0.1"
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), lifespan="off")
"""


def _command(host: Host, port: int) -> list[str]:
    if host.numbers >= (0, 22):
        return [str(host.python), "-c", WITHOUT_STARTUP, str(port)]
    return [str(host.command), "dashboard", "--port", str(port), "--host", "127.0.0.1", "--no-open", "--skip-build"]


@contextlib.contextmanager
def serve(host: Host, root: Path, **settings: Any) -> Iterator[Dashboard]:
    """Start the host's dashboard in a home that has the plugin; ``settings``: sections of its config.yaml. HostFailure holds
    what it printed."""
    home = Home(host, root, "http://127.0.0.1:9/v1")
    home.place_plugin()
    if settings:
        home.configure(**settings)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (root / "dashboard.log").open("wb")
    # Later releases ship no web build; theirs is not what is asked for here.
    pages = environments.ensure(WITH_PAGES).python.parent.parent.glob("lib/python3*/site-packages/hermes_cli/web_dist")
    process = subprocess.Popen(
        _command(host, port),
        env={**home.environment, "HERMES_DASHBOARD_SESSION_TOKEN": TOKEN, "HERMES_WEB_DIST": str(next(pages))}, cwd=root, stdin=subprocess.DEVNULL,
        stdout=log, stderr=subprocess.STDOUT,
    )  # fmt: skip
    served = Dashboard(f"http://127.0.0.1:{port}", home.path, TOKEN)

    def answers() -> bool:
        if process.poll() is not None:
            raise HostFailure(f"the dashboard ended with {process.returncode}:\n{(root / 'dashboard.log').read_text()}")
        with contextlib.suppress(OSError):
            return served.fetch("/api/status", token="").code == 200
        return False

    try:
        wait_until(answers, f"the dashboard of {host.version}, see {root / 'dashboard.log'}")
        yield served
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)
        log.close()
        home.close()
