# SPDX-License-Identifier: MIT
"""Compares the cycles of single instructions in precise mode with the time of the same
calls when untraced. A ratio of 1 would be ideal."""

import statistics
import time

import ocular
from python.test_precise import long, mixture

TRACED = {"mode": "precise", "deinstrument_threshold": 0}
TIMES = 3  # number of measurements, of which the median is the figure
NUMBERS = list(range(3000))


def calls_c(numbers):
    """Spends nearly all of its time in one CALL instruction."""
    sum(numbers)


def empty(x):
    pass


def repeat(function, times, argument):
    for _ in range(times):
        function(argument)


def least(function, argument, times=30, rounds=60):
    """Returns the shortest time of an untraced call in a loop, in ns."""
    results = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        repeat(function, times, argument)
        results.append((time.perf_counter_ns() - start) / times)
    return min(results)


def rows_of(function):
    return [
        row
        for row in ocular._ocular.detail(function.__code__) or ()
        if row["site"] and row["cycles"] is not None and row["opcode"] != "RESUME"
    ]


def spent(function, opcode=None):
    """Returns the cycles that were measured so far, either for the instructions with one
    opcode or for all instructions."""
    return sum(
        row["cycles"] * row["hits"]
        for row in rows_of(function)
        if opcode in (None, row["opcode"])
    )


def cheapest(function, times, argument, rounds, opcode=None):
    """Returns the cycles of one call in the fastest of `rounds` rounds."""
    best, before = [], spent(function, opcode)
    for _ in range(rounds):
        repeat(function, times, argument)
        after = spent(function, opcode)
        best.append((after - before) / times)
        before = after
    return min(best)


def medians(measure):
    return [statistics.median(each) for each in zip(*(measure() for _ in range(TIMES)))]


def test_precise_time_in_c(tracing, figure):
    """The time of a C function belongs to the CALL instruction that calls it."""

    def measure():
        truth = least(calls_c, NUMBERS, times=5, rounds=150)
        tracing()
        call = cheapest(calls_c, 5, NUMBERS, 150, "CALL")
        others = sum(r["cycles"] for r in rows_of(calls_c) if r["opcode"] != "CALL")
        return call / ocular.stop_tracing()["tsc_hz"] * 1e9 / truth, others / call

    call, others = medians(measure)
    figure("CALL", call, "nearer", goal=1)
    figure("other instructions/CALL", others)


def test_precise_mixture(tracing, figure):
    """If Ocular did not subtract the cost of the hooks, the result would be about twice as
    large."""

    def measure():
        truth = least(mixture, 1.5) - least(empty, 1.5)
        tracing()
        cycles = cheapest(mixture, 30, 1.5, 60)
        return (cycles / ocular.stop_tracing()["tsc_hz"] * 1e9 / truth,)

    figure("", medians(measure)[0], "nearer", goal=1)


def test_precise_far_instructions(tracing, figure):
    """From offset 256 on, CPython makes an object for each event. Ocular subtracts this
    cost, so instructions beyond offset 256 take as many cycles as instructions before
    it."""

    def measure():
        tracing()
        repeat(long, 20, 20)
        near, far = [], []
        for mine in rows_of(long):
            if mine["opcode"] == "STORE_FAST" and mine["hits"] > 100:
                (near if mine["offset"] <= 256 else far).append(mine["cycles"])
        cost = ocular._ocular.hook_cost()
        ocular.stop_tracing()
        assert len(near) > 10 and len(far) > 200
        assert cost[3] > 0 and cost[4] > 0
        return (statistics.median(far) - statistics.median(near),)

    figure("far less near", medians(measure)[0], "nearer", unit="cycles", goal=0)
