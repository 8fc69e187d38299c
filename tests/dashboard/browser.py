"""A headless browser over the WebDriver protocol, with the standard library alone."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.dashboard.serving import NO_PROXY
from tests.hosts.harness import wait_until

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRIVER = "chromedriver"


def why_not() -> str:
    """Why no browser can be had here, '' where one can."""
    if not any(shutil.which(name) for name in BROWSERS):
        return f"no browser is installed: none of {', '.join(BROWSERS)} (Debian: chromium)"
    if not shutil.which(DRIVER):
        return f"no {DRIVER} is installed (Debian: chromium-driver)"
    return ""


class Page:
    """One window of a running browser."""

    def __init__(self, driver: str, session: str) -> None:
        self._at = f"{driver}/session/{session}"

    def open(self, url: str) -> None:
        _say(f"{self._at}/url", {"url": url})

    def size(self, width: int, height: int) -> None:
        """The size of what the page sees, also below the least width of a window."""
        said = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        _say(f"{self._at}/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": said})

    def run(self, script: str, *arguments: Any) -> Any:
        """What the script returns."""
        return _say(f"{self._at}/execute/sync", {"script": script, "args": list(arguments)})

    def see(self, text: str, seconds: float = 30) -> None:
        """Wait until the page shows this text."""
        wait_until(lambda: text in self.text(), f"{text!r} on the page, which says:\n{self.text()[:3000]}", seconds)

    def text(self) -> str:
        return str(self.run("return document.body ? document.body.innerText : ''"))

    def press(self, label: str, within: str = "body") -> None:
        """Click the first visible button or tab with this text."""
        found = wait_until(
            lambda: self.run(
                "const all = [...document.querySelectorAll(arguments[1] + ' button')];"
                "const hit = all.find((one) => one.innerText.trim().toLowerCase() === arguments[0].toLowerCase()"
                " && one.offsetParent && !one.disabled);"
                "if (hit) hit.click(); return Boolean(hit);", label, within),
            f"a button {label!r} on the page, which says:\n{self.text()[:3000]}",
        )  # fmt: skip
        assert found

    def type(self, selector: str, text: str) -> None:
        """Give a field this text, as typing does."""
        element = _say(f"{self._at}/element", {"using": "css selector", "value": selector})
        name = next(iter(element.values()))
        _say(f"{self._at}/element/{name}/clear", {})
        if text:
            _say(f"{self._at}/element/{name}/value", {"text": text})

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(_say(f"{self._at}/screenshot")))

    def complaints(self) -> list[str]:
        """Errors and warnings of the console since the last question."""
        entries = _say(f"{self._at}/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A browser with a profile of its own in ``folder``; ended with all that belongs to it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    at = f"http://127.0.0.1:{port}"
    log = (folder / "driver.log").open("wb")
    driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        wait_until(lambda: _ready(at), f"{DRIVER}, see {folder / 'driver.log'}")
        program = next(path for path in map(shutil.which, BROWSERS) if path)
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}"]  # fmt: skip
        wanted = {"goog:chromeOptions": {"binary": program, "args": flags}, "goog:loggingPrefs": {"browser": "ALL"}}
        session = _say(f"{at}/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        try:
            yield Page(at, session)
        finally:
            _say(f"{at}/session/{session}", method="DELETE")
    finally:
        driver.terminate()
        driver.wait(20)
        log.close()


def _ready(at: str) -> bool:
    with contextlib.suppress(OSError):
        return bool(_say(f"{at}/status")["ready"])
    return False


def _say(url: str, said: Any = None, method: str | None = None) -> Any:
    body = None if said is None else json.dumps(said).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)  # noqa: S310 - loopback
    try:
        with NO_PROXY.open(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as refused:
        with refused:
            raise AssertionError(f"the browser refused {url}: {refused.read().decode()[:1000]}") from refused
