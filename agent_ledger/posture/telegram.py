"""One message to Telegram's Bot API: sent with its id, or the reason why not.

The API has no key that makes a message idempotent, and no way to ask what was sent. So a failure says whether the
message may have arrived in spite of it, and a message that may be there already begins with a line that says so.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from .. import __version__
from ..cli.text import safe

TOKEN, CHAT, API = "POSTURE_TELEGRAM_BOT_TOKEN", "POSTURE_TELEGRAM_CHAT_ID", "POSTURE_TELEGRAM_API"
DEFAULT_API = "https://api.telegram.org"
LIMIT = 4096  # of a message, in UTF-16 code units
REPEAT_NOTE = "<i>Possibly a repeat: an earlier attempt to send this had no clear answer.</i>\n"

ATTEMPTS = 5  # for one message
ANSWER_S = 20.0  # for one attempt, once to connect and once from there to the end of the answer
LONGEST_WAIT_S = 60.0  # that a server may ask for between two attempts
BUDGET_S = 240.0  # for all messages of a run
_LARGEST_ANSWER = 256 * 1024


class Unconfigured(Exception):
    """The environment does not say, or not in a usable form, where to send. Never holds the token."""


class NotSent(Exception):
    """No message id came back. ``doubtful``: the message may have arrived all the same; ``for_all``: any other message
    would meet the same."""

    def __init__(self, said: str, doubtful: bool, for_all: bool = True) -> None:
        super().__init__(said)
        self.doubtful = doubtful
        self.for_all = for_all


class _Failed(Exception):
    """One attempt failed. ``wait_s``: None where the next one comes after the usual pause."""

    def __init__(
        self, said: str, *, again: bool = False, doubtful: bool = False, for_all: bool = True,
        wait_s: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(said)
        self.again, self.doubtful, self.for_all, self.wait_s = again, doubtful, for_all, wait_s


class Clock:
    """The time, as far as waiting goes; tests bring their own."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Whose message goes where. The token is in no ``repr``."""

    token: str = field(repr=False)
    chat: str
    base: SplitResult

    def scrub(self, text: str) -> str:
        """``text`` without the token, its secret half, and its form in an address."""
        return scrub(text, self.token)


def scrub(text: str, token: str) -> str:
    """``text`` without ``token``, in any form that a message or an address gives it."""
    secret = token.partition(":")[2]
    for form in (token, token.replace(":", "%3A"), token.replace(":", "%3a"), secret if len(secret) >= 8 else ""):
        if form:
            text = text.replace(form, "[token]")
    return text


def credentials(environ: Mapping[str, str]) -> Credentials:
    """The credentials of this report alone, from ``environ``. Raises Unconfigured."""
    token, chat = environ.get(TOKEN, "").strip(), environ.get(CHAT, "").strip()
    absent = " and ".join(name for name, value in ((TOKEN, token), (CHAT, chat)) if not value)
    if absent:
        raise Unconfigured(f"{absent} not set in the environment. Set both, or use --no-send to only print and record")
    # What cannot stand in a path as it is would change the address; the exact form is the server's affair.
    if not re.fullmatch(r"[A-Za-z0-9:_-]{1,256}", token):
        raise Unconfigured(f"{TOKEN} is no bot token (123456:letters, digits, _ and -). Copy it again from @BotFather")
    if token == environ.get("TELEGRAM_BOT_TOKEN", "").strip():
        raise Unconfigured(
            f"{TOKEN} is the agent's own bot token (TELEGRAM_BOT_TOKEN). Make a bot for the report with @BotFather, so"
            " that what reports about the agent is not the agent"
        )
    if not re.fullmatch(r"-?[0-9]{1,20}|@[A-Za-z0-9_]{1,64}", chat):
        raise Unconfigured(f"{CHAT} is no chat: a number such as -1001234567890, or @channelname, is expected")
    return Credentials(token, chat, _base(environ.get(API, "").strip() or DEFAULT_API))


