"""What the judgement of one call costs: half of the calls in 150 microseconds at most, 99 of 100 in one millisecond."""

from __future__ import annotations

import time
from typing import Any

import pytest

from agent_ledger.policy import registry
from tests.bench.conftest import COMMAND, quantile
from tests.bench.test_hooks import limit, rounds
from tests.policy.test_machine_bounds import DANGEROUS, HARMLESS
from tests.policy.words_machine import Talk

SCRIPT = "#!/bin/sh\nset -eu\ncd \"$(dirname \"$0\")\"\nfor name in api web; do\n  (cd $name && npm ci && npm test)\ndone\n" * 20


def seconds(command: str) -> float:
    """Of one judgement in a new conversation, with what it leaves."""
    talk = Talk()
    begin = time.perf_counter()
    talk.run(command)
    return time.perf_counter() - begin


@pytest.mark.benchmark(group="judgement")
def test_all_examples(benchmark: Any) -> None:
    """Every example, dangerous and harmless; the best of some runs of each, since other programs share the machine."""
    registry.load()
    commands = DANGEROUS + HARMLESS
    best = [float("inf")] * len(commands)

    def once() -> None:
        for at, command in enumerate(commands):
            best[at] = min(best[at], seconds(command))

    benchmark.pedantic(once, rounds=rounds(benchmark, 10), iterations=1)
    middle, most = quantile(best, 0.5), quantile(best, 0.99)
    benchmark.extra_info.update(commands=len(commands), p50_us=round(middle * 1e6, 1), p99_us=round(most * 1e6, 1))
    limit(benchmark, middle, 150e-6)
    limit(benchmark, most, 1e-3)


@pytest.mark.benchmark(group="judgement")
def test_a_typical_command(benchmark: Any) -> None:
    """A change of folder, the tests and a status."""
    seconds(COMMAND)
    benchmark(seconds, COMMAND)
    if not benchmark.disabled:
        limit(benchmark, benchmark.stats.stats.median, 150e-6)


@pytest.mark.benchmark(group="judgement")
def test_a_script_of_some_length(benchmark: Any) -> None:
    """Writing 120 lines of shell and running them."""

    def work() -> None:
        talk = Talk()
        talk.write("a.sh", SCRIPT)
        talk.run("chmod +x a.sh && ./a.sh")

    work()
    benchmark(work)
    if not benchmark.disabled:
        limit(benchmark, benchmark.stats.stats.median, 50e-3)
