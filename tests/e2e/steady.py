# SPDX-License-Identifier: MIT
"""Measurements on a machine that others use, too: each is repeated if the kernel says
that it was disturbed, whatever came out."""

import os
import resource

TICKS = 8  # in the first line of /proc/stat: stolen by the host


def stolen():
    """CPU s, of all CPUs, that the host has given to other machines."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[TICKS]) / os.sysconf("SC_CLK_TCK")


def disturbances():
    """Times that this process has lost its CPU, and CPU s that the host has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw, stolen()


def undisturbed(measure, most=20):
    """measure()'s result of a run in which nobody took a CPU away. If that happens
    every time, it is the last run's result."""
    for _ in range(most):
        before = disturbances()
        result = measure()
        if disturbances() == before:
            break
    return result
