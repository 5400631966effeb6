# SPDX-License-Identifier: MIT
"""Profiles of some seconds, which are the difference between two answers with stacks, and
their text for pprof."""

import dataclasses
import gzip
import os
import time

from ocular._agent_metrics import clean
from ocular._agent_program import FLAME, NOW, OBJECTS
from ocular._agent_protobuf import Tables, number, packed, part, parts

# The types of the values of a sample, by the kind of the profile.
TYPES = {
    "profile": [("cpu", "nanoseconds")],
    "wall": [("wall", "nanoseconds")],
    "objects": [("alloc_objects", "count")],
    "both": [("cpu", "nanoseconds"), ("wall", "nanoseconds")],
}
PERIOD_NS = 10_000_000
PATIENCE_S = 5  # for the answers at the end of a profile
REPEAT_S = 5  # a process counts objects for ten seconds after each request
C_FUNCTIONS = 0xC0000000  # ids from here on
WAITS = {None: "(waiting)", "gil": "(waiting: GIL)", "cpu": "(waiting: CPU)"}


@dataclasses.dataclass
class Profile:
    """`parts` has a tuple (program, samples) for each program. A sample is a tuple (frames,
    values), the innermost frame first. `trouble` can say why there are no samples."""

    kind: str
    parts: list
    start_ns: int
    duration_ns: int
    trouble: str = ""

    def period(self):
        return 1 if self.kind == "objects" else PERIOD_NS


def sums(stacks):
    """Returns the time by key, and the row by key. The key of a row is a hash of the ids on
    its path; the key of a wait is that of its row and the kind of the wait. One answer
    often ends one profile and begins another one, so it keeps the result."""
    if "sums" not in stacks:
        keys, times, places = [], {}, {}
        for at, row in enumerate(stacks["rows"]):
            parent = row["parent"]
            above = keys[parent] if parent is not None and parent < at else 0
            key = hash((above, row["id"]))
            keys.append(key)
            places.setdefault(key, at)
            if row["cpu_ns"]:
                times[key] = times.get(key, 0) + row["cpu_ns"]
        for wait in stacks["waits"]:
            parent = wait["parent"] or 0
            if parent < len(keys):
                key = keys[parent], wait["kind"]
                times[key] = times.get(key, 0) + (wait["ns"] or 0)
        stacks["sums"] = times, places
    return stacks["sums"]


def _frame(function):
    """Returns the frame of a function, or of a row whose function is not in the table."""
    if not function:
        return "<gone>", "", 0
    name, file = function["name"], function["file"] or ""
    if not name and (function["id"] or 0) >= C_FUNCTIONS:
        name = f"{os.path.basename(file)}+{function['address'] or 0:#x}"
    return clean(name or "<gone>"), clean(file), function["line"] or 0


def since(before, stacks, kind):
    """Yields (frames, values) for each stack with CPU time since the times `before`. If
    `kind` is not "profile", also yields the waits."""
    times, places = sums(stacks)
    functions = {function["id"]: function for function in stacks["functions"]}
    known = {None: ("<deeper stacks>", "", 0)}
    for key, ns in times.items():
        ns -= before.get(key, 0)
        waits = isinstance(key, tuple)
        if ns <= 0 or (waits and kind == "profile"):  # below 0: rows were merged
            continue
        path, at = [], places[key[0] if waits else key]
        if waits:
            name = WAITS.get(key[1]) or f"(waiting: {clean(key[1])})"
            path.append((name, "", 0))
        while at:  # row 0 is the root
            row = stacks["rows"][at]
            if row["id"] not in known:
                known[row["id"]] = _frame(functions.get(row["id"]))
            path.append(known[row["id"]])
            at = row["parent"] if row["parent"] is not None and row["parent"] < at else 0
        path = tuple(path or [("<untraced>", "", 0)])
        yield path, ((0 if waits else ns, ns) if kind == "both" else (ns,))


def _births(snapshot, seconds):
    """Yields (frames, values) of the objects that were made in the last seconds, which is
    estimated from their rates."""
    own, left = None, 0.0
    for row in [*snapshot["objects"]["types"], {"type": None, "function": None}]:
        if row["function"] is None:
            if own and left >= 1:
                yield (own,), (round(left),)
            if row["type"]:
                own = clean(row["type"]), "", 0
                left = (row["born_per_s"] or 0) * seconds
        elif own and row["born_per_s"]:
            frame = clean(row["function"]), clean(row["file"] or ""), row["line"] or 0
            left -= row["born_per_s"] * seconds
            yield (own, frame), (round(row["born_per_s"] * seconds),)


class Capture:
    """Takes a profile of programs over some seconds, and then calls done(profile). All
    functions run in the agent's first thread."""

    def __init__(self, agent, kind, seconds, programs, done):
        self.agent, self.kind, self.seconds, self.done = agent, kind, seconds, done
        self.before, self.waiting = {}, set(programs)
        self.profile = Profile(kind, [], time.time_ns(), int(seconds * 1e9))
        self.until = time.monotonic() + seconds
        if kind == "objects":
            self.count()
        else:
            for program in programs:
                program.get(FLAME, self.begin)
        agent.at(self.until, self.end)
        agent.at(self.until + PATIENCE_S, self.finish)

    def count(self):
        for program in self.waiting:
            program.ask(OBJECTS)
        if time.monotonic() + REPEAT_S < self.until:
            self.agent.at(time.monotonic() + REPEAT_S, self.count)

    def begin(self, program, stacks):
        if stacks:
            self.before[program] = sums(stacks)[0]

    def end(self):
        request = NOW if self.kind == "objects" else FLAME
        for program in list(self.waiting):
            program.get(request, self.take)
        if not self.waiting:
            self.finish()

    def take(self, program, found):
        self.waiting.discard(program)
        samples = []
        if found and self.kind == "objects":
            samples = list(_births(found, self.seconds))
            self.profile.trouble = found["objects"]["trouble"] or self.profile.trouble
        elif found and program in self.before:
            samples = list(since(self.before[program], found, self.kind))
        self.profile.parts.append((program, samples))
        if not self.waiting:
            self.finish()

    def finish(self):
        """Ends the profile without the programs that have not answered."""
        done, self.done = self.done, None
        if done:
            if time.monotonic() > self.until:
                self.agent.late += len(self.waiting)
            for program in self.waiting:
                program.forget(self.begin)
                program.forget(self.take)
            self.before, self.waiting = {}, set()
            done(self.profile)


def pprof(profile):
    """Returns the profile as a compressed file for pprof (profile.proto)."""
    tables = Tables()
    types = [tables.value_type(*kind) for kind in TYPES[profile.kind]]
    samples = []
    for program, its in profile.parts:
        labels = program.identity.items()
        labels = parts(
            3,
            (number(1, tables.string(n)) + number(2, tables.string(v)) for n, v in labels),
        )
        for frames, values in its:
            stack = packed(1, map(tables.frame, frames)) + packed(2, values)
            samples.append(stack + labels)
    functions, locations = [], []
    for (name, file, line), at in tables.frames.items():
        names = number(2, tables.string(name)) + number(3, tables.string(name))
        functions.append(
            number(1, at) + names + number(4, tables.string(file)) + number(5, line)
        )
        locations.append(number(1, at) + part(4, number(1, at) + number(2, line)))
    content = [
        parts(1, types),
        parts(2, samples),
        parts(4, locations),
        parts(5, functions),
        parts(6, tables.strings),
        number(9, profile.start_ns) + number(10, profile.duration_ns),
        part(11, types[0]) + number(12, profile.period()),
    ]
    return gzip.compress(b"".join(content), 6, mtime=0)
