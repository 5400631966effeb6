# SPDX-License-Identifier: MIT
"""Tests the specialisation history, a log that says how CPython changes instructions.
Instrumentation by a tool also changes instructions, but must not appear in the history."""

import collections
import gc
import itertools
import opcode
import struct
import sys
import threading
import time

import ocular
import pytest
from e2e import client
from e2e.counting import row
from e2e.program import SLOW, wait_until
from ocular import _opcodes

monitoring = sys.monitoring
STEADY_FILE = "<steady>"
QUIET = dict(perfetto=False, quiet=True, include_only=["test_specialisation", STEADY_FILE])
INTS, FLOATS, STRINGS = (1, 2), (1.0, 2.0), ("a", "b")


class Odd:
    def __add__(self, other):
        return self


# No version of CPython specialises an addition of these objects.
ODD = Odd(), Odd()


@pytest.fixture
def tracing():
    def start(**settings):
        gc.collect()  # otherwise Ocular would also find code of other tests
        ocular.start_tracing(**{**QUIET, **settings})

    yield start
    ocular.stop_tracing()


# Each test needs a new function, because code that has run has specialised opcodes.
def make_add(name="add"):
    names = {"__name__": __name__}
    source = f"def {name}(a, b):\n    return a + b\n"
    exec(compile(source, __file__, "exec"), names)
    return names[name]


def feed(function, pair, times=500):
    for _ in range(times):
        function(*pair)


def reported(snapshot, name, base="BINARY_OP"):
    """Returns the opcodes of each instruction of one family in a function, by offset, the
    oldest first. Checks that each change begins with the opcode with which the previous one
    ended."""
    histories = {}
    for one in reversed(snapshot["transitions"]):
        if one["function"].rpartition(".")[2] != name:
            continue
        if not (one["from"].startswith(base) or one["to"].startswith(base)):
            continue
        history = histories.setdefault(one["offset"], [one["from"]])
        assert history[-1] == one["from"]
        history.append(one["to"])
    return histories


def history_of(snapshot, name="add"):
    histories = reported(snapshot, name)
    assert len(histories) <= 1
    return next(iter(histories.values())) if histories else []


# --- The specialisation history -----------------------------------------------


# A specialised instruction that gets other types runs its generic code and counts a
# miss. After 53 misses (3.12 and 3.13) the specialiser overwrites the specialised form with
# the next one. Between these two forms, the bytecode never contains the base opcode. So
# 3.12 and 3.13 have the same sequence of forms.
HISTORY = ["BINARY_OP", "BINARY_OP_ADD_INT", "BINARY_OP_ADD_FLOAT", "BINARY_OP_ADD_UNICODE"]


@pytest.mark.parametrize("threshold", [500, 0])
def test_ints_then_floats_then_strings(tracing, threshold):
    tracing(deinstrument_threshold=threshold)
    add = make_add()
    for count, pair in enumerate([INTS, FLOATS, STRINGS], 2):
        before = time.monotonic()
        feed(add, pair)
        snapshot = ocular.snapshot()
        assert history_of(snapshot) == HISTORY[:count]
        newest = next(one for one in snapshot["transitions"] if one["function"] == "add")
        assert newest["line"] == 2 and newest["file"] == __file__
        assert newest["id"] == row(snapshot, "add")["id"]
        age = snapshot["uptime_s"] - newest["seen_at_s"]
        assert 0 <= age <= time.monotonic() - before + 0.01
    final = ocular.stop_tracing()
    assert history_of(final) == HISTORY
    assert row(final, "add")["specialized_sites"] == 1
    assert row(final, "add")["specializable_sites"] == 1


def versions_of_calls(function):
    """Reads the function versions in the specialised calls of the live bytecode."""
    names = {
        number: (name, flags)
        for number, name, _, _, flags in _opcodes.table(
            collections.defaultdict(int, VERSIONED=1)
        )
    }
    live = function.__code__._co_code_adaptive
    return [
        struct.unpack_from("=I", live, at + 4)[0]
        for at in range(0, len(live), 2)
        if names.get(live[at], ("", 0))[1]
        and function.__code__.co_code[at] == opcode.opmap["CALL"]
    ]


def test_a_specialised_call_says_whom_it_calls():
    """A specialised call contains its callee's function version, by which the sampler finds
    the callee. For a method, this is not the version of the method's class."""
    names = {}
    exec(
        """
def one(): return 1
def two(a, b=2): return 2
class Thing:
    def three(self): return 3
def calls(thing):
    one(); two(1); one(); thing.three(); two(1); len(()); thing.three(); two(1, 2)
""",
        names,
    )
    for _ in range(500):
        names["calls"](names["Thing"]())
    a, b, c, d, e, f, g = versions_of_calls(names["calls"])
    assert a == c and b == e == g and d == f
    assert len({a, b, d, 0}) == 4


