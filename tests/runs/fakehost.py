"""A host in a few lines, for tests of the runner: `python fakehost.py chat -q TEXT`, where TEXT names the steps.

Steps, separated by blanks: `init`, `text:T`, `use:NAME`, `done:NAME`, `result:N`, `sleep:S`, `exit:N`, `raw:T` (a line as
it stands), `err:T` (to standard error), `deaf` (signals are ignored from now on), `polite` (a signal gives a result with
130), `touch:PATH`, `count:PATH` (fails with 75 until PATH holds that many lines), `child:S` (a child that holds the pipes).
`--old` in front of `chat` makes it a host that does not know `--format`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SESSION = "20261130_120000_fake01"


def emit(**event: Any) -> None:
    print(json.dumps({**event, "timestamp": time.time_ns() // 1_000_000}), flush=True)


def result(code: int) -> None:
    error = {"error": "Interrupted"} if code == 130 else {"error": "it failed"} if code else {}
    emit(type="result", session_id=SESSION, exit_code=code, text="" if code else "fine", tokens={"total": 7},
         duration_ms=5, **error)  # fmt: skip


def interrupted(*_: object) -> None:
    result(130)
    sys.exit(130)


def step(name: str, value: str) -> None:
    if name == "init":
        emit(type="system", subtype="init", model="fake", session_id=SESSION)
    elif name == "text":
        emit(type="text", text=value)
    elif name == "use":
        emit(type="tool_use", name=value, input={})
    elif name == "done":
        emit(type="tool_result", name=value, output="ok", duration_ms=1, is_error=False)
    elif name == "result":
        result(int(value))
    elif name == "sleep":
        until = time.monotonic() + float(value)
        while time.monotonic() < until:
            time.sleep(0.02)
    elif name == "exit":
        sys.exit(int(value))
    elif name == "raw":
        print(value, flush=True)
    elif name == "err":
        print(value, file=sys.stderr, flush=True)
    elif name == "deaf":
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    elif name == "polite":
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, interrupted)
    elif name == "touch":
        Path(value).touch()
    elif name == "child":
        subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({value})"], start_new_session=True)
    elif name == "env":
        emit(type="text", text=os.environ.get(value, ""))
    else:
        raise SystemExit(f"no such step: {name}")


def main() -> None:
    words = sys.argv[1:]
    if "--old" in words and any(word.startswith("--format") for word in words):
        print("usage: fakehost\nfakehost: error: unrecognized arguments: --format stream-json", file=sys.stderr)
        sys.exit(2)
    if words[-1] == "doctor":
        sys.exit(int(os.environ.get("FAKE_DOCTOR", "0")))
    for part in words[words.index("-q") + 1].split():
        name, _, value = part.partition(":")
        if name == "count":
            with open(value, "a", encoding="utf-8") as file:
                file.write("x")
            if len(Path(value).read_text()) < int(os.environ["FAKE_ATTEMPTS"]):
                result(75)
                sys.exit(75)
            continue
        step(name, value)


if __name__ == "__main__":
    main()
