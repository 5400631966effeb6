# SPDX-License-Identifier: MIT
"""Compares the cycles of a call with the time of the same call when untraced, while other
threads and programs run. A ratio of 1 would be ideal. tests/accuracy/accuracy.py measures
single functions."""

import gc
import os
import statistics
import subprocess
import sys
import threading
import time

import pytest
from e2e.counting import row, traced
from python.test_cycles import in_c, repeat


def timed(function, *arguments, times=300):
    """Returns the shortest time and the median time of an untraced call, in ns."""
    clock = time.perf_counter_ns
    results = []
    for _ in range(times):
        start = clock()
        function(*arguments)
        results.append(clock() - start)
    return min(results), statistics.median(results)


def test_cycles_beside_another_thread(figure):
    """The time in which a thread waits for other threads does not count for the thread."""
    stop, spun = threading.Event(), [0.0]

    def hog():
        while not stop.is_set():
            spun[0] = time.thread_time()

    def worker():
        """Returns the CPU seconds that the other thread has used."""
        first, calls, limit = spun[0], 0, time.monotonic() + 20
        while calls < 1000 or (
            spun[0] < first + 0.2 and time.monotonic() < limit
        ):  # the other thread has had the GIL 40 times
            in_c()
            calls += 1
        return spun[0] - first

    gc.collect()
    thread = threading.Thread(target=hog)
    thread.start()
    try:
        others, final = traced(worker)
    finally:
        stop.set()
        thread.join()
    mine, ns = row(final, "in_c"), 1e9 / final["tsc_hz"]
    least, _ = timed(in_c)
    waited = mine["waited_cycles"] + row(final, "worker")["waited_cycles"]
    # A switch between the threads takes 5 ms, and a call takes a hundredth of this.
    figure("p99/alone", (mine["p99_cycles"] or 0) * ns / least)
    figure("waited/had by the other", waited * ns / (1e9 * others), "nearer", goal=1)


def long_in_c():
    """A call of this function takes about 500 us in one C function."""
    sum(MANY)


MANY = range(50000)


def share_a_cpu(seconds):
    """Returns (wall-clock s, CPU s) of the calls. A third of the calls run while no other
    program uses the CPU. The other calls run while another program spins on the same
    CPU."""
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
    alternately, for some milliseconds each. A call takes half a millisecond if it has
    the CPU all the time, and up to five milliseconds if it has not."""
    (wall, cpu), results = traced(share_a_cpu, 1)
    if wall < 1.2 * cpu:
        pytest.skip("nothing else ran on this CPU")
    self_s = row(results, "long_in_c")["self_cycles"] / results["tsc_hz"]
    figure("self/CPU time", self_s / cpu, "nearer", goal=1)