def governors_looks():
    return ocular._ocular.holds()[0]


# The test requests no snapshot, so the governor thread must find the change.
def test_the_governor_tells_it_too(tracing):
    began, ends = time.monotonic(), []
    # Only this function is traced, because the test's own code would take many of the
    # log's 128 changes.
    tracing(include_only=["adds_for_long"])
    add = make_add("adds_for_long")
    for pair in INTS, FLOATS, STRINGS:
        feed(add, pair)
        enough = governors_looks() + 3
        wait_until(lambda: governors_looks() >= enough, SLOW)
        ends.append(time.monotonic() - began)
    final = ocular.stop_tracing()
    assert history_of(final, "adds_for_long") == HISTORY
    seen = [
        one["seen_at_s"]
        for one in reversed(final["transitions"])
        if one["function"] == "adds_for_long"
    ]
    # Ocular has noticed each change before the next one happened.
    assert all(at < end for at, end in zip(seen, ends, strict=True)), (seen, ends)


def test_given_up_and_taken_up_again(tracing):
    tracing()
    add = make_add()
    feed(add, INTS)
    ocular.snapshot()
    feed(add, ODD)
    snapshot = ocular.snapshot()
    assert history_of(snapshot) == ["BINARY_OP", "BINARY_OP_ADD_INT", "BINARY_OP"]
    assert row(snapshot, "add")["specialized_sites"] == 0
    # After each failure, CPython waits longer to specialise again, up to 4096 runs.
    feed(add, INTS, 5000)
    assert history_of(ocular.snapshot()) == ["BINARY_OP", "BINARY_OP_ADD_INT"] * 2


def test_what_was_specialised_before_we_came(tracing):
    add = make_add()
    feed(add, INTS)
    tracing()
    add(*INTS)
    assert history_of(ocular.snapshot()) == ["BINARY_OP", "BINARY_OP_ADD_INT"]
    ocular.stop_tracing()
    tracing()  # A new trace has an empty history.
    add(*INTS)
    assert history_of(ocular.stop_tracing()) == ["BINARY_OP", "BINARY_OP_ADD_INT"]


def test_a_loop_goes_through_other_iterables(tracing):
    def walk(things):
        for _ in things:
            pass

    tracing()
    for things in range(5), [1] * 5, (1,) * 5:
        feed(walk, (things,), 300)
        ocular.snapshot()
    histories = reported(ocular.snapshot(), "walk", "FOR_ITER")
    assert list(histories.values()) == [
        ["FOR_ITER", "FOR_ITER_RANGE", "FOR_ITER_LIST", "FOR_ITER_TUPLE"]
    ]


def storms(snapshot):
    return [
        one["storm"]
        for one in reversed(snapshot["transitions"])
        if one["function"] == "add"
    ]


def test_a_storm(tracing):
    tracing()
    add = make_add()
    add(*INTS)
    ocular.snapshot()  # no instruction is specialised yet
    for pair in INTS, FLOATS, INTS, FLOATS, INTS:
        feed(add, pair)
        ocular.snapshot()
    assert storms(ocular.snapshot()) == [False, False, False, True, True]


# Several sites change, but no site changes more than twice, so there is no storm.
def test_many_changes_are_no_storm(tracing):
    tracing()
    for _ in range(5):
        add = make_add()
        feed(add, INTS)
        ocular.snapshot()
        feed(add, FLOATS)
        ocular.snapshot()
    assert storms(ocular.snapshot()) == [False] * 10


# --- The log of changes and the counts of pairs -------------------------------


def pairs_of(snapshot):
    return {(one["from"], one["to"]): one["count"] for one in snapshot["transition_pairs"]}


def log_of(snapshot):
    return {tuple(one.items()) for one in snapshot["transitions"]}


