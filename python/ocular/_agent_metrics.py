# SPDX-License-Identifier: MIT
"""The metrics of `ocular agent`, and their text for Prometheus. A point is a tuple of the
name of its family, its own labels as a tuple of pairs, and its value. The value of a
histogram is a dict of the calls by the bounds of their buckets, and of their "sum"."""

import functools
import itertools

from ocular import _stacks

TEXT = 200  # largest length of a label's value
LATENCY = "ocular_function_latency_seconds"
MISSED = "ocular_function_missed_ends"

# Name of the family: (kind, explanation). The docs say which number is counted, sampled
# or estimated (docs/fleet.md).
FAMILIES = {
    "ocular_program": ("info", "A program that serves."),
    "ocular_cpu_seconds": ("counter", "CPU time of the process, by the kernel."),
    "ocular_overhead_cores": ("gauge", "Measured cost of tracing, as a part of a core."),
    "ocular_overhead_allowed_cores": ("gauge", "Cost that tracing may have."),
    "ocular_gil_held_seconds": ("counter", "Time in which a thread had the GIL, sampled."),
    "ocular_gil_waited_seconds": ("counter", "Time of threads that waited for the GIL."),
    "ocular_gc_seconds": ("counter", "Pauses of the garbage collector."),
    "ocular_gc_collections": ("counter", "Collections by generation."),
    "ocular_loop_lag_seconds": ("gauge", "Lag of the event loop that is the latest."),
    "ocular_stalls": ("counter", "Steps of event loops that took too long."),
    "ocular_functions": ("gauge", "Functions that have run since tracing began."),
    "ocular_snapshot_age_seconds": ("gauge", "Age of the numbers of the process."),
    "ocular_function_cpu_seconds": ("counter", "CPU time without callees, sampled."),
    "ocular_function_calls": ("counter", "Calls; estimated while the function is dark."),
    "ocular_function_counted_calls": ("counter", "Calls that were counted."),
    "ocular_function_in_flight": (
        "gauge",
        "Calls that have begun and not ended; a lower bound if the function was dark.",
    ),
    "ocular_function_oldest_seconds": (
        "gauge",
        "Age of the oldest call in flight; a lower bound if the function was dark.",
    ),
    LATENCY: (
        "histogram",
        "Latency with awaits, of the calls whose begin and end were seen.",
    ),
    MISSED: (
        "counter",
        "Calls that were seen to begin, and whose end was missed.",
    ),
    "ocular_function_latency_max_seconds": ("gauge", "Longest call since tracing began."),
    "ocular_functions_beyond": ("gauge", "Chosen functions without a series of their own."),
    "ocular_agent_programs": ("gauge", "Programs that the agent watches."),
    "ocular_agent_programs_beyond": ("gauge", "Programs for which there was no room."),
    "ocular_agent_cpu_seconds": ("counter", "CPU time of the agent."),
    "ocular_agent_late": ("counter", "Answers that came too late for a profile."),
    "ocular_agent_sent": ("counter", "Requests that a receiver has accepted."),
    "ocular_agent_refused": ("counter", "Requests that a receiver has refused for good."),
    "ocular_agent_lost": ("counter", "Requests dropped for want of room, or as too old."),
    "ocular_agent_failed": ("counter", "Attempts that failed and are repeated."),
    "ocular_agent_queued_bytes": ("gauge", "Bytes that wait for a receiver."),
}
# Names of the agent's own labels, also those by OpenTelemetry, which no other label has.
RESERVED = """service pid version python container ocular function file line le
generation receiver signal service_name service_version process_pid process_runtime_version
container_id""".split()
SUFFIXES = {"counter": "_total", "info": "_info"}
MOST = 1 << 53  # of a count; a program can send more
FLOORS_MOST = 3000  # more than the counters of one snapshot


def clean(text):
    """Returns a text of a traced program as a label's value."""
    return text.translate(_stacks.CONTROL)[:TEXT]


def _of_program(snapshot):
    gil, overhead = snapshot["gil"], snapshot["overhead"]
    yield "ocular_cpu_seconds", (), snapshot["cpu_s"]
    yield "ocular_overhead_cores", (), overhead["cores"]
    yield "ocular_overhead_allowed_cores", (), overhead["cores_allowed"]
    yield "ocular_gil_held_seconds", (), gil["held_s"]
    yield "ocular_gil_waited_seconds", (), gil["waited_s"]
    generations = snapshot["gc"]["generations"]
    pauses = [row["total_s"] for row in generations if row["total_s"] is not None]
    yield "ocular_gc_seconds", (), sum(pauses) if pauses else None
    for number, row in enumerate(generations):
        yield "ocular_gc_collections", (("generation", str(number)),), row["collections"]
    lags = [loop["lag_s"] for loop in snapshot["loops"] if loop["lag_s"] is not None]
    yield "ocular_loop_lag_seconds", (), max(lags, default=None)
    yield "ocular_stalls", (), snapshot["stalls_total"]
    yield "ocular_functions", (), snapshot["functions_total"]
    yield "ocular_functions_beyond", (), snapshot["watched_beyond"]


