# SPDX-License-Identifier: MIT
"""`make bench ARGS=--budget` runs benchmarks of other authors (pyperformance's). The
benchmarks do the same work untraced and traced alternately (A B A B), while a viewer
watches them. The questions are: does Ocular cost no more than the budget allows? Does
Ocular report its cost correctly?

The program forks two processes. The two processes work alternately, for a twentieth of a
second each, so that both find the machine in the same state. While one process works, the
other one is stopped (SIGSTOP), together with Ocular's threads in it. Each turn of a process
is compared with the turns of the other process before and after it. A pair of turns is left
out if its difference deviates by more than a tenth from the typical difference, because the
machine has changed its speed between the two turns. The speed rises as often as it falls,
so as many turns of one process as of the other are left out. If the traced process is more
expensive more often than chance explains, Ocular costs bursts of time. Such bursts count as
a miss.

One process is traced in the first half of a run, and the other in the second half. Two
processes differ by one or two per cent as long as they live. The mean over both halves does
not contain this difference. Tracing moves small objects in memory to other addresses. So
the addresses of small objects are random in each turn. A budget of 0 is the control of the
experiment. With a budget of 0 nothing is traced, no viewer watches, and the ratio shows the
error of this method."""

import argparse
import contextlib
import glob
import json
import math
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile

from figures.record import figure

HERE = os.path.dirname(os.path.abspath(__file__))

CHILD = os.path.join(HERE, "budget_child.py")
PROGRAMS = """richards deltablue nbody chaos raytrace go hexiom float fannkuch generators
    json_dumps json_loads pickle logging unpack_sequence regex_compile async_tree
    many_functions"""
ARGUMENTS = {"pickle": ["--pure-python", "pickle"], "async_tree": ["none"]}
BENCHMARKS = {name: ARGUMENTS.get(name, []) for name in PROGRAMS.split()}
OURS = {"many_functions"}  # all other benchmarks are pyperformance's
BUDGETS = (0.005, 0.01, 0.02, 0.05)
# tolerated excess over the budget; tolerated difference between the reported and the
# measured overhead
ALLOWED, KNOWN = 0.01, 0.005
# seconds of a turn; if one loop of the benchmark takes longer, a turn is one loop
TURN = 0.05
CHANGED = 0.1
WINDOW = 10  # length in seconds of the window of the overhead in a snapshot


class Failed(Exception):
    pass


def script_of(name):
    if name in OURS:
        return os.path.join(HERE, f"{name}.py")
    place = os.environ.get("OCULAR_BENCHMARKS", "")
    pattern = "lib/python*/site-packages/pyperformance/data-files/benchmarks"
    found = glob.glob(f"{place}/{pattern}/bm_{name}/run_benchmark.py")
    if not found:
        raise Failed(f"not installed in {place}: make bench ARGS=--budget does that")
    return found[0]


# --- The two processes -------------------------------------------------------------------


class Child:
    """One of the two processes, which work alternately. The process gets its orders through
    the socket `line`."""

    def __init__(self, line):
        self.line = line.makefile("rw")
        self.cpu = 0.0
        self.pid = self.read_line()

    def read_line(self):
        return json.loads(self.line.readline())

    def tell(self, order):
        os.kill(self.pid, signal.SIGCONT)
        self.line.write(order + "\n")
        self.line.flush()

    def do(self, order):
        """Returns the CPU seconds since the last answer, and the wall-clock seconds of this
        turn. After the answer the process is stopped until the next order, so that its
        threads do not interrupt the other process."""
        self.tell(order)
        cpu, wall = self.read_line()
        os.kill(self.pid, signal.SIGSTOP)
        spent, self.cpu = cpu - self.cpu, cpu
        return spent, wall


