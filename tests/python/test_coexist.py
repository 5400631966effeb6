# SPDX-License-Identifier: MIT
"""Beside other tools: each sees what it would see alone."""

import cProfile
import sys
import threading

import ocular
import pytest
from e2e.counting import EXACT, by_cprofile, keyed, row
from ocular.demo import pure

monitoring = sys.monitoring


def helper(n):
    while n:
        n -= 1
    return n


@pytest.fixture(autouse=True)
def clean():
    yield
    ocular.stop_tracing()
    sys.settrace(None)
    sys.setprofile(None)


@pytest.mark.parametrize("order", ["inside", "outside"])
@pytest.mark.parametrize("name", ["recursion", "generators", "exceptions"])
def test_cprofile(order, name):
    case = pure.CASES[name]
    case()
    alone = by_cprofile(case)
    profile = cProfile.Profile()
    if order == "outside":
        ocular.start_tracing(**EXACT)
        profile.enable()
    else:
        profile.enable()
        ocular.start_tracing(**EXACT)
    case()
    if order == "outside":
        profile.disable()
        final = ocular.stop_tracing()
    else:
        final = ocular.stop_tracing()
        profile.disable()
    profile.create_stats()
    ours = keyed(final)
    for key, calls in alone.items():
        if "demo" in key[0]:
            assert ours[key] == calls
            assert profile.stats[key][1] == calls


def test_a_tool_that_counts_lines():
    """As coverage does at id 1: DISABLE at each line's first sight."""
    lines = set()
    events = monitoring.events

    def on_line(code, line):
        lines.add((code.co_qualname, line))
        return monitoring.DISABLE

    monitoring.use_tool_id(1, "lines")
    try:
        monitoring.register_callback(1, events.LINE, on_line)
        monitoring.set_events(1, events.LINE)
        ocular.start_tracing(**EXACT)
        helper(10), helper(10)
        final = ocular.stop_tracing()
        seen = {line for name, line in lines if name == "helper"}
        lines.clear()
        helper(10)
        # Nothing of theirs was armed again by our stop.
        assert not {line for name, line in lines if name == "helper"}
    finally:
        monitoring.set_events(1, 0)
        monitoring.register_callback(1, events.LINE, None)
        monitoring.free_tool_id(1)
    first = helper.__code__.co_firstlineno
    assert seen >= {first + 1, first + 2, first + 3}
    assert row(final, "helper")["calls"] == 2


def test_a_foreign_restart_events_changes_nothing():
    ocular.start_tracing(perfetto=False, quiet=True, deinstrument_threshold=20,
                         include_only=["test_coexist"])
    for _ in range(100):
        helper(3)
    before = row(ocular.snapshot(), "helper")
    assert before["state"] == "dark"
    monitoring.restart_events()
    for _ in range(100):
        helper(3)
    after = row(ocular.snapshot(), "helper")
    ocular.stop_tracing()
    # It may fire once more a site, and is dark again.
    assert after["state"] == "dark"
    assert after["calls"] <= before["calls"] + 2


@pytest.mark.parametrize("setter", [sys.settrace, sys.setprofile])
@pytest.mark.parametrize("when", ["before", "during", "across"])
def test_trace_functions(setter, when):
    seen = []

    def note(frame, event, argument):
        if frame.f_code is helper.__code__:
            seen.append(event)
        return note

    if when == "before":
        setter(note)
    ocular.start_tracing(**EXACT)
    if when != "before":
        setter(note)
    helper(3)
    if when == "during":
        setter(None)
    helper(3)
    final = ocular.stop_tracing()
    if when == "across":
        helper(3)
    setter(None)
    helper(3)
    assert row(final, "helper")["calls"] == 2
    calls = {"before": 2, "during": 1, "across": 3}[when]
    assert seen.count("call") == seen.count("return") == calls
    if setter is sys.settrace:
        assert seen.count("line") >= 8 * calls - 1


def test_a_thread_under_settrace():
    seen = []

    def note(frame, event, argument):
        if frame.f_code is helper.__code__:
            seen.append(event)

    ocular.start_tracing(**EXACT)
    threading.settrace(note)
    try:
        thread = threading.Thread(target=helper, args=(3,))
        thread.start()
        thread.join()
    finally:
        threading.settrace(None)
    final = ocular.stop_tracing()
    assert seen == ["call"] and row(final, "helper")["calls"] == 1


def test_what_runs_inside_anothers_callback_is_invisible():
    events = monitoring.events

    def on_start(code, offset):
        if code is helper.__code__:
            pure.ackermann(1, 1)

    monitoring.use_tool_id(5, "nosy")
    try:
        monitoring.register_callback(5, events.PY_START, on_start)
        monitoring.set_events(5, events.PY_START)
        ocular.start_tracing(**EXACT)
        helper(3)
        final = ocular.stop_tracing()
    finally:
        monitoring.set_events(5, 0)
        monitoring.register_callback(5, events.PY_START, None)
        monitoring.free_tool_id(5)
    assert row(final, "helper")["calls"] == 1
    assert row(final, "ackermann") is None


def test_tracemalloc():
    import tracemalloc

    tracemalloc.start()
    try:
        ocular.start_tracing(**EXACT)
        pure.CASES["recursion"]()
        final = ocular.stop_tracing()
    finally:
        tracemalloc.stop()
    assert row(final, "fibonacci")["calls"] > 100
