# SPDX-License-Identifier: MIT
"""Reads a trace of either format and checks that it follows the rules of the format."""

import gc
import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from e2e import pftrace


@dataclass
class Call:
    name: str
    begin: float
    end: float
    parent: str | None
    begin_args: dict
    end_args: dict
    depth: int


@dataclass
class Trace:
    other: dict
    threads: dict  # (pid, tid): name
    calls: dict = field(default_factory=lambda: defaultdict(list))
    # Instructions that were executed, as events of the category "instruction".
    steps: dict = field(default_factory=lambda: defaultdict(list))
    # steps of asyncio's tasks
    tasks: dict = field(default_factory=lambda: defaultdict(list))
    loops: list = field(default_factory=list)
    marks: list = field(default_factory=list)
    # name: [(ts, value)]
    counters: dict = field(default_factory=lambda: defaultdict(list))
    changes: list = field(default_factory=list)  # Instructions that were specialised.
    # Maps a span's id to its beginning and its end (None if the span has not ended).
    spans: dict = field(default_factory=dict)
    # Maps a category ("dark", "wait" or "stall") to the beginnings and ends of its slices.
    slices: dict = field(default_factory=lambda: defaultdict(list))
    events: int = 0

    def of(self, name=""):
        """Returns the calls of the functions whose names end with `name`."""
        return [c for each in self.calls.values() for c in each if c.name.endswith(name)]

    def names(self, thread=None):
        """Returns {function: number of its calls}."""
        count = defaultdict(int)
        for key, calls in self.calls.items():
            for call in calls if thread in (None, key) else ():
                count[call.name] += 1
        return dict(count)


def contents(path):
    """Returns the bytes of the file, decompressed if necessary."""
    data = Path(path).read_bytes()
    return gzip.decompress(data) if str(path).endswith(".gz") else data


def samples(path):
    """Returns [(ns since the start, tid, names of the frames, outermost first)]."""
    if ".pftrace" in Path(path).name:
        return pftrace.samples(contents(path))
    found, profiles = [], {}
    for event in json.loads(contents(path))["traceEvents"]:
        if event["ph"] != "P":
            continue
        data = event["args"]["data"]
        assert event["id"] == "0x1"
        if event["name"] == "Profile":
            assert event["pid"] not in profiles
            profiles[event["pid"]] = [data["startTime"], {}]
            continue
        us, nodes = profiles[event["pid"]]
        for node in data["cpuProfile"]["nodes"]:
            before = nodes[node["parent"]] if "parent" in node else []
            assert node["id"] not in nodes
            nodes[node["id"]] = [*before, node["callFrame"]["functionName"]]
        (node,), (delta,) = data["cpuProfile"]["samples"], data["timeDeltas"]
        profiles[event["pid"]][0] = us = us + delta
        # a merged file has times that were rounded twice, which allows a larger error
        assert abs(us - event["ts"]) <= 2 + us / 2**52
        found.append((1000 * us, event["tid"], nodes[node]))
    return found


def load(path):
    """Reads a file of either format. Returns its document as the JSON format has it."""
    path, data = Path(path), contents(path)
    is_pftrace = path.name.removesuffix(".gz").endswith(".pftrace")
    return pftrace.document(data) if is_pftrace else json.loads(data)


def read(path):
    was_enabled = gc.isenabled()
    gc.disable()  # a garbage collection would visit all events again and again
    try:
        return check(load(path))
    finally:
        if was_enabled:
            gc.enable()


def check(document):
    """Checks the document and returns it as a Trace."""
    assert set(document) == {"displayTimeUnit", "otherData", "traceEvents"}
    trace = Trace(document["otherData"], {})
    assert trace.other["lost_events"] >= 0
    open_calls, last = defaultdict(list), defaultdict(float)
    named_process, slices, flows = False, {}, set()
    for event in document["traceEvents"]:
        key = event["pid"], event["tid"]
        trace.events += 1
        if event["ph"] == "M":
            named_process |= event["name"] == "process_name"
            if event["name"] == "thread_name":
                trace.threads[key] = event["args"]["name"]
            continue
        if event["ph"] == "C":
            (value,) = event["args"].values()
            trace.counters[event["name"]].append((event["ts"], value))
            continue
        if event.get("s") == "p":
            assert event["cat"] == "specialisation" and "function" in event["args"]
            trace.changes.append(event)
            continue
        if event["ph"] == "P":
            continue  # samples() reads this event
        if event.get("cat") in ("dark", "wait", "stall"):
            number = event["pid"], event["cat"], event["id2"]["local"]
            if event["ph"] == "b":
                assert number not in slices
                slices[number] = event
            else:
                begin = slices.pop(number)
                assert begin["name"] == event["name"] and event["ph"] == "e"
                assert begin["ts"] <= event["ts"]
                trace.slices[event["cat"]].append((begin, event))
            continue
        stack = open_calls[key]
        assert event["ts"] >= last[key] >= 0, "time runs backwards"
        last[key] = event["ts"]
        if event["ph"] == "B":
            if event["cat"] == "task":
                number, link = event["args"]["task"], event["bind_id"]
                assert stack[-1]["cat"] == "python" and event["flow_out"] is True
                assert link == f"0x{event['pid']:x}{number:08x}" and number
                assert event.get("flow_in", False) is (link in flows)
                flows.add(link)
            elif event["cat"] == "python":
                assert event["args"]["code_ptr"][:2] == "0x"
            else:
                assert event["cat"] == "instruction"
            stack.append(event)
        elif event["ph"] == "E":
            assert stack, f"E without B: {event}"
            begin = stack.pop()
            name = begin["name"] if begin["cat"] != "task" else None
            assert name == event.get("name"), "badly nested"
            of = {"python": trace.calls, "instruction": trace.steps, "task": trace.tasks}
            of[begin["cat"]][key].append(
                Call(
                    *(begin["name"], begin["ts"], event["ts"]),
                    stack[-1]["name"] if stack else None,
                    *(begin["args"], event.get("args", {}), len(stack)),
                )
            )
        elif event["ph"] == "b":
            number = event["pid"], event["id2"]["local"]
            assert number not in trace.spans
            trace.spans[number] = event, None
        elif event["ph"] == "e":
            number = event["pid"], event["id2"]["local"]
            begin, end = trace.spans[number]
            names = {begin["name"], event["name"]} - {"(lost)"}
            assert end is None and len(names) < 2
            assert event["cat"] == begin["cat"] == "span"
            trace.spans[number] = begin, event
        else:
            assert event["ph"] == "i" and event["s"] == "t"
            if event["cat"] == "loop":
                assert event["args"]["uOps"] > 0
                assert event["args"]["Hardware Cycles"] > 0
                trace.loops.append(event)
            else:
                trace.marks.append(event)
    assert named_process
    assert not any(open_calls.values()), "B without E"
    assert not slices, "b without e"
    assert set(open_calls) <= set(trace.threads), "a thread has no name"
    return trace
