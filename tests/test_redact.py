"""Secrets leave text and values; names, references and harmless text stay."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ledger.redact import may_hold_secret, redact_text, redact_value
from agent_ledger.redact_names import name_kind
from agent_ledger.redact_patterns import MARK

BODY = "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8"
HEX = "0123456789abcdef" * 4
WORD = "violet-9"

TOKENS = {
    "github": "gh" + "p_" + BODY,
    "github oauth": "gh" + "o_" + BODY,
    "github server": "gh" + "s_" + BODY,
    "github fine": "github" + "_pat_" + BODY + "_" + BODY,
    "openai": "s" + "k-" + "proj9aB8cD7eF6gH5iJ4kL3mN2oP1qR0sT",
    "openai project": "s" + "k-proj-" + BODY + "_x-" + BODY,
    "anthropic": "s" + "k-ant-api03-" + BODY + "-" + BODY,
    "aws": "AK" + "IA" + "QX7ZP2M4N6R8T0V1",
    "aws session": "AS" + "IA" + "QX7ZP2M4N6R8T0V1",
    "slack": "xo" + "xb-" + "123456789012-abcdefGHIJKL",
    "slack hook": "hooks.slack" + ".com/services/T0123/B0123/" + BODY[:24],
    "google": "AI" + "za" + BODY[:35],
    "gitlab": "gl" + "pat-" + BODY[:20],
    "hugging face": "h" + "f_" + BODY[:34],
    "npm": "np" + "m_" + BODY,
    "pypi": "py" + "pi-AgE" + BODY * 2,
    "stripe": "sk_" + "live_" + BODY[:24],
    "stripe restricted": "rk_" + "live_" + BODY[:24],
    "telegram": "123456789" + ":" + BODY[:35],
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxIn0." + BODY,
    "sendgrid": "S" + "G." + BODY[:22] + "." + BODY,
    "digitalocean": "do" + "p_v1_" + HEX,
    "databricks": "da" + "pi" + HEX[:32],
    "shopify": "shp" + "at_" + HEX[:32],
    "age": "AGE-SECRET" + "-KEY-1" + "Q" * 58,
    "vault": "hv" + "s." + BODY,
    "twilio": "S" + "K" + HEX[:32],
    "groq": "gs" + "k_" + BODY,
    "discord": "M" + BODY[:23] + "." + "Gabcde" + "." + BODY[:27],
}

AUTH = "Author" + "ization"
PASS = "pass" + "word"
BEGIN = "-----BEGIN {}PRI" + "VATE KEY-----"
END = "-----END {}PRI" + "VATE KEY-----"

# A text with {} in place of the secret.
PLACES = [
    f'curl -H "{AUTH}: Bearer {{}}" https://e.org',
    f"curl -H '{AUTH}: Token {{}}' https://e.org",
    f"curl -H '{AUTH}: {{}}' https://e.org",
    f"http GET u {AUTH}:{{}}",
    f"GET / HTTP/1.1\n{AUTH}: Basic {{}}\nHost: x",
    f"Proxy-{AUTH}: Basic {{}}",
    'curl -H "X-Api-Key: {}" u',
    "curl -H 'Cookie: a=b; sid={}' u",
    "Set-Cookie: sid={}; Path=/",
    "PG" + "PASSWORD={} psql -h db",
    "export DB_PASSWORD='two {} words' && x",
    'export DB_PASSWORD="two \\"{} words" && x',
    "MYSQL_PWD={} mysql",
    "AWS_SECRET_ACCESS_KEY={} aws s3 ls",
    "MY_APIKEY={} ./run",
    "OPENAI_API_KEY: {}",
    "x --" + PASS + " {} y",
    "x --" + PASS + "={} y",
    "x --token={} y",
    "x --api-key '{} z' y",
    "mysql -u root -p{} db",
    "mysql -uroot -p'{} two' db",
    "curl -u bob:{} https://e.org",
    "curl https://e.org --user 'bob:{} two'",
    "curl \\\n  -u bob:{} \\\n https://e.org",
    "sshpass -p {} ssh h",
    "docker login -u bob -p {} reg",
    "redis-cli -h x -a {} ping",
    "echo {} | su" + "do -S ls",
    "echo 'bob:{}' | chpasswd",
    "openssl rsa -passin pass:{} -in k",
    "kubectl create secret generic s --from-literal=foo={}",
    "aws configure set aws_secret_access_key {}",
    "git clone https://bob:{}@e.org/x.git",
    "redis://:{}@h:6379/0",
    "root:{}@tcp(127.0.0.1:3306)/db",
    '{{"' + PASS + '": "{}", "a": 1}}',
    "{{'" + PASS + "': '{}'}}",
    '{{"accessToken":"{}"}}',
    '{{"credentials": {{"user": "bob", "x": "{}"}}, "a": 2}}',
    "-d '{{\\\"" + PASS + '\\": \\"{}\\"}}\'',
    PASS + ": {}\nuser: bob",
    "db:\n  " + PASS + ": two {} words",
    "client_secret: |\n  {}\nnext: 1",
    "user: bob, " + PASS + ": {}",
    "[client]\nuser = bob\n" + PASS + " = {}\n",
    "https://e.org/?access_token={}&a=1",
    "https://e.org/?a=1&sig={}",
    "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}==;EndpointSuffix=y",
    "Server=x;User Id=sa;Pwd={};",
    "<" + PASS + ">{}</" + PASS + ">",
    "ALTER USER bob WITH PASSWORD '{}'",
    "CREATE USER bob IDENTIFIED BY '{}'",
    "machine e.org login bob " + PASS + " {}",
    "os.environ['API_TOKEN'] = '{}'",
    "requests.get(u, auth=('bob', '{}'))",
    "PASSWORD=${{X:-{}}}",
    "PASSWORD='${}'",
    'log: {{"output": "done\\napi_key: {}\\nmore"}}',
    "client_secret={}",
    '["--' + PASS + '", "{}"]',
    '"' + PASS + '":"{}',
    "TOKEN='{}",
]

HARMLESS = [
    "the token budget is 5",
    "max_tokens=500",
    "PASSWORD=$DB_PASSWORD run",
    "PASSWORD=${X} run",
    "PASSWORD=$(cat file) run",
    "PG" + 'PASSWORD="$DB_PASSWORD" psql',
    "x --token-file path y",
    "skipped 3, risk-based",
    "tas" + "k-1234567890abcdef1234",
    "dis" + "k-1234567890abcdef12345",
    "import sk-learn",
    "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "550e8400-e29b-41d4-a716-446655440000",
    "/home/u/.config/app/token.json",
    "git commit -m 'fix token parsing'",
    "mkdir -p a/b && cp -p a b && ssh -p 2222 h",
    "docker run -u 1000:1000 -p 8080:80 img",
    "PWD=/x pwd",
    "git log --author=bob",
    "def f(password: str, token: str) -> None:",
    "login(password=self.password)",
    "connect(refresh_token=refresh_token, x=1)",
    "token = get_token()",
    "SyntaxError: unexpected token: foo",
    '{"key": "abc", "keys": [1], "public_key": "x"}',
    "git@github.com:a/b.git",
    "https://e.org/path?a=b@c",
    "npm install @scope/pkg@1.2.3",
    "https://h:8080/@scope/x",
    "curl -u $USER:$PASS https://x",
    "https://${U}:${P}@h/x",
    "kubectl get secret my-secret -o yaml",
    "docker login --" + PASS + "-stdin reg",
    "--password-file /x",
    "5 pass, 2 fail; pass=5",
    "make key -f key.pub",
    "grep -r password src/",
    "token: ${{ secrets.TOKEN }}",
    "${GITHUB_TOKEN:+set}",
    "Authorization header missing",
    "redis-cli -p 6379 ping",
]


@pytest.mark.parametrize("kind", TOKENS)
def test_known_token_shapes_leave_text(kind: str) -> None:
    """A token of a known shape is replaced wherever it stands, and the words around it stay."""
    for before, after in (
        ("use ", " now"),
        ("", ""),
        ('"', '"'),
        ("a\\n", "\\nb"),
        ("=", "&x=1"),
        ("\x1b[0m", "\x1b[0m"),
    ):
        done = redact_text(before + TOKENS[kind] + after)

        assert TOKENS[kind][-12:] not in done
        assert done.startswith(before)
        assert done.endswith(after)


@pytest.mark.parametrize("place", PLACES)
def test_secrets_are_known_by_their_surroundings(place: str) -> None:
    """A secret without a shape of its own is replaced where a name, a header or an option announces it."""
    for secret in (WORD, "hunter2", "Zm9vYmFy"):
        assert secret not in redact_text(place.format(secret))


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_survives(text: str) -> None:
    """Hashes, paths, prose, references and code come back unchanged."""
    assert redact_text(text) == text


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("newline", ["\n", "\\n", "\r\n"])
@pytest.mark.parametrize("end", [True, False])
def test_private_key_blocks_leave_text(kind: str, newline: str, end: bool) -> None:
    """Key blocks go, also inside JSON strings and where their end was cut away."""
    lines = [
        "before",
        BEGIN.format(kind),
        *["MIIEindigo" + "A" * 54] * 5,
        *([END.format(kind), "after"] if end else []),
    ]
    done = redact_text(newline.join(lines))

    assert "indigo" not in done
    assert done.startswith("before")
    assert ("after" in done) == end


def test_the_tail_of_a_key_block_leaves_text() -> None:
    """The last lines of a key block go, although its first line is not there."""
    text = "before\n" + ("Q" * 64 + "\n") * 3 + "MIIindigo=\n" + END.format("RSA ") + "\nafter"

    assert redact_text(text) == f"before\n{MARK}\nafter"


def test_putty_keys_leave_text() -> None:
    """A PuTTY key file is a private key block too."""
    text = (
        "PuTTY-User-"
        + "Key-File-3: ssh-ed25519\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 1\nindigo\nPrivate-MAC: abc123\nend"
    )

    assert redact_text(text) == f"{MARK}\nend"


def test_names_and_schemes_stay_visible() -> None:
    """What was replaced can still be told from what stands before it."""
    assert redact_text(f"{AUTH}: Bearer {WORD}") == f"{AUTH}: Bearer {MARK}"
    assert redact_text("A_TOKEN=" + WORD) == f"A_TOKEN={MARK}"
    assert redact_text(f"https://bob:{WORD}@e.org") == f"https://bob:{MARK}@e.org"


NAMES = [
    "password",
    "passwd",
    "token",
    "access_token",
    "refreshToken",
    "id-token",
    "api_key",
    "apiKey",
    "apikey",
    "secret",
    "client_secret",
    "Authorization",
    "cookie",
    "Set-Cookie",
    "private_key",
    "credential",
    "credentials",
    "sessionKey",
    "dbPassword",
    "DB_PASSWORD",
    "PGPASSWORD",
    "X-Api-Key",
    "aws_secret_access_key",
    "passphrase",
    "MYSQL_PWD",
    "password2",
    "password_hash",
    "SecretString",
    "github_token",
    "smtp_pass",
    "SECRET_KEY_BASE",
]
LOOK_ALIKES = [
    "max_tokens",
    "token_count",
    "tokens",
    "tokenizer",
    "password_file",
    "secret_name",
    "public_key",
    "key",
    "keyboard",
    "author",
    "path",
    "next_page_token",
    "primary_key",
    "pwd",
    "compass",
    "passed",
    "has_password",
    "token_type",
    "key_id",
    "session_id",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [WORD, 12345678, 1.5, [WORD], {"a": WORD}, (WORD,)])
def test_values_under_telling_names_are_replaced_whole(name: str, value: object) -> None:
    """Whatever its type, a value under a telling name is replaced at any depth."""
    done = redact_value({"a": [{"b": {name: value}}], "host": "db"})

    assert done == {"a": [{"b": {name: MARK}}], "host": "db"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["", None, True, False])
def test_values_that_hold_nothing_stay(name: str, value: object) -> None:
    """An empty text, None and a bool are no secrets."""
    assert redact_value({name: value}) == {name: value}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alike_names_are_harmless(name: str) -> None:
    """A name that only resembles a telling one keeps its value."""
    assert redact_value({name: "abc", "n": [{name: 7}]}) == {name: "abc", "n": [{name: 7}]}


@pytest.mark.parametrize(
    "value",
    [
        [["Authorization", WORD]],
        [("X-Api-Key", WORD)],
        [{"name": "Authorization", "value": WORD}],
        {"env": [{"name": "DB_PASSWORD", "value": WORD}]},
        ["PG" + "PASSWORD=" + WORD],
        ["x", "--password", WORD],
        ["x", "--password=" + WORD],
        ["mysql", "-p" + WORD],
        ["curl", "-u", "bob:" + WORD, "http://x"],
        ["sshpass", "-p", WORD, "ssh"],
        {"auth": ["bob", WORD]},
        {TOKENS["openai"]: 1},
        {"body": json.dumps({"headers": [["Authorization", WORD]]})},
        {"body": json.dumps({"a": json.dumps({"password": WORD})})},
        b"password=" + WORD.encode(),
    ],
)
def test_structures_that_hold_secrets_are_redacted(value: object) -> None:
    """Header pairs, environment lists, argument lists, keys and JSON within JSON."""
    done = repr(redact_value(value))

    assert WORD not in done
    assert TOKENS["openai"] not in done


def test_redact_value_leaves_its_argument_alone() -> None:
    """Redaction makes a copy."""
    value = {"a": [{"password": WORD}]}
    redact_value(value)

    assert value == {"a": [{"password": WORD}]}


def test_cycles_and_depth_are_cut() -> None:
    """A value that holds itself, or is very deep, comes back."""
    loop: dict[str, object] = {"password": WORD}
    loop["self"] = [loop]
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]

    assert WORD not in repr(redact_value(loop))
    assert "too deep" in repr(redact_value(deep))


def test_a_name_in_capitals_or_camel_case_is_split_into_words() -> None:
    """The kinds of names that text rules build on."""
    assert [name_kind(n) for n in ("APIKey", "OAuthToken", "setCookie", "basic_auth")] == [
        "password",
        "token",
        "cookie",
        "auth",
    ]


_PIECES = st.sampled_from(
    [
        *TOKENS.values(),
        "password",
        "Password",
        "token",
        "api_key",
        "Authorization",
        "Cookie",
        "=",
        ":",
        ": ",
        " = ",
        " ",
        "\n",
        '"',
        "'",
        "\\",
        '\\"',
        "{",
        "}",
        "[",
        "]",
        ",",
        "Bearer ",
        "https://",
        "bob:",
        "@",
        "e.org",
        "-p",
        "-u ",
        "mysql ",
        "curl ",
        "--",
        "$X",
        "${",
        "$(",
        WORD,
        MARK,
        "hunter2",
        "&",
        "?",
        ";",
        "|",
        "<",
        ">",
        "é",
        "sig=",
        "`",
        "echo ",
        "| su" + "do -S",
        BEGIN.format(""),
        END.format(""),
    ]
)
_TEXTS = st.lists(_PIECES | st.text(max_size=6), max_size=14).map("".join)


@settings(max_examples=400, deadline=None)
@given(_TEXTS)
def test_redaction_is_idempotent(text: str) -> None:
    """Redacting what was redacted changes nothing."""
    once = redact_text(text)

    assert redact_text(once) == once


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.sampled_from(sorted(TOKENS)), st.text(max_size=60))
def test_tokens_leave_any_surroundings(before: str, kind: str, after: str) -> None:
    """Whatever stands around it, a token that is a word of its own does not stay."""
    assert TOKENS[kind] not in redact_text(f"{before} {TOKENS[kind]} {after}")


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        _TEXTS | st.integers() | st.none(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["password", "a", "headers", "name", "value", "key"]), inner, max_size=4)
        ),
        max_leaves=8,
    )
)
def test_the_gate_lets_no_secret_pass(value: object) -> None:
    """Where the gate says that nothing can be a secret, redaction indeed changes nothing."""
    text = json.dumps(value, ensure_ascii=False)
    if not may_hold_secret(text, text.encode("utf-8", "replace")):
        assert redact_value(value) == value


ADVERSE = [
    "a",
    "1",
    "-",
    "\\",
    "\n",
    " ",
    "pass",
    "pass=",
    "token: a ",
    "password: '",
    "://",
    "://" + "a" * 800,
    "://a:" + "a" * 500,
    BEGIN.format("") + "\n",
    "A" * 64 + "\n",
    "mysql -px ",
    "curl -u a:b ",
    "echo 'a ",
    "ey" + "J",
    "s" + "k-",
    "s" + "k-a1-",
    "api_key: {",
    '"api_key":{"a":',
    f"{AUTH}: bearer $X ",
    "set api_key a ",
    "AK" + "IA",
    "<password>",
    "password=${",
    "token=$(",
    "login a password b ",
    "password: |\n  a\n",
    "[",
    "{",
    '{"password":',
]


@pytest.mark.parametrize("piece", ADVERSE)
def test_long_repetitive_text_takes_bounded_time(piece: str) -> None:
    """No pattern takes more than linear time: the longest text that is redacted whole comes back in time."""
    text = piece * (262_144 // len(piece))
    start = time.perf_counter()
    redact_text(text)

    assert time.perf_counter() - start < 5
