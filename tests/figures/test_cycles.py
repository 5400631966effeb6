# SPDX-License-Identifier: MIT
"""Compares the cycles of a call with the time of the same call when untraced, while another
program runs. A ratio of 1 would be ideal. tests/accuracy/accuracy.py measures single
functions."""

import os
import subprocess
import sys
import time

import pytest
from e2e.counting import row, traced
from python.test_cycles import repeat


def long_in_c():
    """A call of this function takes about 500 us in one C function."""
    sum(MANY)


MANY = range(50000)


def share_a_cpu(seconds):
    """Calls long_in_c() repeatedly, and returns the wall-clock seconds and the CPU seconds
    of all calls together. A third of the calls run while no other program uses the CPU. The
    other calls run while another program spins on the same CPU."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    cpu = time.thread_time()
    while time.thread_time() < cpu + seconds / 3:
        repeat(long_in_c, 20)
    other = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
    try:
        wall = time.perf_counter() - (time.thread_time() - cpu)
        while time.thread_time() < cpu + seconds:
            repeat(long_in_c, 20)
        return time.perf_counter() - wall, time.thread_time() - cpu
    finally:
        other.kill()
        other.wait()
        os.sched_setaffinity(0, cpus)


def test_time_that_another_program_had_the_cpu_is_nobodys(figure):
    """While another program spins on the same CPU, the two processes use the CPU
    alternately, for some milliseconds each. A call takes half a millisecond with the CPU
    all the time, and otherwise up to five milliseconds."""
    (wall, cpu), results = traced(share_a_cpu, 1)
    if wall < 1.2 * cpu:
        pytest.skip("nothing else ran on this CPU")
    self_s = row(results, "long_in_c")["self_cycles"] / results["tsc_hz"]
    figure("self/CPU time", self_s / cpu, "nearer", goal=1)
