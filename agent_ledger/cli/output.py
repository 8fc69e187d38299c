"""Where commands print: text, tables and JSON, safe for any terminal, pipe and encoding."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from .text import columns, cut

_STYLES = {"bad": "red", "warn": "yellow", "good": "green", "faint": "bright_black", "": ""}
_CODES = {"bad": "31", "warn": "33", "good": "32"}


class Closed(Exception):
    """The reader of our output went away (``| head``): stop printing, keep the command's verdict."""


class Screen:
    """One output stream. Colours and fitted tables only where it is a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self.terminal = _is_terminal(self._stream)
        self.colours = self.terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def line(self, text: str = "") -> None:
        """Print one line of text that is already safe."""
        self._write(text + "\n")

    def text(self, text: str) -> None:
        """Print data for programs as it is."""
        self._write(text)

    def json(self, value: Any, indent: int | None = 2) -> None:
        """Print ``value`` as JSON in plain ASCII, so that no stored text can reach a terminal raw."""
        self._write(json.dumps(value, indent=indent, ensure_ascii=True).replace("\x7f", "\\u007f") + "\n")

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
        """Print rows of safe text; ``styles``: one word a row (bad, warn, good, faint or ''). The last column gives way
        where a terminal is too narrow. With rich where it is installed, plain columns otherwise."""
        if self.terminal and self._rich_table(heads, rows, styles):
            return
        widths = [max([columns(head), *(columns(row[at]) for row in rows)]) for at, head in enumerate(heads)]
        most = shutil.get_terminal_size().columns if self.terminal else 0
        for row in [heads, *rows]:
            text = "  ".join(
                cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True)
            ).rstrip()
            self.line(cut(text, most) if most else text)

    def steps(self, found: Sequence[tuple[str, str, str, str, str]]) -> None:
        """Print (state, name, detail, next step, style) of checks: long texts, so lines and no table."""
        width = max(columns(name) for _, name, _, _, _ in found)
        for state, name, detail, following, style in found:
            code = _CODES.get(style, "") if self.colours else ""
            word = f"\x1b[{code}m{state:<4}\x1b[0m" if code else f"{state:<4}"
            self.line(f"{word}  {name:<{width}}  {detail}")
            if following:
                self.line(f"      {'':<{width}}  next: {following}")

    def _rich_table(self, heads: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str]) -> bool:
        try:
            from rich.console import Console
            from rich.table import Table
            from rich.text import Text
        except ImportError:
            return False
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for at, head in enumerate(heads):
            last = at == len(heads) - 1
            table.add_column(Text(head), no_wrap=True, overflow="ellipsis", ratio=1 if last else None)
        for at, row in enumerate(rows):
            style = _STYLES[styles[at]] if at < len(styles) else ""
            # Text objects, never strings: rich would read its markup in stored text.
            table.add_row(*(Text(cell) for cell in row), style=style or None)
        console = Console(
            file=self._stream,
            color_system="auto" if self.colours else None,
            no_color=not self.colours,
            force_terminal=self.colours,
            width=shutil.get_terminal_size().columns,
            highlight=False,
            markup=False,
            emoji=False,
        )
        try:
            console.print(table)
        except BrokenPipeError as error:
            raise Closed from error
        except UnicodeEncodeError:
            return False
        return True

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError as error:
            raise Closed from error
        except ValueError:  # closed by somebody else
            pass

    def _write(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        try:
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        except BrokenPipeError as error:
            raise Closed from error

    def silence(self) -> None:
        """After the reader went away: nothing more may be written, not even by the interpreter at its end."""
        if self._stream is sys.stdout:
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            except (OSError, ValueError, AttributeError):
                pass


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (ValueError, AttributeError):
        return False
