"""A later version of the plugin: a copy of this checkout whose schema has one more step, made by editing its source."""

from __future__ import annotations

from pathlib import Path

from agent_ledger.store import schema
from tests.hosts import checkout

VERSION = schema.SCHEMA_VERSION + 1
# Every table gets a column more, so that no statement of the older plugin may count columns; a small one gets an index.
TABLES = ("ledger", "transitions", "sessions", "notices", "news", "recalls", "spooled", "meta")
STEP = f"""

def _later(connection: sqlite3.Connection) -> None:
    for table in {TABLES}:
        connection.execute(f"ALTER TABLE {{table}} ADD COLUMN later TEXT NOT NULL DEFAULT 'x'")
    connection.execute("CREATE INDEX news_later ON news (later, kind)")


MIGRATIONS.append(_later)
"""


def made(folder: Path, min_writer: int = schema.MIN_WRITER) -> Path:
    """Make the later version in the new ``folder``; ``min_writer``: the oldest schema that may write beside it."""
    checkout.export(folder)
    file = folder / "agent_ledger" / "store" / "schema.py"
    text = file.read_text(encoding="utf-8")
    for name, old, new in (
        ("SCHEMA_VERSION", schema.SCHEMA_VERSION, VERSION), ("MIN_WRITER", schema.MIN_WRITER, min_writer),
    ):  # fmt: skip
        assert text.count(f"\n{name} = {old}\n") == 1
        text = text.replace(f"\n{name} = {old}\n", f"\n{name} = {new}\n")
    file.write_text(text + STEP, encoding="utf-8")
    return folder
