"""Processes that write and are killed: a server that forks one after another, so that none has to import anything.

    python -m tests.faults.killed HOME

An order is ``number after half seconds nap``: the child's number; at which of its file changes it dies (0: at none), half
way into a write or before it; after how many seconds it is killed from outside; how long it sleeps after its tenth call, so
that it comes to replay its spool. The child says what returned (``pre 3 17``), the server what became of it (``end 3 9``).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

from tests.simhost import SimHost, in_process

CALLS = 60
NAP_AT = 10


def say(*words: object) -> None:
    """One line, written at once: a killed process has no buffers to lose."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def child(host: SimHost, number: int, after: int, half: int, nap: float) -> None:
    if after:
        ctypes.CDLL(None).fault_kill_after(after, half)
    host.start(session=f"s{number}")
    for call in range(CALLS):
        if call == NAP_AT and nap:
            time.sleep(nap)
        args = {"path": f"/srv/{number}-{call}.txt"}
        host.pre("write_file", args, call=f"k{number}-{call}", session=f"s{number}")
        say("pre", number, call)
        host.post("write_file", args, call=f"k{number}-{call}", session=f"s{number}")
        say("post", number, call)


def main() -> None:
    host = in_process(Path(sys.argv[1]))
    for line in sys.stdin:
        number, after, half, seconds, nap = line.split()
        pid = os.fork()
        if pid == 0:
            try:
                child(host, int(number), int(after), int(half), float(nap))
                os._exit(3 if host.raised else 0)
            finally:
                os._exit(4)
        if float(seconds):
            time.sleep(float(seconds))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        say("end", number, status)


if __name__ == "__main__":
    main()
