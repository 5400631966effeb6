# SPDX-License-Identifier: MIT
"""Reads all events except calls by Perfetto's own trace processor, with SQL: marks, spans,
counters, specialised instructions, times in which functions had no hooks, and samples."""

import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from e2e import trace, trace_processor
from e2e.program import BUILD, SLOW, script
from e2e.test_trace_processor import (
    ARGUMENT,
    CALLS,
    COMPLAINTS,
    check_calls,
    first_call,
    our_calls,
    unescape,
)  # fmt: skip

if reason := trace_processor.missing():
    pytest.skip(reason, allow_module_level=True)

# the engine writes the files, so they do not depend on CPython
pytestmark = pytest.mark.once
NAMES = ["x.json", "x.pftrace"]

# The program runs until all these events are there, because Ocular's threads add events
# only once a second.
PROGRAM = r"""
import ocular, sys, threading, time
def add(a, b):
    return a + b
def burn(seconds, value=1):
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        add(value, value)
def work():
    ocular.mark("begins", number=7, text="a\"b\u00e9", real=0.5, yes=True)
    with ocular.span("of a thread", number=1):
        burn(0.1)
    done.wait()
def enough():
    ocular.export("so far.json")
    with open("so far.json") as file:
        text = file.read()
    dark = [line for line in text.splitlines() if '"name":"add","cat":"dark"' in line]
    return (
        len(dark) > 2  # one of these times is over
        and '"args":{"function":"add","file"' in text
        and text.count('"ProfileChunk","id"') > 9
        and text.count('"name":"CPU of a worker') > 1
        and text.count('"name":"CPU of MainThread') > 1
    )
done = threading.Event()
thread = threading.Thread(target=work, name="a worker", daemon=True)
ocular.start_tracing(
    output=sys.argv[1], quiet=True, deinstrument_threshold=50, overhead_budget=0.01
)
thread.start()
outer, inner = ocular.span("outer", depth=0), ocular.span("inner")
outer.__enter__()
inner.__enter__()
burn(0.02)
outer.__exit__(None, None, None)  # they overlap
ocular.mark("between")
inner.__exit__(None, None, None)
ocular.span("never ended").__enter__()
end = time.monotonic() + 50
values = [1, "a", 0.5]
while not enough():
    assert time.monotonic() < end
    values.append(values.pop(0))
    burn(0.2, values[0])  # each type specialises `add` again
done.set()
thread.join()
ocular.stop_tracing()
"""
MARKS = f"""
select tid, slice.name, ts, dur, {ARGUMENT.format("number")}, {ARGUMENT.format("text")},
    {ARGUMENT.format("real")}, {ARGUMENT.format("yes")}
from slice join thread_track on track_id = thread_track.id join thread using (utid)
where category = 'mark'
"""
SPANS = f"""
select name, ts, dur, {ARGUMENT.format("number")}, {ARGUMENT.format("depth")}
from slice where category = 'span'
"""
CHANGES = f"""
select pid, slice.name, ts, {ARGUMENT.format("function")}, {ARGUMENT.format("file")},
    {ARGUMENT.format("line")}
from slice join process_track on track_id = process_track.id join process using (upid)
where category = 'specialisation'
"""
DARK = f"""
select pid, slice.name, ts, dur, {ARGUMENT.format("file")}, {ARGUMENT.format("line")},
    {ARGUMENT.format("earlier")}, {ARGUMENT.format("open")}, slice.depth
from slice join process_track on track_id = process_track.id join process using (upid)
where category = 'dark'
"""
# In JSON a counter belongs to the process, and its name contains the thread and the unit.
COUNTERS = {
    "x.json": "select name, ts, value from counter join counter_track on"
    " track_id = counter_track.id",
    "x.pftrace": """
    select track.name || ifnull(' of ' || thread.name || ' (' || tid || ')', '')
        || ' ' || track.unit, ts, value
    from counter join counter_track track on track_id = track.id
    left join thread_counter_track of on of.id = track.id left join thread using (utid)
    where track.name != 'cpu-clock'  -- of the samples: Perfetto's
    """,
}
# Selects each frame of a sample's stack, with its distance from the innermost frame.
STACKS = """
with recursive frames as (
    select sample.id, ts, tid, callsite_id as at, 0 as height
    from {0} sample join thread using (utid)
    union all
    select frames.id, ts, tid, parent_id, height + 1
    from frames join stack_profile_callsite site on site.id = at
    where parent_id is not null
)
select frames.id, ts, tid, height, frame.name from frames
join stack_profile_callsite site on site.id = at
join stack_profile_frame frame on frame.id = frame_id order by frames.id, height desc
"""
SAMPLES = {
    "x.json": STACKS.format("cpu_profile_stack_sample"),
    "x.pftrace": STACKS.format("perf_sample"),
}


def samples_of(rows):
    """Returns [(ns, tid, names of the frames from the outermost on)] of the samples."""
    found = {}
    for number, ns, tid, _, name in rows:
        found.setdefault(number, (ns, tid, []))[2].append(name)
    return [(ns, tid, tuple(names)) for ns, tid, names in found.values()]


@dataclass
class File:
    path: Path
    ours: trace.Trace
    zero: int  # time of Perfetto's clock at the start of the trace, in ns

    def since(self, rows, place):
        """Returns the rows. The time in column `place` counts from the trace's start."""
        return Counter(
            (*row[:place], row[place] - self.zero, *row[place + 1 :]) for row in rows
        )


def ns(event):
    return round(1000 * event["ts"])


