# SPDX-License-Identifier: MIT
"""Measures the cost of events that are far apart. Many functions are called once in each
request, and between two requests other work replaces the contents of the caches. In a
service events are far apart in time, and in a loop they are not."""

import random
import statistics
import sys
import time

import ocular
from figures.record import figure

FUNCTIONS = 300
REQUESTS = 150
SWEPT = (1 << 20, 16 << 20)  # bytes of memory that are written between two requests
TOOL = 5
SOURCE = """
def f{n}(x, y=None):
    z = x + {n}
    if z % 3:
        return z
    return {{"a": z, "b": y}}
"""


def make():
    names = {}
    for n in range(FUNCTIONS):
        exec(compile(SOURCE.format(n=n), "apart", "exec"), names)
    functions = [names[f"f{n}"] for n in range(FUNCTIONS)]
    random.Random(1).shuffle(functions)
    return functions


def run(functions, swept):
    """Returns the median ns of a request, and the ns of CPU time that other threads use for
    a request."""
    here, there, took = bytearray(swept), bytearray(swept), []
    others = time.process_time_ns() - time.thread_time_ns()
    for _ in range(REQUESTS):
        here[:] = there
        begin = time.perf_counter_ns()
        for function in functions:
            function(7)
        took.append(time.perf_counter_ns() - begin)
    others = time.process_time_ns() - time.thread_time_ns() - others
    return statistics.median(took), others / REQUESTS


def with_floor(functions, swept, nothing):
    monitoring = sys.monitoring
    bits = monitoring.events.PY_START, monitoring.events.PY_RETURN
    monitoring.use_tool_id(TOOL, "floor")
    for bit in bits:
        monitoring.register_callback(TOOL, bit, nothing)
    for function in functions:
        monitoring.set_local_events(TOOL, function.__code__, sum(bits))
    result = run(functions, swept)
    for function in functions:
        monitoring.set_local_events(TOOL, function.__code__, 0)
    monitoring.free_tool_id(TOOL)
    return result


def traced(functions, swept):
    with ocular.tracing(
        perfetto=False, deinstrument_threshold=0, quiet=True, include_only=["apart"]
    ):
        run(functions, swept)  # the hooks of the first events are slower than usual
        return run(functions, swept)


def show(rounds, nothing):
    """Prints how much longer a request takes traced than untraced. The values are
    medians over rounds. In each round, all configurations run once."""
    functions = make()
    print(f"\nns per event apart: {FUNCTIONS} functions, each called once a request")
    print(f"{'swept in between':24}{'floor':>8}{'Ocular':>9}{'':>8}{'our threads':>13}")
    for swept in SWEPT:
        rows = []
        for _ in range(rounds):
            bare = run(functions, swept)[0]
            floor = with_floor(functions, swept, nothing)[0]
            own, others = traced(functions, swept)
            rows.append((floor - bare, own - bare, others))
        floor, own, others = (
            statistics.median(each) / (2 * FUNCTIONS) for each in zip(*rows)
        )
        more = f"{own - floor:+8.1f}{others:13.1f}"
        print(f"{swept >> 10:>14} KiB      {floor:8.1f}{own:9.1f}{more}")
        figure(f"bench/apart/{swept >> 10}_KiB/ns", own, unit="ns an event")
        figure(f"bench/apart/{swept >> 10}_KiB/threads_ns", others, unit="ns an event")
    print("targets: floor +30 ns, with our threads +100 ns")
