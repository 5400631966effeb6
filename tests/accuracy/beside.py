# SPDX-License-Identifier: MIT
"""Real programs, traced at the default budget and sampled from outside by py-spy at the
same time: how far are the self shares of all functions from each other?

    beside.py [--programs pylint flask ...] [--busy 2]

Each program runs twice. The distance is half the sum of all differences. The control is
that of py-spy's two runs, and Ocular's two are held against each other, too. (Two py-spys
on one process lose most of their samples: only one at a time can stop it. One that does
not stop it misses what runs for a microsecond.) A program that always does the same also
runs under cProfile, whose counts are the truth about the estimated calls that are shown.
--busy: so many other programs want the CPUs meanwhile.

Needs $OCULAR_BENCHMARKS, as `make figures ARGS='--only beside'` has it."""

import argparse
import collections
import contextlib
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from figures.record import figure, recording  # noqa: E402

BIN = Path(os.environ.get("OCULAR_BENCHMARKS", "")) / "bin"
TOP = os.environ.get("OCULAR_TOP", "ocular-top")
HZ = 200
VIEWER_S = 4  # between two looks of a viewer
SERVED_S = 25
SURE = 0.125  # of an estimate's standard deviation: it is shown
ALLOWED = 0.1  # over the distance of two py-spys
AMONG = 8  # of ours, four of theirs:
FIVE = 5
CALLS = 0.25

SERVERS = str(HERE.parent / "figures" / "servers.py")


def packages(name):
    (found,) = BIN.parent.glob(f"lib/python*/site-packages/{name}")
    return str(found)


# Name -> (its arguments; whether it does the same each time).
def programs():
    click = packages("click")
    return {
        "pylint": (
            ["-m", "pylint", "--jobs=1", click],
            True,
        ),
        "orm": ([str(HERE / "real" / "orm.py"), "250"], True),
        "django": ([str(HERE / "real" / "pages.py"), "2500"], True),
        "pytest": (
            ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs"]
            + [f"networkx.{part}" for part in ("classes", "readwrite", "generators")],
            False,
        ),
        "flask": ([SERVERS, "flask", "PORT"], False),
    }


