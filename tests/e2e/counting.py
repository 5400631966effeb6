# SPDX-License-Identifier: MIT
"""Call counts, by Ocular and by cProfile, keyed alike."""

import cProfile
import os
import threading
from collections import Counter

import ocular

MAIN = threading.main_thread().native_id
# Threads of the test runner: pytest-xdist has one.
RUNNERS = {int(tid) for tid in os.listdir("/proc/self/task")} - {MAIN}

# Nothing on disk, nothing on stderr, every hit counted.
EXACT = dict(deinstrument_threshold=0, perfetto=False, quiet=True)


def keyed(snapshot):
    """(file, line, name) -> calls and resumptions"""
    counts = Counter()
    for row in snapshot["functions"]:
        key = row["file"], row["line"], row["name"].rpartition(".")[2]
        counts[key] += entries(row)
    return {key: count for key, count in counts.items() if count}


def traced(function, *arguments, **settings):
    """(what it returned, the final snapshot)"""
    ocular.start_tracing(**{**EXACT, **settings})
    try:
        result = function(*arguments)
    finally:
        final = ocular.stop_tracing()
    return result, final


def memory_bytes():
    """Memory while somebody looks: for this snapshot and the one before. The first
    snapshot of a trace has none before it."""
    ocular.snapshot()
    return ocular.snapshot()["memory_bytes"]


def by_ocular(function, *arguments, **settings):
    return keyed(traced(function, *arguments, **settings)[1])


def by_cprofile(function, *arguments):
    profile = cProfile.Profile()
    profile.enable()
    try:
        function(*arguments)
    finally:
        profile.disable()
    profile.create_stats()
    return {
        key: value[1]
        for key, value in profile.stats.items()
        if key[0] != "~" and not key[0].endswith("cProfile.py")
    }


def entries(row):
    """Of a function: calls begun and gone on with, which cProfile counts alike."""
    return row["calls"] + row["resumptions"]


def row(snapshot, name):
    """The function whose qualified name ends so; None if there is none."""
    rows = [
        row
        for row in snapshot["functions"]
        if row["name"] == name or row["name"].endswith("." + name)
    ]
    assert len(rows) < 2, [row["name"] for row in rows]
    return rows[0] if rows else None


def own_cycles(mine):
    """Ticks of the function's own time, those in which it waited among them: a
    thread of the test runner that runs meanwhile makes all of a span such."""
    return mine["self_cycles"] + mine["waited_cycles"]


def threads_of(snapshot):
    """Its threads, but for those of the test runner."""
    return [one for one in snapshot["threads"] if one["tid"] not in RUNNERS]
