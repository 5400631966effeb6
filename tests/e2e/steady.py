# SPDX-License-Identifier: MIT
"""Measures times on a machine on which other programs run, too. If the kernel's
counters show that a measurement was disturbed, the measurement is repeated, whatever
its result is."""

import os
import resource

# index of the stolen ticks in the first line of /proc/stat
TICKS = 8


def stolen():
    """Returns the CPU seconds that the host of this virtual machine has given to other
    machines, summed over all CPUs."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[TICKS]) / os.sysconf("SC_CLK_TCK")


def disturbances():
    """Returns how often this process has lost its CPU, and how many CPU seconds the host
    has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw, stolen()


def undisturbed(measure, most=20):
    """Calls measure() until this process has not lost a CPU during a call, and returns the
    result of this call. If every call was disturbed, returns the result of the last
    call."""
    for _ in range(most):
        before = disturbances()
        result = measure()
        if disturbances() == before:
            break
    return result
