# SPDX-License-Identifier: MIT
"""Runs each measuring program once for a few seconds. The bounds are so wide that they hold
on any machine, but a test fails if the feature that it measures is switched off.
tests/figures measures the exact figures."""

import time

import ocular
from e2e.counting import row
from e2e.program import SLOW, wait_until

TRACED = {"include_only": ["test_smoke"]}


def tiny(number):
    return number


def calls(count=2000):
    for number in range(count):
        tiny(number)


# --- Overhead -----------------------------------------------------------------------


def test_overhead(tracing):
    """Checks the measured cost of a hook and the reported overhead of all hooks."""
    began = time.process_time()
    tracing(deinstrument_threshold=0)
    enter, leave, jump, _, far = ocular._ocular.hook_cost()
    assert enter + leave > 0 and jump > 0 and far >= 0
    for _ in range(100):
        calls()
        sum(range(100_000))  # takes time in which no hook is called
    seen = ocular.snapshot()
    used = time.process_time() - began
    overhead = seen["overhead"]
    assert overhead["measured"] > 0 and overhead["hooks"] > 0
    spent = used * overhead["mean"] / (1 + overhead["mean"])
    events = seen["events"]
    assert events > 100 * 2000 * 3  # Each round has 3 events.
    assert 1 < 1e9 * spent / events < 1000


def test_the_budget(tracing):
    """The budget holds for hot tiny functions, even if none reaches the threshold."""
    names = {}
    for number in range(30):
        exec(compile(f"def f{number}(): pass", "test_smoke", "exec"), names)
    functions = [names[f"f{number}"] for number in range(30)]

    def work():
        for _ in range(20_000):
            for function in functions:
                function()

    def is_dark():
        work()
        seen = ocular.snapshot()
        states = [row(seen, f"f{number}")["state"] for number in range(30)]
        known = seen["overhead"]["mean"] is not None
        return known and states.count("armed") < 10

    def spent():
        """Returns the reported CPU seconds of tracing, and those of the program itself."""
        mean = ocular.snapshot()["overhead"]["mean"]
        used = (time.process_time() - began) / (1 + mean)
        return used * mean, used

    began = time.process_time()
    tracing(overhead_budget=0.01, deinstrument_threshold=10**9)
    wait_until(is_dark, SLOW)
    before, begin = spent(), time.monotonic()
    while spent()[1] < before[1] + 0.5:
        work()
    taken, used = (now - then for now, then in zip(spent(), before, strict=True))
    # A program that gets less than a fifth of a core counts as using a fifth.
    assert taken / max(used, 0.2 * (time.monotonic() - begin)) < 0.1
