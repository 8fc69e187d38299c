"""What commands for Redis and scripts for the MongoDB shell would do."""

from __future__ import annotations

import re

from ..model import Actions
from .sql import KIND, MAX_TEXT

_REDIS_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|(\S+)')
_REDIS_CALL = re.compile(r"""redis\.p?call\(\s*["'](\w+)["']""", re.IGNORECASE)


def judge_redis(text: str, act: Actions) -> None:
    """One Redis command a line, as redis-cli reads them."""
    for line in text[:MAX_TEXT].splitlines():
        words = [a or b or c for a, b, c in _REDIS_WORD.findall(line)]
        if words:
            _redis_command(words, act)


def _redis_command(words: list[str], act: Actions) -> None:
    upper = [word.upper() for word in words]
    head = upper[0].rstrip(";")
    second = upper[1] if len(upper) > 1 else ""
    if head in ("FLUSHALL", "FLUSHDB"):
        act.effect(KIND, head, "redis")
    elif head == "SHUTDOWN" and "NOSAVE" in upper:
        act.effect(KIND, "SHUTDOWN NOSAVE", "redis")
    elif head == "CLUSTER" and second == "RESET":
        act.effect(KIND, "CLUSTER RESET", "redis")
    elif head in ("REPLICAOF", "SLAVEOF") and second and second != "NO":
        act.effect(KIND, f"{head} replaces all data", words[1])
    elif head == "CONFIG" and second == "SET" and len(words) > 3:
        if upper[2] in ("DIR", "DBFILENAME") and re.search(r"\.ssh|cron|authorized|/etc|/root|\.php|www", words[3]):
            act.effect("persistence", f"CONFIG SET {words[2]}", words[3])
    elif head == "MODULE" and second.startswith("LOAD"):
        act.effect("unknown_code", "MODULE LOAD", words[2] if len(words) > 2 else "")
    elif head == "ACL" and second == "SETUSER" and "+@ALL" in upper and "NOPASS" in upper:
        act.effect("permissions", "ACL SETUSER with all rights and no password", words[2])
    elif head == "EVAL" and len(words) > 1:
        for name in _REDIS_CALL.findall(words[1]):
            if name.upper() in ("FLUSHALL", "FLUSHDB"):
                act.effect(KIND, f"EVAL {name}", "redis")


_JS_NOISE = re.compile(
    r"""//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`""",
)
_EVERY = r"\(\s*(?:\{\s*\}|\{\s*_id\s*:\s*\{\s*\$(?:exists\s*:\s*(?:true|1)|ne\s*:\s*null)\s*\}\s*\})?\s*[,)]"
_MONGO = (
    (re.compile(r"\bdrop_?[dD]atabase\s*\("), "dropDatabase"),
    (re.compile(r"\.drop\s*\(\s*(?:\)|\{)"), "drop"),
    (re.compile(r"\.(?:delete_?[mM]any|remove)\s*" + _EVERY), "deleteMany of everything"),
    (re.compile(r"\bdeleteMany\s*:\s*\{\s*filter\s*:\s*\{\s*\}"), "deleteMany of everything"),
    (re.compile(r"\b(?:runCommand|adminCommand)\s*\(\s*\{\s*\ue003?(?:dropDatabase|drop|dropAllUsersFromDatabase)\b"),
     "drop by command"),
    (re.compile(r"\bdropAll(?:Users|Roles)\s*\("), "dropAllUsers"),
)  # fmt: skip
_TEMPORARY = re.compile(r"^(?:te?mp|test|scratch)(?:$|_|\d)|_te?mp$", re.IGNORECASE)


def judge_mongo(text: str, act: Actions) -> None:
    """A script for the MongoDB shell: what drops or empties databases and collections."""
    def keep(found: re.Match[str]) -> str:
        body = next((group for group in found.groups() if group is not None), None)
        if body is None:
            return " "
        # Names stay as they are, so that db['users'] and {'drop': ..} read like their bare forms; other text goes.
        return "\ue003" + body if re.fullmatch(r"[\w$]{1,64}", body) else "\ue003"

    code = _JS_NOISE.sub(keep, text[:MAX_TEXT])
    for pattern, what in _MONGO:
        for found in pattern.finditer(code):
            name = re.split(r"[^\w$\]\)]", code[max(0, found.start() - 64) : found.start()])[-1]
            if not _TEMPORARY.search(name):
                act.effect(KIND, f"MongoDB {what}", name)
                break
