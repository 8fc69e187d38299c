"""What the plugin says in the host's log: at most one line a minute for each cause."""

from __future__ import annotations

import logging
import time

logger = logging.getLogger("agent_ledger")

_EVERY_S = 60.0
_MOST_CAUSES = 500
_last: dict[str, float] = {}  # without a lock: one line too many does no harm, a lock held across a fork does


def warn(cause: str, message: str, *values: object) -> None:
    """Log a warning, unless the same ``cause`` was logged in the last minute. Never raises."""
    now = time.monotonic()
    if now - _last.get(cause, -_EVERY_S) < _EVERY_S:
        return
    if len(_last) >= _MOST_CAUSES:
        _last.clear()
    _last[cause] = now
    logger.warning("agent-ledger: " + message, *values)


def info(message: str, *values: object) -> None:
    logger.info("agent-ledger: " + message, *values)
