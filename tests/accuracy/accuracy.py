# SPDX-License-Identifier: MIT
"""`make accuracy` compares Ocular's cycles with ground truth, and its counts with
cProfile's.

The ground truth of a function is the time of its call in the untraced program. The time
stamp counter is read before and after the call. The time of these readings, and of the rest
of the line, is subtracted. The rounds follow each other in this order: truth, threshold
500, truth, threshold 0. The error of a traced round is measured against the rounds of truth
before and after it. The table shows the median over all rounds. `noise` is the difference
between two rounds of truth, computed in the same way."""

import argparse
import contextlib
import json
import math
import os
import platform
import re
import statistics
import sys
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import extensions  # noqa: E402
import ocular  # noqa: E402
import outside  # noqa: E402
import subjects  # noqa: E402
from e2e.counting import by_cprofile, by_ocular  # noqa: E402
from figures.record import figure, recording  # noqa: E402
from ocular.demo.pure import CASES  # noqa: E402
from subjects import SUBJECTS  # noqa: E402

ROUNDS, SHORT_ROUNDS = 15, 3
# largest number of functions in a program, and number of times that it runs them
GROUP, TURNS = 6, 200
THRESHOLDS = (500, 0)
# p50 and mean of a call's own cycles, mean including callees
FIGURES = ("p50", "mean", "total")
TARGET = 0.10
STEADY = 0.10  # a round is left out if the machine changed its speed by more than this
LEAST_NS = 200  # functions that take less time are shown, but not judged
WAYS = ("alone", "in turns")
BY_NAME = {each.name: each for each in SUBJECTS}


timing = extensions.load("accuracy", "timing")


# --- Programs ---------------------------------------------------------------------


def stub_of(name):
    """Returns a function that only returns the result of the function `name`."""
    if name in vars(outside.Stubs):
        return vars(outside.Stubs)[name]
    names = {}
    value = getattr(subjects, name)(7)
    exec(f"def stub(x): return {value!r}", names)
    return names["stub"]


def without_callees(name, stubs):
    """Returns a copy of a function that calls empty functions (stubs) instead of its
    callees. The code of this copy belongs to a file that is not traced."""
    function = getattr(subjects, name)
    names = dict(vars(subjects))
    for each in stubs:
        outermost = each.split(".")[0]  # the class of a method
        names[outermost] = stub_of(outermost)
    code = function.__code__.replace(co_filename=outside.__file__)
    return types.FunctionType(code, names, name)


def alone_of(subject):
    """Returns the line that runs a function without its callees. In this line, either empty
    functions replace the callees (stubs), or the callees' results replace the calls
    (stand_in)."""
    return subject.stand_in.replace(subject.name + "(", subject.name + "_alone(")


def lines_of(group):
    """Returns three groups of lines: the functions, then the work of each line that is not
    the function's own, then the lines without callees. Each line follows its own last run
    at the same distance as the line with which it is compared, so the caches are equally
    cold for both."""
    return [
        *(each.call for each in group),
        *(each.around for each in group),
        *(alone_of(each) for each in group if each.calls_others),
    ]


def names_of_all():
    names = {**vars(outside), **vars(subjects), "mark": timing.mark}
    for subject in SUBJECTS:
        if subject.stubs:
            names[subject.name + "_alone"] = without_callees(subject.name, subject.stubs)
    return names


def compiled(lines):
    """Returns a function `drive` with a mark before and after each of the lines. The result
    of a line is freed after the second mark, because freeing it does not belong to the
    function's time."""
    source = ["def drive(count):", " for _ in range(count):"]
    for line in lines:
        if ":" not in line:
            line = "kept = " + line
        source += [
            "  mark()",
            *("  " + part for part in line.split("\n")),
            "  mark()",
            "  kept = None",
        ]
    names = names_of_all()
    exec(compile("\n".join(source), "<driver>", "exec"), names)
    return names["drive"]


class Program:
    """Runs the lines of a program one after the other, and stores the time of each line."""

    def __init__(self, lines, times):
        self.width, self.times = 2 * len(lines), times
        self.drive = compiled(lines)
        self.drive(30)  # CPython specialises the code in these runs

    def run(self):
        """Returns [(median, mean) in ticks] for the lines."""
        timing.reset(self.width * self.times)
        self.drive(self.times)
        spans = timing.spans()
        taken = [spans[i :: self.width] for i in range(0, self.width, 2)]
        return [(statistics.median(each), statistics.fmean(each)) for each in taken]


