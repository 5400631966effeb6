# SPDX-License-Identifier: MIT
"""`make bench ARGS=--budget` runs pyperformance's benchmarks untraced and traced, while a
viewer watches. Is the budget held by programs that use a whole core? Is the cost reported?

Two processes that are forked from one process work alternately (A B A B). While one works,
the other one is stopped, together with Ocular's threads in it. Each traced turn is compared
with the untraced turns around it. A ratio that deviates by more than a tenth from the
median is left out, because the machine has changed its speed. If more large than small
ratios are left out, Ocular costs bursts of time. Each process is traced in one half of a
run, so the mean does not contain the difference between the two processes. With a budget of
0 nothing is traced, and the ratio shows the error of this method."""

import argparse
import ctypes
import glob
import json
import math
import multiprocessing
import os
import random
import runpy
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import ocular
from figures.record import figure

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = """richards deltablue nbody chaos raytrace go hexiom float fannkuch generators
    json_dumps json_loads pickle logging unpack_sequence regex_compile async_tree
    many_functions""".split()
ARGUMENTS = {"pickle": ["--pure-python", "pickle"], "async_tree": ["none"]}
# tolerated excess over the budget, and error of the reported overhead in points
ALLOWED, KNOWN = 0.01, 0.5
TURN, WINDOW = 0.05, 10  # s of a turn at least, and of the overhead in a snapshot
FORK = multiprocessing.get_context("fork")


def load(name):
    """Returns the jobs of a benchmark: functions, and numbers of loops for one turn."""
    place = f"{os.environ['OCULAR_BENCHMARKS']}/lib/python*/site-packages/pyperformance"
    found = glob.glob(f"{place}/data-files/benchmarks/bm_{name}/run_benchmark.py")
    script = found[0] if found else f"{HERE}/{name}.py"
    sys.argv = [script, *ARGUMENTS.get(name, [])]
    sys.path[:0] = [f"{HERE}/stand_in", os.path.dirname(script)]
    import pyperf

    sys.modules.pop("pickle", None)  # a benchmark imports it without its C code
    # The benchmark still uses the names of its module, so they must not be freed.
    pyperf.kept = runpy.run_path(script, run_name="__main__")
    share = TURN / len(pyperf.benches)
    return [(bench, loops_of(bench, share)) for bench in pyperf.benches]


def loops_of(bench, seconds):
    """Also makes CPython specialise the code before the process is forked."""
    loops, took = 1, 0.0
    while took < seconds:
        loops *= 2 if took else 1
        begin = time.perf_counter()
        bench(loops)
        took = time.perf_counter() - begin
    return loops


