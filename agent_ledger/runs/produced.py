"""The event stream of a host that has none (before 0.21.4): made of what the plugin's hooks wrote during that run and
of how the process ended. What neither of them says is left out.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import threading
import time
from typing import Any

from .emitter import PRODUCED_BY, VARIABLE
from .save import Sink

_POLL_S = 0.05
_CHUNK = 65_536
_TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "total": "total_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
}
HALF_WAY = "the turn stopped half-way: the host ended with 0 and never said that it was complete"


class Produced:
    """A source of the stream; its ``variables`` belong into the environment of the host."""

    def __init__(self, save: Sink) -> None:
        self._folder = tempfile.mkdtemp(prefix="agent-ledger-run-")  # 0700
        self._path = os.path.join(self._folder, "events.jsonl")
        os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o600))
        self.variables = {VARIABLE: self._path}
        self._file = io.FileIO(self._path)
        self._save = save
        self._ended = threading.Event()
        self._code = 0
        self._finished = False
        self._line = b""
        self._turn = _Turn()

    @property
    def turn_ended_at(self) -> float | None:
        """When the host said that the turn is over (monotonic); None while one runs."""
        return self._turn.ended_at

    def pull(self) -> bytes:
        while True:
            over = self._ended.is_set()  # asked first: what was written before the end is then read
            before = self._file.tell()
            data = self._events()
            if not data and self._file.tell() != before:
                continue  # only notes, or the beginning of a long line
            if not data and over and not self._finished:
                self._finished = True
                data = self._turn.result(self._code)
            if data:
                self._save.write(data)
                return data
            if over:
                return b""
            self._ended.wait(_POLL_S)

    def over(self, code: int) -> None:
        self._code = code
        self._ended.set()

    def close(self) -> None:
        self._file.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _events(self) -> bytes:
        """The events that were written since, as they stand; notes are taken in. A line that is cut at the end of a
        killed host is no event."""
        *lines, self._line = (self._line + (self._file.read(_CHUNK) or b"")).split(b"\n")
        events = []
        for line in lines:
            if line.startswith(b'{"note"'):
                self._turn.note(json.loads(line))
            else:
                self._turn.begun = self._turn.begun or time.monotonic()
                events.append(line + b"\n")
        return b"".join(events)


class _Turn:
    """What is known of the run's newest turn."""

    def __init__(self) -> None:
        self.begun: float | None = None
        self.ended_at: float | None = None
        self._session = ""
        self._end: dict[str, Any] | None = None
        self._answer = ""
        self._trouble: dict[str, Any] = {}
        self._tokens: dict[str, int] = {}

    def note(self, note: dict[str, Any]) -> None:
        kind = note["note"]
        if kind == "turn":
            self._session, self._end, self._answer, self.ended_at = note["session_id"], None, "", None
        elif kind == "usage":
            self._trouble = {}  # the provider has answered since
            for name, known in _TOKENS.items():
                if known in note:
                    self._tokens[name] = self._tokens.get(name, 0) + note[known]
        elif kind == "trouble":
            self._trouble = note
        elif kind == "answer":
            self._answer = note["text"]
        elif kind == "end":
            self._end, self.ended_at = note, time.monotonic()
            self._session = note["session_id"] or self._session

    def result(self, code: int) -> bytes:
        """The last record, as one line; b'' where there is none to make: no turn began, or the process was killed
        in the middle of one."""
        if self.begun is None or (self._end is None and code < 0):
            return b""
        exit_code, error = self._outcome(code)
        record: dict[str, Any] = {
            "type": "result",
            "session_id": self._session,
            "exit_code": exit_code,
            "text": self._answer.strip(),
        }
        if self._tokens:
            record["tokens"] = {name: self._tokens.get(name, 0) for name in _TOKENS}
        record["duration_ms"] = round((time.monotonic() - self.begun) * 1000)
        if error:
            record["error"] = error
        record["process_exit_code"] = code
        record["produced_by"] = PRODUCED_BY
        record["timestamp"] = time.time_ns() // 1_000_000
        return json.dumps(record).encode() + b"\n"

    def _outcome(self, code: int) -> tuple[int, str]:
        """Exit code and error. Hosts of that age exit 0 also for a turn that stopped half-way, so that 0 counts only
        where ``on_session_end`` said that the turn was complete."""
        failure = code if code in (75, 78) else 1
        trouble = str(self._trouble.get("text") or "")
        end = self._end
        if end is None:
            if code == 130:
                return 130, "Interrupted"
            said = HALF_WAY if code == 0 else f"the host ended with {code} and never said how the turn ended"
            return failure, trouble or said
        if end.get("interrupted"):
            return 130, "Interrupted"
        if end.get("completed") and not end.get("failed"):
            return 0, ""
        return failure, trouble
