"""The language that a file is written in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .registry import SHELLS

if TYPE_CHECKING:
    pass

_LANGUAGES = {
    ".sh": "shell", ".bash": "shell", ".zsh": "shell", ".ksh": "shell", ".command": "shell", ".fish": "shell",
    ".py": "python", ".pyw": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "node", ".mts": "node",
    ".jsx": "node", ".tsx": "node", ".pl": "perl", ".pm": "perl", ".rb": "ruby", ".php": "php", ".lua": "lua",
    ".awk": "awk", ".ps1": "powershell", ".psm1": "powershell", ".bat": "cmd", ".cmd": "cmd", ".sql": "sql",
    ".mk": "make",
}  # fmt: skip
# Files whose content is data, whatever stands in it.
_DATA = frozenset(
    ".md .rst .json .yaml .yml .toml .csv .tsv .html .css .svg .xml .lock .png .jpg .pdf .log .ini .cfg .conf .adoc"
    " .tex .ipynb .java .go .rs .c .h .cpp .cs .kt .swift .scala".split()
)
_SHEBANG = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?([A-Za-z]+)")
_BY_PROGRAM = {
    "python": "python", "pypy": "python", "node": "node", "nodejs": "node", "deno": "node", "bun": "node",
    "perl": "perl", "ruby": "ruby", "php": "php", "lua": "lua", "awk": "awk", "gawk": "awk", "pwsh": "powershell",
    "tsx": "node", "ts": "node",
}  # fmt: skip


def language_of(path: str, text: str) -> str:
    """The language of a file by its first line, else by its name; '' for data. Nameless text is taken for a shell's."""
    found = _SHEBANG.match(text)
    if found:
        return "shell" if found[1] in SHELLS else _BY_PROGRAM.get(found[1], "")
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    ending = name[dot:].lower() if dot > 0 else ""
    if name in ("Makefile", "makefile", "GNUmakefile"):
        return "make"
    return _LANGUAGES.get(ending, "" if ending in _DATA else "shell")
