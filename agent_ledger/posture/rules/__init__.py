"""The rules, one file for each entry of the list."""

from __future__ import annotations

from . import asi01, asi02, asi03, asi04, asi05, asi06, asi08, asi10, asi11
from .base import Rule

# A report says which rules made it; numbers of different versions are not compared.
VERSION = "1"

ALL: tuple[type[Rule], ...] = (
    *asi01.RULES, *asi02.RULES, *asi03.RULES, *asi04.RULES, *asi05.RULES, *asi06.RULES, *asi08.RULES, *asi10.RULES,
    *asi11.RULES,
)  # fmt: skip
