"""The command of a run: where the host's own options belong in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UsageError

FORMAT = "--format"
STREAM = "stream-json"
_QUERIES = ("-q", "--query", "--query-file")
_QUIET = ("-Q", "--quiet")


@dataclass(frozen=True, slots=True)
class Command:
    """``words`` as they were given. ``chat``: where the word ``chat`` stands, None where the command has none: then it
    runs as it is. ``asks``: it has ``--format stream-json`` already. ``profile``: that of the host, '' for none."""

    words: tuple[str, ...]
    chat: int | None
    asks: bool
    profile: str = ""

    def native(self) -> list[str]:
        """The command for a host that writes the stream itself."""
        if self.asks or self.chat is None:
            return list(self.words)
        return [*self.words[: self.chat + 1], FORMAT, STREAM, *self.words[self.chat + 1 :]]

    def quiet(self) -> list[str]:
        """The command for a host that does not know the option, which also means quiet: without it those hosts end with
        0 whatever happened."""
        words = list(self.words)
        for at, word in enumerate(words):
            if word == FORMAT:
                del words[at : at + 2]
                break
            if word.startswith(FORMAT + "="):
                del words[at]
                break
        if self.chat is not None and not any(word in _QUIET for word in words):
            words.insert(self.chat + 1, _QUIET[0])
        return words

    def doctor(self) -> list[str]:
        """The host's own check of its installation, for the same profile."""
        return [*self.words[: self.chat if self.chat is not None else 1], "doctor"]


def parse(words: Sequence[str]) -> Command:
    """Raises UsageError for a command that cannot be a run."""
    words = tuple(words[1:] if words[:1] == ["--"] else words)
    if not words:
        raise UsageError('what is to run? Give it after --, as in: run exec -- hermes chat -q "Summarize this"')
    end = next((at for at, word in enumerate(words) if word in _QUERIES), len(words))
    chat = next((at for at, word in enumerate(words[:end]) if at and word == "chat"), None)
    form = _value(words, FORMAT)
    if chat is not None and form not in (None, STREAM):
        raise UsageError(f"{FORMAT} {form} cannot be judged: leave the option out, or give {FORMAT} {STREAM}")
    profile = _value(words[:chat], "-p", "--profile") if chat is not None else None
    return Command(words, chat, form == STREAM, profile or "")


def _value(words: Sequence[str], *names: str) -> str | None:
    """What an option has for a value, '' for none; None where the option is not there."""
    for at, word in enumerate(words):
        name, found, value = word.partition("=")
        if name in names:
            return value if found else "".join(words[at + 1 : at + 2])
    return None


def does_not_know(code: int, printed: bool, diagnostics: bytes) -> bool:
    """Whether a host left because it does not know ``--format``: argparse says so before anything is done."""
    return code == 2 and not printed and b"unrecognized arguments: " in diagnostics and FORMAT.encode() in diagnostics
