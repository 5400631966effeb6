# SPDX-License-Identifier: MIT
"""Measurements on a machine that others use, too: they are taken again where it
can be told that they were disturbed, whatever came out."""

import os
import resource
import time

TICKS = 8  # in the first line of /proc/stat: stolen by the host


def stolen():
    """CPU s, of all CPUs, that the host has given to other machines."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[TICKS]) / os.sysconf("SC_CLK_TCK")


def disturbances():
    """How often this process has lost its CPU, and what the host has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw, stolen()


def undisturbed(measure, most=20):
    """What measure() returns where nobody took a CPU away meanwhile; if that
    happens every time, what it returned last."""
    for _ in range(most):
        before = disturbances()
        result = measure()
        if disturbances() == before:
            break
    return result


def yardstick():
    """Seconds that the same work takes: the least of many."""
    least = 1.0
    for _ in range(200):
        began, n = time.perf_counter(), 1000
        while n:
            n -= 1
        least = min(least, time.perf_counter() - began)
    return least


def attempts(count, check, most=30, seconds=60):
    """A busy machine may spoil one try, not all. One during which it has changed
    its speed, or others had a hundredth of a CPU, does not count where it
    fails. None is begun after so many seconds."""
    failed, limit = 0, time.monotonic() + seconds
    for turn in range(most):
        before, taken, began = yardstick(), stolen(), time.monotonic()
        try:
            return check()
        except AssertionError:
            failed += abs(yardstick() / before - 1) < 0.05 and stolen() - taken < 0.01 * (
                time.monotonic() - began
            )
            if failed == count or turn == most - 1 or time.monotonic() > limit:
                raise
            time.sleep(0.3)
