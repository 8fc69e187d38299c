"""One message, against a real server that behaves and misbehaves as the Bot API and the network do."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_ledger.cli.text import safe
from agent_ledger.posture import message, telegram
from agent_ledger.posture.message import Span
from tests.posture import bot_server
from tests.posture.bot_server import BotServer, Parsed, refuses, says

TOKEN = "123456:" + "AAfake-token_0123456789abcdefghij"
ENVIRONMENT = {telegram.TOKEN: TOKEN, telegram.CHAT: "-1001234567890"}


class FakeClock(telegram.Clock):
    """A clock that sleeping moves."""

    def __init__(self, start: float = 1_790_000_000.0) -> None:
        self.time, self.slept = start, []

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


@pytest.fixture
def bot() -> Iterator[BotServer]:
    with BotServer() as server:
        yield server


def sender(bot: BotServer, clock: telegram.Clock, answer_s: float = 5.0) -> telegram.Sender:
    return telegram.Sender(telegram.credentials({**ENVIRONMENT, telegram.API: bot.url}), clock, answer_s=answer_s)


def not_sent(bot: BotServer, clock: telegram.Clock, answer_s: float = 5.0) -> telegram.NotSent:
    with pytest.raises(telegram.NotSent) as caught:
        sender(bot, clock, answer_s).send("report")
    assert TOKEN not in str(caught.value) and TOKEN.split(":")[1] not in str(caught.value)
    return caught.value


def test_a_message_is_sent_as_the_api_asks(bot: BotServer) -> None:
    """One POST to the method's address with chat, HTML and no preview; the id comes back."""
    assert sender(bot, FakeClock()).send("<b>5 &lt; 6</b>") == 1001

    [(path, sent)] = bot.requests
    assert path == f"/bot{TOKEN}/sendMessage"
    assert (sent["chat_id"], sent["link_preview_options"]) == ("-1001234567890", {"is_disabled": True})
    assert bot.delivered[0][1].text == "5 < 6"


def test_429_waits_as_long_as_asked_and_goes_on(bot: BotServer) -> None:
    """retry_after of the answer counts, else the header; the message is not in doubt."""
    clock = FakeClock()
    bot.script = [refuses(429, "Too Many Requests: retry after 7", retry_after=7), says(429, b"busy", Retry_After="3")]

    assert sender(bot, clock).send("report") == 1001
    assert clock.slept == [7, 3]
    assert bot.delivered[0][1].text == "report"


@pytest.mark.parametrize("asked", [61, 10**8])
def test_429_that_asks_for_too_long_ends_the_run(bot: BotServer, asked: int) -> None:
    """No scheduled job waits for an hour: the reason is said, and nobody slept."""
    clock = FakeClock()
    bot.script = [refuses(429, "Too Many Requests", retry_after=asked)]

    problem = not_sent(bot, clock)
    assert "asks to wait" in str(problem) and not problem.doubtful and problem.for_all
    assert clock.slept == [] and len(bot.requests) == 1


@pytest.mark.parametrize("behaviour", [says(500, b"oops"), says(502, b"<html>"), refuses(500, "Internal", status=200)])
def test_server_trouble_is_tried_again_within_bounds(bot: BotServer, behaviour: bot_server.Behaviour) -> None:
    """Five attempts with growing pauses, and then it is a failure in doubt."""
    clock = FakeClock()
    bot.script = [behaviour] * 20

    problem = not_sent(bot, clock)
    assert (len(bot.requests), clock.slept, problem.doubtful) == (5, [1, 2, 4, 8], True)


def test_the_attempts_of_a_run_share_one_budget(bot: BotServer) -> None:
    """However patient a server asks to be, a run ends."""
    clock = FakeClock()
    bot.script = [refuses(429, "Too Many Requests", retry_after=50)] * 20
    one = sender(bot, clock)
    for _ in range(3):
        with pytest.raises(telegram.NotSent):
            one.send("report")
    assert sum(clock.slept) <= telegram.BUDGET_S


def test_a_repeat_after_a_lost_answer_says_that_it_may_be_one(bot: BotServer) -> None:
    """The message arrived and the line died: the second copy begins with the note."""
    bot.script = [bot_server.delivers_and_resets]

    assert sender(bot, FakeClock()).send("report") == 1002
    first, second = [parsed.text for _, parsed in bot.delivered]
    assert first == "report" and second.startswith("Possibly a repeat") and second.endswith("\nreport")


