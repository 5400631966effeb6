# SPDX-License-Identifier: MIT
"""`make figures` runs all programs and tests whose results are measured figures. `make
figures` compares each figure with its baseline (a value and a spread in baseline.json), and
prints a table. The exit status is 1 only if a figure is worse than its baseline by more
than the spread, or if a measuring program failed."""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from record import machine

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
BASELINE = HERE / "baseline.json"
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
# If two values of a figure differ by less than this fraction, the difference means nothing.
LEAST_SPREAD = 0.05
WIDER = 1.5  # The spread is the largest recorded deviation, times this factor.
UNKNOWN = 0.5  # The spread of a figure that was recorded once, as a part of its value.


def rig(path, *arguments):
    return [sys.executable, str(TESTS / path), *arguments]


def measured_tests():
    python = os.environ["OCULAR_VENV_PYTHON"]
    return [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE)]


def accuracy():
    return rig("accuracy/accuracy.py")


def bench():
    rows = "hooks instructions ratios code imports forks timeline".split()
    return rig("bench/bench.py", "--only", *rows)


def idle():
    return rig("bench/bench.py", "--only", "idle")


def viewer():
    return rig("bench/bench.py", "--viewer", "--functions", "1000", "10000")


# Programs with calls, methods, generators, C code, text, coroutines, and code that never
# ends.
BENCHMARKS = (
    "richards",
    "go",
    "generators",
    "json_loads",
    "logging",
    "async_tree",
    "many_functions",
)


def budget():
    settings = "--budgets 0.01 --rounds 1 --seconds 20 --warm 5".split()
    return rig("bench/bench.py", "--budget", *settings, "--benchmarks", *BENCHMARKS)


def soak():
    return rig("stress/soak.py", "--seconds", "300")


def regrtest():
    return rig("regrtest/regrtest.py", "--modes", "adaptive")


def stress():
    return rig("stress/stress.py", "--seconds", "60")


# Maps a measuring program to its approximate seconds and a function that makes its command.
INSTRUMENTS = {
    "tests": (1300, measured_tests),
    "accuracy": (60, accuracy),
    "bench": (240, bench),
    "idle": (60, idle),
    "viewer": (180, viewer),
    "budget": (480, budget),
    "soak": (310, soak),
    "regrtest": (900, regrtest),
    "stress": (90, stress),
}


# --- Running the programs -----------------------------------------------------


