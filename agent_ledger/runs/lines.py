"""Bytes into lines of text, in batches, without ever holding a line that is too long to be an event."""

from __future__ import annotations

from collections.abc import Iterator

MOST = 8 * 1024 * 1024  # bytes of one line, without its end; a longer one is skipped
LARGE = 1024 * 1024  # bytes of a line above which it is handed on as it is
_BLANK = b" \t\r"
_BOM = b"\xef\xbb\xbf"


class Lines:
    """Cuts a stream at ``\\n`` and decodes it; bytes that are no UTF-8 become U+FFFD. A large line comes as bytes.

    ``long_objects`` and ``long_texts`` count the lines that were skipped: those that begin with ``{``, and others.
    """

    def __init__(self) -> None:
        self.long_objects = self.long_texts = 0
        self._tail = bytearray()
        self._skipping = False
        self._kind = b""  # the first bytes of the line that is skipped, as far as they tell what it is

    def feed(self, data: bytes) -> Iterator[list[str] | bytearray]:
        """The lines that ``data``, at most LARGE bytes, completes. The one that was begun before comes alone."""
        first = data.find(b"\n")
        if first < 0:
            self._hold(data)
            return
        if self._skipping or self._tail:
            self._hold(data[:first])
            yield from self.finish()
        else:
            first = -1
        last = data.rfind(b"\n")
        if last > first:
            yield data[first + 1 : last].decode("utf-8", "replace").split("\n")
        self._hold(data[last + 1 :])

    def finish(self) -> Iterator[list[str] | bytearray]:
        """The line that has no end yet, as it stands."""
        if self._skipping:
            self._skipped()
        elif self._tail:
            line, self._tail = self._tail, bytearray()
            yield line if len(line) > LARGE else [line.decode("utf-8", "replace")]

    def _hold(self, part: bytes) -> None:
        if self._skipping:
            if len(self._kind) < len(_BOM) + 1:
                self._kind = _begin(self._kind + part)
        elif len(self._tail) + len(part) > MOST:
            self._skipping = True
            self._kind = _begin(bytes(self._tail[:65_536]) if self._tail.strip(_BLANK) else b"") or _begin(part)
            self._tail = bytearray()
        else:
            self._tail += part

    def _skipped(self) -> None:
        self._skipping = False
        begin = self._kind.removeprefix(_BOM).lstrip(_BLANK)
        if begin:
            self.long_objects += begin[:1] == b"{"
            self.long_texts += begin[:1] != b"{"


def _begin(data: bytes) -> bytes:
    return data.lstrip(_BLANK)[: len(_BOM) + 1]
