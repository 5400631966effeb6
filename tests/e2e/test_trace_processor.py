# SPDX-License-Identifier: MIT
"""Reads Ocular's files by Perfetto's own trace processor, with SQL. The trace processor
must find the same calls, times and names as the reader in trace.py, and the same numbers of
calls as the snapshot. The trace processor must report no error."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from e2e import trace, trace_processor
from e2e.program import script

if reason := trace_processor.missing():
    pytest.skip(reason, allow_module_level=True)

# the engine writes the files, so they do not depend on CPython
pytestmark = pytest.mark.once
DEEPEST = 500  # depth of the deepest calls in a file, from formats/perfetto.c
NAMES = ["x.json.gz", "x.pftrace"]

# Runs main() once for each file. The program itself calls begin() and end(). So begin() is
# on the stack when the trace starts, and end() is on the stack when the trace ends.
PROGRAM = """
import json, ocular, sys
def begin():
    ocular.start_tracing(output=name, quiet=True, **settings)
def end():
    final = ocular.stop_tracing()
    with open(name + ".final", "w") as file:
        json.dump(final, file)
def leaf(n=0):
    return n
"""
RUN = """
for name in sys.argv[1:]:
    main()
"""
# This source has all kinds of calls.
WHOLE = r"""
import asyncio, threading, time
from ocular.demo import pure
settings = {"deinstrument_threshold": 0}
sys.setrecursionlimit(12_000)
ODD = ['a"b\\c\n\t\x01', "\u2028\u00e9\U0001f468", "\udc80\ud800", "", "</script><b>%s%n",
       "\u202etxt", "n\u00e4" * 60, "loop", "null", "{}", "B", "\x7f\x1b[31m"]
def make_odd(name):
    space = {}
    exec(compile("def f(): pass", name, "exec"), space)
    space["f"].__code__ = space["f"].__code__.replace(co_qualname=name)
    return space["f"]
def down(n):
    return down(n - 1) if n else 0
def count(n):
    while n:
        n -= 1
        if n % 3 == 0:
            continue
        for inner in range(2):
            pass
def naps():
    nap()
    nap()
def nap():
    time.sleep(0.02)
