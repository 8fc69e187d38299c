"""Keeps pytest from importing the plugin's door: it opens only inside a host."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the root for a plain folder. As a package pytest would import its ``__init__.py``, whose relative import
    fails wherever the checkout's folder has a name that is no Python identifier, such as ``agent-ledger``."""
    return pytest.Dir.from_parent(parent, path=path) if path == ROOT else None