class Program:
    """A program that waits for an order to begin."""

    def __init__(self, kind, arguments, folder):
        self.out = folder / f"{kind}.json"
        self.port = None
        if "PORT" in arguments:
            self.port = str(20000 + os.getpid() % 20000)
            arguments = [self.port if each == "PORT" else each for each in arguments]
        environment = {**os.environ, "PYTHONHASHSEED": "1"}
        if kind != "traced":
            environment["PYTHONPATH"] = ""
        self.process = subprocess.Popen(
            [BIN / "python", HERE / "beside_child.py", kind, self.out, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            text=True,
        )
        self.heard("ready")

    def heard(self, word):
        line = self.process.stdout.readline()
        if line.strip() != word:
            raise SystemExit(f"{self.process.args}: {line!r}, not {word}")

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def run(self):
        self.go_on()
        if self.port:
            with asked(self.port):
                time.sleep(SERVED_S)
            self.process.terminate()
        self.heard("over")

    def result(self):
        self.go_on()
        self.process.wait()
        return json.loads(self.out.read_text()) if self.out.exists() else None


@contextlib.contextmanager
def asked(port):
    client = subprocess.Popen(
        [BIN / "python", SERVERS, "client", port],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        client.stdin.close()
        client.wait()


class PySpy:
    def __init__(self, pid, folder, number):
        self.path = folder / f"py-spy.{number}"
        command = [BIN / "py-spy", "record", "--format", "raw"]
        command += ["--function", "--rate", str(HZ), "--duration", "600"]
        self.process = subprocess.Popen(
            [*command, "--output", self.path, "--pid", str(pid)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in self.process.stdout:
            if "Sampling process" in line:
                break

    def shares(self):
        """{(function, file): share of the samples in which it is innermost}."""
        self.process.send_signal(2)
        self.process.communicate()
        found = collections.Counter()
        for line in self.path.read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            name, _, file = stack.rpartition(";")[2].partition(" (")
            if name:  # else it read a frame that had just gone
                found[key(name, re.sub(r":\d+\)$", "", file))] += int(count)
        return shares_of(found)


def key(name, file):
    """py-spy has the last part of a name, and of a file's what is below sys.path."""
    return re.sub(r".*\.", "", name), os.path.basename(file)


def shares_of(found):
    # The script that runs the program is left out.
    found = {each: n for each, n in found.items() if each[1] != "beside_child.py"}
    total = sum(found.values())
    return {each: n / total for each, n in found.items()}


def ours(result):
    found = collections.Counter()
    for name, file, share, *_ in result["functions"]:
        found[key(name, file)] += share or 0
    return shares_of(found)


def distance(a, b):
    return sum(abs(a.get(each, 0) - b.get(each, 0)) for each in a.keys() | b.keys()) / 2


def first(shares, count):
    return sorted(shares, key=shares.get, reverse=True)[:count]


def calls_off(result, truth):
    """[(by how much an estimate that is shown is off, whose it is)]"""
    known = collections.Counter()
    for name, file, calls in truth:
        known[key(name, file)] += calls
    rows = collections.Counter(key(name, file) for name, file, *_ in result["functions"])
    return [
        (abs(calls / known[key(name, file)] - 1), name)
        for name, file, _, calls, error in result["functions"]
        if calls is not None and error is not None and error <= SURE
        if known[key(name, file)] and rows[key(name, file)] == 1
    ]


@contextlib.contextmanager
def viewed(pid):
    over = threading.Event()

    def look():
        while not over.wait(VIEWER_S):
            subprocess.run(
                [TOP, "--pid", str(pid), "--once"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def once(kind, arguments, folder, spies):
    """(what it says, what each of the py-spys says)."""
    program = Program(kind, arguments, folder)
    pid = program.process.pid
    try:
        beside = [PySpy(pid, folder, number) for number in range(spies)]
        with viewed(pid) if kind == "traced" else contextlib.nullcontext():
            program.run()
        return program.result(), [each.shares() for each in beside]
    finally:
        program.process.kill()


def judge(name, arguments, same, folder):
    results, theirs = [], []
    for _ in range(2):
        result, (shares,) = once("traced", arguments, folder, 1)
        results.append(result)
        theirs.append(shares)
    row = {
        "program": name,
        "cpu_s": results[0]["cpu_s"],
        "samples": results[0]["samples"],
        "overhead": max(result["overhead"] for result in results),
        "distance": max(
            distance(ours(result), shares) for result, shares in zip(results, theirs)
        ),
        "control": distance(*theirs),
        "runs": distance(*map(ours, results)),
        "five": min(
            len(set(first(shares, FIVE)) & set(first(ours(result), AMONG)))
            for result, shares in zip(results, theirs)
        ),
        "calls": [],
        "shares": [
            [*each, ours(results[0]).get(each, 0), theirs[0].get(each, 0)]
            for each in first(theirs[0], FIVE)
        ],
    }
    if same:
        truth, _ = once("counted", arguments, folder, 0)
        row["calls"] = sorted(calls_off(results[0], truth) + calls_off(results[1], truth))
    return row


def misses(row):
    found = []
    if row["distance"] > row["control"] + ALLOWED:
        found.append("distance")
    if row["five"] < FIVE - 1:
        found.append("top")
    if row["calls"] and row["calls"][-1][0] > CALLS:
        found.append(f"calls of {row['calls'][-1][1]}")
    return ", ".join(found) or "-"


def show(row, words):
    calls = [off for off, _ in row["calls"]] or [math.nan]
    print(
        f"| {row['program']} | {row['cpu_s']:.0f} s | {row['samples']} "
        f"| {row['distance']:.3f} | {row['control']:.3f} | {row['runs']:.3f} "
        f"| {row['five']} "
        f"| {statistics.median(calls):.0%}, {max(calls):.0%} of {len(row['calls'])} "
        f"| {row['overhead']:.1%} | {misses(row)} |",
        flush=True,
    )
    if words:
        for name, file, own, their in row["shares"]:
            print(f"      {own:6.1%} {their:6.1%}  {name} ({file})", flush=True)


def record(row, busy):
    name = f"beside/{row['program']}" + ("/busy" if busy else "")
    figure(f"{name}/distance", row["distance"] - row["control"], spread=0.05)
    figure(f"{name}/top_five", row["five"], better="higher", spread=1)
    if row["calls"]:
        figure(f"{name}/calls", 100 * row["calls"][-1][0], unit="%")


@contextlib.contextmanager
def busy(count):
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)
    ]
    try:
        yield
    finally:
        for each in others:
            each.kill()
            each.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", nargs="+", metavar="NAME")
    parser.add_argument("--busy", type=int, default=0, metavar="N")
    parser.add_argument("--words", action="store_true", help="the leaders' shares, too")
    parser.add_argument("--strict", action="store_true", help="exit status 1 at a miss")
    options = parser.parse_args()
    if not (BIN / "py-spy").exists():
        raise SystemExit("`make figures ARGS='--only beside'` installs the programs")
    known = programs()
    rows = []
    print(
        "| program | CPU | samples | distance | py-spy's two runs | our two runs "
        "| their 5 in our 8 | calls off | reported | misses |\n" + 10 * "|---" + "|"
    )
    with busy(options.busy):
        for name in options.programs or known:
            with tempfile.TemporaryDirectory() as folder:
                rows.append(judge(name, *known[name], Path(folder)))
            show(rows[-1], options.words)
            record(rows[-1], options.busy)
    missed = any(misses(row) != "-" for row in rows)
    return options.strict and missed and not recording()


if __name__ == "__main__":
    raise SystemExit(main())