class Pair:
    """The two processes, which are traced alternately, and the viewer of the traced one."""

    def __init__(self, job, settings):
        self.folder = tempfile.mkdtemp(prefix="oc-")
        os.chmod(self.folder, 0o700)
        self.traces = bool(settings)
        if settings:
            settings = {"output": os.path.join(self.folder, "trace.json"), **settings}
        self.viewer, self.children = None, []
        ours, theirs = zip(*(socket.socketpair() for _ in range(2)))
        words = [json.dumps({**job, "settings": settings})]
        words += [str(end.fileno()) for end in theirs]
        self.parent = subprocess.Popen(
            [sys.executable, CHILD, *words],
            pass_fds=[end.fileno() for end in theirs],
            env={**os.environ, "OCULAR_DIR": self.folder},
        )
        for end in theirs:
            end.close()
        try:
            self.children = [Child(end) for end in ours]
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in self.children:
            with contextlib.suppress(OSError):
                os.kill(child.pid, signal.SIGKILL)
            with contextlib.suppress(OSError):  # the process has perhaps not read an order
                child.line.close()
        for each in filter(None, (self.parent, self.viewer)):
            each.kill()
            each.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def watch(self, child):
        if not self.traces:
            return
        command = [os.environ["OCULAR_TOP"], "--json", "-d", "1", "-p", str(child.pid)]
        with open(os.path.join(self.folder, "viewer"), "w") as out:
            # A shell starts background jobs with SIGINT ignored, and children inherit this
            # setting. With SIGINT ignored, leave_alone() would wait for ever.
            self.viewer = subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.DEVNULL,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def leave_alone(self):
        if self.viewer:
            self.viewer.send_signal(signal.SIGINT)
            self.viewer.wait(timeout=60)
            self.viewer = None

    def end(self):
        for child in self.children:
            child.tell("")
        self.parent.wait(timeout=60)


def take_turns(job, settings, options):
    """Does one run, and returns the results of the run's two halves."""
    with Pair(job, settings) as pair:
        for child in pair.children:
            child.do("go")
        halves = [
            half(pair, traced, bare, options)
            for traced, bare in (pair.children, reversed(pair.children))
        ]
        pair.end()
        return halves


def half(pair, traced, bare, options):
    """Returns the CPU times of both processes after the warm-up, and the viewer's
    snapshots."""
    traced.do("start")
    pair.watch(traced)
    turns_of(traced, bare, options.warm)
    turns = turns_of(traced, bare, options.seconds / 2)
    pair.leave_alone()
    traced.do("stop")
    return {"turns": turns, "looks": looks(pair.folder)}


def turns_of(traced, bare, seconds):
    """Returns [(CPU s untraced before, traced, untraced after)] for the traced turns. The
    traced process works for `seconds`, or slightly longer."""
    turns, worked = [], 0.0
    before = bare.do("go")[0]
    while worked < seconds:
        spent, wall = traced.do("go")
        after = bare.do("go")[0]
        turns.append((before, spent, after))
        before = after
        worked += wall
    return turns


def looks(folder):
    path = os.path.join(folder, "viewer")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file if line.endswith("}\n")]


def reported(seen, since):
    """Returns the mean overhead that the viewer got, over the time after the uptime `since`
    (s)."""
    return mean(
        math.nan if look["overhead"]["measured"] is None else look["overhead"]["measured"]
        for look in seen
        if look["uptime_s"] > since + WINDOW
    )


# --- One benchmark ------------------------------------------------------------------------


def job_of(name):
    job = {"script": script_of(name), "args": BENCHMARKS[name]}
    answer = subprocess.run(
        [sys.executable, CHILD, json.dumps({**job, "seconds": TURN})],
        capture_output=True,
        text=True,
    )
    if answer.returncode:
        raise Failed(answer.stderr.strip().rpartition("\n")[2])
    return {**job, "chunk": json.loads(answer.stdout)}


def measure(name, options):
    """Returns {budget: row}."""
    job = job_of(name)
    halves = {budget: [] for budget in options.budgets}
    for _ in range(options.rounds):
        for budget in options.budgets:
            settings = {"overhead_budget": budget} if budget else None
            halves[budget] += take_turns(job, settings, options)
    return {budget: figures(each, options) for budget, each in halves.items()}


def deviation(values):
    """Returns the standard deviation, or NaN if a value is NaN. Up to 3.12
    statistics.stdev() raises an error if a value is NaN."""
    return math.nan if math.isnan(sum(values)) else statistics.stdev(values)


def mean(values):
    """Returns the mean, or NaN if there are no values."""
    values = list(values)
    return statistics.fmean(values) if values else math.nan


def logs_of(turns):
    """Returns the logarithms of the ratios of traced turns to untraced turns. Each traced
    turn is in two of these ratios."""
    return [
        math.log(spent / bare) for before, spent, after in turns for bare in (before, after)
    ]


