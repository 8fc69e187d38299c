"""Say whether a name (of a key, a variable, a header or a flag) announces a secret value."""

from __future__ import annotations

from functools import lru_cache

from . import lazily

_WORD = lazily.pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# Endings that say nothing about what the value is: password_hash, SecretString, password2, SECRET_KEY_BASE.
_TAIL = frozenset(
    "value hash raw plain plaintext clear text string binary base b64 base64 confirm confirmation confirmed again "
    "repeat new old current header encoded".split()
)
_PASSWORD = lazily.pattern(r"(?:password|passwd|passphrase|passcode|secret|credential|cred|apikey)s?$")
_SPELLED_TOGETHER = lazily.pattern(
    r"(?:api|access|secret|private|auth|signing|encryption|account|master|session|service|license)keys?$"
)
_PASS = lazily.pattern(
    r"(?:db|pg|my|sql|mysql|smtp|imap|mail|email|ftp|ssh|user|usr|admin|root|http|proxy|redis|rabbitmq|mongo|ldap|"
    r"login|key|store|keystore|truststore|basic)pass$"
)
_KEY_OF = frozenset(
    "api access private secret encryption decryption encrypt decrypt signing sign master account shared session auth "
    "service role ssh deploy license licence storage webhook client app application subscription admin aes hmac "
    "jwt tls ssl pgp gpg rsa wallet consumer bot anon bearer symmetric kms fernet cookie security openai anthropic "
    "stripe gemini google azure aws github gitlab twilio sendgrid mailgun openrouter groq mistral deepseek hf xai "
    "perplexity tavily firecrawl exa brave serper serpapi datadog sentry".split()
)
_TOKENS_OF = frozenset("access refresh api auth bot bearer secret deploy session".split())
# A token of a text, a page or a grammar is no credential.
_HARMLESS_TOKEN = frozenset(
    "max min num next page prev previous continuation pagination sync eos bos pad unk sep mask cls stop eot special "
    "first last start end invalid unexpected per cancellation cancel no with without use ask is has missing total "
    "avg input output prompt completion cached".split()
)
_HARMLESS_PASS = frozenset("first second third last two multi single test by render low high band one compiler".split())
_NEGATION = frozenset("no has is show hide use with without ask prompt skip require requires needs allow".split())


@lru_cache(maxsize=4096)
def name_kind(name: str) -> str:
    """The kind of secret that a name announces, '' for none.

    Kinds: `password` (passwords, secrets, keys, credentials), `token`, `pass` (the bare word, ambiguous),
    `authorization`, `auth` (the bare word, ambiguous), `cookie`.
    """
    words = [word.lower() for word in _WORD.findall(name[-96:])]
    spelled = len(words)
    while len(words) > 1 and (words[-1] in _TAIL or words[-1].isdigit()):
        words.pop()
    if not words:
        return ""
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if before in _NEGATION:
        return ""
    if _PASSWORD.search(last) or _SPELLED_TOGETHER.search(last) or _PASS.search(last):
        return "password"
    if last.endswith("token"):
        return "" if _HARMLESS_TOKEN.intersection(words[:-1]) else "token"
    if last in ("jwt", "bearer"):
        return "token"
    if last == "tokens":
        return "token" if before in _TOKENS_OF else ""
    if last in ("key", "keys"):
        return "password" if before in _KEY_OF else ""
    if last.endswith("pwd"):
        return "password" if last not in ("pwd", "oldpwd") or (spelled > 1 and before != "old") else ""
    if last == "pass":
        return "pass" if not before else "" if before in _HARMLESS_PASS else "password"
    if last in ("authorization", "authorisation"):
        return "authorization"
    if last == "auth":
        return "auth" if before in ("", "basic", "http", "proxy") else ""
    if last in ("cookie", "cookies", "setcookie"):
        return "cookie"
    return ""
