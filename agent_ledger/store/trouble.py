"""What SQLite and the disk refuse, by the name that the rest of the plugin goes by."""

from __future__ import annotations

# SQLite primary result codes (the low byte of an extended code): sqlite.org/rescode.html
_KINDS = {
    5: "busy",
    6: "busy",
    8: "read-only",
    10: "i/o error",
    11: "corrupt",
    13: "full",
    14: "cannot open",
    26: "corrupt",
}


class Unavailable(Exception):
    """The database could not take this now. ``kind``: busy, full, read-only, i/o error, cannot open, corrupt, newer,
    ..."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.identity: tuple[int, int] | None = None  # device and inode of the file that was tried


def classify(error: BaseException) -> Unavailable:
    """Name what an sqlite3 or operating-system error means for us."""
    if isinstance(error, Unavailable):
        return error
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        return Unavailable(_KINDS.get(code & 0xFF, "error"), str(error))
    if isinstance(error, OSError):
        kind = {28: "full", 30: "read-only", 13: "read-only"}.get(error.errno or 0, "cannot open")
        return Unavailable(kind, str(error))
    return Unavailable("error", f"{type(error).__name__}: {error}")
