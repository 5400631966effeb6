# SPDX-License-Identifier: MIT
"""`make accuracy ARGS=--live`: programs whose truth is known run traced within a
budget, a viewer looks at them once a second, and what it sees is judged."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import live_judge  # noqa: E402
from e2e.client import Client, Ended  # noqa: E402
from figures.record import figure  # noqa: E402

CHILD = os.path.join(HERE, "live_child.py")
PROGRAMS = (
    "steady",
    "phases",
    "bursts",
    "tail",
    "leaves",
    "c",
    "waiting",
    "recursion",
    "threads",
    "asyncio",
)
SECONDS = 62.0
PERIODS = {"phases": 0.2}  # s between two looks, where one is too long to tell
KEPT = (
    "calls",
    "calls_per_s",
    "calls_estimated",
    "cpu_share",
    "wait_share",
    "c_share",
    "run_share",
    "samples",
    "avg_cycles",
    "p50_cycles",
    "self_cycles",
    "age_s",
    "state",
)


class Failed(Exception):
    pass


# --- One program ------------------------------------------------------------------------


def shrunk(snapshot, at, names):
    """Of a snapshot what is judged."""
    rows = {}
    for row in snapshot["functions"]:
        name = row["name"]
        # The same name elsewhere: what ran more is meant.
        if name in names and (name not in rows or rows[name]["calls"] < row["calls"]):
            rows[name] = {key: row[key] for key in KEPT}
    top = sorted(snapshot["functions"], key=lambda row: -(row["share"] or 0))
    return {
        "t": at,
        "functions": rows,
        "overhead": snapshot["overhead"],
        "sampler": snapshot["sampler"],
        "sites": snapshot["sites"],
        "top": [row["name"] for row in top[:TOP_KEPT]],
    }


TOP_KEPT = 20


def watch(path, seconds, names, period):
    """A snapshot in so many seconds, as a viewer on the socket sees it."""
    found, end = [], time.monotonic() + seconds
    with Client(path) as client:
        client.rate(period)
        while time.monotonic() < end:
            snapshot = client.snapshot()
            found.append(shrunk(snapshot, time.monotonic(), names))
    return found


def run(name, seconds, *, period=None, settings=None):
    """(what the program knows, what the viewer saw)"""
    folder = tempfile.mkdtemp(prefix="oc-")
    os.chmod(folder, 0o700)
    file = os.path.join(folder, "result")
    process = subprocess.Popen(
        [sys.executable, CHILD, name, str(seconds), file, json.dumps(settings or {})],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "OCULAR_DIR": folder},
    )
    try:
        if process.stdout.readline() != "tracing\n":
            raise Failed(f"{name} has not started")
        names = json.loads(process.stdout.readline())
        path = os.path.join(folder, f"{process.pid}.sock")
        seen = watch(path, seconds - 0.5, set(names), period or PERIODS.get(name, 1.0))
        process.communicate("\n", timeout=seconds + 120)
        if process.returncode or not seen:
            raise Failed(
                f"{name} has ended with status {process.returncode}, "
                f"{len(seen)} snapshots seen"
            )
        with open(file) as result:
            return json.load(result), seen
    except (Ended, OSError) as error:
        raise Failed(f"{name}: {error!r}, status {process.poll()}") from error
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


# --- Shown --------------------------------------------------------------------------------


def percent(value, width=7, digits=1):
    return f"{'-':>{width}}" if value is None else f"{100 * value:+{width}.{digits}f}"


def show_functions(report, most=16):
    print(
        f"\n{report['program']}: had {100 * report['core']:.0f} % of a core "
        f"({100 * report['known']:.0f} % accounted for, waited for a CPU "
        f"{100 * report['delayed']:.1f} %), "
        f"sampler {report['hz']:.0f} Hz, {report['snapshots']} snapshots, "
        f"overhead as reported {100 * report['overhead']:.2f} %, hooks (enter, "
        f"leave, jump) {report['hook_cost']} ticks"
    )
    print(
        f"{'':16}{'share':>7}{'off':>7}{'5 s':>7}{'beyond':>9}{'samples':>9}"
        f"{'ns':>9}{'p50':>7}{'noise':>7}{'mean':>8}{'noise':>7}{'calls/s':>9}"
        f"{'age':>6}"
    )
    print(
        f"{'':16}{'%':>7}{'points':>7}{'worst':>7}{'':9}{'':9}{'':9}{'%':>7}"
        f"{'%':>7}{'%':>8}{'%':>7}{'%':>9}{'s':>6}"
    )
    rows = sorted(
        report["functions"].items(),
        key=lambda row: -max(row[1]["share"], row[1]["waited"] or 0),
    )
    for name, row in rows[:most]:
        print(
            f"{name[:15]:16}{100 * row['share']:7.1f}"
            f"{percent(row['run_off'])}{percent(row['window_worst'])}"
            f"{row['windows_off']:5}/{row['windows']:<3}{row['samples']:9.0f}"
            f"{row['ns']:9.0f}"
            f"{percent(row['p50_off'])}{100 * row['p50_noise']:7.1f}"
            f"{percent(row['mean_off'], 8)}{100 * row['mean_noise']:7.1f}"
            f"{percent(row['rate_off'], 9)}{row.get('stale', 0):6.0f}"
        )
    if report["leads"]:
        print(
            "new leaders lead after "
            + ", ".join(
                "never" if lead is None else f"{lead:.1f} s" for lead in report["leads"]
            )
        )
    for each in report["misses"]:
        print(f"  MISS {each}")


def count(rows, good):
    rows = list(rows)
    return f"{sum(map(bool, map(good, rows)))}/{len(rows)}"


def summary(report):
    """A line of the table in docs/accuracy.md."""
    rows = report["functions"].values()
    shares = [row for row in rows if row["judged"]]
    cycles = [row for row in rows if row["cycles_judged"]]
    windows = sum(row["windows"] + row.get("c_windows", 0) for row in rows)
    beyond = sum(row["windows_off"] + row.get("c_windows_off", 0) for row in rows)
    leads = list(report["leads"])

    def close(what):
        noisy = sum(row[what] == "noise" for row in cycles)
        return count(cycles, lambda row: row[what] == "ok") + (
            f" ({noisy} noise)" if noisy else ""
        )

    return [
        report["program"],
        f"{100 * report['core']:.0f} / {100 * report['delayed']:.0f}",
        count(shares, lambda row: not row["run_miss"]),
        f"{100 * max((abs(row['run_off']) for row in shares), default=0):.1f}",
        f"{windows - beyond}/{windows}",
        f"{report['pairs'] - len(report['pairs_wrong'])}/{report['pairs']}",
        close("p50"),
        "-" if report["contends"] else close("mean"),
        count(shares, lambda row: not row["rate_miss"]),
        f"{max((row.get('stale', 0) for row in rows), default=0):.0f}",
        "-" if not leads else "never" if None in leads else f"{max(leads):.1f}",
        f"{100 * report['overhead']:.2f}",
    ]


HEAD = [
    "program",
    "core / wait, %",
    "shares",
    "worst, points",
    "5 s windows",
    "pairs",
    "p50",
    "mean",
    "calls/s",
    "oldest, s",
    "lead, s",
    "overhead reported, %",
]


def show_summary(reports):
    """As the page has it."""
    print("\n| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    for report in reports:
        print("| " + " | ".join(summary(report)) + " |")
    for report in reports:
        for each in report["misses"]:
            print(f"- {report['program']}, {each}")


def record(report):
    """For `make figures`: the columns of the table."""

    def note(name, value, *args, **options):
        figure(f"live/{report['program']}/{name}", value, *args, **options)

    def note_part(name, rows, good):
        if rows:
            part = 100 * sum(map(bool, map(good, rows))) / len(rows)
            note(name, part, "higher", unit="%")

    rows = report["functions"].values()
    shares = [row for row in rows if row["judged"]]
    cycles = [row for row in rows if row["cycles_judged"]]
    note_part("shares_within", shares, lambda row: not row["run_miss"])
    note("worst_share", 100 * max(abs(row["run_off"]) for row in rows), unit="points")
    seen = sum(row["share"] + row["run_off"] for row in rows)
    note("all_shares_seen", seen / report["known"], "nearer", goal=1, unit="x")
    windows = sum(row["windows"] for row in rows)
    beyond = sum(row["windows_off"] for row in rows)
    if windows:  # who had next to no CPU has no share worth looking at
        note("windows_within", 100 * (1 - beyond / windows), "higher", unit="%")
    if report["pairs"]:
        part = 1 - len(report["pairs_wrong"]) / report["pairs"]
        note("pairs_in_order", 100 * part, "higher", unit="%")
    note_part("p50_within", cycles, lambda row: row["p50"] != "MISS")
    note_part("calls_within", shares, lambda row: not row["rate_miss"])
    note("oldest_age", max(row.get("stale", 0) for row in rows), unit="s")
    if report["leads"]:
        never = any(lead is None for lead in report["leads"])
        note("lead", None if never else max(report["leads"]), unit="s")
    note("overhead", 100 * report["overhead"], unit="%")


def main(names, seconds, file=None, settings=None):
    """Runs and shows them; returns whether one failed, and whether a target was
    missed."""
    reports, failed = [], []
    for name in names:
        try:
            result, seen = run(name, seconds, settings=settings)
        except Failed as error:
            print(f"\nFAILED {error}", flush=True)
            failed.append(str(error))
            continue
        reports.append(live_judge.judge(result, seen))
        show_functions(reports[-1])
        record(reports[-1])
        sys.stdout.flush()
    show_summary(reports)
    for each in failed:
        print(f"- FAILED {each}")
    if file:
        with open(file, "w") as out:
            json.dump({"live": reports, "failed": failed}, out, indent=1)
    return bool(failed), any(report["misses"] for report in reports)
