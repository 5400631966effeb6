# SPDX-License-Identifier: MIT
"""Compares a snapshot of a program of ordinary.py with the program's own counts. The
functions of this module are pure, and use no clock and no process."""

import math

LEAST_SHARE = 0.04  # a job with a smaller fraction of the program's CPU time is not judged
# if a function has fewer samples, its estimated calls are not judged
LEAST_SAMPLES = 144


def judge(result):
    """Returns {name of a figure: value} for one program."""
    cpu_s, elapsed = result["cpu_s"], result["elapsed_s"]
    rows = {row["name"]: row for row in result["snapshot"]["functions"]}
    all_ns = cpu_s * 1e9
    worst_share = worst_calls = 0.0
    armed = few = 0
    for name, ns in result["truth"].items():
        if ns / all_ns >= LEAST_SHARE:
            share = below(result["final"], name)
            worst_share = max(worst_share, abs(share - ns / all_ns))
        rate = result["count"][name] / elapsed
        row = rows.get(name, {})
        if rate < 1000:
            few += 1
            armed += bool(row.get("calls_exact")) or row.get("state") in (
                "armed",
                "partial",
            )
        if row.get("calls_per_s") is not None and not row["rate_estimated"]:
            worst_calls = max(worst_calls, abs(row["calls_per_s"] / rate - 1))
    samples = result["final"]["sampler"]["samples"]
    # The shares come from the samples of the window, which contains only the newest
    # samples. The viewer's header also shows the number of these samples.
    shown = min(samples, result["final"]["sampler"]["window_samples"])
    return {
        "samples a CPU second": samples / cpu_s,
        "worst share, points": 100 * worst_share,
        "three sigma, points": 300 * math.sqrt(0.2 / max(shown, 1)),
        "worst counted calls/s, %": 100 * worst_calls,
        "worst estimated calls, %": worst_estimate(result),
        "armed of the jobs, %": 100 * armed / few if few else None,
        "overhead reported, % of a core": 100
        * (result["final"]["overhead"]["mean"] or 0)
        * cpu_s
        / elapsed,
        "core used, %": 100 * cpu_s / elapsed,
    }


def worst_estimate(result):
    """Returns the largest error of an estimated number of calls, in per cent. Returns None
    if no function was dark and also had enough samples."""
    made = result["count"]
    return max(
        (
            100 * abs(row["calls_estimated"] / made[row["name"]] - 1)
            for row in result["final"]["functions"]
            if made.get(row["name"])
            and not row["calls_exact"]
            and row["calls_estimated"] is not None
            and (row["run_samples"] or 0) >= LEAST_SAMPLES
        ),
        default=None,
    )


def ratio(traced, untraced):
    """Returns the CPU time of the work when traced, divided by the CPU time of the same
    work when untraced."""
    cost = {  # ns that one run of each job takes
        name: sum(each["truth"].get(name, 0) for each in untraced) / done
        for name in traced["count"]
        if (done := sum(each["count"].get(name, 0) for each in untraced))
    }

    def of_work(results):
        """Returns the program's CPU time divided by the CPU time that its jobs would take
        untraced."""
        jobs = sum(n * cost.get(k, 0) for each in results for k, n in each["count"].items())
        return sum(each["cpu_s"] for each in results) / jobs

    return of_work([traced]) / of_work(untraced)


BELOW = {
    "calls": ["leaf"],
    "through_json": [
        "dumps", "loads", "JSONEncoder.encode", "JSONEncoder.iterencode",
        "JSONDecoder.decode", "JSONDecoder.raw_decode",
    ],
}  # fmt: skip


def below(snapshot, name):
    """Returns the fraction of all sampled CPU time that is in the job, including callees
    that only this job has."""
    names = {name, *BELOW.get(name, ())}
    everything = sum(row["run_share"] or 0 for row in snapshot["functions"])
    mine = sum(
        row["run_share"] or 0 for row in snapshot["functions"] if row["name"] in names
    )
    return mine / everything if everything else 0.0
