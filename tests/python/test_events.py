# SPDX-License-Identifier: MIT
"""Tests the choice of events. An event that is not chosen has no hook, and costs no machine
instruction. Other tools count the same hits of lines and branches."""

import dis
import sys
from collections import Counter

import coverage
import ocular
import pytest
from e2e.client import Client
from e2e.counting import EXACT, traced
from e2e.program import SLOW, wait_until

from python import events_program as program

monitoring = sys.monitoring
EVENTS = monitoring.events
MINE = dict(include_only=[program.__file__])
BRANCHES = (
    ("BRANCH_LEFT", "BRANCH_RIGHT") if hasattr(EVENTS, "BRANCH_LEFT") else ("BRANCH",)
)
# Maps the chosen events to the events of sys.monitoring that they need besides those of
# calls.
HOOKS = {
    "call": (),
    "exception": ("RAISE",),
    "line": ("LINE",),
    "branch": ("JUMP", *BRANCHES),
    "opcode": ("INSTRUCTION",),
    "c_call": ("CALL", "C_RETURN", "C_RAISE"),
    None: ("RAISE", "JUMP", *BRANCHES),  # adaptive mode
    "precise": ("RAISE", "INSTRUCTION"),
    "adaptive, line": ("RAISE", "JUMP", *BRANCHES, "LINE"),
}
OF_CALLS = ("PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "PY_THROW", "PY_UNWIND")


def bits(names):
    return sum(getattr(EVENTS, name) for name in names)


def armed(code):
    """Returns the events for which Ocular has a callback, and the events that are set."""
    tool = next(i for i in range(6) if monitoring.get_tool(i) == "ocular")
    registered = set()
    for name in (*OF_CALLS, *HOOKS[None], *HOOKS["precise"], "LINE", *HOOKS["c_call"]):
        hook = monitoring.register_callback(tool, getattr(EVENTS, name), None)
        monitoring.register_callback(tool, getattr(EVENTS, name), hook)
        registered |= {name} if hook else set()
    return registered, monitoring.get_events(tool) | monitoring.get_local_events(tool, code)


@pytest.mark.parametrize("events", HOOKS, ids=str)
def test_only_chosen_events_have_hooks(events):
    with ocular.tracing(**{**EXACT, "events": events}):
        program.loop(9)
        registered, events_set = armed(program.loop.__code__)
        now = ocular.snapshot()
    assert registered == {*OF_CALLS, *HOOKS[events]}
    unset = {"C_RETURN", "C_RAISE"}  # CPython sets these events together with CALL
    wanted = bits({*OF_CALLS, *HOOKS[events]} - unset)
    assert events_set & ~bits(unset) == wanted
    assert now["mode"] == ("precise" if "INSTRUCTION" in HOOKS[events] else "adaptive")
    assert ("exception" in now["chosen"]) == ("RAISE" in HOOKS[events])
    assert (now["exception_totals"]["raised"] is None) == ("RAISE" not in HOOKS[events])


def test_unknown_events_are_refused():
    for events in "lines", ["call", "referenc"], "call,,line":
        with pytest.raises(
            ValueError, match="events must hold names out of call, c_call, "
        ):
            ocular.start_tracing(events=events)
    with pytest.raises(ValueError, match="overhead_budget.*events='opcode'"):
        ocular.start_tracing(events="opcode", overhead_budget=0.01)
    assert not ocular.is_tracing()


# --- Lines ----------------------------------------------------------------------


def lines_by_tool():
    """Returns the hits of each line, by function and line, as a small tool counts them."""
    counts = Counter()

    def count(code, line):
        if code.co_filename == program.__file__:
            counts[code.co_qualname, line] += 1

    monitoring.use_tool_id(0, "lines")
    monitoring.register_callback(0, EVENTS.LINE, count)
    monitoring.set_events(0, EVENTS.LINE | EVENTS.PY_START)
    program.run()
    monitoring.set_events(0, 0)
    monitoring.register_callback(0, EVENTS.LINE, None)
    monitoring.free_tool_id(0)
    return counts


@pytest.mark.parametrize("events", ["line", "adaptive,c_call,line", "opcode,line"])
def test_hits_of_lines_are_those_of_another_tool(events):
    truth = lines_by_tool()

    def rated():
        rows = ocular.snapshot()["lines"]
        rates = [row for row in rows if row["hits_per_s"] is not None]
        return len(rates) == len(truth) and rates

    def measure():
        program.run()
        # Ocular gives a rate only after half a second of counting.
        return wait_until(rated, SLOW)

    _, final = traced(measure, **MINE, events=events)
    lines = [row for row in final["lines"] if row["hits"]]
    assert {(row["function"], row["line"]): row["hits"] for row in lines} == truth
    assert all(row["hits_exact"] for row in lines)
    tool = coverage.Coverage(data_file=None)
    with tool.collect():
        program.run()
    assert {row["line"] for row in lines} == set(tool.get_data().lines(program.__file__))


def spin():
    for _ in range(20000):
        program.loop(40)


def test_lines_within_a_budget_are_counted_in_slices(sockets):
    hot = {
        line
        for (name, line), hits in lines_by_tool().items()
        if name == "loop" and hits > 1000
    }

    def known():
        spin()
        rows = {row["line"]: row for row in ocular.snapshot()["lines"]}
        # On a busy machine, a thread often waits for a CPU. Then the rate is null.
        seen = [rows[line] for line in hot if line in rows and rows[line]["hits"]]
        return len(seen) > 2 and any(row["samples"] for row in seen) and rows

    with ocular.tracing(
        perfetto=False, quiet=True, overhead_budget=0.05, events="adaptive,line", **MINE
    ):
        rows = wait_until(known, 60)
    found = [rows[line] for line in hot if line in rows]
    assert not any(row["hits_exact"] for row in found)
    assert all(row["hits_per_s"] is None or row["hits_per_s"] > 0 for row in found)
    assert any(row["share"] > 0 and row["samples"] > 0 for row in found)


def test_a_long_function_has_no_event_if_its_far_lines_are_slow():
    source = "def far():\n" + "    pass\n" * 130
    exec(compile(source, program.__file__, "exec"), names := {})
    with ocular.tracing(perfetto=False, quiet=True, events="line", **MINE):
        program.loop(9)
        names["far"]()
        assert armed(program.loop.__code__)[1] & EVENTS.LINE
        far = armed(names["far"].__code__)[1] & EVENTS.LINE
    assert bool(far) == (sys.version_info >= (3, 13, 3))


# --- Branches -------------------------------------------------------------------


def branches_by_tool():
    """Maps the offset of each branch in loop() to the times that it jumped and ran."""
    code = program.loop.__code__
    offsets = [each.offset for each in dis.get_instructions(code)]
    following = dict(zip(offsets, offsets[1:]))
    counts = {}

    def count(code, source, target, name):
        one = counts.setdefault(source, [0, 0])
        one[0] += name != "BRANCH_LEFT" and target != following[source]
        one[1] += 1

    monitoring.use_tool_id(0, "branches")
    for name in BRANCHES:
        monitoring.register_callback(
            0,
            getattr(EVENTS, name),
            lambda code, source, target, name=name: count(code, source, target, name),
        )
    monitoring.set_local_events(0, code, bits(BRANCHES))
    program.run()
    monitoring.set_local_events(0, code, 0)
    for name in BRANCHES:
        monitoring.register_callback(0, getattr(EVENTS, name), None)
    monitoring.free_tool_id(0)
    return counts


def rows_of_loop(**settings):
    ocular.start_tracing(**EXACT, **MINE, **settings, serve=True)
    try:
        program.run()
        row = next(f for f in ocular.snapshot()["functions"] if f["name"] == "loop")
        with Client(ocular._ocular.socket_path(), timeout=SLOW) as viewer:
            return viewer.detail(row["id"])["rows"]
    finally:
        ocular.stop_tracing()


def test_without_branches_blocks_have_no_cycles(sockets):
    rows = rows_of_loop(events="call,line")
    assert not any(row["cycles"] for row in rows)
    # The line with `def` has no event and thus no hits.
    hits = {row["line"]: row["line_hits"] for row in rows}
    first = program.loop.__code__.co_firstlineno
    assert hits[first] is None and hits[first + 1] == 30
    assert any(row["cycles"] for row in rows_of_loop(events="branch"))


def test_taken_branches_are_those_of_another_tool(sockets):
    truth = branches_by_tool()
    found = {
        each["offset"]: [each["taken"], each["hits"]]
        for each in rows_of_loop()
        if each["taken"] is not None
    }
    # FOR_ITER has no hook.
    assert len(found) >= 3 and all(truth[offset] == found[offset] for offset in found)
