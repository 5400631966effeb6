# SPDX-License-Identifier: MIT
"""Measures how much CPU time Ocular's threads use if many functions are known, but only few
of them run. The CPU time should depend on the functions that run, and not on the number of
known functions. To run the test by hand and to see a table:

pytest -s tests/figures/test_known.py

test_known.py KNOWN RUNNING serve|trace is the program. Each of the known functions is
called once after tracing has begun. Then the program prints "ready". The program uses a
quarter of a core.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import ocular
import pytest

RUNNING = 300
WARM_S = 15
SECONDS = 30
THREADS = ("collect", "server", "governor", "sampler")


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
BUSY_S = 0.0025  # seconds of CPU time in each iteration of the loop


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


# --- The measurement ------------------------------------------------------------------


def cpu_ns(pid):
    """Returns {name of a thread of Ocular: ns of CPU time}."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        ns = int((task / "schedstat").read_text().split()[0])
        found[name] = found.get(name, 0) + ns
    return {name: found.get(f"ocular-{name}", 0) for name in THREADS}


def measure(pid):
    """Returns the ms of CPU time that each of Ocular's threads uses in a second."""
    time.sleep(WARM_S)
    before, began = cpu_ns(pid), time.monotonic()
    time.sleep(SECONDS)
    after, took = cpu_ns(pid), time.monotonic() - began
    return {name: (after[name] - before[name]) / 1e6 / took for name in THREADS}


def run(known, viewer):
    how = "serve" if viewer else "trace"
    command = [sys.executable, __file__, str(known), str(RUNNING), how]
    top = None
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            if viewer:
                top = subprocess.Popen(
                    [os.environ["OCULAR_TOP"], "--pid", str(program.pid), "--batch"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
                program.stdout.readline()
            return measure(program.pid)
        finally:
            if top:
                top.kill()
                top.wait()
            program.kill()


@pytest.mark.parametrize("viewer", [True, False], ids=["viewer", "alone"])
@pytest.mark.parametrize("known", [1600, 20_000])
def test_known(sockets, figure, known, viewer):
    took = run(known, viewer)
    words = ", ".join(f"{name} {ms:.2f}" for name, ms in took.items())
    print(f"\n{known} known, {RUNNING} run: {words}; all {sum(took.values()):.2f} ms a s")
    figure("all threads", sum(took.values()), unit="ms/s")


if __name__ == "__main__":
    main(*sys.argv[1:])