def _of_function(row, watched, uptime_s):
    cpu = row["run_share"]
    calls = row["calls"] if row["calls_exact"] else row["calls_estimated"]
    yield "ocular_function_cpu_seconds", (), None if cpu is None else cpu * uptime_s
    yield "ocular_function_calls", (), calls
    yield "ocular_function_counted_calls", (), row["calls"]
    if not watched:
        return
    yield "ocular_function_in_flight", (), row["in_flight"]
    yield "ocular_function_oldest_seconds", (), row["oldest_s"]
    yield "ocular_function_latency_max_seconds", (), row["wall_max_s"]


def _histogram(row, place, floors):
    """Returns the calls of a place by their latency and the number of missed ends. They are
    those of all code objects that are or were at this place. `floors` also has the last
    numbers of each code object. The place is inserted first, so that it is
    forgotten before its code objects, whose calls would otherwise count again."""
    latencies = row["latencies"]
    its = latencies["buckets"] | {"sum": latencies["sum_s"], MISSED: latencies["missed"]}
    sums, last = floors.pop((LATENCY, place), {}), floors.pop(row["id"], {})
    sums = {
        name: min(sums.get(name, 0) + max(0, value - last.get(name, 0)), MOST)
        for name, value in its.items()
    }
    floors[LATENCY, place], floors[row["id"]] = sums, its
    return {name: sums[name] for name in its if name != MISSED}, sums[MISSED]


def points(snapshot, floors):
    """Returns the points of a program without the labels of the program. Code objects with
    the same name, file and line have one series. `floors` has the last values of counters,
    the latest ones at its end. A counter never falls below its floor, because Prometheus
    would take this for a restart: estimates and measured clocks change, and rows leave."""
    found = {}
    for name, labels, value in _of_program(snapshot):
        if value is not None:
            found[name, labels] = value
    seen = {row["id"] for row in snapshot["watched"]}
    rows = [(row, True) for row in snapshot["watched"]]
    rows += [(row, False) for row in snapshot["functions"] if row["id"] not in seen]
    for row, watched in rows:
        place = (
            ("function", clean(row["name"] or "<gone>")),
            ("file", clean(row["file"] or "")),
            ("line", str(row["line"] or 0)),
        )
        for name, labels, value in _of_function(row, watched, snapshot["uptime_s"]):
            if value is None:
                continue
            key = name, place + labels
            adds = FAMILIES[name][0] == "counter" or name.endswith("in_flight")
            before = found.get(key, 0)
            found[key] = before + value if adds else max(before, value)
        if watched and row["latencies"]:
            found[LATENCY, place], found[MISSED, place] = _histogram(row, place, floors)
    for key in found:
        if FAMILIES[key[0]][0] == "counter":
            found[key] = floors[key] = max(found[key], floors.pop(key, 0))
    for key in list(floors)[:-FLOORS_MOST]:
        del floors[key]
    return [(*key, value) for key, value in found.items()]


# --- Text for Prometheus ------------------------------------------------------


def label_name(text):
    """Returns a name that Prometheus allows, for example deployment_environment."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in text)
    return "_" + name if name[:1].isdigit() else name


def is_free(name):
    """Says whether a label can have this name. Names with __ are Prometheus's own."""
    name = label_name(name)
    return not name.startswith("__") and name not in RESERVED


@functools.lru_cache(8192)  # the same functions come again and again
def _labels(pairs):
    valid = {label_name(name): value for name, value in pairs}
    return ",".join(
        '{}="{}"'.format(name, value.replace("\\", r"\\").replace('"', r"\""))
        for name, value in valid.items()
    )


def _buckets(name, labels, value):
    """Yields the lines of a histogram. A bucket also has the calls of those before it."""
    *calls, total = value.values()
    for bound, number in zip(value, itertools.accumulate(calls), strict=False):
        yield f'{name}_bucket{{{labels},le="{bound}"}} {number}\n'
    yield f"{name}_count{{{labels}}} {sum(calls)}\n{name}_sum{{{labels}}} {total!r}\n"


def text(groups, open_metrics):
    """Returns a text in OpenMetrics' format, or in Prometheus' own older format, in which a
    counter's family is called as its series. `groups` has tuples of labels, as a tuple of
    pairs, and of points that also have these labels."""
    lines = {name: [] for name in FAMILIES}
    names = {name: name + SUFFIXES.get(kind, "") for name, (kind, _) in FAMILIES.items()}
    for shared, points in groups:
        begin = _labels(shared)
        for name, pairs, value in points:
            own = _labels(pairs)
            both = begin + "," + own if begin and own else begin or own
            if name == LATENCY:
                lines[name] += _buckets(name, both, value)
                continue
            both = f"{{{both}}}" if both else ""
            lines[name].append(f"{names[name]}{both} {value!r}\n")
    parts = []
    for name, (kind, explanation) in FAMILIES.items():
        if not lines[name]:
            continue
        family = name if open_metrics else names[name]
        if not open_metrics:
            kind = "gauge" if kind == "info" else kind
        parts.append(f"# HELP {family} {explanation}\n# TYPE {family} {kind}\n")
        parts += lines[name]
    return "".join(parts) + ("# EOF\n" if open_metrics else "")
