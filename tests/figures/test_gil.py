# SPDX-License-Identifier: MIT
"""Compares the time in which a thread waits for the GIL with the kernel's clocks."""

from python.test_gil import NEAR, traced_calls


def test_the_time_of_a_c_call_counts_for_its_caller():
    traced_calls(lambda asleep: asleep - NEAR, lambda asleep: asleep + NEAR)
