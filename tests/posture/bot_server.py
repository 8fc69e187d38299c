"""A server on loopback that speaks the part of Telegram's Bot API that matters here, and misbehaves as it is told.

It judges a message as Telegram does: its HTML must parse, and what is left must be 1 to 4096 UTF-16 code units.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TAGS = {"b", "i", "code"}
Behaviour = Callable[["Handler"], None]


class Parsed(HTMLParser):
    """The text of a message and its styled stretches; ``wrong`` says what Telegram would not take."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.open, self.styled, self.wrong = "", [], [], ""
        self.feed(html)
        self.close()
        if self.open:
            self.wrong = f"can't find end tag of {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS or attrs:
            self.wrong = f"unsupported start tag {tag}"
        self.open.append(tag)
        self.styled.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong = f"unmatched end tag {tag}"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open:
            self.styled[-1] = (self.open[-1], self.styled[-1][1] + data)

    def handle_comment(self, data: str) -> None:
        self.wrong = "a comment"

    def handle_decl(self, decl: str) -> None:
        self.wrong = "a declaration"

    def unknown_decl(self, data: str) -> None:
        self.wrong = "a declaration"

    def handle_pi(self, data: str) -> None:
        self.wrong = "an instruction"

    @property
    def units(self) -> int:
        return len(self.text.encode("utf-16-le")) // 2


class Handler(BaseHTTPRequestHandler):
    server: BotServer  # type: ignore[assignment]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.message: dict[str, Any] = json.loads(body)
        with self.server.lock:
            self.server.requests.append((self.path, self.message))
            behaviour = self.server.script.pop(0) if self.server.script else accept
        with contextlib.suppress(OSError):
            behaviour(self)

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.requests.append((self.path, {}))
        self.answer(200, {"ok": True, "result": {"message_id": 1}})

    def answer(self, status: int, document: object, **headers: str) -> None:
        raw = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


class BotServer(ThreadingHTTPServer):
    """``script``: what the next requests meet, in order; then every one is accepted. ``delivered``: what has arrived in
    the chat, as (chat, parsed message)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.script: list[Behaviour] = []
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.delivered: list[tuple[str, Parsed]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def deliver(self, message: dict[str, Any]) -> int:
        with self.lock:
            self.delivered.append((message["chat_id"], Parsed(message["text"])))
            return 1000 + len(self.delivered)

    def handle_error(self, *_: object) -> None:
        pass


def accept(handler: Handler) -> None:
    parsed = Parsed(handler.message["text"])
    if handler.message["parse_mode"] != "HTML" or parsed.wrong:
        said = f"Bad Request: can't parse entities: {parsed.wrong}"
        handler.answer(400, {"ok": False, "error_code": 400, "description": said})
    elif not parsed.text.strip() or parsed.units > 4096:
        said = "Bad Request: message is too long" if parsed.text.strip() else "Bad Request: message text is empty"
        handler.answer(400, {"ok": False, "error_code": 400, "description": said})
    else:
        handler.answer(200, {"ok": True, "result": {"message_id": handler.server.deliver(handler.message), "date": 1}})


def says(status: int, document: object, **headers: str) -> Behaviour:
    """Answers with this, and delivers nothing."""
    return lambda handler: handler.answer(status, document, **headers)


def refuses(code: int, description: str, status: int | None = None, **parameters: int) -> Behaviour:
    """A refusal in the API's form; ``status`` where the HTTP status says something else."""
    document: dict[str, Any] = {"ok": False, "error_code": code, "description": description}
    return says(code if status is None else status, {**document, **({"parameters": parameters} if parameters else {})})


def redirects(to: str) -> Behaviour:
    return lambda handler: handler.answer(302, b"", Location=to + handler.path)


def delivers_and_resets(handler: Handler) -> None:
    """The message arrives, and the line dies before the answer."""
    handler.server.deliver(handler.message)
    reset(handler)


def reset(handler: Handler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.rfile.close()
    handler.wfile.close()
    handler.connection.close()


def drips(seconds: float) -> Behaviour:
    """An answer that comes a byte at a time, each well within any time-out of its own."""

    def behaviour(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "4000")
        handler.end_headers()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            handler.wfile.write(b" ")
            time.sleep(0.05)

    return behaviour


def waits_for(event: threading.Event, arrived: threading.Event) -> Behaviour:
    """Delivers, says so on ``arrived``, and answers once ``event`` is set."""

    def behaviour(handler: Handler) -> None:
        handler.server.deliver(handler.message)
        arrived.set()
        event.wait(20)

    return behaviour