def _base(address: str) -> SplitResult:
    why = "such as https://api.telegram.org, without user, query or fragment, is expected"
    try:
        base = urlsplit(address if re.fullmatch(r"[!-~]{1,500}", address) else "")
        host, _ = base.hostname or "", base.port
    except ValueError:
        raise Unconfigured(f"{API} is no address: one {why}") from None
    if base.scheme not in ("http", "https") or not host or "@" in base.netloc or base.query or base.fragment:
        raise Unconfigured(f"{API} is no address: one {why}")
    if base.scheme == "http" and not _loopback(host):
        raise Unconfigured(f"{API} would send the token unencrypted to {host}: only https may leave this machine")
    return base


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Sender:
    """Sends the messages of one run, and keeps its waits within one budget."""

    def __init__(
        self, whose: Credentials, clock: Clock, budget_s: float = BUDGET_S, answer_s: float = ANSWER_S
    ) -> None:
        self._whose = whose
        self._clock = clock
        self._until = clock.monotonic() + budget_s
        self._answer_s = answer_s

    def send(self, html: str, doubtful: bool = False) -> int:
        """Send one message of at most LIMIT code units with REPEAT_NOTE; returns its id. ``doubtful``: it may be there
        already. Raises NotSent."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._once(REPEAT_NOTE + html if doubtful else html)
            except _Failed as failed:
                doubtful = doubtful or failed.doubtful
                wait_s = 2.0 ** (attempt - 1) if failed.wait_s is None else failed.wait_s
                left = self._until - self._clock.monotonic()
                if not failed.again or attempt >= ATTEMPTS or wait_s > min(LONGEST_WAIT_S, left - 1):
                    tries = f" ({attempt} attempts)" if attempt > 1 else ""
                    raise NotSent(self._whose.scrub(f"{failed}{tries}"), doubtful, failed.for_all) from None
                self._clock.sleep(wait_s)

    def _once(self, html: str) -> int:
        base, body = self._whose.base, self._body(html)
        limit = max(1.0, min(self._answer_s, self._until - self._clock.monotonic()))
        host = base.hostname or ""
        connection: http.client.HTTPConnection
        if base.scheme == "https":
            connection = http.client.HTTPSConnection(
                host, base.port, timeout=limit, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(host, base.port, timeout=limit)
        try:
            try:
                connection.connect()
            except (OSError, ValueError) as error:
                raise _Failed(f"cannot connect to {host}: {_words(error)}", again=True) from None
            return _judged(*self._answer(connection, body, limit))
        finally:
            connection.close()

    def _answer(self, connection: http.client.HTTPConnection, body: bytes, limit: float) -> tuple[int, str, bytes]:
        """(status, Retry-After, body) of the answer, in at most ``limit`` seconds however slowly it drips."""
        host, late, line = connection.host, threading.Event(), connection.sock

        def cut() -> None:
            late.set()
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

        watchdog = threading.Timer(limit, cut)
        watchdog.daemon = True
        watchdog.start()
        try:
            path = f"{self._whose.base.path.rstrip('/')}/bot{self._whose.token}/sendMessage"
            headers = {"Content-Type": "application/json", "User-Agent": f"agent-ledger/{__version__}"}
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            raw = response.read(_LARGEST_ANSWER)
        except (OSError, ValueError, http.client.HTTPException) as error:
            said = f"no answer in {limit:g} s" if late.is_set() else f"no answer: {_words(error)}"
            raise _Failed(f"{host}: {said}", again=True, doubtful=True) from None
        finally:
            watchdog.cancel()
        if late.is_set():
            raise _Failed(f"{host}: no whole answer in {limit:g} s", again=True, doubtful=True)
        return response.status, response.headers.get("Retry-After", ""), raw

    def _body(self, html: str) -> bytes:
        message = {
            "chat_id": self._whose.chat,
            "text": html,
            "parse_mode": "HTML",
            # An address in a report was written by an agent or a web page: Telegram must not fetch it.
            "link_preview_options": {"is_disabled": True},
        }
        return json.dumps(message).encode("ascii")


def _words(error: BaseException) -> str:
    """The kind of an error, and the system's words for it where there are any: those of http.client may quote an
    address."""
    kind = type(error).__name__
    return f"{kind} ({safe(error.strerror)})" if isinstance(error, OSError) and error.strerror else kind


def _judged(status: int, retry_after: str, raw: bytes) -> int:
    """The message id that an answer gives. Raises _Failed where it gives none."""
    if 300 <= status < 400:
        raise _Failed(f"answered with a redirect (HTTP {status}), which is not followed. Look at {API}")
    answer = _parsed(raw)
    code, ok = answer.get("error_code"), answer.get("ok")
    code = code if type(code) is int and ok is False else status
    said = answer.get("description")
    words = f"HTTP {code}: {safe(said)[:300]}" if isinstance(said, str) and said else f"HTTP {code}"
    if code == 429:
        wait_s = _seconds(answer.get("parameters"), retry_after)
        asks = "" if wait_s is None else f"; asks to wait {wait_s:g} s"
        raise _Failed(f"too many messages ({words}{asks})", again=True, wait_s=wait_s)
    if code >= 500:
        raise _Failed(f"server trouble ({words})", again=True, doubtful=True)
    if ok is False or code >= 400:
        raise _Failed(f"refused ({words}){_HINTS.get(code, '')}", for_all=code in _HINTS)
    result = answer.get("result")
    message_id = result.get("message_id") if isinstance(result, dict) else None
    if ok is not True or status != 200 or type(message_id) is not int or message_id <= 0:
        raise _Failed(f"{words}, but no message id in the answer. Look at {API}", doubtful=True)
    return message_id


# What concerns the bot or the chat concerns every message; 400 may be about this one.
_HINTS = {
    401: f". Telegram does not know this token: look at {TOKEN}",
    403: f". The bot may not write there: look at {CHAT}, and let the chat's owner start the bot",
    404: f". There is no such bot or address: look at {TOKEN} and {API}",
}


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _seconds(parameters: object, header: str) -> float | None:
    """What the server asks to wait, in its answer or else in its header."""
    asked = parameters.get("retry_after") if isinstance(parameters, dict) else None
    if isinstance(asked, (int, float)) and 0 <= asked < 1e9:
        return float(asked)
    return float(header) if re.fullmatch(r"[0-9]{1,9}", header) else None
