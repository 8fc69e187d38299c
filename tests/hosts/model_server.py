"""A scripted model: an OpenAI-compatible server on loopback that plays turns instead of thinking.

In a test or a script:

    with ModelServer([calls(Call("terminal", {"command": "true"})), text("done")]) as model:
        ... point the host's `base_url` at model.url ...
        model.requests            # what the host sent, in order

As a process, with the turns in a JSON file (a list of `{"text": ...}`, `{"calls": [{"name", "arguments", "id"}]}`,
`{"error": 429}`, each with optional `delay` and `prompt_tokens`):

    python tests/hosts/model_server.py --script turns.json --port 0 --log requests.jsonl

A request that offers no tools is the host's own side call (a title, a summary): it gets a fixed answer and takes no
turn. Standard library only.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODEL = "scripted-model"
SIDE_ANSWER = "A short summary."
PAST_THE_END = "The script has no further turn."
LARGEST_REQUEST = 64 * 1024 * 1024


@dataclass(frozen=True)
class Call:
    """One tool call of a turn. `arguments` is a dict, or the raw text in its place; no id: the server numbers it."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True)
class Turn:
    """One answer of the model: text, tool calls, or an HTTP error; `delay` in seconds comes before it."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    error: int = 0
    delay: float = 0.0
    prompt_tokens: int = 100


Script = Callable[["Request"], Turn]


def text(answer: str, **more: Any) -> Turn:
    """A turn that ends with an answer to the user."""
    return Turn(text=answer, **more)


def calls(*wanted: Call, **more: Any) -> Turn:
    """A turn that asks for tools, several at once where several are given."""
    return Turn(calls=tuple(wanted), **more)


def error(status: int, **more: Any) -> Turn:
    """A turn in which the provider fails with that HTTP status."""
    return Turn(error=status, **more)


@dataclass(frozen=True)
class Request:
    """What the host sent to `/v1/chat/completions`."""

    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation as the model sees it."""
        return list(self.body.get("messages") or [])

    @property
    def tools(self) -> list[str]:
        """Names of the tools that are offered."""
        return [entry.get("function", {}).get("name", "") for entry in self.body.get("tools") or []]

    def texts(self, role: str) -> list[str]:
        """The text of every message of that role, in order."""
        return [_plain(message.get("content")) for message in self.messages if message.get("role") == role]

    @property
    def last_user(self) -> str:
        """The newest user message, where a plugin's context stands."""
        return (self.texts("user") or [""])[-1]


def _plain(content: Any) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


class ModelServer:
    """The server, its script and what it was asked. Use it as a context manager."""

    def __init__(self, script: Sequence[Turn] | Script, port: int = 0, log: Path | None = None) -> None:
        self.requests: list[Request] = []
        self.side_requests: list[Request] = []
        self._script = script
        self._log = log
        self._played = 0
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    @property
    def port(self) -> int:
        """The port that the system gave."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The base address for the host's configuration."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def left(self) -> int:
        """How many turns of a listed script nobody asked for."""
        return 0 if callable(self._script) else len(self._script) - self._played

    def play(self, *turns: Turn) -> None:
        """Replace the script: for the next run against the same server."""
        with self._lock:
            self._script, self._played = list(turns), 0

    def follow(self, script: Script) -> None:
        """Replace the script by one that is asked for each turn, in the order of the requests."""
        with self._lock:
            self._script, self._played = script, 0

    def answer(self, body: dict[str, Any]) -> Turn:
        """Record a request and choose its turn."""
        request = Request(body)
        with self._lock:
            if self._log is not None:
                with self._log.open("a", encoding="utf-8") as handle:
                    handle.write(json.dumps(body) + "\n")
            if not request.tools:
                self.side_requests.append(request)
                return text(SIDE_ANSWER)
            self.requests.append(request)
            if callable(self._script):
                return self._script(request)
            if self._played >= len(self._script):
                return text(PAST_THE_END)
            turn = self._script[self._played]
            self._played += 1
            return turn

    def number(self) -> int:
        """A number that no other answer of this server has."""
        with self._lock:
            return next(self._numbers)


def _message(turn: Turn, server: ModelServer) -> dict[str, Any]:
    """The turn as an assistant message."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{server.number():06d}",
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
                },
            }
            for call in turn.calls
        ]
    return message


