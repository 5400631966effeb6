# SPDX-License-Identifier: MIT
"""Measures on a machine that others also use. If the kernel says that a measurement was
disturbed, the measurement is repeated, whatever its result."""

import os
import resource

# position of the stolen ticks in the first line of /proc/stat
TICKS = 8


def stolen():
    """Returns the CPU seconds that the host has given to other machines, summed over all
    CPUs."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[TICKS]) / os.sysconf("SC_CLK_TCK")


def disturbances():
    """Returns how often this process has lost its CPU, and the CPU seconds that the
    host has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw, stolen()


def undisturbed(measure, most=20):
    """Runs measure() until this process has not lost a CPU during a run, and returns the
    result of this run. If every run was disturbed, returns the result of the last run."""
    for _ in range(most):
        before = disturbances()
        result = measure()
        if disturbances() == before:
            break
    return result