def ratio_of(turns):
    """Returns the ratio of traced to untraced CPU time, and the ratio's error (one sigma).
    Also returns by how many sigmas the expensive turns outnumber the cheap turns among the
    pairs of turns that were left out."""
    logs = logs_of(turns)
    usual = statistics.median(logs)
    alike = [each for each in logs if abs(each - usual) < CHANGED]
    dear = sum(each >= usual + CHANGED for each in logs)
    cheap = len(logs) - len(alike) - dear
    bursts = (dear - cheap) / math.sqrt(2 * (dear + cheap)) if dear + cheap else 0
    if len(alike) < 10:
        return math.nan, math.nan, bursts
    sigma = statistics.stdev(alike) * math.sqrt(2 / len(alike))
    return math.exp(statistics.fmean(alike)), sigma, bursts


def figures(halves, options):
    """Returns the figures for the halves of one run or of several runs."""
    ratios, sigmas, bursts = zip(*(ratio_of(one["turns"]) for one in halves))
    # The difference between the two processes makes the ratio of one half larger and the
    # ratio of the other half smaller.
    ratio = math.prod(ratios) ** (1 / len(ratios))
    # The turns within one pair of processes are more alike than the turns of several pairs
    # of processes, because the memory of each pair of processes has other addresses.
    rounds = [
        math.log(first * second) / 2 for first, second in zip(ratios[::2], ratios[1::2])
    ]
    among = deviation(rounds) / math.sqrt(len(rounds)) if rounds[1:] else 0
    return {
        "ratio": ratio,
        "sigma": max(math.hypot(*sigmas) / len(sigmas), among),
        "bursts": sum(bursts) / math.sqrt(len(bursts)),
        # a fraction of the CPU time that the program uses without Ocular, as in `reported`
        "measured": ratio - 1,
        # the overhead that the viewer's snapshots report after the warm-up
        "reported": mean(reported(one["looks"], 2 * options.warm) for one in halves),
    }


def misses(budget, row):
    found = []
    if not row["ratio"] <= 1 + budget + ALLOWED:
        found.append("MISS ratio")
    if budget and not abs(row["reported"] - row["measured"]) <= KNOWN:
        found.append("MISS reported")
    if row["bursts"] > 3:
        found.append("MISS bursts")
    # If the error of a figure is as large as the tolerance, the figure says nothing.
    if found and not row["sigma"] <= KNOWN:
        found.append("(noise)")
    return " ".join(found) or "ok"


def show(name, budget, row):
    """Prints a row, and records it for `make figures`. For the reported overhead, an error
    in either direction counts."""
    print(
        f"{name:16}{100 * budget:7.1f}{row['ratio']:8.3f} +-{row['sigma']:5.3f}"
        f"{1 + budget + ALLOWED:8.3f}{100 * row['measured']:9.2f}"
        f"{100 * row['reported']:10.2f}  {misses(budget, row)}",
        flush=True,
    )
    path = f"budget/{name}/{100 * budget:g}"
    figure(f"{path}/ratio", row["ratio"], unit="x untraced", spread=0.02)
    if budget:
        off = 100 * (row["reported"] - row["measured"])
        figure(f"{path}/reported_off", off, "nearer", "points", goal=0, spread=0.5)


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="make bench ARGS='--budget ...'", description=__doc__
    )
    add = parser.add_argument
    add("--seconds", type=float, default=30, help="of a run (default: 30)")
    add("--warm", type=float, default=5, help="s of work before each half (default: 5)")
    add("--rounds", type=int, default=3)
    add("--budgets", type=float, nargs="+", default=BUDGETS)
    add("--benchmarks", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS))
    options = parser.parse_args(arguments)
    whole = len(options.benchmarks) * len(options.budgets)
    spell = 2 * (options.seconds + 2 * options.warm) + 7
    hours = whole * options.rounds * spell / 3600
    print(f"{options.rounds} rounds of {options.seconds:g} s, about {hours:.1f} hours")
    print(
        f"{'':16}{'budget':>7}{'CPU':>8}{'':8}{'at most':>8}{'measured':>9}"
        f"{'reported':>10}\n"
        f"{'':16}{'%':>7}{'ratio':>8}{'1 sigma':>8}{'':8}{'%':>9}{'%':>10}"
    )
    good = failed = 0
    for name in options.benchmarks:
        try:
            for budget, row in measure(name, options).items():
                show(name, budget, row)
                good += misses(budget, row) == "ok"
        except (Failed, OSError, ValueError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"{name:16} FAILED {error!r}", flush=True)
    print(
        f"{good} of {whole} rows within the budget and a hundredth, "
        "and reported to half a point"
    )
    return 1 if failed else 0