@pytest.fixture(scope="module")
def ask():
    with trace_processor.TraceProcessor() as processor:

        def ask(path, sql):
            rows = processor.query(path, sql)
            if "json" in path.name:
                rows = [tuple(map(unescape, row)) for row in rows]
            return rows

        yield ask


@pytest.fixture(scope="module", params=NAMES)
def file(request, tmp_path_factory, ask):
    folder = tmp_path_factory.mktemp("own_events")
    done = script(folder, PROGRAM, request.param, timeout=SLOW + 30)
    assert done.status == 0, done.err
    path = folder / request.param
    ours = trace.read(path)
    first = min(call.begin for calls in ours.calls.values() for call in calls)
    theirs = first_call(ask(path, CALLS))
    return File(path, ours, theirs - round(1000 * first))


def test_perfetto_has_no_complaint(file, ask):
    assert ask(file.path, COMPLAINTS) == []


def test_marks(file, ask):
    ours = Counter()
    for mark in file.ours.marks:
        if mark["cat"] == "mark":
            args = [mark.get("args", {}).get(k) for k in ("number", "text", "real", "yes")]
            ours[mark["tid"], mark["name"], ns(mark), 0, *args] += 1
    assert len(ours) == 2
    assert file.since(ask(file.path, MARKS), 2) == ours


def test_spans(file, ask):
    ours = Counter()
    for begin, end in file.ours.spans.values():
        args = [begin.get("args", {}).get(key) for key in ("number", "depth")]
        lasted = ns(end) - ns(begin) if end else -1
        ours[begin["name"], ns(begin), lasted, *args] += 1
    assert {name for name, *_ in ours} == {"of a thread", "outer", "inner", "never ended"}
    assert file.since(ask(file.path, SPANS), 1) == ours


def test_counters(file, ask):
    units = {"CPU": "% of a core", "Oc": "% of the CPU time", "hook": "hooks"}
    ours = Counter()
    for name, values in file.ours.counters.items():
        (unit,) = (unit for begin, unit in units.items() if name.startswith(begin))
        for at, value in values:
            ours[f"{name} {unit}", round(1000 * at), round(value, 9)] += 1
    assert len({name for name, *_ in ours}) >= 4
    found = ask(file.path, COUNTERS[file.path.name])
    found = [(name, at, round(value, 9)) for name, at, value in found]
    assert file.since(found, 1) == ours


def test_what_was_specialised(file, ask):
    ours = Counter()
    for event in file.ours.changes:
        args = [event["args"].get(key) for key in ("function", "file", "line")]
        ours[event["pid"], event["name"], ns(event), *args] += 1
    assert any(row[3] == "add" for row in ours)
    assert file.since(ask(file.path, CHANGES), 2) == ours


def test_dark_stretches(file, ask):
    """Each time in which a function has no hooks is a slice at the outermost level of a
    track. Such slices can overlap."""
    ours = Counter()
    for begin, end in file.ours.slices["dark"]:
        args = begin["args"]
        flags = args.get("earlier"), end.get("args", {}).get("open")
        key = ns(begin), ns(end) - ns(begin), args["file"], args["line"], *flags, 0
        ours[begin["pid"], begin["name"], *key] += 1
    mine = [row for row in ours if row[1] == "add"]
    assert len(mine) > 1 and any(row[-2] is None for row in mine)
    # Perfetto's rows contain a flag only if the flag is 1.
    assert file.since(ask(file.path, DARK), 2) == ours
    if "pftrace" in file.path.name:
        names = "select distinct process_track.name from slice join process_track on"
        names = ask(file.path, names + " track_id = process_track.id where category='dark'")
        assert names == [("dark functions",)]


def test_samples(file, ask):
    """Both threads have samples with their stacks."""
    ours = [(at, tid, tuple(names)) for at, tid, names in trace.samples(file.path)]
    found = samples_of(ask(file.path, SAMPLES[file.path.name]))
    zero = file.zero
    assert Counter((at - zero, *rest) for at, *rest in found) == Counter(ours)
    assert len(ours) > 9 and len({tid for _, tid, _ in ours}) == 2
    assert any(names[-1].startswith("burn (") for _, _, names in ours)


def test_random_timelines(ask, tmp_path):
    """These timelines contain arbitrary events, as in tests/python/test_formats.py."""
    make = BUILD / "obj" / "tests" / "formats" / "make_traces"
    subprocess.run([make, tmp_path, "6", "3"], check=True)
    checked = 0
    for path in sorted(tmp_path.iterdir()):
        assert ask(path, COMPLAINTS) == []
        document = trace.load(path)
        events = [each for each in document["traceEvents"] if each.get("cat") != "loop"]
        ours = our_calls(trace.check({**document, "traceEvents": events}))
        if ours and max(row[2] for row in ours) < 1 << 53:
            # One of the calls has the name of a loop, so CALLS leaves it out.
            ours = [row for row in ours if row[1] != "loop @3: x"]
            check_calls(ask(path, CALLS), ours)
        ours = trace.samples(path)
        found = samples_of(ask(path, SAMPLES[f"x{path.suffix}"]))
        if not ours or max(at for at, *_ in ours) > 1 << 53:
            continue  # trace.py has times as floats, which are not exact
        checked += 1
        ours = [(at, tid, tuple(names)) for at, tid, names in ours]
        shift = min(found)[0] - min(ours)[0]
        assert Counter((at - shift, *rest) for at, *rest in found) == Counter(ours)
    assert checked > 3