# --- Tasks, and more threads than two sequences of packets have clocks for
async def numbers(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield number
async def adds(count):
    return sum([number async for number in numbers(count)])
async def fails():
    await asyncio.sleep(0)
    raise KeyError
async def tasks():
    await asyncio.gather(*map(adds, range(9)), fails(), return_exceptions=True)
def start_threads():
    for name in ["one", "two \u00e4", "%s\u202e", "x" * 300, *ODD, *map(str, range(140))]:
        thread = threading.Thread(target=leaf, name=name)
        thread.start()
        thread.join()
    barrier = threading.Barrier(3)
    together = [threading.Thread(target=barrier.wait) for _ in range(3)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
# --- The start and the end are in the middle
def steps():
    for _ in range(3):
        leaf()
        yield
def inner(generator):
    begin()
    next(generator)
    leaf()
def outer():
    generator = steps()
    next(generator)
    inner(generator)
    leaf()
    list(generator)
def ends(depth):
    ends(depth - 1) if depth else end()
def main():
    functions = [make_odd(name) for name in ODD]
    outer()
    for function in functions:
        function()
        function()
    for name in "recursion", "generators", "exceptions", "classes", "parsing":
        pure.CASES[name]()
    down(10_000)
    count(100)
    naps()
    asyncio.run(tasks())
    start_threads()
    ends(3)
"""
DARK = """
settings = {"deinstrument_threshold": 50}
def main():
    begin()
    for n in range(300):
        leaf(n)
    end()
"""
FORGOTTEN = """
settings = {"deinstrument_threshold": 0, "timeline_limit": 1 << 20, "timeline_spill": False}
def main():
    begin()
    for n in range(80_000):
        leaf(n)
    end()
"""
SOURCES = {"whole": WHOLE, "dark": DARK, "forgotten": FORGOTTEN}

# If Perfetto cannot read an event, it often reports this with the severity "info".
COMPLAINTS = """
select name, idx, severity, value from stats where value > 0 and (
    severity in ('error', 'data_loss') or name like '%error%' or name like '%fail%'
    or name like '%skipped%')
"""
ON_THREADS = """
slice join thread_track on track_id = thread_track.id join thread using (utid)
"""
IS_CALL = "(ifnull(category, 'python') = 'python' and slice.name not glob 'loop @*')"
CALLS = f"select tid, slice.name, ts, dur, depth from {ON_THREADS} where {IS_CALL}"
ARGUMENT = (
    "ifnull(extract_arg(slice.arg_set_id, 'args.{0}'),"
    " extract_arg(slice.arg_set_id, 'debug.{0}'))"
)
INSTANTS = f"""
select tid, slice.name, ifnull(category, 'loop'), ts, dur, {ARGUMENT.format("uOps")},
    {ARGUMENT.format("Hardware Cycles")}, {ARGUMENT.format("note")}
from {ON_THREADS}
where not {IS_CALL} and ifnull(category, '') not in ('task', 'wait', 'stall')
"""
PLACES = f"""
select distinct slice.name,
    ifnull(extract_arg(arg_set_id, 'source.file_name'), {ARGUMENT.format("file")}),
    ifnull(extract_arg(arg_set_id, 'source.line_number'), {ARGUMENT.format("line")})
from {ON_THREADS} where {IS_CALL}
"""
FLAGS = """
select replace(replace(key, 'debug.', ''), 'args.', ''), count(*) from slice
join args using (arg_set_id) where int_value = 1 and display_value = 'true' group by 1
"""
STEPS = f"""
select slice.id, slice.name, ts, ts + dur, tid, {ARGUMENT.format("task")}, slice.parent_id
from {ON_THREADS} where category = 'task' order by ts
"""
PARENTS = (
    f"select slice.id, slice.name, ts, ts + dur, tid from {ON_THREADS} where {IS_CALL}"
)
FLOWS = "select slice_out, slice_in from flow"
THREADS = "select pid, tid, thread.name from thread join process using (upid) where tid > 0"
PROCESSES = "select pid, name from process where pid > 0"


def unescape(cell):
    """Returns the text of a string in a JSON file. Perfetto (v52) keeps the escapes of
    a string that does not contain `"`."""
    if cell == "[No name]":
        return ""
    has_escapes = isinstance(cell, str) and "\\" in cell and '"' not in cell
    return json.loads(f'"{cell}"') if has_escapes else cell


@dataclass
class Answers:
    """Has Perfetto's answers about a file, and the answers of the reader in trace.py."""

    path: Path
    ours: trace.Trace
    final: dict  # the snapshot at the end of the trace
    complaints: list
    calls: list
    instants: list
    places: list
    flags: list
    threads: list
    processes: list


@pytest.fixture(scope="module")
def ask():
    """Returns a function ask(path, sql), which returns the rows of the answer."""
    with trace_processor.TraceProcessor() as processor:
        yield processor.query


@pytest.fixture(scope="module")
def answers(tmp_path_factory, ask):
    """Returns a function answers(source, name), which returns the Answers for the file
    `name` of the source."""
    folders, known = {}, {}
    queries = COMPLAINTS, CALLS, INSTANTS, PLACES, FLAGS, THREADS, PROCESSES

    def answers(source, name):
        if source not in folders:
            folders[source] = tmp_path_factory.mktemp(source)
            done = script(folders[source], PROGRAM + SOURCES[source] + RUN, *NAMES)
            assert done.status == 0, done.err
        path = folders[source] / name
        if path not in known:
            final = json.loads(path.with_name(name + ".final").read_text())
            rows = [ask(path, query) for query in queries]
            if "json" in name:
                rows = [[tuple(map(unescape, row)) for row in each] for each in rows]
            known[path] = Answers(path, trace.read(path), final, *rows)
        return known[path]

    return answers


def since(first, rows, place):
    """Returns the rows, with the time in column `place` counted from the first call."""
    return Counter((*row[:place], row[place] - first, *row[place + 1 :]) for row in rows)


def our_calls(timeline):
    """Returns the rows that CALLS selects, but read by the reader in trace.py."""
    rows = []
    for (_, tid), calls in timeline.calls.items():
        for call in calls:
            begin, end = round(1000 * call.begin), round(1000 * call.end)
            rows.append((tid, call.name, begin, end - begin, call.depth))
    return rows


def first_call(rows):
    return min(row[2] for row in rows)


def check_calls(theirs, ours):
    assert since(first_call(theirs), theirs, 2) == since(first_call(ours), ours, 2)


# --- Files of real programs ---------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_calls(answers, name):
    """Each call is a slice of its thread, with its depth and with its times in ns."""
    of = answers("whole", name)
    assert of.complaints == []
    check_calls(of.calls, our_calls(of.ours))
    counted = Counter()
    for row in of.final["functions"] + of.final["retired"]:
        counted[row["name"]] += row["calls"] + row["resumptions"]
    assert of.final["lost"] == counted["main"] == 0
    counted["main"] = 1  # This call began before the trace and continued in the trace.
    assert counted["down"] == 10_001
    counted["down"] = DEEPEST - 1
    assert Counter(row[1] for row in of.calls) == +counted


@pytest.mark.parametrize("name", NAMES)
def test_deep_recursion(answers, name):
    """Calls deeper than 500 levels are left out, because with more than 512 levels Perfetto
    assigns the ends of calls to wrong calls."""
    of = answers("whole", name)
    depths = sorted(depth for _, called, _, _, depth in of.calls if called == "down")
    assert depths == list(range(1, DEEPEST))
    marks = [mark["name"] for mark in of.ours.marks if mark["name"].startswith("deeper")]
    out = 2 * (10_001 - len(depths))
    assert marks == [f"deeper than {DEEPEST} calls: {out} events"]


@pytest.mark.parametrize("name", NAMES)
def test_how_calls_began_and_ended(answers, name):
    of = answers("whole", name)
    ours = Counter()
    for calls in of.ours.calls.values():
        for call in calls:
            args = {**call.begin_args, **call.end_args}
            ours.update(key for key, value in args.items() if value is True)
    assert {"raised", "open"} <= set(ours)
    assert dict(of.flags) == ours


@pytest.mark.parametrize("name", NAMES)
def test_places_and_odd_names(answers, name):
    of = answers("whole", name)
    rows = of.final["functions"] + of.final["retired"]
    rows = [
        row for row in rows if row["calls"] + row["resumptions"] or row["name"] == "main"
    ]
    ours = {(row["name"], row["file"], row["line"]) for row in rows}
    if "pftrace" in name:  # paths have "/" instead of "\\"
        ours = {(called, file.replace("\\", "/"), line) for called, file, line in ours}
    assert set(of.places) == ours


@pytest.mark.parametrize("name", NAMES)
def test_threads(answers, name):
    of = answers("whole", name)
    assert {(pid, tid): said for pid, tid, said in of.threads} == of.ours.threads
    names = list(of.ours.threads.values())
    assert {"MainThread", "one", "two ä", *map(str, range(140))} <= set(names)
    assert of.processes == [(of.final["pid"], of.ours.other["command"])]


@pytest.mark.parametrize("name", NAMES)
def test_steps_are_linked_in_order(answers, ask, name):
    """A flow links each step of a task to the task's next step, and nothing else. A step
    has the times of its call of Handle._run."""
    path = answers("whole", name).path
    tasks, links, calls = {}, [], {row[0]: row[1:] for row in ask(path, PARENTS)}
    for number, _, begin, end, tid, task, parent in ask(path, STEPS):
        assert calls[parent] == ("Handle._run", begin, end, tid)
        if task in tasks:
            before, ended = tasks[task]
            links.append((before, number))
            assert ended <= begin
        tasks[task] = number, end
    assert len(tasks) > 9 and len(links) > 30
    assert sorted(ask(path, FLOWS)) == sorted(links)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        *((source, name) for source in ("whole", "dark") for name in NAMES),
        ("forgotten", NAMES[0]),  # this file is the longest one
    ],
)
def test_instants(answers, source, name):
    """Checks the loops, the times without hooks, and the gaps in the file."""
    of = answers(source, name)
    assert of.complaints == []
    ours = []
    for event in of.ours.loops + of.ours.marks:
        args, at = event["args"], round(1000 * event["ts"])
        numbers = args.get("uOps"), args.get("Hardware Cycles"), args.get("note")
        ours.append((event["tid"], event["name"], event["cat"], at, 0, *numbers))
    word = {"whole": "loop @", "dark": "dark: leaf", "forgotten": "forgotten: "}[source]
    assert any(row[1].startswith(word) for row in ours)
    first, our_first = first_call(of.calls), first_call(our_calls(of.ours))
    assert since(first, of.instants, 3) == since(our_first, ours, 3)


def test_complaints_are_found(ask, tmp_path):
    """Ocular did not write this file. It has two overlapping calls, and ends after them."""
    path = tmp_path / "x.json"
    call = {"ph": "X", "pid": 1, "tid": 1, "name": "a", "dur": 9}
    path.write_text(json.dumps({"traceEvents": [{**call, "ts": 1}, {**call, "ts": 3}]}))
    ((name, *_, value),) = ask(path, COMPLAINTS)
    assert (name, value) == ("slice_drop_overlapping_complete_event", 1)
    path.write_text(path.read_text()[:50])
    with pytest.raises(AssertionError, match="incomplete"):
        ask(path, COMPLAINTS)
