"""Find secrets in the command lines of well-known programs: mysql's -p, curl's -u, what is piped into a login."""

from __future__ import annotations

import re

from . import lazily
from .redact_names import name_kind
from .redact_patterns import MARK, REFERENCE

_V = r"(?P<value>'[^'\n]+'|\"[^\"\n]+\"|[^\s;&|<>\"'`)]+)"
_SEPARATORS = ("\n", "&&", "||", "; ", " | ")
# Options whose letter means "password" for some programs only: the program must stand before, in the same command.
_OPTIONS = (
    (
        lazily.pattern(r"(?<=\s)-p(?=\S)" + _V),
        lazily.pattern(r"(?:^|[\s/\"'(=]|\\n)(?:mysql\w*|mariadb[\w-]*|mycli|sshpass|7za?|7zz|rar|unrar)(?=\s|$)"),
    ),
    *(
        (
            lazily.pattern(rf"(?<=\s)(?:{options})(?:\s+|=)(?!-)" + _V),
            lazily.pattern(rf"(?:^|[\s/\"'(=]|\\n)(?:{programs})(?=\s|$)"),
        )
        for options, programs in (
            ("-p|--pass", r"sshpass|mongo\w*|cqlsh|[\w-]{1,40}\s+login|login"),
            ("-a|--pass", "redis-cli|valkey-cli|keydb-cli"),
            ("-P", r"sqlcmd|bcp|ipmitool|zip|unzip|mosquitto_\w+"),
            ("-w", r"ldap\w+"),
            ("-A|-X", r"snmp\w+"),
            ("-pw", "plink|pscp|psftp|putty"),
        )
    ),
    (
        lazily.pattern(
            r"(?<=\s)(?:-u|-U|--user|--proxy-user)(?:\s*|=)(?P<open>[\"'])?[^\s:\"'%=]{1,128}[:%]"
            r"(?P<value>(?(open)[^\"']+|[^\s\"']+))"
        ),
        lazily.pattern(
            r"(?:^|[\s/\"'(=]|\\n)(?:curl|wget|http|https|smbclient|rpcclient|lftp|ncftp\w*|xh|curlie|hurl)(?=\s|$)"
        ),
    ),
    (
        lazily.pattern(r"(?<=\s)(?:-b|--cookie)[ \t=]*[\"']?(?=[\w.-]{1,80}=)(?P<value>[^\"'\s]+(?:; [^\"'\s]+)*)"),
        lazily.pattern(r"(?:^|[\s/\"'(=]|\\n)(?:curl|curlie)(?=\s|$)"),
    ),
    (lazily.pattern(r"(?<=\s)(?:--body|-b)(?:\s+|=)" + _V), re.compile(r"(?:^|[\s/]|\\n)gh\s+secret\s+set(?=\s|$)")),
    (lazily.pattern(r"(?<=\s)-b\w*\s+\S+\s+\S+\s+" + _V), re.compile(r"(?:^|[\s/]|\\n)htpasswd(?=\s|$)")),
)
_FREE = tuple(
    (needle, lazily.pattern(pattern, re.IGNORECASE))
    for needle, pattern in (
        ("from-literal", r"from-literal[= ][\"']?[\w.-]{1,80}=" + _V),
        ("identified", r"identified(?:\s+with\s+\S{1,40})?\s+by\s+" + _V),
        ("password", r"(?<![\w-])login\s+\S{1,80}\s+password\s+" + _V),
        ("password", r"set\s+password\s+for\s+\S{1,80}\s*=\s*(?:password\()?" + _V),
        ("pass:", r"(?<![\w-])-?pass(?:in|out|word)?\s+pass:" + _V),
        (
            "echo",
            r"(?<![\w-])echo\s+(?:-\w+\s+)?" + _V + r"\s*\|\s*(?:s[u]do\s+(?:-\w+\s+)*-S|(?:s[u]do\s+)?chpasswd|"
            r"(?:docker|podman|helm\s+registry)\s+login|gh\s+auth|passwd|su\b)",
        ),
    )
)
_SET = lazily.pattern(
    r"(?<![\w-])(?:set|setx|config|configure|--global|--local|--system|(?-i:ARG|ENV))[ \t]+"
    r"(?P<name>[\w.:/@-]{0,80}(?:pass|secret|token|key|cred|pwd)"
    r"[\w-]{0,32})[ \t]+(?!(?:for|to|is|in|and|or)\b)" + _V,
    re.IGNORECASE,
)


def _masked(match: re.Match[str]) -> str:
    value = match.group("value")
    bare = value.strip("\"'")
    if not bare or bare == MARK or (len(bare) < 300 and REFERENCE.fullmatch(bare) and value[0] != "'"):
        return match.group()
    quote = value[0] if value[0] in "\"'" and value[-1] == value[0] else ""
    start = match.start("value") - match.start()
    end = match.end("value") - match.start()
    whole = match.group()
    return f"{whole[:start]}{quote}{MARK}{quote}{whole[end:]}"


def redact_commands(text: str) -> str:
    """Replace passwords in the options of well-known programs, such as mysql's -p and curl's -u."""
    if "-" in text:
        for option, program in _OPTIONS:
            if not program.search(text):
                continue

            def replace(match: re.Match[str], text: str = text, program: re.Pattern[str] = program) -> str:
                before = text[max(0, match.start() - 800) : match.start()].replace("\\\n", "  ")
                before = before[max(before.rfind(mark) for mark in _SEPARATORS) + 1 :]
                return _masked(match) if program.search(before) else match.group()

            text = option.sub(replace, text)
    low = text.lower()
    for needle, pattern in _FREE:
        if needle in low:
            text = pattern.sub(_masked, text)
    if "set" in low or "config" in low or "--" in low or "env" in low or "arg" in low:
        text = _SET.sub(lambda m: _masked(m) if name_kind(m.group("name")) else m.group(), text)
    return text
