"""The targets of the design for hooks, each against the raw pair of the same run. `make bench`; LEDGER_BENCH_MILLION=1
adds the ledger of 1,000,000 rows.

The limits are asserted only where benchmarks run (not under --benchmark-disable): a busy machine proves nothing.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.bench.conftest import RESULT, Hooks, Raw, in_thread, quantile
from tests.simhost import PLUGIN_FOLDER, SimHost
from tests.store.rows import filled

MILLION = pytest.param(
    1_000_000,
    marks=pytest.mark.skipif(
        os.environ.get("LEDGER_BENCH_MILLION") != "1", reason="takes minutes; set LEDGER_BENCH_MILLION=1"
    ),
)
SIZES = [0, 100_000, MILLION]


def limit(benchmark: Any, found: float, most: float) -> None:
    """Hold a target where times are measured at all."""
    if not benchmark.disabled:
        assert found <= most


def rounds(benchmark: Any, many: int) -> int:
    """One round shows that it runs; many that it is quick."""
    return 3 if benchmark.disabled else many


def measured(benchmark: Any, pair: Callable[[], tuple[float, float]], many: int) -> tuple[list[float], list[float]]:
    """Run ``pair`` so often; returns the seconds of its two halves."""
    found: list[tuple[float, float]] = []
    benchmark.pedantic(lambda: found.append(pair()), rounds=rounds(benchmark, many), iterations=1)
    return [first for first, _ in found], [second for _, second in found]


@pytest.mark.benchmark(group="pre and post")
@pytest.mark.parametrize("rows", SIZES)
def test_pair_against_the_raw_pair(benchmark: Any, home: Path, hooks: Hooks, raw: Raw, rows: int) -> None:
    """pre and post of a typical call cost three raw pairs at most, however many rows there are. Both are measured in turns,
    so that a machine that gets busy is busy for both."""
    if rows:
        filled(home, 2000 if benchmark.disabled else rows, apart=1)
        for _ in range(20):
            hooks.pair()
    floor: list[tuple[float, float]] = []

    def pair() -> tuple[float, float]:
        floor.append(raw.pair())
        return hooks.pair()

    pre, post = measured(benchmark, pair, 2000)
    of_raw = quantile([first for first, _ in floor], 0.5) + quantile([second for _, second in floor], 0.5)
    ours = quantile(pre, 0.5) + quantile(post, 0.5)
    benchmark.extra_info.update(
        rows=rows, raw_us=round(of_raw * 1e6, 1), pair_us=round(ours * 1e6, 1), over_raw=round(ours / of_raw, 2),
        pre_p99_us=round(quantile(pre, 0.99) * 1e6, 1),
    )  # fmt: skip
    limit(benchmark, ours / of_raw, 3 if not rows else 3 * 1.3)


@pytest.mark.benchmark(group="pre and post")
@pytest.mark.parametrize("rows", [100_000, MILLION])
def test_pair_against_an_empty_ledger(benchmark: Any, home: Path, hooks: Hooks, raw: Raw, rows: int) -> None:
    """Many rows make pre and post 1.3 times as dear at most. Both in units of the raw pair of their own minute."""

    def cost(pairs: Callable[[Callable[[], tuple[float, float]]], object]) -> float:
        both: list[tuple[float, float]] = []
        pairs(lambda: both.append((sum(raw.pair()), sum(hooks.pair()))) or both[-1])
        return quantile([ours for _, ours in both], 0.5) / quantile([floor for floor, _ in both], 0.5)

    few = cost(lambda pair: [pair() for _ in range(rounds(benchmark, 2000))])
    filled(home, 2000 if benchmark.disabled else rows, apart=1)
    for _ in range(20):
        hooks.pair()
    many = cost(lambda pair: measured(benchmark, pair, 2000))
    benchmark.extra_info.update(rows=rows, over_empty=round(many / few, 2))
    limit(benchmark, many / few, 1.3)


@pytest.mark.benchmark(group="read-only pre")
def test_pre_of_a_read_only_tool(benchmark: Any, hooks: Hooks) -> None:
    """A look-up: ten microseconds at most."""
    found: list[float] = []
    benchmark.pedantic(lambda: found.append(in_thread(hooks.read_only)), rounds=rounds(benchmark, 2000), iterations=1)
    benchmark.extra_info.update(p50_us=round(quantile(found, 0.5) * 1e6, 1))
    limit(benchmark, quantile(found, 0.5), 10e-6)


@pytest.mark.benchmark(group="turns")
@pytest.mark.parametrize("rows", SIZES)
def test_turn_with_nothing_to_say(benchmark: Any, home: Path, hooks: Hooks, rows: int) -> None:
    """One millisecond at most, however many rows there are."""
    if rows:
        filled(home, 2000 if benchmark.disabled else rows, apart=1)
    found: list[float] = []
    benchmark.pedantic(
        lambda: found.append(in_thread(lambda: hooks.turn(2, []))), rounds=rounds(benchmark, 500), iterations=1
    )
    benchmark.extra_info.update(rows=rows, p50_us=round(quantile(found, 0.5) * 1e6, 1))
    limit(benchmark, quantile(found, 0.5), 1e-3)


@pytest.mark.benchmark(group="turns")
def test_turn_of_a_long_conversation(benchmark: Any, hooks: Hooks) -> None:
    """Four hundred messages and two thousand confirmed rows of the session: five milliseconds at most."""
    for _ in range(rounds(benchmark, 1900)):
        hooks.pair()
    history: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(133):
        call = {"id": f"call_{hooks.number - number}", "type": "function",
                "function": {"name": "terminal", "arguments": "{}"}}  # fmt: skip
        history += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": RESULT},
            {"role": "assistant", "content": "done"},
        ]
    hooks.turn(2, history)  # the first one decides what is still visible
    found: list[float] = []
    benchmark.pedantic(
        lambda: found.append(in_thread(lambda: hooks.turn(3 + len(found), history))),
        rounds=rounds(benchmark, 200), iterations=1,
    )  # fmt: skip
    benchmark.extra_info.update(p50_us=round(quantile(found, 0.5) * 1e6, 1))
    limit(benchmark, quantile(found, 0.5), 5e-3)


BUSY = """
import sys, time
from pathlib import Path
from tests.simhost import in_process
host = in_process(Path(sys.argv[1]))
number = 0
while True:
    host.run("terminal", {"command": f"make {number}"}, call=f"{sys.argv[2]}-{number}", session=f"busy-{sys.argv[2]}")
    number += 1
    if number == 1:
        print("on", flush=True)
    time.sleep(0.01)
