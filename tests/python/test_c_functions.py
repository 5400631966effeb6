# SPDX-License-Identifier: MIT
"""Tests the rows of C functions, which events="c_call" brings. They have names, counted
calls at threshold 0, and otherwise shares of samples and estimated calls."""

import asyncio
import cProfile
import functools
import json
import pstats
import re
import sys
import time
import types
import zlib

import ocular
import pytest
from e2e import trace

FILE = "<C function>"
EXACT = dict(events=["c_call"], perfetto=False, quiet=True, deinstrument_threshold=0)

BUDGET = dict(events="adaptive,c_call", overhead_budget=0.01, perfetto=False, quiet=True)


def rows(snapshot):
    return {f["name"]: f for f in snapshot["functions"] if f["file"] == FILE}


def traced(work, **settings):
    """Returns the rows of C functions after a traced call of work()."""
    ocular.start_tracing(**settings)
    try:
        work()
        return rows(ocular.snapshot())
    finally:
        ocular.stop_tracing()


def negative(x):
    return -x


def calls():
    """Calls C functions of a module and of a type, bound methods, and class methods."""
    numbers = []
    for i in range(1000):
        numbers.append(i)
    for i in range(300):
        sorted(numbers[:20], key=negative)
        len(numbers), isinstance(numbers, list), {}.get(i), dict.get({}, i)
        "a".join(("b", "c")), dict.fromkeys("a")
        try:
            {}.pop(1)
        except KeyError:
            pass
    re.sub("a", lambda match: match.group(), "aaa")
    functools.reduce(max, numbers)


def of_cprofile(work):
    """Returns the calls of each C function by cProfile, by Ocular's names."""
    profile = cProfile.Profile()
    profile.enable()
    work()
    profile.disable()
    counts = {}
    for (file, _, name), (_, count, *_) in pstats.Stats(profile).stats.items():
        method = re.fullmatch(r"<method '(.+)' of '(.+)' objects>", name)
        function = re.fullmatch(r"<built-in method (?:builtins\.)?(.+)>", name)
        if file == "~" and (method or function):
            name = f"{method[2]}.{method[1]}" if method else function[1]
            counts[name] = count
    return counts


def test_calls_are_those_of_cprofile():
    calls()
    truth = of_cprofile(calls)
    found = traced(calls, **EXACT)
    names = "list.append sorted len isinstance dict.get str.join dict.pop re.Match.group"
    for name in names.split():
        assert found[name]["calls"] == truth[name], name
        assert found[name]["calls_exact"] is True
        assert found[name]["avg_cycles"] > 0, "the ends of the calls are seen"
    assert found["list.append"]["calls"] == 1000
    assert found["dict.get"]["calls"] == 600
    assert found["dict.fromkeys"]["calls"] == 300
    assert found["_functools.reduce"]["calls"] == 1


class Callable:
    def __call__(self):
        return 1


class Numbers(list):
    pass


Numbers.__name__ = "Renamed"


@functools.lru_cache
def cached(number):
    return number


LOOP = asyncio.new_event_loop()


def kinds():
    Numbers().append(1)
    Callable()()
    functools.partial(int, "3")()
    time.perf_counter()
    int.from_bytes(b"a", "big")
    object.__init__(object())
    zlib.compressobj().compress(b"a")
    asyncio.Future(loop=LOOP)
    super(Numbers, Numbers()).__init__()
    json.scanner.c_make_scanner(json.JSONDecoder())("1", 0)
    cached(1)


def test_names_are_those_that_a_person_writes():
    found = traced(kinds, **EXACT)
    # `list` makes an object of the class Numbers, to which list.append is bound. `cached`
    # is an object of C code that has a name of its own, as numpy.dot has.
    names = """list list.append functools.partial functools.partial.__call__ object
        time.perf_counter int.from_bytes object.__init__ zlib.compressobj _asyncio.Future
        list.__init__ _json.Scanner _json.Scanner.__call__"""
    assert {*names.split(), f"{__name__}.cached"} <= set(found)
    # Only C functions have rows like these.
    assert not [name for name in found if "Callable" in name or "Numbers" in name]