def run(name, folder):
    """Runs a measuring program. Returns the figures of the program, and True if the program
    did not fail."""
    path, log = folder / f"{name}.jsonl", folder / f"{name}.log"
    path.unlink(missing_ok=True)
    _, command = INSTRUMENTS[name]
    print(f"{name}: {log}", flush=True)
    began = time.monotonic()
    with log.open("w") as output:
        status = subprocess.run(
            command(),
            env={**os.environ, "OCULAR_FIGURES": str(path)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    lines = path.read_text().splitlines() if path.exists() else []
    print(f"  {len(lines)} figures, status {status}, {time.monotonic() - began:.0f} s")
    return [json.loads(line) for line in lines], status == 0 and bool(lines)


def run_all(names, folder):
    figures, failed = {}, []
    for name in names:
        found, whole = run(name, folder)
        figures.update((figure["name"], figure) for figure in found)
        if not whole:
            failed.append(name)
    return figures, failed


# --- The baseline -------------------------------------------------------------------------


def load(path=BASELINE):
    """In the file, a row is [value, spread], and the rows of names that differ only behind
    the last "/" are in one line."""
    baseline = json.loads(path.read_text()) if path.exists() else {}
    for part in baseline.values():
        part["figures"] = {
            f"{group}/{name}".rstrip("/"): {"value": value, "spread": spread}
            for group, rows in part["figures"].items()
            for name, (value, spread) in rows.items()
        }
    return baseline


def save(baseline, path=BASELINE):
    """Each group of figures is on a line of its own, so that a diff shows a changed figure
    as one changed line."""
    words = []
    for version, part in sorted(baseline.items()):
        groups = {}
        for name, row in sorted(part["figures"].items()):
            group, _, last = name.rpartition("/")
            rows = groups.setdefault(group or last, {})
            rows[last if group else ""] = row["value"], row["spread"]
        lines = [
            f"      {json.dumps(group)}: {json.dumps(groups[group])}" for group in groups
        ]
        words.append(
            f"  {json.dumps(version)}: {{\n"
            f'    "machine": {json.dumps(part["machine"])},\n'
            '    "figures": {\n' + ",\n".join(lines) + "\n    }\n  }"
        )
    path.write_text("{\n" + ",\n".join(words) + "\n}\n")


def significant(number):
    return float(f"{number:.4g}")


def row_of(values, known_spread=None):
    """Returns the row in the baseline for a figure that was measured several times, or None
    if the figure has no value."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return None
    middle = statistics.median(known)
    widest = max(abs(value - middle) for value in known)
    spread = max(WIDER * widest, LEAST_SPREAD * abs(middle))
    if len(known) == 1:
        spread = UNKNOWN * abs(middle)
    if known_spread is not None:
        spread = known_spread
    return {"value": significant(middle), "spread": significant(spread)}


# --- The comparison with the baseline -----------------------------------------


def badness(figure, value):
    """Returns the distance of a value from the best value. The larger this distance, the
    worse the figure."""
    if figure["better"] == "nearer":
        return abs(value - figure["goal"])
    return value if figure["better"] == "lower" else -value


def verdict(figure, row):
    """Returns "better", "worse", "same", "new" or "lost". "lost" means that the figure had
    a value in the baseline, and has none now."""
    if row is None:
        return "new"
    if math.isnan(figure["value"]):
        return "lost"
    change = badness(figure, figure["value"]) - badness(figure, row["value"])
    if abs(change) <= row["spread"]:
        return "same"
    return "worse" if change > 0 else "better"


BAD = ("worse", "lost", "missing")


def compare(figures, rows, whole):
    """Returns [(name, verdict, figure, row)]. `whole` is true if every measuring program
    ran. If `whole` is true, a figure of the baseline that is missing counts as lost."""
    table = [
        (name, verdict(figure, rows.get(name)), figure, rows.get(name))
        for name, figure in sorted(figures.items())
    ]
    if whole:
        table += [
            (name, "missing", None, row)
            for name, row in sorted(rows.items())
            if name not in figures
        ]
    return table


def show(table):
    for name, word, figure, row in table:
        now = f"{figure['value']:.4g}" if figure else "-"
        unit = figure["unit"] if figure else ""
        known = f"{row['value']:.4g} ± {row['spread']:.2g}" if row else "-"
        mark = {"worse": "WORSE", "lost": "LOST", "missing": "MISSING"}.get(word, word)
        yield f"| {name} | {known} | {now} | {unit} | {mark} |"


def write_table(table, path):
    head = f"{machine()}\n\n| figure | baseline | now | unit | |\n|---|---|---|---|---|\n"
    path.write_text(head + "\n".join(show(table)) + "\n")


def main():
    parser = argparse.ArgumentParser(prog="make figures", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=INSTRUMENTS, metavar="INSTRUMENT")
    parser.add_argument(
        "--record", type=int, metavar="N", help="run N times and make that the baseline"
    )
    options = parser.parse_args()
    names = options.only or list(INSTRUMENTS)
    folder = Path(os.environ["OCULAR_BUILD"]) / "figures" / VERSION
    folder.mkdir(parents=True, exist_ok=True)
    minutes = sum(INSTRUMENTS[name][0] for name in names) * (options.record or 1) / 60
    print(f"figures: {' '.join(names)}: about {minutes:.0f} minutes", flush=True)
    baseline = load()
    mine = baseline.setdefault(VERSION, {"machine": "", "figures": {}})
    runs = []
    for _ in range(options.record or 1):
        figures, failed = run_all(names, folder)
        runs.append(figures)
        if failed:
            print(f"figures: FAILED: {', '.join(failed)}")
            return 1
    if options.record:
        for name in {name for each in runs for name in each}:
            measured = [each[name] for each in runs if name in each]
            row = row_of([one["value"] for one in measured], measured[0].get("spread"))
            if row:
                mine["figures"][name] = row
        mine["machine"] = machine()
        save(baseline)
    table = compare(runs[-1], mine["figures"], names == list(INSTRUMENTS))
    write_table(table, folder / "table.md")
    bad = [row for row in table if row[1] in BAD]
    print("\n".join(show([row for row in table if row[1] != "same"])))
    counts = ", ".join(
        f"{sum(row[1] == word for row in table)} {word}"
        for word in ("same", "better", "new", *BAD)
    )
    print(f"figures: {counts}; the table: {folder / 'table.md'}")
    print(f"figures: the baseline is of {mine['machine'] or 'no machine yet'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
