"""The file of accepted findings: reviewed by people, each with a reason, a name and a day on which it ends."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from ..errors import UsageError
from .model import Suppression

_MOST_BYTES = 4_000_000
_KEYS = frozenset(("rule_id", "fingerprint", "session", "reason", "by", "expires"))
_FORM = (
    '{"suppressions": [{"rule_id": "ASI02-01", "fingerprint": "...", "reason": "...", "by": "...",'
    ' "expires": "2027-01-31"}]}'
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """One entry: findings of ``rule_id`` with this ``fingerprint``, or of sessions that match the glob ``session``."""

    rule_id: str
    fingerprint: str
    session: str
    why: Suppression


def load(path: str) -> tuple[Accepted, ...]:
    """Read the file. Raises UsageError with the entry and what is wrong with it."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the suppressions in {path}: {error}. Give another file") from error
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON ({error}). It has the form {_FORM}") from error
    entries = found.get("suppressions") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        raise UsageError(f"{path} holds no list of suppressions. It has the form {_FORM}")
    return tuple(_accepted(entry, f"{path}: suppression {number}") for number, entry in enumerate(entries, 1))


def _accepted(entry: Any, where: str) -> Accepted:
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise UsageError(f"{where} is no object of texts. It has the form {_FORM}")
    if unknown := sorted(set(entry) - _KEYS):
        raise UsageError(f"{where} has the unknown key {unknown[0]!r}. Known are {', '.join(sorted(_KEYS))}")
    for name in ("rule_id", "reason", "by", "expires"):
        if not entry.get(name, "").strip():
            raise UsageError(f"{where} lacks {name!r}: who accepts a finding says why, and until when")
    if bool(entry.get("fingerprint")) == bool(entry.get("session")):
        raise UsageError(f"{where} needs either a fingerprint or a session")
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", entry["expires"]):
            raise ValueError(entry["expires"])
        date.fromisoformat(entry["expires"])
    except ValueError:
        raise UsageError(f"{where}: expires is {entry['expires']!r}; write a day such as 2027-01-31") from None
    why = Suppression(entry["reason"], entry["by"], entry["expires"])
    return Accepted(entry["rule_id"], entry.get("fingerprint", ""), entry.get("session", ""), why)
