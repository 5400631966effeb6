# SPDX-License-Identifier: MIT
"""Another tool takes Ocular's tool ids, events or callbacks during tracing. Nothing
crashes, stopping works, Ocular reports the loss, and the other tool's events stay."""

import sys

import ocular
import pytest
from e2e.counting import helper, row, traced
from e2e.program import leftovers

monitoring = sys.monitoring
START = monitoring.events.PY_START
DISCOVERY, TRACER = 3, 4
WORDS = "another tool took Ocular's sys.monitoring"


def fresh():
    """Returns a new function that no tool has seen."""
    names = {}
    exec("def new(n):\n    while n:\n        n -= 1\n", names)
    return names["new"]


def free(tool):
    monitoring.free_tool_id(tool)


def clear(tool):
    monitoring.clear_tool_id(tool)


def set_no_events(tool):
    monitoring.set_events(tool, 0)


def set_all_events(tool):
    monitoring.set_events(tool, monitoring.events.LINE | START)


def set_no_local_events(tool):
    monitoring.set_local_events(tool, helper.__code__, 0)


def unregister(tool):
    monitoring.register_callback(tool, START, None)


def register(tool):
    monitoring.register_callback(tool, START, lambda code, offset: None)


def take(tool):
    monitoring.free_tool_id(tool)
    monitoring.use_tool_id(tool, "thief")


UNNOTICED = {set_no_local_events}
THEFTS = [free, set_no_events, set_all_events, set_no_local_events]
THEFTS += [unregister, register, take]
# If CPython has clear_tool_id(), free_tool_id() also removes the id's events and callbacks.
CLEARS = hasattr(monitoring, "clear_tool_id")
if CLEARS:
    THEFTS.append(clear)


@pytest.fixture(autouse=True)
def clean():
    yield
    for tool in (DISCOVERY, TRACER):
        for event in vars(monitoring.events).values():
            if event and event.bit_count() == 1:
                monitoring.register_callback(tool, event, None)
        if monitoring.get_tool(tool):
            monitoring.set_events(tool, 0)
            monitoring.free_tool_id(tool)


@pytest.mark.parametrize("threshold", [0, 2])
@pytest.mark.parametrize("tool", [DISCOVERY, TRACER])
@pytest.mark.parametrize("theft", THEFTS, ids=lambda theft: theft.__name__)
def test_taken_away(theft, tool, threshold, capfd):
    ocular.start_tracing(perfetto=False, deinstrument_threshold=threshold)
    for _ in range(5):
        helper(3)
    theft(tool)
    new = fresh()
    for _ in range(5):
        helper(3), new(3)
    assert row(ocular.snapshot(), "helper")["calls"] >= min(5, threshold or 5)
    final = ocular.stop_tracing()
    assert row(final, "helper")["calls"] <= 10
    err = capfd.readouterr().err
    assert (WORDS in err) == (theft not in UNNOTICED)
    assert "Traceback" not in err
    if theft is take:
        assert monitoring.get_tool(tool) == "thief"
        monitoring.free_tool_id(tool)
    elif theft is register:
        old = monitoring.register_callback(tool, START, None)
        if CLEARS:
            assert old is None
        else:
            assert old.__name__ == "<lambda>"
    assert leftovers() == []
    # If a callback of Ocular were still registered, Ocular would count too many calls.
    assert monitoring.get_tool(tool) is None
    assert row(traced(helper, 3)[1], "helper")["calls"] == 1


@pytest.mark.parametrize("tool", [DISCOVERY, TRACER])
def test_a_thief_keeps_what_is_his(tool):
    """The other tool keeps its callbacks and events. Ocular's are not called again."""
    seen = []
    ocular.start_tracing(perfetto=False, quiet=True)
    helper(3)
    take(tool)
    monitoring.register_callback(tool, START, lambda code, _: seen.append(code))
    monitoring.set_events(tool, START)
    new = fresh()  # in old code, sites that Ocular has disabled stay disabled
    new(3)
    assert ocular.stop_tracing()
    assert new.__code__ in seen
    seen.clear()
    new(3)
    assert seen == [new.__code__]
    assert monitoring.get_events(tool) == START
    # The other tool has Ocular's usual id, so Ocular takes id 5 or the next free id.
    ocular.start_tracing(perfetto=False, quiet=True)
    helper(3)
    assert row(ocular.stop_tracing(), "helper")["calls"] == 1
    seen.clear()
    new(3)
    assert seen == [new.__code__]


@pytest.mark.parametrize("name", ["thief", "ocular"])
def test_new_code_gets_no_event_of_the_thief(name):
    """New code can run before the governor's next check. The other tool must not get events
    of this code, even if the tool has the same name as Ocular's tool."""
    seen, news = [], []

    def note(code, *_):  # Up to 3.13, code keeps the events that Ocular has set.
        seen.extend(new for new in news if new.__code__ is code)

    def events():
        return {monitoring.get_local_events(TRACER, new.__code__) for new in news}

    ocular.start_tracing(perfetto=False, quiet=True)
    helper(3)
    monitoring.free_tool_id(TRACER)
    monitoring.use_tool_id(TRACER, name)
    for event in (START, monitoring.events.PY_RETURN, monitoring.events.JUMP):
        monitoring.register_callback(TRACER, event, note)
    news += [fresh() for _ in range(5)]
    for new in news:
        new(3), new(3)
    assert events() == {0}
    assert ocular.stop_tracing()
    for new in news:
        new(3)
    assert seen == []
    assert monitoring.get_tool(TRACER) == name
    assert events() == {0}
