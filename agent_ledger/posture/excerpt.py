"""The short quotation of a finding: reports leave the machine, the ledger does not."""

from __future__ import annotations

from .. import digest
from ..redact import redact_text
from ..redact_patterns import MARK

MOST = 80


def excerpt_of(text: str, args: str = "") -> str:
    """At most 80 characters of ``text`` on one line, without secrets. ``args``: where the text was taken from; what is
    a secret only by its place there is left out as well."""
    if not text:
        return ""
    if args:
        clean = redact_text(args)
        if clean != args:
            text = " ".join(MARK if word in args and word not in clean else word for word in text.split())
    line = digest.digest_result(text)
    return line if len(line) <= MOST else line[: MOST - 1] + "…"
