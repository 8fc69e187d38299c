"""``/ledger policy`` in a chat: the same answers, cut to a few lines. Nothing can be switched from there: a message may
come from the agent, or from somebody whom it talks to."""

from __future__ import annotations

import io
from collections.abc import Sequence

from ...errors import UsageError
from .. import parser
from ..output import Screen
from ..text import cut, safe
from . import run

USAGE = "use: /ledger policy [mode | check | report | explain COMMAND]"
_ELSEWHERE = ("replay", "score")
_LINES = 25
_WIDTH = 300


def answer(raw: str) -> str:
    """The reply to ``/ledger policy <raw>``. Raises LedgerError."""
    words = raw.split(None, 1)
    name, rest = (words[0].lower(), words[1] if len(words) > 1 else "") if words else ("mode", "")
    if name in _ELSEWHERE:
        raise UsageError(f"that takes a terminal: hermes ledger policy {name}")
    if name == "mode" and rest:
        raise UsageError("the mode is not switched from a chat. In a terminal: hermes ledger policy mode")
    arguments = {
        "mode": ["mode"], "check": ["check"], "report": ["report", "--since", "30d"], "explain": ["explain", rest],
    }  # fmt: skip
    if name not in arguments or (name == "explain" and not rest.strip()):
        raise UsageError(USAGE)
    found: Sequence[str] = arguments[name]
    if name == "explain" and rest.startswith("-"):
        raise UsageError(f"a command does not begin with a dash; {USAGE}")
    stream = io.StringIO()
    options = parser.build().parse_args(["policy", *found])
    options.ledger_blind = True  # whoever writes in a chat may not read this user's files
    run(options).show(Screen(stream))
    lines = [cut(safe(line), _WIDTH) for line in stream.getvalue().splitlines()]
    if len(lines) > _LINES:
        lines[_LINES:] = [f"and more, in a terminal: hermes ledger policy {name}"]
    return "```\n" + "\n".join(lines).replace("`", "'") + "\n```"
