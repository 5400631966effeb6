# SPDX-License-Identifier: MIT
"""Compares the time in which a thread waits for the GIL and the shares of functions with
the kernel's clocks, and the shares of the GIL with those of Tachyon, the sampling profiler
of CPython 3.15."""

import json
import re
import subprocess
import sys
import time

from e2e.program import PYTHON, Running, wait_until
from python.test_gil import NEAR, traced_calls

SECONDS = 40
HZ = "500"


def test_the_time_of_a_c_call_counts_for_its_caller():
    traced_calls(lambda asleep: asleep - NEAR, lambda asleep: asleep + NEAR)


# Each of four threads computes for 12 ms and then sleeps for a time of its own. For each
# line on stdin, the program prints the threads' times.
DUTIES = """
import json, ocular, os, sys, threading, time
from pathlib import Path
SLEEPS_MS = 0, 4, 12, 30
times = {}
def clocks():
    ready = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
    return time.monotonic(), time.thread_time(), int(ready.read_text().split()[1]) / 1e9
def make(ms):
    def duty():
        begin, asleep = clocks(), 0
        while True:
            end = time.thread_time() + 0.012
            while time.thread_time() < end:
                for _ in range(200):
                    pass
            if ms:
                time.sleep(ms / 1e3)
                asleep += ms / 1e3
            wall, cpu, ready = (b - a for a, b in zip(begin, clocks()))
            times[name] = dict(wall=wall, cpu=cpu, waits=wall - cpu - ready - asleep)
    name = f"duty_{ms}"
    duty.__code__ = duty.__code__.replace(co_qualname=name)
    return threading.Thread(target=duty, name=name, daemon=True)
ocular.start_tracing(quiet=True, perfetto=False, overhead_budget=0.01)
for ms in SLEEPS_MS:
    make(ms).start()
print(os.getpid(), flush=True)
for _ in sys.stdin:
    now = ocular.snapshot()
    shares = {row["name"]: row["run_share"] for row in now["functions"]}
    print(json.dumps({
        row["name"]: {**times[row["name"]], "ours": row, "share": shares[row["name"]]}
        for row in now["threads"] if row["name"] in times.keys() & shares.keys()
    }), flush=True)
"""


def parts(numbers):
    """Returns each number as a percentage of the sum of all numbers."""
    whole = sum(numbers.values())
    return {name: 100 * number / whole for name, number in numbers.items()}


def furthest(ones, others):
    return max(abs(ones[name] - others[name]) for name in ones)


def tachyon(pid, path):
    """Returns for each thread the number of Tachyon's samples in which it had the GIL."""
    command = [PYTHON, "-m", "profiling.sampling", "attach", "--all-threads"]
    command += ["--mode", "gil", "-r", HZ, "-d", str(SECONDS), "--collapsed", "-o", path]
    out = subprocess.DEVNULL
    subprocess.run([*command, str(pid)], stdout=out, stderr=out, check=True)
    samples = {}
    for line in path.read_text().splitlines():
        stack, count = line.rsplit(" ", 1)
        if name := re.search(r"duty_\d+", stack):
            samples[name[0]] = samples.get(name[0], 0) + int(count)
    return samples


def test_threads_of_known_duty(tmp_path, figure):
    def ask():
        program.process.stdin.write("\n")
        program.process.stdin.flush()
        return json.loads(program.process.stdout.readline())

    def begun():
        now = ask().values()
        return len(now) == 4 and all(
            row["share"] and row["ours"]["gil_wait_s"] is not None for row in now
        )

    with Running(tmp_path, DUTIES) as program:
        wait_until(begun)
        before, samples = ask(), None
        if sys.version_info >= (3, 15):
            samples = tachyon(program.pid, tmp_path / "stacks")
        else:
            time.sleep(SECONDS)
        after = ask()

    def since(value):
        return {name: value(after[name]) - value(before[name]) for name in after}

    wall = since(lambda row: row["wall"])
    cpu = parts(since(lambda row: row["cpu"]))
    held = parts(since(lambda row: row["ours"]["gil_held_s"]))
    waits, ours = (
        {name: 100 * s / wall[name] for name, s in since(value).items()}
        for value in (lambda row: row["waits"], lambda row: row["ours"]["gil_wait_s"])
    )
    print(f"\nhas the GIL: {held}, true {cpu}, Tachyon {samples and parts(samples)}")
    print(f"waits for it: {ours}, true {waits}")
    figure("worst share of the GIL", furthest(held, cpu), unit="points")
    shares, used = (
        parts({name: row[what] for name, row in after.items()}) for what in ("share", "cpu")
    )
    figure("worst share", furthest(shares, used), unit="points")
    figure("worst share of waits", furthest(ours, waits), unit="points")
    if samples:
        figure("worst against Tachyon", furthest(held, parts(samples)), unit="points")
