"""A host in a process of its own that does what it is told over a pipe, one JSON line each way.

    python -m tests.faults.driver HOME [UID]

Each order is ``[verb, values, keywords]`` of SimHost; the answer says how long the hook took, what it returned and what
it raised. With a UID the process becomes that user first, so that file permissions bind it.
"""

from __future__ import annotations

import codecs
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.simhost import MODULE, PLUGIN_FOLDER, in_process

WRITE = "write_file"


class Driver:
    """The test's end of the pipe. Every hook must return nothing and raise nothing. ``plugin``: the checkout to run."""

    def __init__(
        self, home: Path, environment: Mapping[str, str], uid: int | None = None, plugin: Path = PLUGIN_FOLDER
    ) -> None:
        self.slowest = 0.0
        self.took: list[float] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.driver", str(home), *([] if uid is None else [str(uid)])],
            cwd=plugin, env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._hear()

    def ask(self, verb: str, *values: Any, **keywords: Any) -> Any:
        """Have the host do ``verb``; returns what the hook returned."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([verb, values, keywords]) + "\n")
        self.process.stdin.flush()
        answer = self._hear()
        assert answer["raised"] == []
        self.took.append(answer["seconds"])
        self.slowest = max(self.slowest, answer["seconds"])
        return answer["returned"]

    def _hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        return json.loads(line)

    def pre(self, name: object) -> None:
        assert self.ask("pre", WRITE, {"path": f"/srv/{name}"}, call=f"c{name}") is None

    def post(self, name: object) -> None:
        self.ask("post", WRITE, {"path": f"/srv/{name}"}, call=f"c{name}")

    def run(self, name: object) -> None:
        """A whole call: announced, confirmed."""
        self.pre(name)
        self.post(name)

    def turn(self, **keywords: Any) -> Any:
        return self.ask("turn", session="nobody", **keywords)

    def end(self) -> str:
        """Let the process end in order; returns what it logged."""
        if self.process.poll() is None:
            errors = self.process.communicate(timeout=30)[1]
            assert self.process.returncode == 0, errors
            return errors
        return ""

    def stop(self) -> None:
        """Whatever it does: gone."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def become(uid: int) -> None:
    """Give up root for good. What is imported later could not be read, so all of the mounted plugin is imported first."""
    package = sys.modules[MODULE + ".agent_ledger"]
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for codec in ("ascii", "latin-1", "utf-8-sig"):
        codecs.lookup(codec)
    os.setgroups([])
    for kind in ("gid", "uid"):
        getattr(os, "set" + kind)(uid)


def main() -> None:
    home = Path(sys.argv[1])
    host = in_process(home)
    if len(sys.argv) > 2:
        become(int(sys.argv[2]))
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        verb, values, keywords = json.loads(line)
        host.raised.clear()
        begin = time.monotonic()
        returned = getattr(host, verb)(*values, **keywords)
        seconds = time.monotonic() - begin
        print(json.dumps({"seconds": seconds, "returned": returned, "raised": [repr(one) for one in host.raised]}),
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
