# SPDX-License-Identifier: MIT
"""The program on which docs/comparison.md compares profilers. One thread runs a loop over
several functions, and the share of each function is known. Another thread sleeps.

service.py [--truth FILE] measures the true shares by its own clocks, and writes them every
five seconds (to stderr by default)."""

import argparse
import itertools
import json
import sys
import threading
import time

TEXT = json.dumps(
    [{"id": n, "name": "x" * (n % 40), "tags": ["a", "b"]} for n in range(400)]
)
SPINS = 40_000  # takes about 4 ms
PARTS = ("spin", "parse", "many_calls", "unstable", "keep")


def spin(times):
    n = 0
    while n < times:
        time.perf_counter()
        n += 1


def parse(text):
    return json.loads(text)


def small(value):
    return value + 1


def many_calls():
    total = 0
    for n in range(20_000):
        total = small(total)
    return total


def add(values):
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def unstable(round_):
    values = list(range(500)) if round_ % 2 else [n / 2 for n in range(500)]
    for _ in range(20):
        add(values)


def keep(store, n):
    store[n % 50] = bytearray(200_000)


class Truth:
    """The times of each function, in the last five seconds. These are wall-clock times. If
    a thread asked for its CPU time, the kernel might give the CPU to another thread at this
    moment, and samplers would find the thread at this call too often."""

    def __init__(self, file):
        self.file = file
        self.begin()

    def begin(self):
        self.spent = dict.fromkeys(PARTS, 0.0)
        self.rounds = 0
        self.began, self.cpu = time.monotonic(), time.process_time()
        self.last = time.perf_counter()

    def lap(self, part):
        now = time.perf_counter()
        self.spent[part] += now - self.last
        self.last = now

    def end_round(self):
        self.rounds += 1
        seconds = time.monotonic() - self.began
        if seconds < 5:
            return
        print(
            f"{(time.process_time() - self.cpu) / seconds:.1%} of a core; "
            f"{self.rounds / seconds:.1f} rounds a second; {shares(self.spent)}",
            file=self.file,
            flush=True,
        )
        self.begin()


def shares(spent):
    total = sum(spent.values()) or 1
    return ", ".join(f"{part} {value / total:.1%}" for part, value in spent.items())


def work(truth):
    store = {}
    for n in itertools.count():
        spin(SPINS)
        truth.lap("spin")
        for _ in range(8):
            parse(TEXT)
        truth.lap("parse")
        many_calls()
        truth.lap("many_calls")
        unstable(n)
        truth.lap("unstable")
        keep(store, n)
        truth.lap("keep")
        truth.end_round()


def wait():
    while True:
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--truth", type=argparse.FileType("a"), default=sys.stderr)
    options = parser.parse_args()
    threading.Thread(target=wait, name="waiter", daemon=True).start()
    work(Truth(options.truth))


if __name__ == "__main__":
    main()
