"""Which resolved commands send to another machine, and which fetch from one."""

from __future__ import annotations

import re

_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?(\[[^\]]*\]|[^/:?#\s]+)", re.IGNORECASE)
_LOCAL = re.compile(r"localhost|127\.[\d.]+|::1|\[::1\]|0\.0\.0\.0|.+\.localhost")
_FETCHERS = frozenset("curl wget wget2 http https xh aria2c axel lynx w3m links curlie httpie".split())
_CURL_DATA = re.compile(r"-[dFT]|--data.*|--form.*|--json.*|--upload-file.*")
_WGET_DATA = ("--post-data", "--post-file", "--body-data", "--body-file")
_MAILERS = frozenset("mail mailx mutt sendmail msmtp swaks ssmtp".split())
_COPIERS = frozenset("scp rsync sftp".split())
_STORES = frozenset("aws gsutil rclone s3cmd mc s5cmd azcopy gcloud".split())


def host_of(text: str) -> str:
    found = _URL.match(text)
    return found[1] if found else ""


def is_local(where: str) -> bool:
    """True for an address of this machine."""
    return _LOCAL.fullmatch(host_of(where) or where) is not None


def sends_to(words: tuple[str, ...]) -> str:
    """Where a command sends what it is given; '' where it sends nothing to another machine."""
    name, args = words[0], words[1:]
    if name in _FETCHERS:
        address = next((word for word in args if "://" in word), "") or _named(args)
        data = (
            any(_CURL_DATA.fullmatch(word) for word in args)
            if name == "curl"
            else any(word.startswith(_WGET_DATA) for word in args)
            if name.startswith("wget")
            else any(word.upper() in ("POST", "PUT", "PATCH") for word in args[:2])
        )
        return address if data else ""
    if name in _COPIERS:
        target = args[-1] if len(args) > 1 else ""
        return target if ":" in target.partition("/")[0] or "://" in target else ""
    if name in _MAILERS:
        return next((word for word in args if "@" in word), "")
    if name in _STORES:
        copies = next((at for at, word in enumerate(args[:4]) if word in ("cp", "sync", "mv", "copy", "put")), -1)
        ends = [word for word in args[copies + 1 :] if not word.startswith("-")] if copies >= 0 else []
        return ends[1] if len(ends) > 1 and "://" in ends[1] and "://" not in ends[0] else ""
    if name in ("gh", "glab") and args[:2] in (("gist", "create"), ("snippet", "create")):
        return f"{name} {args[0]}"
    return ""


def gets_from(words: tuple[str, ...]) -> bool:
    """True for a command that fetches from another machine."""
    if words[0] not in _FETCHERS or sends_to(words):
        return False
    address = next((word for word in words[1:] if "://" in word), "") or _named(words[1:])
    return bool(address) and not is_local(address)


def _named(args: tuple[str, ...]) -> str:
    return next((word for word in args if "." in word and not word.startswith("-") and "/" not in word[:1]), "")
