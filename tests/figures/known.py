# SPDX-License-Identifier: MIT
"""Runs a program that has many functions and calls few of them. The program uses a quarter
of a core.

known.py KNOWN RUNNING serve|trace

Each of the known functions is called once after tracing has begun. Then the program prints
"ready"."""

import sys
import time

import ocular

FUNCTION = """
def f{0}(count):
    total = 0
    for number in range(count):
        if number & 1:
            total += number
        else:
            total -= 1
    return total
"""
MODULE = 500  # functions per module
TURN_S = 0.01
BUSY_S = 0.0025  # seconds of CPU time in each turn of the loop


def make(count):
    space = {}
    for first in range(0, count, MODULE):
        text = "".join(FUNCTION.format(n) for n in range(first, min(first + MODULE, count)))
        exec(compile(text, f"/made/module_{first // MODULE}.py", "exec"), space)
    return [space[f"f{n}"] for n in range(count)]


def work(functions):
    end = time.thread_time() + BUSY_S
    while time.thread_time() < end:
        for function in functions:
            function(20)


def main(known, running, how):
    functions = make(int(known))
    if how == "serve":
        ocular.serve()
        print("serves", flush=True)
        while not ocular.is_tracing():
            time.sleep(0.05)
    else:
        ocular.start_tracing(overhead_budget=0.01, perfetto=False)
    for function in functions:
        function(1)
    print("ready", flush=True)
    step = int(known) // int(running)
    while True:
        work(functions[::step])
        time.sleep(TURN_S - BUSY_S)


if __name__ == "__main__":
    main(*sys.argv[1:])