def test_the_pairs_are_the_log_counted(tracing):
    tracing()
    add, other = make_add(), make_add()
    # The final snapshot also contains changes in code of other tests.
    earlier = ocular.snapshot()
    log = set()  # all changes in the log, which keeps only the newest ones
    for pair in INTS, FLOATS, STRINGS, INTS:
        feed(add, pair)
        feed(other, pair)
        snapshot = ocular.snapshot()
        log |= log_of(snapshot)
    counted = pairs_of(earlier)
    # Times are not compared, because the uptime is measured by another clock.
    for one in map(dict, log - log_of(earlier)):
        key = one["from"], one["to"]
        counted[key] = counted.get(key, 0) + 1
    assert pairs_of(snapshot) == counted
    # If an instruction leaves a specialised form, this is a deoptimisation, even if another
    # specialised form follows.
    for one in snapshot["transitions"] + snapshot["transition_pairs"]:
        if "BINARY_OP" in one["from"]:
            assert one["deopt"] is (one["from"] != "BINARY_OP"), one
    assert any(
        one["deopt"] and one["to"] != "BINARY_OP" for one in snapshot["transition_pairs"]
    )
    assert counted["BINARY_OP_ADD_INT", "BINARY_OP_ADD_FLOAT"] == 2
    counts = [one["count"] for one in snapshot["transition_pairs"]]
    assert counts == sorted(counts, reverse=True)
    times = [one["seen_at_s"] for one in snapshot["transitions"]]
    assert times == sorted(times, reverse=True)


def test_the_log_is_bounded_and_the_counts_are_not(tracing):
    tracing()
    before = pairs_of(ocular.snapshot())  # pairs of opcodes from earlier tests
    adds = [make_add() for _ in range(130)]
    kinds = itertools.cycle([FLOATS, INTS])
    for add in adds:
        feed(add, INTS, 10)
    ocular.snapshot()
    for _ in range(50):
        pair = next(kinds)
        for add in adds:
            feed(add, pair, 60)
        snapshot = ocular.snapshot()
    assert len(snapshot["transitions"]) == 256
    counts = {
        pair: count - before.get(pair, 0) for pair, count in pairs_of(snapshot).items()
    }
    assert counts["BINARY_OP", "BINARY_OP_ADD_INT"] == 130
    assert counts["BINARY_OP_ADD_INT", "BINARY_OP_ADD_FLOAT"] == 130 * 25
    assert counts["BINARY_OP_ADD_FLOAT", "BINARY_OP_ADD_INT"] == 130 * 25


# CPython reuses the address of freed code at once, for code of another function.
def test_code_that_comes_and_goes(tracing):
    tracing()
    addresses = set()
    for number in range(12):
        names = {}
        exec(
            compile(f"def add_{number}(a, b):\n    return a + b\n", __file__, "exec"), names
        )
        add = names[f"add_{number}"]
        addresses.add(id(add.__code__))
        feed(add, INTS if number % 2 else FLOATS)
        ocular.snapshot()
        del add, names
        gc.collect()
    final = ocular.stop_tracing()
    assert len(addresses) < 12, "no address was used again: no test"
    for number in range(12):
        histories = list(reported(final, f"add_{number}").values())
        kind = "INT" if number % 2 else "FLOAT"
        assert histories == [["BINARY_OP", "BINARY_OP_ADD_" + kind]]


# --- No false deoptimisation -------------------------------------------------------


class Thing:
    def __init__(self):
        self.value = 1

    def method(self):
        return self.value


THINGS = [Thing() for _ in range(5)]


# The instructions of this program belong to many families and never get operands of another
# type.
STEADY = """
def produce(n):
    for i in range(n):
        yield i

def work(things):
    total = 0
    text = ""
    table = {"a": 1}
    for i in range(5):
        total = total + i * 2 - 1
        if total > 3:
            total -= table["a"]
    for thing in things:
        total += thing.method() + len(things)
        thing.value = 2
    for i in produce(4):
        total += i
    for i in (1,):  # runs once, so changes by Ocular's hooks stay visible
        total += i
    first, second = total, 2
    text = text + "x"
    text += str(first)
    return 1.5 * 2.5 + float(second)
"""


def make_steady():
    names = {"__name__": __name__}
    exec(compile(STEADY, STEADY_FILE, "exec"), names)
    return names["work"]


toggled = None  # the function whose code the other tool instruments


def do_nothing(*ignored):
    return do_nothing


def nobody(step):
    pass


def settrace_on_and_off(step):
    sys.settrace(do_nothing if step % 2 else None)


def setprofile_on_and_off(step):
    sys.setprofile(do_nothing if step % 2 else None)


def other_tool(events):
    """Returns a function that turns another tool on and off. Every second time, the tool's
    callback returns DISABLE, which can end the instrumentation before Ocular's scan."""

    def toggle(step):
        answer = monitoring.DISABLE if step % 4 == 1 else None
        for event in events:
            monitoring.register_callback(
                1, getattr(monitoring.events, event), lambda *_: answer
            )
        mask = sum(getattr(monitoring.events, event) for event in events)
        monitoring.set_events(1, mask if step % 2 else 0)
        monitoring.restart_events()

    return toggle