def take_turns(line, jobs, budget):
    """Runs in each of the two processes, and does what the orders say. The answers have the
    CPU seconds since the last answer, and the wall-clock seconds of the order."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # at the parent's end (PR_SET_PDEATHSIG)
    how = {"perfetto": False, "quiet": True, "serve": True, "overhead_budget": budget}
    objects, before, sizes = [], time.process_time(), range(16, 480, 16)
    while order := line.recv():
        begin = time.monotonic()
        if order == "go":
            # Tracing moves the benchmark's objects in memory. These objects do so, too.
            objects[:] = [[bytes(n) for _ in range(random.randrange(300))] for n in sizes]
            for bench, loops in jobs:
                bench(loops)
        elif budget and order == "start":
            ocular.start_tracing(**how)
        elif budget:
            ocular.stop_tracing()
        now = time.process_time()
        line.send((now - before, time.monotonic() - begin))
        before = now


class Child:
    """One of the two processes. It is stopped until the next order, so that its threads do
    not interrupt the other process."""

    def __init__(self, *job):
        self.line, theirs = FORK.Pipe()
        self.process = FORK.Process(target=take_turns, args=(theirs, *job))
        self.process.start()
        theirs.close()

    def do(self, order):
        os.kill(self.process.pid, signal.SIGCONT)
        self.line.send(order)
        answer = self.line.recv()
        os.kill(self.process.pid, signal.SIGSTOP)
        return answer


def take_half(traced, bare, options):
    """Returns [(CPU s untraced before, traced, untraced after)] for the traced turns after
    the warm-up, and the mean overhead that a viewer got in this time."""
    traced.do("start")
    command = [os.environ["OCULAR_TOP"], "--json", "-d", "1", "-p", str(traced.process.pid)]
    with tempfile.TemporaryFile("w+") as out:
        viewer = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        turns, worked, before = [], 0.0, bare.do("go")[0]
        while worked < options.warm + options.seconds / 2:
            (spent, wall), (after, _) = traced.do("go"), bare.do("go")
            turns += [(before, spent, after)] if worked >= options.warm else []
            before, worked = after, worked + wall
        viewer.terminate()
        viewer.wait()
        out.seek(0)
        seen = [json.loads(line) for line in out if line.endswith("}\n")]
    traced.do("stop")
    late = [look for look in seen if look["uptime_s"] > 2 * options.warm + WINDOW]
    overhead = [look["overhead"]["measured"] for look in late or seen[-1:]]
    return turns, statistics.fmean(each or math.nan for each in overhead or [0])


def ratio_of(turns):
    """Returns the logarithm of the ratio of traced to untraced CPU time, its error (one
    sigma), and by how many sigmas more large than small ratios are left out."""
    logs = [math.log(spent / bare) for a, spent, b in turns for bare in (a, b)]
    usual = statistics.median(logs)
    alike = [each for each in logs if abs(each - usual) < 0.1]
    large = sum(each >= usual + 0.1 for each in logs)
    small = len(logs) - len(alike) - large
    bursts = (large - small) / math.sqrt(2 * (large + small) or 1)
    sigma = statistics.stdev(alike) * math.sqrt(2 / len(alike))  # two a turn
    return statistics.fmean(alike), sigma, bursts


def show(name, budget, halves):
    turns, overheads = zip(*halves)
    logs, sigmas, bursts = zip(*map(ratio_of, turns))
    ratio, reported = math.exp(statistics.fmean(logs)), statistics.fmean(overheads)
    # The turns of one pair of processes are more alike than those of several pairs.
    rounds = [sum(pair) / 2 for pair in zip(logs[::2], logs[1::2])]
    among = math.sqrt(statistics.pvariance(rounds) / max(1, len(rounds) - 1))
    sigma, measured = max(math.hypot(*sigmas) / len(sigmas), among), ratio - 1
    found = [] if ratio <= 1 + budget + ALLOWED else ["MISS ratio"]
    off = 100 * (reported - measured)
    found += ["MISS reported"] if budget and not abs(off) <= KNOWN else []
    found += ["MISS bursts"] if sum(bursts) / math.sqrt(len(bursts)) > 3 else []
    found += ["(noise)"] if found and not 100 * sigma <= KNOWN else []
    words = f"{100 * budget:9.1f}{ratio:8.3f} +-{sigma:.3f}{1 + budget + ALLOWED:8.3f}"
    words += f"{100 * measured:9.2f}{100 * reported:10.2f}  {' '.join(found) or 'ok'}"
    print(f"{name:16}{words}", flush=True)
    path = f"budget/{name}/{100 * budget:g}"
    figure(f"{path}/ratio", ratio, unit="x untraced", spread=0.02)
    figure(f"{path}/reported_off", off, "nearer", "points", goal=0, spread=0.5)


def measure(name, options):
    """Runs in a process of its own, from which the two processes are forked."""
    jobs, halves = load(name), {budget: [] for budget in options.budgets}
    with tempfile.TemporaryDirectory(prefix="oc-") as os.environ["OCULAR_DIR"]:
        for budget in options.rounds * list(options.budgets):
            pair = [Child(jobs, budget) for _ in range(2)]
            try:
                for traced, bare in (pair, pair[::-1]):
                    halves[budget].append(take_half(traced, bare, options))
            finally:
                for child in pair:
                    child.process.kill()
        for budget, each in halves.items():
            show(name, budget, each)


def main(arguments):
    parser = argparse.ArgumentParser(prog="bench.py --budget", description=__doc__)
    add = parser.add_argument
    add("--seconds", type=float, default=30, help="of a run (default: 30)")
    add("--warm", type=float, default=5, help="s of work before each half (default: 5)")
    add("--rounds", type=int, default=3, help="(default: 3)")
    add("--budgets", type=float, nargs="+", default=(0.005, 0.01, 0.02, 0.05))
    add("--benchmarks", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    options = parser.parse_args(arguments)
    print(f"{'':16}budget, %   ratio +-sigma at most measured reported, %", flush=True)
    environment, failed = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, 0
    for name in options.benchmarks:
        command = [sys.executable, __file__, name, json.dumps(vars(options))]
        failed |= subprocess.run(command, env=environment).returncode != 0
    return failed


if __name__ == "__main__":
    measure(sys.argv[1], argparse.Namespace(**json.loads(sys.argv[2])))
