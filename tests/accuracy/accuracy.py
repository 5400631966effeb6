# SPDX-License-Identifier: MIT
"""`make accuracy` compares Ocular's cycles with ground truth.

The ground truth of a function is the time of its call in the untraced program. The time
stamp counter is read before and after the call. The time of these readings, and of the rest
of the line, is subtracted. The rounds alternate between truth, threshold 500, truth again,
and threshold 0. The error of a traced round is measured against the rounds of truth before
and after it. The table shows the median over all rounds. `noise` is the difference between
two rounds of truth, computed in the same way."""

import argparse
import math
import os
import statistics
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import extensions  # noqa: E402
import ocular  # noqa: E402
import outside  # noqa: E402
import subjects  # noqa: E402
from figures.record import figure, machine  # noqa: E402
from subjects import SUBJECTS  # noqa: E402

ROUNDS, SHORT_ROUNDS = 15, 3
# the largest number of functions in a program, and how often the program runs them
GROUP, TURNS = 6, 200
THRESHOLDS = (500, 0)
# median and mean of a call's own cycles, and mean of its cycles including callees
FIGURES = {"p50": "own, p50", "mean": "own, mean", "total": "all, mean"}
TARGET = 0.10
STEADY = 0.10  # A round is left out if the machine's speed changed by more.
LEAST_NS = 200  # Functions that take less time are shown, but not judged.
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
    """Returns the lines that call the functions, then the same lines with only the work
    that is not the function's own, and then the lines without callees. Each line follows
    its own last run at the same distance as the line with which it is compared, so the
    caches are equally cold for both."""
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
        """Returns a dict that maps a function's name to its times in ticks. The times are
        the median and the mean of its own time, and the mean time including callees."""
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
        """Returns two dicts whose keys are names of functions. The first has the figures
        that cycles() returns. The second has the cost of a call's hooks that Ocular
        measured at its start."""
        found, costs = {}, {}
        for group, program in zip(self.groups, self.programs):
            with traced(threshold, [subjects.__file__]):
                cost = sum(ocular._ocular.hook_cost()[:2])
                program.run()
                final = ocular.stop_tracing()
            for subject in group:
                found[subject.name] = cycles(final, subject.name)
                costs[subject.name] = cost
        return found, costs


def cycles(final, name):
    """Returns the median and the mean of a function's own cycles, and the mean of its
    cycles including callees. A value that the function does not have is NaN."""
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


def traced(threshold, include_only):
    return ocular.tracing(
        deinstrument_threshold=threshold,
        perfetto=False,
        quiet=True,
        include_only=include_only,
    )


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

    def summarise(self):
        """Computes the medians over all rounds, in the order of FIGURES."""

        def columns(kept, what):
            return [middle(column) for column in zip(*(each[what] for each in kept))]

        rounds = {threshold: self.steady(threshold) for threshold in THRESHOLDS}
        both = [each for kept in rounds.values() for each in kept]
        self.ns = columns(both, "truth")[0] / self.hz * 1e9
        self.noise = columns(both, "noise")
        self.error = {at: columns(kept, "error") for at, kept in rounds.items()}
        self.judged = self.ns >= LEAST_NS
        return self


def compare(chosen, rounds, ways):
    with traced(0, ["no such code"]):
        hz = ocular.snapshot()["tsc_hz"]
    rows = []
    for name in ways:
        way = Way(name, chosen)
        found = [Row(each, name, hz) for each in chosen]
        before = way.run_truth()
        for _ in range(rounds):
            for threshold in THRESHOLDS:
                ours = way.run_traced(threshold)
                after = way.run_truth()
                for row in found:
                    row.add(threshold, before, ours, after)
                before = after
        rows += [row.summarise() for row in found]
    return rows


def percent(value):
    return f"{'-':>7}" if math.isnan(value) else f"{100 * value:+7.1f}"


def show(rows):
    print("\ncycles of a call, Ocular over truth, and noise (truth over truth), in %")
    print(f"{'':45}" + "".join(f"{title:>22}" for title in FIGURES.values()))
    print(
        f"{'function':31}{'way':8}{'ns':>6}" + f" {'at 500':>7}{'at 0':>7}{'noise':>7}" * 3
    )
    for row in rows:
        print(
            f"{row.subject.name:31}{row.way:8}{row.ns:6.0f}"
            + "".join(
                f" {percent(row.error[500][n])}{percent(row.error[0][n])}"
                f"{100 * row.noise[n]:7.1f}"
                for n in range(len(FIGURES))
            )
        )


def judge(rows):
    """Prints, and records for `make figures`, for how many functions the error of the
    cycles is below the target. The figure is a fraction of all functions, because a
    function without cycles is not within any bound."""
    for way in WAYS:
        mine = [row for row in rows if row.way == way]
        judged = [row for row in mine if row.judged] or mine
        for threshold in THRESHOLDS if judged else ():
            for number, (what, title) in enumerate(FIGURES.items()):
                off = [abs(row.error[threshold][number]) for row in judged]
                within = sum(each <= TARGET for each in off)
                name = f"accuracy/{way}/{threshold}/{what}".replace(" ", "_")
                figure(f"{name}/median_error", 100 * middle(off), unit="%")
                part = 100 * within / len(judged)
                figure(f"{name}/within_10", part, "higher", unit="%")
                print(
                    f"  {way:8} at {threshold:3}, {title:9}: {within} of {len(off)} within "
                    f"{100 * TARGET:.0f} %, median error {100 * middle(off):.1f} %"
                )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, help=f"default: {ROUNDS}")
    parser.add_argument(
        "--short", action="store_true", help=f"{SHORT_ROUNDS} rounds, only alone"
    )
    options = parser.parse_args()
    rounds = options.rounds or (SHORT_ROUNDS if options.short else ROUNDS)
    print(f"{machine()}, {rounds} rounds")
    rows = compare(SUBJECTS, rounds, WAYS[:1] if options.short else WAYS)
    show(rows)
    judge(rows)


if __name__ == "__main__":
    main()
