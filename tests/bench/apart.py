# SPDX-License-Identifier: MIT
"""`make bench ARGS=--apart`: what a hook takes by how long ago the one before was,
and what it is told to take. A function that does nothing is called between others,
one call in so many; with `--benchmarks`, functions of those programs are armed, each
alone. Traced and untraced in turns, on CPU time of all threads."""

import argparse
import math
import random
import statistics
import time

import budget
import budget_child
import ocular
import programs

SETTINGS = {
    "deinstrument_threshold": 0,
    "overhead_budget": None,
    "perfetto": False,
    "quiet": True,
}
EVERY = (1, 2, 4, 8, 16, 32, 64, 128)
CALLS = 8192  # in a sequence
TURN = 0.05  # s
PLAIN, TURNS = 1, 5  # turns before, and those that count
LEAST_CALLS = 30  # a turn: functions with fewer tell nothing


def called_between():
    pass


def calls_of(sequence, rounds=1):
    for _ in range(rounds):
        for function in sequence:
            function()


def seconds(work):
    began = time.process_time()
    work()
    return time.process_time() - began


def compare(work, name, rounds):
    """Seconds of a turn untraced, and by how many it takes longer where `name` is
    armed, but for what our threads took; how many its hooks are told to take; and
    their number. None where others are armed with it: a name is looked for within
    names and paths."""
    bare, traced, told, ours, events = [], [], [], [], []
    for _ in range(rounds):
        bare += [seconds(work) for _ in range(TURNS)]
        ocular.start_tracing(**SETTINGS, include_only=[name])
        try:
            for _ in range(PLAIN):
                work()
            traced += [seconds(work) for _ in range(TURNS)]
            snapshot = ocular.snapshot()
        finally:
            ocular.stop_tracing()
        if [row["name"] for row in snapshot["functions"] if row["calls"]] != [name]:
            return None
        shares = snapshot["overhead"]  # of the CPU time without us
        told.append(shares["hooks"])
        ours.append(shares["rearm"] + shares["threads"])
        events.append(snapshot["events"] / (PLAIN + TURNS))
    usual = statistics.median(bare)
    return (
        usual,
        statistics.median(traced) - (1 + statistics.median(ours)) * usual,
        statistics.median(told) * usual,
        statistics.median(events),
    )


def show(name, found):
    if not found:
        print(f"{name:44}  others are armed with it", flush=True)
        return
    usual, more, told, events = found
    print(
        f"{name:44}{1e9 * usual / events:14.0f}{1e9 * more / events:12.1f}"
        f"{1e9 * told / events:8.1f}{100 * more / usual:9.2f}"
        f"{100 * told / usual:8.2f}",
        flush=True,
    )


def header(what):
    print(
        f"\n{what:44}{'an event in ns':>14}{'a hook, ns':>12}{'told':>8}"
        f"{'all, %':>9}{'told':>8}"
    )


def show_made_up(count, rounds):
    draw = random.Random(5)
    others = programs.made_up(count, draw)
    header(f"one call between those of {count} functions, in")
    for every in EVERY:
        sequence = []
        while len(sequence) < CALLS:
            sequence += [*draw.choices(others, k=every), called_between]
        calls_of(sequence, 2)
        loops = max(1, int(TURN / seconds(lambda: calls_of(sequence))))
        show(
            str(every + 1),
            compare(lambda: calls_of(sequence, loops), called_between.__name__, rounds),
        )


def chosen(work, count):
    """Names of functions, from those that are called rarely to the most often."""

    def calls():
        return {row["name"]: row["calls"] for row in ocular.snapshot()["functions"]}

    ocular.start_tracing(**SETTINGS)
    try:
        work()
        before = calls()
        work()
        after = calls()
    finally:
        ocular.stop_tracing()
    found = {name: number - before.get(name, 0) for name, number in after.items()}
    found = {name: number for name, number in found.items() if number >= LEAST_CALLS}
    low, high = math.log(min(found.values())), math.log(max(found.values()))
    names = []
    for i in range(min(count, len(found))):
        wanted = low + (high - low) * i / max(count - 1, 1)
        names.append(
            min(
                found.keys() - set(names),
                key=lambda name: abs(math.log(found[name]) - wanted),
            )
        )
    return names


def show_program(name, count, rounds):
    benches = budget_child.load(budget.script_of(name), budget.BENCHMARKS[name])
    loops = [budget_child.loops_of(bench, 2 * TURN / len(benches)) for bench in benches]
    held = []

    def work():
        budget_child.scatter(held)
        budget_child.run(benches, loops)

    for _ in range(5):
        work()
    header(f"{name}: one function is armed")
    for function in chosen(work, count):
        show(function, compare(work, function, rounds))


def main(arguments):
    parser = argparse.ArgumentParser(prog="bench.py --apart", description=__doc__)
    parser.add_argument("--functions", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument(
        "--benchmarks", nargs="*", default=[], choices=sorted(budget.BENCHMARKS)
    )
    parser.add_argument("--armed", type=int, default=8, help="functions of each")
    options = parser.parse_args(arguments)
    if not options.benchmarks:
        show_made_up(options.functions, options.rounds)
    for name in options.benchmarks:
        show_program(name, options.armed, options.rounds)