class Way:
    """One way to run the functions. Functions run either `alone`, each in a loop, or `in
    turns`, several functions one after the other. If they run in turns, each function finds
    the caches in the state in which the other functions have left them. The same programs
    run untraced, for the truth, and traced."""

    def __init__(self, name, chosen):
        size = 1 if name == "alone" else GROUP
        # Neighbours in this list call each other, and must not be in one group. If they
        # were, most calls of a callee would differ from the calls for which the truth is
        # measured.
        count = -(-len(chosen) // size)
        self.groups = [chosen[i::count] for i in range(count)]
        self.programs = [
            Program(lines_of(group), group[0].times if size == 1 else TURNS)
            for group in self.groups
        ]
        # These programs measure the cost of entering a function, once by an empty call and
        # once by an empty resumption.
        self.calls = Program(["empty()", "None"], 1000)
        self.resumptions = Program(
            ["for _ in yield_nothing(30): pass", "for _ in THIRTY: pass"], 200
        )

    def run_truth(self):
        """Returns {name: [median and mean of the function's own time, mean including
        callees]}, in ticks."""
        empty, nothing = self.calls.run()
        resumed, looped = self.resumptions.run()
        entry = {
            "call": [a - b for a, b in zip(empty, nothing)],
            "resumption": [(a - b) / 31 for a, b in zip(resumed, looped)],
        }
        truths = {}
        for group, program in zip(self.groups, self.programs):
            spans = program.run()
            lines, arounds = spans[: len(group)], spans[len(group) : 2 * len(group)]
            others = iter(spans[2 * len(group) :])
            for subject, line, around in zip(group, lines, arounds):
                alone = next(others) if subject.calls_others else line
                own = [subject.entries * each for each in entry[subject.entered]]
                callees = [
                    sum(
                        times * entry[BY_NAME[name].entered][i]
                        for name, times in subject.stubs.items()
                    )
                    for i in range(2)
                ]
                truths[subject.name] = [
                    each / subject.calls
                    for each in (
                        alone[0] - around[0] + own[0] - callees[0],
                        alone[1] - around[1] + own[1] - callees[1],
                        line[1] - around[1] + own[1],
                    )
                ]
        return truths

    def run_traced(self, threshold):
        """Returns {name: [p50 and mean of the function's own cycles, mean including
        callees]}, and {name: cost of a call's hooks that Ocular has measured at its
        start}."""
        found, costs = {}, {}
        for group, program in zip(self.groups, self.programs):
            with quietly(threshold, [subjects.__file__]):
                cost = sum(ocular._ocular.hook_cost()[:2])
                program.run()
                final = ocular.stop_tracing()
            for subject in group:
                found[subject.name] = cycles(final, subject.name)
                costs[subject.name] = cost
        return found, costs


def cycles(final, name):
    """Returns [p50 and mean of a function's own cycles, mean including callees]. A
    value that the function does not have is NaN."""
    for row in final["functions"]:
        # If no hook saw the end of a call because an exception ended it, the call has no
        # cycles.
        if row["name"] == name and row["p50_cycles"] is not None:
            total = row["total_cycles"] / row["calls"]
            return [
                math.nan if value is None else value
                for value in (row["p50_cycles"], row["avg_cycles"], total)
            ]
    return [math.nan] * 3


@contextlib.contextmanager
def quietly(threshold, include_only):
    ocular.start_tracing(
        deinstrument_threshold=threshold,
        perfetto=False,
        quiet=True,
        include_only=include_only,
    )
    try:
        yield
    finally:
        ocular.stop_tracing()


# --- Rounds ------------------------------------------------------------------------


def middle(values):
    values = [value for value in values if not math.isnan(value)]
    return statistics.median(values) if values else math.nan


def over(value, truth):
    return value / truth - 1 if truth > 0 else math.nan


class Row:
    """The results of all rounds for one function and one way to run it."""

    def __init__(self, subject, way, hz):
        self.subject, self.way, self.hz = subject, way, hz
        self.rounds = {threshold: [] for threshold in THRESHOLDS}

    def add(self, threshold, before, traced, after):
        name = self.subject.name
        ours, costs = (each[name] for each in traced)
        truth = [(a + b) / 2 for a, b in zip(before[name], after[name])]
        self.rounds[threshold].append(
            {
                "truth": truth,
                "ours": ours,
                "error": [over(mine, true) for mine, true in zip(ours, truth)],
                "noise": [abs(over(a, b)) for a, b in zip(before[name], after[name])],
                "speed": costs / truth[0] if truth[0] > 0 else math.nan,
            }
        )

    def steady(self, threshold):
        """Returns the rounds in which the machine did not change its speed. In these rounds
        the truth before and the truth after agree. In addition, the cost of the hooks at
        the start, divided by the truth, is the same as in the other rounds. Ocular's own
        results do not decide which rounds are returned."""
        rounds = self.rounds[threshold]
        usual = middle(each["speed"] for each in rounds)
        kept = [
            each
            for each in rounds
            if each["noise"][0] < STEADY and abs(over(each["speed"], usual)) < STEADY
        ]
        return kept if len(kept) >= 3 else rounds

    def summary(self):
        rounds = {threshold: self.steady(threshold) for threshold in THRESHOLDS}
        both = [each for kept in rounds.values() for each in kept]

        def columns(kept, what):
            return [middle(column) for column in zip(*(each[what] for each in kept))]

        truth = columns(both, "truth")
        ns = truth[0] / self.hz * 1e9
        errors = {
            threshold: columns(rounds[threshold], "error") for threshold in THRESHOLDS
        }
        noise = columns(both, "noise")
        beyond, unsure = [], []
        for threshold in THRESHOLDS:
            for what, error, own_noise in zip(FIGURES, errors[threshold], noise):
                if ns >= LEAST_NS and abs(error) > TARGET:
                    sure = abs(error) > TARGET + own_noise
                    (beyond if sure else unsure).append(f"{what} at {threshold}")
        return {
            "function": self.subject.name,
            "way": self.way,
            "ns": ns,
            "truth": dict(zip(FIGURES, truth)),
            "noise": dict(zip(FIGURES, noise)),
            "ocular": {
                str(threshold): dict(zip(FIGURES, columns(rounds[threshold], "ours")))
                for threshold in THRESHOLDS
            },
            "error": {
                str(threshold): dict(zip(FIGURES, errors[threshold]))
                for threshold in THRESHOLDS
            },
            "rounds": {str(threshold): len(rounds[threshold]) for threshold in THRESHOLDS},
            "judged": ns >= LEAST_NS,
            "misses": beyond,
            "unsure": unsure,
        }


def compare(chosen, rounds, ways):
    hz = measured_hz()
    rows = []
    for name in ways:
        way = Way(name, chosen)
        found = {each.name: Row(each, name, hz) for each in chosen}
        before = way.run_truth()
        for _ in range(rounds):
            for threshold in THRESHOLDS:
                ours = way.run_traced(threshold)
                after = way.run_truth()
                for row in found.values():
                    row.add(threshold, before, ours, after)
                before = after
        rows += [row.summary() for row in found.values()]
    return rows


def measured_hz():
    with quietly(0, ["no such code"]):
        return ocular.stop_tracing()["tsc_hz"]


def percent(value):
    return f"{'-':>7}" if math.isnan(value) else f"{100 * value:+7.1f}"


def show(rows):
    print("\ncycles of a call, Ocular over truth, and noise (truth over truth), in %")
    print(f"{'':45}{'own, p50':>22}{'own, mean':>22}{'all, mean':>22}")
    print(
        f"{'function':31}{'way':8}{'ns':>6}" + f" {'at 500':>7}{'at 0':>7}{'noise':>7}" * 3
    )
    for row in rows:
        verdict = (
            ""
            if not row["judged"]
            else "MISS"
            if row["misses"]
            else "noise"
            if row["unsure"]
            else "ok"
        )
        print(
            f"{row['function']:31}{row['way']:8}{row['ns']:6.0f}"
            + "".join(
                " "
                + percent(row["error"]["500"][what])
                + percent(row["error"]["0"][what])
                + f"{100 * row['noise'][what]:7.1f}"
                for what in FIGURES
            )
            + f"  {verdict}"
        )
    judged = [row for row in rows if row["judged"]]
    print(
        f"{len(judged)} of {LEAST_NS} ns or more, "
        f"{sum(bool(row['misses']) for row in judged)} with a MISS: a figure "
        f"is off by more than {100 * TARGET:.0f} % and the noise"
    )
    for threshold in THRESHOLDS:
        for what, name in zip(FIGURES, ("own, p50", "own, mean", "all, mean")):
            off = errors(judged, threshold, what)
            print(
                f"  at {threshold:3}, {name:9}: {within(off)} of {len(off)} within "
                f"{100 * TARGET:.0f} %, median error "
                f"{100 * middle(off):.1f} %"
            )


def errors(rows, threshold, what):
    """Returns the errors of the rows that have a value."""
    off = [abs(row["error"][str(threshold)][what]) for row in rows]
    return [each for each in off if not math.isnan(each)]


def within(off):
    return sum(each <= TARGET for each in off)


def record(result):
    """Records the errors of the cycles for `make figures`, for each way to run the
    functions."""
    figure("accuracy/counts_wrong", sum(row["differ"] for row in result["counts"]))
    for way in sorted({row["way"] for row in result["cycles"]}):
        rows = [row for row in result["cycles"] if row["way"] == way]
        judged = [row for row in rows if row["judged"]] or rows
        for threshold in THRESHOLDS:
            for what in FIGURES:
                off = errors(judged, threshold, what)
                name = f"accuracy/{way}/{threshold}/{what}".replace(" ", "_")
                figure(f"{name}/median_error", 100 * middle(off), unit="%")
                # The figure is a fraction of all functions, because a function without
                # cycles is not within any bound.
                part = 100 * within(off) / len(judged)
                figure(f"{name}/within_10", part, "higher", unit="%")


# --- Counts ------------------------------------------------------------------------


def count_calls():
    """Returns rows. Each row has a case, the number of functions and calls, and the number
    of functions whose calls differ between Ocular at threshold 0 and cProfile."""
    rows = []
    for name, case in CASES.items():
        case()  # this run fills the caches and imports modules
        theirs, ours = by_cprofile(case), by_ocular(case)
        rows.append(
            {
                "case": name,
                "functions": len(theirs),
                "calls": sum(theirs.values()),
                "differ": sum(
                    theirs.get(key) != ours.get(key) for key in theirs.keys() | ours.keys()
                ),
            }
        )
    return rows


def show_counts(rows):
    print("\ncalls counted, Ocular beside cProfile")
    print(f"{'case':20}{'functions':>10}{'calls':>10}{'differ':>8}")
    for row in rows:
        print(f"{row['case']:20}{row['functions']:10}{row['calls']:10}{row['differ']:8}")


# --- The whole measurement ----------------------------------------------------


def describe():
    model = platform.machine()
    with contextlib.suppress(OSError):
        match = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
        model = match.group(1) if match else model
    return (
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"{os.cpu_count()} x {model}, {time.strftime('%Y-%m-%d')}, "
        f"Ocular {ocular.__version__}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, help=f"default: {ROUNDS}")
    parser.add_argument(
        "--short", action="store_true", help=f"{SHORT_ROUNDS} rounds, only alone"
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit status 1 where a figure misses"
    )
    parser.add_argument("--json", metavar="FILE", help="all figures")
    parser.add_argument("--only", action="append", metavar="FUNCTION")
    options = parser.parse_args()
    rounds = options.rounds or (SHORT_ROUNDS if options.short else ROUNDS)
    chosen = [each for each in SUBJECTS if not options.only or each.name in options.only]
    print(f"{describe()}, {rounds} rounds")
    result = {
        "machine": describe(),
        "rounds": rounds,
        "counts": count_calls(),
        "cycles": compare(chosen, rounds, WAYS[:1] if options.short else WAYS),
    }
    show_counts(result["counts"])
    show(result["cycles"])
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=1)
    record(result)
    missed = any(row["misses"] for row in result["cycles"]) or any(
        row["differ"] for row in result["counts"]
    )
    return int(options.strict and missed and not recording())


if __name__ == "__main__":
    sys.exit(main())