@pytest.mark.parametrize("behaviour", [lambda handler: time.sleep(3), bot_server.drips(3)], ids=["silent", "drips"])
def test_a_slow_answer_is_cut_off(bot: BotServer, behaviour: bot_server.Behaviour) -> None:
    """Neither silence nor a byte now and then holds the run for longer than one attempt may take."""
    bot.script = [behaviour]
    start = time.monotonic()

    assert sender(bot, FakeClock(), answer_s=1.0).send("report") == 1001
    assert time.monotonic() - start < 2.5
    assert bot.delivered[0][1].text.startswith("Possibly a repeat")


def test_nobody_listening_is_tried_again_and_not_in_doubt() -> None:
    """Where no connection was made no message can have arrived."""
    with BotServer() as gone:
        pass
    clock = FakeClock()

    problem = not_sent(gone, clock)
    assert (problem.doubtful, len(clock.slept)) == (False, 4) and "cannot connect" in str(problem)


@pytest.mark.parametrize("status", [200, 400])
def test_ok_false_is_a_failure_whatever_the_status(bot: BotServer, status: int) -> None:
    """The description is passed on, made safe; another message may fare better."""
    bot.script = [refuses(400, "Bad Request: chat \x1b[31mnot found", status=status)]

    problem = not_sent(bot, FakeClock())
    assert r"chat \x1b[31mnot found" in str(problem)
    assert (problem.doubtful, problem.for_all, len(bot.requests)) == (False, False, 1)


@pytest.mark.parametrize("code, named", [(401, telegram.TOKEN), (403, telegram.CHAT), (404, telegram.API)])
def test_what_concerns_bot_or_chat_names_what_to_look_at(bot: BotServer, code: int, named: str) -> None:
    """Not tried again, and every other message would meet the same."""
    bot.script = [refuses(code, "Unauthorized " + TOKEN)]

    problem = not_sent(bot, FakeClock())
    assert named in str(problem) and problem.for_all and len(bot.requests) == 1


@pytest.mark.parametrize(
    "document",
    [
        b"", b"<html>log in to the network</html>", b"\xff\xfe", b"[" * 100_000, [], None, {"ok": True}, {"ok": "true"},
        {"ok": True, "result": {}}, {"ok": True, "result": []}, {"ok": True, "result": {"message_id": True}},
        {"ok": True, "result": {"message_id": "5"}}, {"ok": True, "result": {"message_id": 0}},
        {"result": {"message_id": 5}},
    ],
)  # fmt: skip
def test_only_a_message_id_is_sent(bot: BotServer, document: object) -> None:
    """An answer without one is a failure in doubt; repeating it at once would only make more copies."""
    bot.script = [says(200, document)]

    problem = not_sent(bot, FakeClock())
    assert problem.doubtful and "no message id" in str(problem) and len(bot.requests) == 1


def test_a_redirect_is_followed_nowhere(bot: BotServer) -> None:
    """The address holds the token: no other host may see it."""
    with BotServer() as other:
        bot.script = [bot_server.redirects(other.url)]
        problem = not_sent(bot, FakeClock())
        assert other.requests == []
    assert "redirect" in str(problem) and other.url not in str(problem)


def test_https_sends_only_to_a_server_with_a_trusted_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger in between never sees the token; a certificate that the machine trusts is served."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with BotServer() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.url = f"https://localhost:{server.server_port}"
        problem = not_sent(server, FakeClock())
        assert "CertVerification" in str(problem) and not problem.doubtful and server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert sender(server, FakeClock()).send("report") == 1001


@pytest.mark.parametrize(
    "changed, named",
    [
        ({telegram.TOKEN: ""}, telegram.TOKEN),
        ({telegram.CHAT: " "}, telegram.CHAT),
        ({telegram.TOKEN: "123:a/../../x"}, telegram.TOKEN),
        ({telegram.TOKEN: "123:a\r\nHost: other"}, telegram.TOKEN),
        ({telegram.CHAT: "my friend"}, telegram.CHAT),
        ({"TELEGRAM_BOT_TOKEN": TOKEN}, "agent's own"),
        ({telegram.API: "http://api.telegram.org"}, "unencrypted"),
        ({telegram.API: "http://localhost.example.org"}, "unencrypted"),
        ({telegram.API: "https://user:word@api.telegram.org"}, telegram.API),
        ({telegram.API: "https://api.telegram.org/?x"}, telegram.API),
        ({telegram.API: "https://api.telegram.org:port"}, telegram.API),
        ({telegram.API: "file:///etc/" "passwd"}, telegram.API),
        ({telegram.API: "http://[::1"}, telegram.API),
    ],
)
def test_an_unusable_environment_is_named_without_the_token(changed: dict[str, str], named: str) -> None:
    """What is wrong and what to do, and never a value that may be secret."""
    with pytest.raises(telegram.Unconfigured) as caught:
        telegram.credentials({**ENVIRONMENT, **changed})
    assert named in str(caught.value)
    assert TOKEN not in str(caught.value) and "word" not in str(caught.value)


