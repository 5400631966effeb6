# SPDX-License-Identifier: MIT
"""Measurements on a machine that others use, too: they are taken again where it
can be told that they were disturbed, whatever came out."""

import os
import resource

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