def timed():
    function = functools.partial(int, "3")
    for _ in range(1000):
        function(), int.from_bytes(b"a", "big")


def test_a_call_is_timed_without_the_search_for_its_name():
    found = traced(timed, **EXACT)
    least = found["int.from_bytes"]["min_cycles"]  # Ocular finds this name by its address.
    assert 0 < found["functools.partial.__call__"]["min_cycles"] < 3 * least


def slots():
    """Calls functions that several types have in common."""
    for _ in range(60):
        tuple.__new__(tuple), (1).__add__(2), list.__init__([])
    for _ in range(25):
        int.__new__(int), (1.0).__add__(2), dict.__init__({})
        types.MethodType(sorted, [3, 1])(*())


def test_functions_of_one_slot_are_apart():
    found = traced(slots, **EXACT)
    for name in "tuple.__new__", "int.__add__", "list.__init__":
        assert found[name]["calls"] == 60, name
    for name in "int.__new__", "float.__add__", "dict.__init__":
        assert found[name]["calls"] == 25, name
    # CPython reports no end of a call that is made in this way.
    assert "sorted" not in found


def fails():
    for _ in range(50):
        with pytest.raises(ValueError):
            int("x")
        negative(1)


def freed():
    """Calls a function that is freed afterwards."""
    names = {}
    exec("def freed_later():\n try: int('x')\n except ValueError: pass", names)
    for _ in range(4):
        names["freed_later"]()
    names.clear()


def nested(depth):
    return sorted([depth, 1], key=lambda x: nested(depth - 1) and x) if depth else [1]


def test_calls_end_by_exceptions_and_may_be_nested(tmp_path):
    def work():
        fails()
        nested(6)

    ends = time.monotonic() + 60
    output = tmp_path / "t.json"
    timeline = {"events": "c_call,exception", "perfetto": True, "output": output}
    ocular.start_tracing(**EXACT | timeline)
    try:
        work()
        for _ in range(3):
            freed()
        snapshot, gone = ocular.snapshot(), []
        while [f["objects"] for f in gone] != [3]:
            assert time.monotonic() < ends
            snapshot = ocular.snapshot()
            gone = [f for f in snapshot["retired"] if f["name"] == "freed_later"]
    finally:
        ocular.stop_tracing()
    assert rows(snapshot)["int"]["calls"] == 50 + 3 * 4
    assert rows(snapshot)["int"]["raised"] == 50 + 3 * 4, "the callers are freed"
    assert rows(snapshot)["sorted"]["calls"] == 2**6 - 1
    assert trace.read(output).names()["sorted"] == 2**6 - 1
    of_negative = next(f for f in snapshot["functions"] if f["name"] == "negative")
    assert of_negative["calls"] == 50 and of_negative["calls_exact"] is True


def test_without_the_event_there_are_no_rows():
    found = traced(calls, perfetto=False, quiet=True, deinstrument_threshold=0)
    assert found == {}


def call(function, value):
    return function(value)


