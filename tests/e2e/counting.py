# SPDX-License-Identifier: MIT
"""Counts calls by Ocular and by cProfile, with the same keys."""

import cProfile
import os
import threading
from collections import Counter

import ocular

MAIN = threading.main_thread().native_id
# The test runner's other threads, such as the thread of pytest-xdist.
RUNNERS = {int(tid) for tid in os.listdir("/proc/self/task")} - {MAIN}

# With these settings nothing is written to disk or stderr, and every hit is counted.
EXACT = dict(deinstrument_threshold=0, perfetto=False, quiet=True)

COLLECTOR = "<garbage collection>"  # the row of the garbage collector


def functions(snapshot):
    """Returns the rows of Python functions, without the collector's row."""
    return [row for row in snapshot["functions"] if row["name"] != COLLECTOR]


def keyed(snapshot):
    """Returns {(file, line, name): calls and resumptions}."""
    counts = Counter()
    for row in functions(snapshot):
        key = row["file"], row["line"], row["name"].rpartition(".")[2]
        counts[key] += entries(row)
    return {key: count for key, count in counts.items() if count}


def traced(function, *arguments, **settings):
    """Returns (result of the function, final snapshot)."""
    ocular.start_tracing(**{**EXACT, **settings})
    try:
        result = function(*arguments)
    finally:
        final = ocular.stop_tracing()
    return result, final


def memory_bytes():
    """Returns the memory while a viewer is connected. The memory includes the last two
    snapshots, so two snapshots are taken."""
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
    """Returns a function's calls and resumptions. cProfile also counts both."""
    return row["calls"] + row["resumptions"]


def row(snapshot, name):
    """Returns the function whose qualified name ends with `name`, or None."""
    rows = [
        row
        for row in snapshot["functions"]
        if row["name"] == name or row["name"].endswith("." + name)
    ]
    assert len(rows) < 2, [row["name"] for row in rows]
    return rows[0] if rows else None


def own_cycles(mine):
    """Returns the ticks of the function's own time, including time in which it waited.
    If a thread of the test runner runs in a span, the whole span counts as waiting."""
    return mine["self_cycles"] + mine["waited_cycles"]


def threads_of(snapshot):
    """Returns the snapshot's threads without the test runner's threads."""
    return [one for one in snapshot["threads"] if one["tid"] not in RUNNERS]
