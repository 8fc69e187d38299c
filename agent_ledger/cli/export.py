"""``export``: the rows as JSON lines or CSV, streamed."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

from .. import redact, spans
from ..errors import UsageError
from ..model import now_iso
from ..store.reader import Reader
from ..store.shapes import Row
from . import files, rows, where
from .output import Screen

BATCH = 1000
FORMATS = ("jsonl", "csv")
# What a program that never saw the ledger can use: all columns but those of probe and policy, which say nothing to
# anybody else.
_FREE_TEXT = ("tool_name", "args_json", "summary", "cwd", "result_digest", "error_message")
COLUMNS = tuple(field.name for field in dataclasses.fields(Row) if field.name != "probe_json")


def stream(options: argparse.Namespace, screen: Screen) -> None:
    """Write the chosen rows, oldest first, to the screen or to ``--output``. Memory stays flat."""
    if options.ledger_format not in FORMATS:
        raise UsageError(f"--format {options.ledger_format!r} is unknown; it takes {' or '.join(FORMATS)}")
    since = now_iso(spans.moment(options.ledger_since, rows.now())) if options.ledger_since else ""
    home = where.home_of(options.ledger_home)
    with where.opened(home) as reader:
        names = reader.conversation(options.ledger_session) if options.ledger_session else ()
        clean = _as_stored if options.ledger_raw else _redacted
        lines = _lines(reader, options.ledger_format, since, names, clean)
        if options.ledger_output in (None, "-"):
            for line in lines:
                screen.text(line)
            return
        files.write(options.ledger_output, lines, "--output", files.PRIVATE)


def _lines(reader: Reader, form: str, since: str, names: tuple[str, ...], clean: Callable[[str], str]) -> Iterator[str]:
    if form == "csv":
        yield _csv(COLUMNS)
    for row in _rows(reader, since, names):
        values = {name: getattr(row, name) for name in COLUMNS}
        for name in _FREE_TEXT:
            values[name] = clean(values[name]) if isinstance(values[name], str) else values[name]
        yield json.dumps(values, ensure_ascii=False) + "\n" if form == "jsonl" else _csv(values.values())


def _rows(reader: Reader, since: str, names: tuple[str, ...]) -> Iterator[Row]:
    last = 0
    while batch := reader.since(last, since, names, BATCH):
        yield from batch
        last = batch[-1].id


def _csv(values: Any) -> str:
    text = io.StringIO()
    csv.writer(text).writerow([_no_formula(value) for value in values])
    return text.getvalue()


def _no_formula(value: Any) -> Any:
    """A cell that a spreadsheet would run as a formula gets a quote in front (OWASP: CSV injection)."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") else value


def _redacted(text: str) -> str:
    return redact.redact_text(text)


def _as_stored(text: str) -> str:
    return text
