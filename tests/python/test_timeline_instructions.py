# SPDX-License-Identifier: MIT
"""Tests the setting timeline_instructions. With this setting the timeline of precise mode
has each instruction."""

import dis
import json

import ocular
import pytest
from e2e import trace_processor
from e2e.counting import recorded
from e2e.program import PYTHON, run, write
from ocular.demo import pure

NAMES = ["t.json", "t.pftrace.gz"]


@pytest.fixture
def record(tmp_path):
    """Returns record(function), which traces it and returns the file's path and Trace."""

    def record(function, name="t.json", **settings):
        settings = {"mode": "precise", "timeline_instructions": True, **settings}
        return tmp_path / name, recorded(tmp_path / name, function, **settings)[0]

    return record


def steps_of(timeline, name):
    """Returns the instructions in the timeline that ran in calls of the function `name`."""
    return [
        step
        for each in timeline.steps.values()
        for step in each
        if step.parent.rpartition(".")[2] == name
    ]


@pytest.mark.parametrize("name", NAMES)
def test_each_instruction_that_runs(record, name):
    """For a function without branches, the timeline has the instructions that dis lists,
    one after the other, from the beginning of the call to its end."""

    def straight(a):
        b = a + 1
        return [b, b * 2]

    def program():
        for _ in range(3):
            straight(1)

    _, timeline = record(program, name)
    wanted = [
        (f"{each.opname} @{each.offset}", each.positions.lineno)
        for each in dis.get_instructions(straight)
        if each.opname != "RESUME"
    ]
    found = steps_of(timeline, "straight")
    assert [(step.name, step.begin_args["line"]) for step in found] == 3 * wanted
    calls = [c for each in timeline.calls.values() for c in each if "straight" in c.name]
    for number, call in enumerate(calls):
        mine = found[number * len(wanted) : (number + 1) * len(wanted)]
        assert call.begin <= mine[0].begin and mine[-1].end == call.end
        assert all(one.end == two.begin for one, two in zip(mine, mine[1:], strict=False))
        assert {step.depth for step in mine} == {call.depth + 1}


@pytest.mark.parametrize("case", ["exceptions", "generators", "recursion"])
def test_calls_are_what_they_are_without(record, case):
    """The timeline has the same calls as without timeline_instructions. trace.read() also
    checks that the file follows the rules of its format."""
    function = pure.CASES[case]
    function()
    _, plain = record(function, timeline_instructions=False)
    assert not plain.steps
    _, timeline = record(function)
    assert timeline.names() == plain.names()
    assert sum(map(len, timeline.steps.values())) > sum(map(len, timeline.calls.values()))


def test_where_hooks_leave(record):
    """Instructions without hooks are left out of the timeline, and the file is valid."""

    def busy(n):
        total = 0
        for number in range(n):
            total += number
        return total

    _, timeline = record(lambda: busy(2000), deinstrument_threshold=100)
    found = steps_of(timeline, "busy")
    assert 100 <= sum(step.name.startswith("BINARY_OP") for step in found) <= 101


@pytest.mark.skipif(bool(trace_processor.missing()), reason=str(trace_processor.missing()))
@pytest.mark.parametrize("name", ["t.json", "t.pftrace"])
def test_perfetto_reads_them(record, name):
    """Perfetto reads the instructions, also in a recursion that is deeper than Perfetto's
    limit of levels."""

    def down(n):
        return down(n - 1) if n else 0

    path, timeline = record(lambda: down(400), name)
    with trace_processor.TraceProcessor() as processor:
        sql = "select count(*) from slice where category = 'instruction'"
        assert processor.query(path, sql) == [(sum(map(len, timeline.steps.values())),)]
        sql = "select * from stats where severity in ('error', 'data_loss') and value > 0"
        assert processor.query(path, sql) == []
    (gap,) = [mark for mark in timeline.marks if mark["name"].startswith("deeper")]
    assert gap["args"]["events"] > 2 * (2 * 400 - 500)


def test_on_the_command_line(tmp_path):
    program = write(tmp_path, "def f(): pass\nf()\n")
    options = ["--quiet", "--threshold", "0", "--timeline-instructions"]
    done = run(
        [PYTHON, "-m", "ocular", "--mode", "precise", *options, program], cwd=tmp_path
    )
    assert (done.status, done.err) == (0, "")
    events = json.loads((tmp_path / "ocular_trace.json").read_text())["traceEvents"]
    assert any(event.get("cat") == "instruction" for event in events)
    done = run([PYTHON, "-m", "ocular", *options, program], cwd=tmp_path)
    assert done.status == 2 and "mode='precise'" in done.err


@pytest.mark.parametrize(
    "settings", [{}, {"mode": "adaptive"}, {"mode": "precise", "perfetto": False}]
)
def test_only_in_precise_mode_with_a_timeline(settings):
    with pytest.raises(ValueError, match="timeline_instructions"):
        ocular.start_tracing(timeline_instructions=True, **settings)
    with pytest.raises(TypeError, match="timeline_instructions must be True or False"):
        ocular.start_tracing(timeline_instructions=1)
