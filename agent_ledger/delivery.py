"""Further post callbacks for the hosts that skip a callback which is still busy with another call.

0.20.6 and 0.21.0 let one post callback run at a time in the whole process and silently drop what comes meanwhile, so of
parallel calls some would look unconfirmed until the next turn's conversation settles them. Each
distinct callback is guarded by itself there: with several of them a post gets through one or the other, and all but the
first delivery of the same post are recognised and passed over.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from . import hostinfo

SLOTS = 8  # more parallel calls than this at the same instant are left to the conversation
_MOST_KNOWN = 2000
_SAME_POST_S = 60.0


def callbacks(post: Callable[..., None]) -> list[Callable[..., None]]:
    """What to register for post_tool_call on this host: ``post`` alone, or several that share it."""
    if not hostinfo.drops_posts():
        return [post]
    deliveries = _Deliveries()

    def slot(number: int) -> Callable[..., None]:
        def post_tool_call(**kwargs: Any) -> None:
            if deliveries.is_first(number, kwargs):
                post(**kwargs)

        return post_tool_call

    return [slot(number) for number in range(SLOTS)]


class _Deliveries:
    """Which slots have seen which post. A post is known by its ids and by its very argument and result objects: the
    host hands the same objects to every callback, and two posts that are delivered at once have their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[Any, ...], tuple[float, set[int]]] = OrderedDict()

    def is_first(self, slot: int, kwargs: dict[str, Any]) -> bool:
        names = ("session_id", "turn_id", "tool_call_id", "tool_name", "status")
        words = [value if isinstance(value := kwargs.get(name), str) else "" for name in names]
        key = (*words, id(kwargs.get("args")), id(kwargs.get("result")))
        now = time.monotonic()
        with self._lock:
            began, slots = self._seen.get(key, (0.0, set()))
            # A slot sees each post once, so the second sight by one slot is another post.
            if slots and slot not in slots and now - began < _SAME_POST_S:
                slots.add(slot)
                return False
            self._seen[key] = (now, {slot})
            self._seen.move_to_end(key)
            while len(self._seen) > _MOST_KNOWN:
                self._seen.popitem(last=False)
            return True