def _usage(turn: Turn) -> dict[str, int]:
    written = 10
    return {
        "prompt_tokens": turn.prompt_tokens,
        "completion_tokens": written,
        "total_tokens": turn.prompt_tokens + written,
    }


def _head(server: ModelServer, kind: str) -> dict[str, Any]:
    return {"id": f"scripted-{server.number()}", "object": kind, "created": int(time.time()), "model": MODEL}


def _whole(turn: Turn, server: ModelServer) -> dict[str, Any]:
    """The answer to a request without streaming."""
    reason = "tool_calls" if turn.calls else "stop"
    choice = {"index": 0, "message": _message(turn, server), "finish_reason": reason}
    return {**_head(server, "chat.completion"), "choices": [choice], "usage": _usage(turn)}


def _chunks(turn: Turn, server: ModelServer) -> Iterator[dict[str, Any]]:
    """The same answer as stream events: role, text, one delta a call, the reason for the end, the usage."""
    head = _head(server, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    if turn.text:
        yield chunk({"content": turn.text})
    for index, call in enumerate(_message(turn, server).get("tool_calls", [])):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, "tool_calls" if turn.calls else "stop")
    yield {**head, "choices": [], "usage": _usage(turn)}


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    """The request handler class that answers for one server."""

    class Handler(BaseHTTPRequestHandler):
        """Speaks the few routes of the provider's interface that a host uses."""

        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet: what matters is in `requests`."""

        def do_GET(self) -> None:
            """The list of models; anything else does not exist here."""
            if self.path.split("?")[0].rstrip("/") == "/v1/models":
                self._json(200, {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "test"}]})
            else:
                self._json(404, {"error": {"message": "no such route", "type": "not_found"}})

        def do_POST(self) -> None:
            """One turn, whole or as a stream."""
            body = self._body()
            if self.path.split("?")[0].rstrip("/") != "/v1/chat/completions" or body is None:
                self._json(404, {"error": {"message": "no such route", "type": "not_found"}})
                return
            turn = server.answer(body)
            if turn.delay:
                time.sleep(turn.delay)
            # The host may be killed while it waits: nobody is left to read, and that is no fault of the server.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                if turn.error:
                    self._json(turn.error, {"error": {"message": f"scripted {turn.error}", "type": "scripted"}})
                elif body.get("stream"):
                    self._stream(_chunks(turn, server))
                else:
                    self._json(200, _whole(turn, server))

        def _body(self) -> dict[str, Any] | None:
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 < length <= LARGEST_REQUEST:
                return None
            try:
                body = json.loads(self.rfile.read(length))
            except ValueError:
                return None
            return body if isinstance(body, dict) else None

        def _json(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, events: Iterable[dict[str, Any]]) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for event in events:
                self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")

    return Handler


def turn_from(entry: dict[str, Any]) -> Turn:
    """A turn from its JSON form; ValueError names a key that it does not know."""
    known = {"text", "calls", "error", "delay", "prompt_tokens"}
    unknown = sorted(set(entry) - known)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r} in a turn; known: {', '.join(sorted(known))}")
    fields = {**entry, "calls": tuple(Call(**call) for call in entry.get("calls", ()))}
    return Turn(**fields)


def main(arguments: list[str] | None = None) -> int:
    """Serve a script until killed. Prints the base address on the first line."""
    parser = argparse.ArgumentParser(prog="model_server.py", description="A scripted model on loopback.")
    parser.add_argument("--script", type=Path, required=True, help="JSON file with the list of turns")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) lets the system choose")
    parser.add_argument("--log", type=Path, help="append each request as one JSON line")
    options = parser.parse_args(arguments)
    try:
        script = [turn_from(entry) for entry in json.loads(options.script.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as problem:
        print(f"Couldn't use the script {str(options.script)!r}: {problem}", file=sys.stderr)
        return 2
    with ModelServer(script, options.port, options.log) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