def other_tool_locally(step):
    events = monitoring.events
    monitoring.register_callback(1, events.INSTRUCTION, lambda *_: monitoring.DISABLE)
    code = toggled.__code__
    # Turns the events on and off without a pause, and then leaves them on.
    monitoring.set_local_events(1, code, events.INSTRUCTION)
    toggled(THINGS)
    monitoring.set_local_events(1, code, events.LINE if step % 2 else 0)


TOGGLES = {
    "nobody": nobody,
    "settrace": settrace_on_and_off,
    "setprofile": setprofile_on_and_off,
    "lines": other_tool(["LINE"]),
    "instructions": other_tool(["INSTRUCTION"]),
    "everything": other_tool(
        "LINE INSTRUCTION CALL JUMP BRANCH PY_START PY_RETURN PY_YIELD "
        "STOP_ITERATION".split()
    ),
    "locally": other_tool_locally,
}


def is_deoptimised(one):
    return one["from"].startswith(one["to"] + "_")


def run_steadily(toggle, steps=12):
    """Each time after turning the tool on or off, takes a snapshot at once and after each
    of several runs of the function."""
    global toggled
    toggled = work = make_steady()
    for step in range(steps):
        ocular.snapshot()
        toggle(step)
        for runs in 0, 1, 1, 1, 20:
            for _ in range(runs):
                work(THINGS)
            snapshot = ocular.snapshot()
    toggle(0)  # turns the other tool off
    for _ in range(5):
        work(THINGS)
        snapshot = ocular.snapshot()
    return snapshot


@pytest.fixture
def no_tools():
    monitoring.use_tool_id(1, "another")
    yield
    for event in vars(monitoring.events).values():
        if isinstance(event, int) and event and event & (event - 1) == 0:
            monitoring.register_callback(1, event, None)
    monitoring.set_events(1, 0)
    if toggled:
        monitoring.set_local_events(1, toggled.__code__, 0)
    monitoring.free_tool_id(1)
    sys.settrace(None)
    sys.setprofile(None)


def expect_no_change(snapshot):
    """Checks that every instruction was specialised exactly once."""
    ours = [
        one
        for one in snapshot["transitions"]
        if one["function"] in ("work", "produce", "Thing.method")
    ]
    assert [one for one in ours if is_deoptimised(one)] == []
    sites = [(one["id"], one["offset"]) for one in ours]
    assert len(sites) == len(set(sites)), ours
    assert not any(one["storm"] for one in ours)
    bases = {one["from"] for one in ours if one["function"] == "work"}
    # These opcodes show that instructions were specialised at all.
    assert {"BINARY_OP", "FOR_ITER", "COMPARE_OP", "LOAD_ATTR", "STORE_ATTR"} <= bases, (
        snapshot["transition_pairs"],
        ours,
    )


@pytest.mark.parametrize("threshold", [1, 500, 0])
@pytest.mark.parametrize("name", TOGGLES)
def test_no_deoptimisation_where_types_never_change(tracing, no_tools, name, threshold):
    tracing(deinstrument_threshold=threshold)
    expect_no_change(run_steadily(TOGGLES[name]))


# The governor thread, a viewer and another tool change the code while it runs.
@pytest.mark.parametrize("threshold", [5, 500])
def test_no_deoptimisation_while_all_goes_on(tracing, sockets, no_tools, threshold):
    global toggled
    toggled = work = make_steady()
    # Only this code is traced, because the log keeps 128 changes.
    only = [STEADY_FILE, "Thing.method"]
    tracing(deinstrument_threshold=threshold, serve=True, include_only=only)
    over = threading.Event()
    runs = []

    def work_on():
        while not over.is_set():
            work(THINGS)
            runs.append(1)

    threads = [threading.Thread(target=work_on) for _ in range(2)]
    with client.Client(ocular._ocular.socket_path()) as viewer:
        for thread in threads:
            thread.start()
        try:
            for step in itertools.count():
                viewer.rearm()
                other_tool_locally(step)
                ocular.snapshot()
                if step >= 50 and len(runs) >= 1000:
                    break
        finally:
            over.set()
            for thread in threads:
                thread.join()
    monitoring.set_local_events(1, work.__code__, 0)
    # Without the other tool, all instructions are visible and are specialised.
    for _ in range(100):
        work(THINGS)
    expect_no_change(ocular.stop_tracing())