"""


@pytest.fixture
def four_writers(home: Path, hooks: Hooks) -> Iterator[None]:
    """Four processes that each make some hundred calls a second on the same ledger."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", BUSY, str(home), str(number)], cwd=PLUGIN_FOLDER, stdout=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    for one in writers:
        assert one.stdout is not None and one.stdout.readline() == "on\n"
    yield
    for one in writers:
        one.kill()
        one.communicate()


@pytest.mark.benchmark(group="four writers")
def test_pre_beside_four_writers(benchmark: Any, hooks: Hooks, four_writers: None) -> None:
    """The 99th percentile of pre stays at five milliseconds or less."""
    pre, _ = measured(benchmark, lambda: (time.sleep(0.002), hooks.pair())[1], 800)
    benchmark.extra_info.update(
        pre_p50_us=round(quantile(pre, 0.5) * 1e6, 1), pre_p99_us=round(quantile(pre, 0.99) * 1e6, 1)
    )
    limit(benchmark, quantile(pre, 0.99), 5e-3)


@pytest.mark.benchmark(group="four writers")
def test_pre_of_eight_threads_beside_four_writers(
    benchmark: Any, host: SimHost, hooks: Hooks, four_writers: None
) -> None:
    """The 99th percentile of pre stays at thirty milliseconds or less when eight calls come at once, and none is lost."""
    numbers = itertools.count(1_000_000)
    pre: list[float] = []

    def call() -> None:
        number = next(numbers)
        pre.append(in_thread(lambda: hooks.pre(number)))
        in_thread(lambda: hooks.post(number))

    with ThreadPoolExecutor(8) as crew:
        benchmark.pedantic(
            lambda: [one.result() for one in [crew.submit(call) for _ in range(8)]], rounds=rounds(benchmark, 150),
            iterations=1,
        )  # fmt: skip
    benchmark.extra_info.update(
        pre_p50_us=round(quantile(pre, 0.5) * 1e6, 1), pre_p99_us=round(quantile(pre, 0.99) * 1e6, 1)
    )
    limit(benchmark, quantile(pre, 0.99), 30e-3)
    ours = "SELECT count(*), count(DISTINCT tool_call_id), total(status = 'CONFIRMED') FROM ledger WHERE session_id = 'bench'"
    all_calls = len(pre) + hooks.number
    until = time.monotonic() + 20
    while host.sql(ours) != [(all_calls,) * 3] and time.monotonic() < until:
        hooks.turn(2, [])  # takes its part of what waits in the spool
        time.sleep(0.02)
    assert host.sql(ours) == [(all_calls,) * 3]


@pytest.mark.benchmark(group="import and register")
def test_import_and_register(benchmark: Any, tmp_path: Path) -> None:
    """Fifty milliseconds of processor time at most, in a fresh interpreter: the best of some runs."""
    code = (
        "import sys, time\nfrom pathlib import Path\nimport tests.simhost, sqlite3, json, hashlib, logging\n"
        "begin = time.process_time()\ntests.simhost.in_process(Path(sys.argv[1]))\nprint(time.process_time() - begin)"
    )
    found: list[float] = []

    def once() -> None:
        done = subprocess.run(
            [sys.executable, "-c", code, tmp_path], cwd=PLUGIN_FOLDER, capture_output=True, text=True, check=True
        )
        found.append(float(done.stdout))

    benchmark.pedantic(once, rounds=rounds(benchmark, 8), iterations=1)
    benchmark.extra_info.update(best_ms=round(min(found) * 1e3, 1))
    limit(benchmark, min(found), 50e-3)