def test_samples_find_the_c_function(tmp_path):
    """The share of each C function is the CPU time that the program measures itself. One
    instruction calls two C functions."""
    data = bytes(range(256)) * 800
    numbers = [i * 7919 % 100003 for i in range(40000)]
    rows_of = {"zlib.compress": (zlib.compress, data), "sorted": (sorted, numbers)}
    rows_of["str.encode"] = str.encode, "\u00e4" * 2_000_000
    spent = dict.fromkeys(rows_of, 0.0)

    def work(s):
        ends = sum(spent.values()) + s
        while sum(spent.values()) < ends:
            for name, (function, value) in rows_of.items():
                begin = time.thread_time()
                call(function, value)
                spent[name] += time.thread_time() - begin

    def is_off(name):
        whole = sum(found[name]["run_share"] for name in spent)
        share = found[name]["run_share"] / whole
        return abs(share - spent[name] / sum(spent.values())) >= 0.1

    ocular.start_tracing(**BUDGET)
    try:
        ends, found = time.monotonic() + 60, {}
        while not found or any(is_off(name) for name in spent):
            assert time.monotonic() < ends, (found, spent)
            work(2)
            found = rows(ocular.snapshot())
        ocular.export(tmp_path / "x.folded")
    finally:
        ocular.stop_tracing()
    assert not any(found[name]["calls_exact"] for name in spent)
    stacks = (tmp_path / "x.folded").read_text()
    for name in spent:
        assert re.search(rf";call \([^;]*\);{name} \(", stacks), stacks
        assert found[name]["callers"]


def handle(function, numbers):
    """Calls C functions. This function itself is called a few hundred times a second."""
    for _ in range(5):
        {}.get(1)
    for i in range(4):
        function[i == 0](-1)
    try:
        int("x")
    except ValueError:
        pass
    numbers.append(1)


def test_rates_under_a_budget_follow_from_the_callers():
    """The rate of a C function follows from its calls in each call of handle()."""
    numbers, pause_s, found = [], 0.004, {}
    # Number of C calls in each call of handle(), and tolerance. The main loop has only one
    # call, which never ends, so its rate is less exact.
    truth = {"dict.get": (5, 0.1), "abs": (3, 0.1), "str": (1, 0.1), "int": (1, 0.1)}
    truth["time.sleep"] = 1, 0.3

    def is_right(name, each, tolerance):
        row = found[name]
        wanted = pytest.approx(each * len(numbers), rel=tolerance)
        return row["calls_per_s_error"] and row["calls_estimated"] == wanted

    def is_multiple():
        # A rate is a guess until a window of each caller was counted.
        rate = found["int"]["calls_per_s"]
        return found["dict.get"]["calls_per_s"] == pytest.approx(5 * rate, 0.1)

    ocular.start_tracing(**BUDGET)
    try:
        ends = time.monotonic() + 60
        while not (
            found and all(is_right(name, *truth[name]) for name in truth) and is_multiple()
        ):
            assert time.monotonic() < ends, [found.get(n) for n in truth]
            for _ in range(100):
                handle((abs, str), numbers)
                time.sleep(pause_s)
            found = rows(ocular.snapshot())
    finally:
        ocular.stop_tracing()
    row = found["int"]
    assert row["raised"] == len(numbers)
    assert row["calls"] < row["calls_estimated"] and row["state"] == "partial"
    assert row["rate_estimated"] is True
    assert row["p99_cycles"] >= row["p50_cycles"] > 0


def late(number):
    """Calls abs() only after the first window."""
    return len("") if number < 100 else abs(number)


def test_a_call_that_no_window_has_counted_is_a_guess():
    """Without a budget, no window opens again by itself."""
    ends, number, row = time.monotonic() + 60, 0, {}
    ocular.start_tracing(events="c_call", perfetto=False, quiet=True)
    try:
        for i in range(300):
            call(abs, i)  # Its window ends soon.
        while not (row.get("calls_per_s") or 0) > 1000:
            assert time.monotonic() < ends, row
            for _ in range(20000):
                late(number)
                number += 1
            row = rows(ocular.snapshot()).get("abs", {})
    finally:
        ocular.stop_tracing()
    assert row["calls_per_s_error"] >= row["calls_per_s"]


def test_no_audit_hook_of_the_program_is_called():
    events, on = [], False
    sys.addaudithook(lambda event, _: on and events.append(event))
    ocular.start_tracing(**EXACT)
    on = True
    kinds()
    on = False
    ocular.stop_tracing()
    assert not {"compile", "code.__new__"} & set(events)
