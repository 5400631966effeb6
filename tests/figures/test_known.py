# SPDX-License-Identifier: MIT
"""Measures how much CPU time Ocular's threads use if many functions are known, but only few
of them run. The CPU time should depend on the functions that run, and not on the number of
known functions. To run the test by hand and to see a table:

pytest -s tests/figures/test_known.py
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("known.py")
RUNNING = 300
WARM_S = 15
SECONDS = 30
THREADS = ("collect", "server", "governor", "sampler")


def cpu_ns(pid):
    """Returns {name of a thread of Ocular: ns of CPU time}."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        ns = int((task / "schedstat").read_text().split()[0])
        found[name] = found.get(name, 0) + ns
    return {name: found.get(f"ocular-{name}", 0) for name in THREADS}


def measure(pid):
    """Returns {name of a thread of Ocular: ms of CPU time a second}."""
    time.sleep(WARM_S)
    before, began = cpu_ns(pid), time.monotonic()
    time.sleep(SECONDS)
    after, took = cpu_ns(pid), time.monotonic() - began
    return {name: (after[name] - before[name]) / 1e6 / took for name in THREADS}


def run(known, viewer):
    how = "serve" if viewer else "trace"
    command = [sys.executable, str(PROGRAM), str(known), str(RUNNING), how]
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
