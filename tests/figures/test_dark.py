# SPDX-License-Identifier: MIT
"""Measures the estimated numbers of calls of dark code. These estimates depend on the share
of the code in the CPU time."""

import time

import ocular
from e2e.counting import row


def work(n):
    return sum(range(n))


def test_calls_of_hot_dark_code(figure):
    ocular.start_tracing(perfetto=False, quiet=True, deinstrument_threshold=200, serve=True)
    try:
        began, calls = time.monotonic(), 0
        while time.monotonic() < began + 6:
            for _ in range(50):
                work(3000)
            calls += 50
        seconds = time.monotonic() - began
        mine = row(ocular.snapshot(), "work")
    finally:
        ocular.stop_tracing()
    assert mine["calls"] < calls / 4 and not mine["calls_exact"]
    figure("calls, estimated/made", mine["calls_estimated"] / calls, "nearer", goal=1)
    rate = mine["calls_per_s"] * seconds / calls
    figure("rate, reported/true", rate, "nearer", goal=1)
