# SPDX-License-Identifier: MIT
"""Writes the requests of OTLP over http/protobuf: metrics, and profiles in the version
v1development of opentelemetry-proto, which can still change."""

import functools
import gzip
import os
import struct

import ocular
from ocular._agent_metrics import FAMILIES
from ocular._agent_profile import TYPES
from ocular._agent_protobuf import Tables, fixed, number, packed, part, parts

CUMULATIVE = 2
PID = "process.pid"  # a number; all other attributes are texts
SCOPE = part(1, part(1, "ocular") + part(2, ocular.__version__))


def _attribute(name, value):
    return part(1, name) + part(2, number(3, int(value)) if name == PID else part(1, value))


@functools.lru_cache(8192)
def _attributes(pairs, field=7):
    return parts(field, (_attribute(*pair) for pair in pairs))


def _resource(labels):
    """Returns a resource with the labels, by OpenTelemetry's names."""
    names = {
        "service": "service.name",
        "version": "service.version",
        "pid": PID,
        "container": "container.id",
        "python": "process.runtime.version",
    }
    return parts(1, (_attribute(names.get(n, n), v) for n, v in labels.items()))


# --- Metrics ------------------------------------------------------------------


def _numbers(rows, times):
    for pairs, value in rows:
        yield _attributes(pairs) + times + fixed(4, float(value))


def _histograms(rows, times):
    for pairs, value in rows:
        *counts, total = value.values()
        bounds = [float(bound) for bound in value if bound[0].isdigit()]
        head = (
            _attributes(pairs, 9) + times + fixed(4, sum(counts)) + fixed(5, float(total))
        )
        buckets = part(6, b"".join(struct.pack("<Q", count) for count in counts))
        yield head + buckets + part(7, struct.pack(f"<{len(bounds)}d", *bounds))


def _metric(name, rows, times):
    kind, explanation = FAMILIES[name]
    head = part(1, name.replace("_", ".", 1)) + part(2, explanation)
    if name.endswith("_seconds"):
        head += part(3, "s")
    if kind == "histogram":
        points = parts(1, _histograms(rows, times))
        return head + part(9, points + number(2, CUMULATIVE))
    points = parts(1, _numbers(rows, times))
    if kind == "counter":
        return head + part(7, points + number(2, CUMULATIVE) + number(3, 1))
    return head + part(5, points)


def metrics(programs):
    """Returns a request with the points of each program. `programs` has tuples of the
    labels of a resource, the Unix times at which its counters began and at which it had
    its points, and these points."""
    found = []
    for labels, begin_ns, now_ns, points in programs:
        families = {}
        for name, pairs, value in points:
            families.setdefault(name, []).append((pairs, value))
        times = fixed(2, begin_ns) + fixed(3, now_ns)
        rows = parts(2, (_metric(name, rows, times) for name, rows in families.items()))
        found.append(part(1, _resource(labels)) + part(2, SCOPE + rows))
    return gzip.compress(parts(1, found), 1, mtime=0)


# --- Profiles -----------------------------------------------------------------


def profiles(profile):
    """Returns a request with a profile for each program and each type of sample."""
    tables, stacks, resources = Tables(), {}, []
    for program, samples in profile.parts:
        found = []
        for at, kind in enumerate(TYPES[profile.kind]):
            rows = []
            for frames, values in samples:
                if values[at]:
                    stack = stacks.setdefault(frames, len(stacks) + 1)
                    rows.append(number(1, stack) + packed(4, [values[at]]))
            value_type = tables.value_type(*kind)
            head = part(1, value_type) + parts(2, rows) + fixed(3, profile.start_ns)
            head += number(4, profile.duration_ns) + part(5, value_type)
            found.append(head + number(6, profile.period()) + part(7, os.urandom(16)))
        resource = _resource(program.labels)
        found = part(2, SCOPE + parts(2, found))
        resources.append(part(1, resource) + found)
    stacks = [packed(1, map(tables.frame, frames)) for frames in stacks]
    functions, locations = [], []
    for at, (name, file, line) in enumerate(tables.frames, 1):
        names = number(1, tables.string(name)) + number(3, tables.string(file))
        functions.append(names + number(4, line))
        locations.append(part(3, number(1, at) + number(2, line)))
    # The first element of each table stands for none.
    dictionary = [
        part(1, b""),
        parts(2, [b"", *locations]),
        parts(3, [b"", *functions]),
        part(4, b""),
        parts(5, tables.strings),
        part(6, b""),
        parts(7, [b"", *stacks]),
    ]
    request = parts(1, resources) + part(2, b"".join(dictionary))
    return gzip.compress(request, 1, mtime=0)
