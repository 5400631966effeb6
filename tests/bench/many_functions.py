# SPDX-License-Identifier: MIT
"""A program of 5 000 functions, all of them called again and again from the start,
for the budget's rows: all that goes dark at first, goes dark at once."""

import random

import programs
import pyperf

FUNCTIONS = programs.made_up(5000, random.Random(7))


def call_all():
    for function in FUNCTIONS:
        function()


if __name__ == "__main__":
    runner = pyperf.Runner()
    runner.bench_func("call all", call_all)
