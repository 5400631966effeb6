# SPDX-License-Identifier: MIT
"""A program with 5 000 functions, for the benchmark of the budget. All functions are called
many times from the start, and lose their hooks at the same time."""

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