def test_the_token_is_in_no_representation() -> None:
    """A log that shows the credentials shows no token; a text that quotes it in any form loses it."""
    whose = telegram.credentials(ENVIRONMENT)
    assert TOKEN not in repr(whose)
    for form in (TOKEN, TOKEN.replace(":", "%3A"), "key " + TOKEN.split(":")[1]):
        assert TOKEN.split(":")[1] not in whose.scrub(f"<{form}>")


def test_a_base_address_may_have_a_path(bot: BotServer) -> None:
    """A server of one's own may stand behind a prefix."""
    whose = telegram.credentials({**ENVIRONMENT, telegram.API: bot.url + "/api/"})
    telegram.Sender(whose, FakeClock()).send("report")
    assert bot.requests[0][0] == f"/api/bot{TOKEN}/sendMessage"


def assert_good(found: list[str]) -> None:
    """Every part is a message that the API takes, with the note before it too."""
    for part in found:
        parsed = Parsed(telegram.REPEAT_NOTE + part)
        assert parsed.wrong == "" and parsed.text.strip()
        assert parsed.units <= 4096 and message.units(telegram.REPEAT_NOTE + part) <= 4096
        assert len(parsed.styled) <= 100


def bodies(found: list[str]) -> list[str]:
    """The plain text of the parts without the line that numbers them."""
    texts = [Parsed(part).text for part in found]
    return texts if len(texts) < 2 else [text.partition("\n")[2] for text in texts]


STYLES = st.sampled_from(["", "b", "i", "code"])
SPANS = st.lists(st.builds(Span, st.text(max_size=60), STYLES), max_size=6)
LONG = st.builds(lambda text, many, style: [Span(text * many, style)], st.text(max_size=9), st.integers(1, 1500), STYLES)


@settings(max_examples=60, deadline=None)
@given(st.lists(SPANS | LONG, max_size=12))
@example([[Span("&<>\"'" * 2000, "code")]])
@example([[Span("😀" * 5000)]])
@example([[Span("e" + "\u0301" * 9000, "b")]])
@example([[Span("x", "code")] * 400])
def test_any_content_makes_good_messages_and_nothing_is_lost(spans: list[list[Span]]) -> None:
    """Whatever stands in a ledger, the parts parse, fit, and hold together what was to be said."""
    lines = [message.line(*one) for one in spans]
    found = message.parts(lines, "title")

    assert_good(found)
    said = "".join("".join(bodies(found)).split())
    assert said == "".join("".join(message.plain(lines)).split())


def test_stored_text_makes_no_markup() -> None:
    """Markup, entities and control characters in a ledger arrive as text."""
    evil = "</code><a href='https://evil.example'>x</a> &lt; &amp;amp; \x00\u202e\ud83d [x](y) *b*"
    [part] = message.parts([message.line(Span(evil, "code"))], "title")

    assert Parsed(part).text == safe(evil)
    assert [tag for tag, _ in Parsed(part).styled] == ["code"]


@pytest.mark.parametrize("whole", ["👍🏽", "🇩🇪", "é", "❤️", "1️⃣", "&", "<", "𝔘"])
@pytest.mark.parametrize("style", ["", "code"])
@pytest.mark.parametrize("shift", range(4))
def test_no_split_is_inside_a_character_that_a_reader_sees(whole: str, style: str, shift: int) -> None:
    """Emoji with a skin tone, flags, accents, surrogate pairs and escapes stay whole at every cut."""
    found = message.parts([message.line("x" * shift, Span(whole * 4000, style))], "title")

    assert len(found) > 1
    assert_good(found)
    for text in bodies(found):
        assert text.lstrip("x") == whole * (len(text.lstrip("x")) // len(whole))


def test_parts_are_numbered_and_cut_between_lines() -> None:
    """A reader sees which part it is; a line that fits is never cut."""
    lines = [message.line(f"line {number} ", Span("<&>" * 5, "b")) for number in range(300)]
    found = message.parts(lines, "report of 2026-10-03")

    assert found[0].startswith(f"report of 2026-10-03, part 1 of {len(found)}\n")
    assert "\n".join(bodies(found)).split("\n") == message.plain(lines)


@pytest.mark.parametrize("text, most, short", [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("a🇩🇪🇩🇪", 4, "a🇩🇪…"), ("", 3, "")])
def test_a_long_text_is_shortened_between_characters(text: str, most: int, short: str) -> None:
    """At most so many characters, with a mark, and no half of a flag."""
    assert message.shortened(text, most) == short
