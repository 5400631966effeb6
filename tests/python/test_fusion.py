# SPDX-License-Identifier: MIT
"""CPython 3.12 removes all superinstructions (fused pairs of instructions) of a code object
as soon as one of its instructions is instrumented. Ocular restores the
superinstructions."""

import dis
import sys
from collections import Counter
from random import Random

import ocular
import pytest

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 13) or hasattr(sys, "gettotalrefcount"),
    reason="this CPython does not make them so",
)

SETTINGS = dict(perfetto=False, quiet=True, deinstrument_threshold=20)


def fresh():
    """Returns a new function, which is not instrumented yet."""
    source = """def locals_only(n):
    a, b = 1, 2
    while n:
        c = a
        a = b
        b = c
        n = n - 1
    return [a, b, (a, b), len((a, b, c))]
"""
    scope = {}
    exec(compile(source, __file__, "exec"), scope)
    return scope["locals_only"]


def fused(function):
    """Returns (offset, name) of each superinstruction of a function."""
    live = function.__code__._co_code_adaptive
    return [
        (each.offset, dis._all_opname[live[each.offset]])
        for each in dis.get_instructions(function)
        if "__" in dis._all_opname[live[each.offset]]
    ]


def test_instrumenting_takes_them_back():
    """If an instruction is instrumented, CPython removes superinstructions. If this
    test fails, fusion.c is no longer needed."""
    monitoring, function = sys.monitoring, fresh()
    assert len(fused(function)) > 5
    monitoring.use_tool_id(5, "any tool")
    try:
        event = monitoring.events.PY_START
        monitoring.set_local_events(5, function.__code__, event)
        monitoring.set_local_events(5, function.__code__, 0)
        function(50)
        assert fused(function) == []
    finally:
        monitoring.free_tool_id(5)


@pytest.mark.parametrize(
    "settings",
    [
        {"include_only": ["test_fusion"]},
        {"exclude": ["test_fusion"]},
        {"include_only": ["test_fusion"], "mode": "precise"},
        {"include_only": ["test_fusion"], "serve": True},
    ],
    ids=["accepted", "excluded", "precise", "served"],
)
def test_they_are_put_back(settings, sockets):
    function = fresh()
    before, wanted = fused(function), function(50)
    ocular.start_tracing(**SETTINGS, **settings)
    try:
        for _ in range(100):
            assert function(50) == wanted
        after_hooks = fused(function)
    finally:
        ocular.stop_tracing()
    if settings.get("mode") != "precise":
        assert after_hooks == before
    if "exclude" not in settings:
        assert fused(function) == before
    assert function(50) == wanted


def test_what_runs_already():
    function, seen = fresh(), []
    before = fused(function)

    def main():
        ocular.start_tracing(**SETTINGS, include_only=["test_fusion"])
        try:
            function(50)
            seen.append(fused(function))
        finally:
            ocular.stop_tracing()

    main()
    assert seen == [before]


def test_others_instruction_events_are_not_lost():
    """Another tool has set an event at one instruction of a fused pair. This event fires
    while Ocular sets and removes its own events, even if Ocular has none at the second
    instruction."""
    monitoring, function = sys.monitoring, fresh()
    counts, random, some_go_dark = Counter(), Random(5), False

    def count(code, offset):
        counts[offset] += 1
        return monitoring.DISABLE if some_go_dark and random.random() < 0.3 else None

    def arm(events):
        monitoring.set_local_events(2, function.__code__, events)

    monitoring.use_tool_id(2, "instructions")
    monitoring.register_callback(2, monitoring.events.INSTRUCTION, count)
    ocular.start_tracing(**SETTINGS, include_only=["test_fusion"])
    try:
        function(30)
        arm(monitoring.events.INSTRUCTION)
        function(3)
        first = dict(counts)
        some_go_dark = True
        for _ in range(30):
            function(3)
        some_go_dark = False
        arm(0)
        arm(monitoring.events.INSTRUCTION)
        counts.clear()
        function(3)
        again = dict(counts)
        arm(0)
        assert function(9) == fresh()(9)
    finally:
        ocular.stop_tracing()
        monitoring.register_callback(2, monitoring.events.INSTRUCTION, None)
        monitoring.free_tool_id(2)
    assert first == again
    assert set(first) == {
        each.offset for each in dis.get_instructions(function) if each.opname != "RESUME"
    }
