"""Further post callbacks for hosts that skip a busy one."""

from __future__ import annotations

import sys
import threading
import types

import pytest

from agent_ledger import delivery


@pytest.fixture
def dropping_host(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("hermes_cli")
    module.__version__ = "0.21.0.post1"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hermes_cli", module)


def post(**over: object) -> dict[str, object]:
    """One post as a host hands it to every callback: the same objects each time."""
    return {"tool_name": "write_file", "args": {"path": "a"}, "result": "r", "session_id": "s", "turn_id": "t",
            "tool_call_id": "c", "status": "ok", **over}  # fmt: skip


@pytest.mark.parametrize(
    ("version", "drops"),
    [("0.18.2", False), ("0.20.0.post2", False), ("0.20.6.post1", True), ("0.21.0.post1", True), ("0.21.4.post1", False),
     ("0.22.2.post1", False), ("", False), ("odd", False)],
)  # fmt: skip
def test_only_the_hosts_that_drop_posts_get_more_than_one_callback(
    monkeypatch: pytest.MonkeyPatch, version: str, drops: bool
) -> None:
    """0.20.6 up to, but not including, 0.21.4 run one post callback at a time."""
    module = types.ModuleType("hermes_cli")
    module.__version__ = version  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hermes_cli", module)

    assert len(delivery.callbacks(print)) == (delivery.SLOTS if drops else 1)


def test_without_a_host_there_is_one_callback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no hermes_cli is loaded, nothing is known to drop posts."""
    monkeypatch.delitem(sys.modules, "hermes_cli", raising=False)

    assert delivery.callbacks(print) == [print]


@pytest.mark.usefixtures("dropping_host")
def test_a_post_that_every_callback_gets_counts_once() -> None:
    """The host calls all callbacks with one post: it is recorded once."""
    got: list[object] = []
    slots = delivery.callbacks(lambda **kwargs: got.append(kwargs["tool_call_id"]))
    sent = post()

    for slot in slots:
        slot(**sent)

    assert got == ["c"]


@pytest.mark.usefixtures("dropping_host")
def test_a_post_that_only_a_later_callback_gets_is_recorded() -> None:
    """A busy first callback was skipped by the host; the next one takes the post."""
    got: list[object] = []
    slots = delivery.callbacks(lambda **kwargs: got.append(kwargs["tool_call_id"]))

    slots[3](**post(tool_call_id="late"))

    assert got == ["late"]


@pytest.mark.usefixtures("dropping_host")
def test_two_posts_with_one_constant_id_are_two() -> None:
    """A provider with constant ids: each call has its own argument and result objects."""
    got: list[object] = []
    slots = delivery.callbacks(lambda **kwargs: got.append(kwargs["args"]))
    one, other = post(args={"path": "a"}), post(args={"path": "b"})

    for slot in slots:
        slot(**one)
        slot(**other)

    assert got == [{"path": "a"}, {"path": "b"}]


@pytest.mark.usefixtures("dropping_host")
def test_parallel_posts_all_get_through_a_gate_per_callback() -> None:
    """Eight posts at once, each callback admitting one at a time: every post is recorded once."""
    got: list[object] = []
    lock = threading.Lock()

    def record(**kwargs: object) -> None:
        with lock:
            got.append(kwargs["tool_call_id"])

    slots = delivery.callbacks(record)
    gates = [threading.Lock() for _ in slots]

    def deliver(sent: dict[str, object]) -> None:
        for slot, gate in zip(slots, gates, strict=True):
            if gate.acquire(blocking=False):
                try:
                    slot(**sent)
                finally:
                    gate.release()

    threads = [
        threading.Thread(target=deliver, args=(post(tool_call_id=f"c{n}", args={"n": n}, result=f"r{n}"),))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(map(str, got)) == [f"c{n}" for n in range(8)]


@pytest.mark.usefixtures("dropping_host")
def test_odd_keywords_do_not_stop_a_delivery() -> None:
    """Ids of any type, or none at all, are delivered once."""
    got: list[object] = []
    slots = delivery.callbacks(lambda **kwargs: got.append(1))
    sent = {"tool_call_id": ["unhashable"], "args": None}

    for slot in slots:
        slot(**sent)

    assert got == [1]
