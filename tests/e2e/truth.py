# SPDX-License-Identifier: MIT
"""Finds out which calls really happen, from the interpreter's own frames. A recorder in
Python does this, independently of Ocular, for the same program."""

import sys
from collections import Counter

from e2e.counting import COLLECTOR, functions, recorded

EVENTS = sys.monitoring.events
TOOL = sys.monitoring.DEBUGGER_ID
ENTERS = {EVENTS.PY_START, EVENTS.PY_RESUME, EVENTS.PY_THROW}
LEAVES = {EVENTS.PY_RETURN, EVENTS.PY_YIELD, EVENTS.PY_UNWIND}


def record(function, file):
    """Returns a Counter of calls by name and a Counter of calls by (name, caller's
    name), for the code of a file. Each entry of a generator counts as a call. The caller is
    the nearest calling frame whose code is in the same file, or None."""
    calls, edges = Counter(), Counter()
    # Not every frame in the chain runs, because throw() passes through `yield from` without
    # entering the outer generator.
    runs = set()

    def caller(frame):
        while frame := frame.f_back:
            if frame.f_code is record.__code__:
                return None
            if id(frame) in runs:
                return frame.f_code.co_qualname
        return None

    def entered(code, *_):
        if code.co_filename == file:
            frame = sys._getframe(1)
            runs.add(id(frame))
            calls[code.co_qualname] += 1
            edges[code.co_qualname, caller(frame)] += 1

    def left(code, *_):
        if code.co_filename == file:
            runs.discard(id(sys._getframe(1)))

    sys.monitoring.use_tool_id(TOOL, "truth")
    try:
        for event in ENTERS | LEAVES:
            callback = entered if event in ENTERS else left
            sys.monitoring.register_callback(TOOL, event, callback)
        sys.monitoring.set_events(TOOL, sum(ENTERS | LEAVES))
        function()
    finally:
        sys.monitoring.set_events(TOOL, 0)
        for event in ENTERS | LEAVES:
            sys.monitoring.register_callback(TOOL, event, None)
        sys.monitoring.free_tool_id(TOOL)
    return calls, edges


def python_callers(calls):
    """Yields each call of a thread with its caller's name. In the interpreter's frames, the
    garbage collector is no caller. So a finalizer's caller is the function in which the
    collection began."""
    collections = [call for call in calls if call.name == COLLECTOR]
    for call in calls:
        parent = call.parent
        if parent == COLLECTOR:
            within = [one for one in collections if one.begin <= call.begin < one.end]
            parent = within[0].parent
        if call.name != COLLECTOR:
            yield call, parent


def seen(function, file, path, **settings):
    """Returns the two Counters of record(), but with Ocular's counts. The calls by caller
    come from the timeline. Also returns the timeline and the final snapshot."""
    timeline, final = recorded(path, function, include_only=[file], **settings)
    assert final["lost"] == 0
    calls = Counter()
    for row in functions(final):
        if row["calls"] + row["resumptions"]:
            calls[row["name"]] += row["calls"] + row["resumptions"]
    edges = Counter(
        (call.name, parent)
        for each in timeline.calls.values()
        for call, parent in python_callers(each)
        if not call.begin_args.get("resumed")
    )
    return calls, edges, timeline, final


def compared(function, file, path, threshold, same_edges=True):
    """Compares the calls, and the calls by caller, with the interpreter's. Returns the
    timeline and the final snapshot."""
    calls, edges = record(function, file)
    settings = {"deinstrument_threshold": threshold}
    ours, tree, timeline, final = seen(function, file, path, **settings)
    assert ours == calls
    assert tree == edges or not same_edges
    check_figures(final)
    return timeline, final


def check_figures(final):
    """Checks conditions that hold for every function in any program."""
    for row in final["functions"]:
        name = row["name"]
        if row["self_cycles"] is not None:
            assert row["self_cycles"] >= 0, name
            assert row["total_cycles"] is not None, name
            assert row["avg_cycles"] is not None and not row["avg_estimated"], name
        # If another thread ran during a call, that time is in the function's own cycles,
        # but not in the mean.
        if (
            row["min_cycles"] is not None
            and row["avg_cycles"] is not None
            and not row["waited_cycles"]
        ):
            assert row["min_cycles"] <= row["avg_cycles"] * 1.001, name
