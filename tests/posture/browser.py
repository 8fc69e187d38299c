"""A headless Chromium driven over its debugging pipe: no package beside the browser itself is needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip


def find() -> str | None:
    """The path of a Chromium of this machine."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page. ``requests``: every address it asked for; ``complaints``: what its console and its log said."""

    def __init__(self, program: str, profile: Path) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._next, self._session, self._held = 0, "", b""
        read_commands, self._write = os.pipe()
        self._read, write_answers = os.pipe()

        def hand_over() -> None:
            # Chromium reads commands from descriptor 3 and answers on 4. Copies first: either may be one of the two.
            commands, answers = os.dup(read_commands), os.dup(write_answers)
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"], preexec_fn=hand_over, pass_fds=(3, 4),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(read_commands)
        os.close(write_answers)
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime", "Accessibility"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self._write)  # the end of its pipe ends the browser
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)

    def call(self, method: str, **parameters: Any) -> Any:
        """Send one command and wait for its answer; events before it are noted."""
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._next:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self._note(answer)

    def _message(self) -> Any:
        limit = time.monotonic() + 60
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._read], [], [], max(limit - time.monotonic(), 0))
            assert ready, "the browser did not answer within a minute"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser ended"
            self._held += part
        line, _, self._held = self._held.partition(b"\0")
        return json.loads(line)

    def _note(self, event: Any) -> None:
        method, data = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(data["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(data["entry"]["text"])
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.complaints.append(json.dumps(data))

    def show(self, page: Path, *, width: int, dark: bool = False) -> None:
        """Load a file at that width, dark or light."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Page.navigate", url=page.as_uri())
        limit = time.monotonic() + 30
        while self.value("location.href + document.readyState") != page.as_uri() + "complete":
            assert time.monotonic() < limit, "the page did not load"
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press one key: ``Tab`` is 9, ``Enter`` 13."""
        text = {"Enter": "\r"}.get(key, "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, target: Path) -> None:
        """The whole page as a PNG file."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        target.write_bytes(base64.b64decode(answer["data"]))
