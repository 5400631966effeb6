# SPDX-License-Identifier: MIT
"""Counts calls by Ocular and by cProfile. The keys of both results are the same."""

import cProfile
import os
import threading
from collections import Counter

import ocular
from e2e import trace

MAIN = threading.main_thread().native_id
# Threads of the test runner in addition to the main thread, such as the thread of
# pytest-xdist.
RUNNERS = {int(tid) for tid in os.listdir("/proc/self/task")} - {MAIN}

# With these settings nothing is written to disk or stderr, and every hit is counted.
EXACT = dict(deinstrument_threshold=0, perfetto=False, quiet=True)

COLLECTOR = "<garbage collection>"  # the row of the garbage collector


def helper(n):
    while n:
        n -= 1
    return n


def functions(snapshot):
    """Returns the rows of Python functions, without the row of the garbage collector."""
    return [row for row in snapshot["functions"] if row["name"] != COLLECTOR]


def keyed(snapshot):
    """Returns the sum of calls and resumptions of each function, by file, line and name."""
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


def recorded(path, function, *arguments, **settings):
    """Returns the Trace of a new file, and the final snapshot."""
    path.unlink(missing_ok=True)
    settings = {"output": path, "perfetto": True, **settings}
    _, final = traced(function, *arguments, **settings)
    return trace.read(path), final


def memory_bytes():
    """Returns the memory that Ocular reports while a viewer is connected. The reported
    memory includes the last two snapshots, so the function takes two snapshots."""
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
    """Returns the sum of a function's calls and resumptions. cProfile also counts a
    resumption as a call."""
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
    """Returns the ticks of the function's own time, including the time in which it waited.
    If a thread of the test runner runs between two events, the whole time between them
    counts as waiting."""
    return mine["self_cycles"] + mine["waited_cycles"]


def threads_of(snapshot):
    """Returns the snapshot's threads, without threads of the test runner."""
    return [one for one in snapshot["threads"] if one["tid"] not in RUNNERS]
