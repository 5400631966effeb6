# SPDX-License-Identifier: MIT
"""What the sampler reports, against the programs' own counts: time in C,
callers, instructions, calls of dark code."""

import hashlib
import json
import math
import time
from collections import Counter

import ocular
import pytest
from e2e.counting import row

SETTINGS = dict(perfetto=False, quiet=True, serve=True, deinstrument_threshold=50)


# One test waits for the module's one run of all programs.
pytestmark = pytest.mark.timeout(1200)


def until(seconds):
    return time.thread_time() + seconds


# --- Programs ----------------------------------------------------------------

NUMBERS = [(i * 7919) % 10007 for i in range(10007)]
TREE = [{"name": "x" * 20, "values": list(range(30))} for _ in range(50)]
BYTES = b"x" * 2000  # below 2048 hashlib keeps the interpreter's lock


def sorts(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        NUMBERS.copy().sort()


def dumps(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        json.dumps(TREE)


def hashes(seconds):
    end = until(seconds)
    update = hashlib.sha256().update
    while time.thread_time() < end:
        for _ in range(1000):
            update(BYTES)


def computes(seconds):
    """No call at all, but for the clock now and then."""
    end = until(seconds)
    while time.thread_time() < end:
        total = 0
        for i in range(200000):
            total = (total + i) & 0xFFFF


def leaf(a, b):
    return a + b


def calls_python(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        for i in range(100000):  # kernels switch at system calls, like the clock's
            leaf(i, i)


def half_in_c(seconds, spent):
    """Turns about: a part in a sort, a part in a loop, by a clock that is
    no system call: at those a busy machine is seen to switch more often."""
    end = until(seconds)
    while time.thread_time() < end:
        a = time.perf_counter()
        for _ in range(20):
            NUMBERS.copy().sort()
        b = time.perf_counter()
        total = 0
        for i in range(300000):
            total = (total + i) & 0xFFFF
        c = time.perf_counter()
        spent["c"] += b - a
        spent["python"] += c - b


def work(rounds):
    total = 0
    for i in range(rounds):
        total += i * i
    return total


def often():
    return work(3000)


def seldom():
    return work(1000)


def both(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        for _ in range(20):  # kernels switch at system calls, like the clock's
            often()
            seldom()


def looks_at(function):
    rows = ocular._ocular.detail(function.__code__)
    return sum(one["samples"] for one in rows or ())


def enough(program, *arguments, least=None, looks=400):
    """The snapshot after it was seen running often enough, be the machine busy: one
    look after a pause of 0.1 s stands for forty."""
    goal = looks_at(least or program) + looks
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        program(0.3, *arguments)
        if looks_at(least or program) >= goal:
            return ocular.snapshot()
    seen = ocular.snapshot()
    raise AssertionError((program, looks, seen["sampler"], seen["overhead"]))


@pytest.fixture(scope="module")
def run():
    """One run of them all, one after the other; each one's newest snapshot."""
    ocular.start_tracing(**SETTINGS, overhead_budget=0.05)
    seen, spent = {}, Counter()
    try:
        for program in (sorts, dumps, hashes, computes, calls_python):
            least = json.JSONEncoder.iterencode if program is dumps else None
            seen[program.__name__] = enough(program, least=least)
        seen["half_in_c"] = enough(half_in_c, spent)
        seen["both"] = enough(both, least=work)
        details = {
            name: ocular._ocular.detail(globals()[name].__code__)
            for name in ("computes", "sorts", "both")
        }
    finally:
        ocular.stop_tracing()
    return seen, spent, details


@pytest.fixture
def own_place():
    """Not here: the module's one run spans the tests."""


# --- Time in C ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["sorts", "hashes"])
def test_time_in_c(run, figure, name):
    """97 in 100 and more are true."""
    mine = row(run[0][name], name)
    assert mine["c_share"] <= mine["cpu_share"] + 1e-9
    figure("C/CPU", mine["c_share"] / mine["cpu_share"], "higher")


def test_time_in_c_below_the_library(run, figure):
    """json.dumps is the standard library's, and traced: the C encoder's time
    is in the function that calls it."""
    mine = row(run[0]["dumps"], "JSONEncoder.iterencode")
    figure("C/CPU", mine["c_share"] / mine["cpu_share"], "higher")


@pytest.mark.parametrize("name", ["computes", "calls_python"])
def test_no_time_in_c(run, figure, name):
    mine = row(run[0][name], name)
    figure("C/CPU", mine["c_share"] / mine["cpu_share"])


def test_half_in_c(run, figure):
    mine, spent = row(run[0]["half_in_c"], "half_in_c"), run[1]
    expected = spent["c"] / (spent["c"] + spent["python"])
    assert 0.2 < expected < 0.8
    error = mine["c_share"] / mine["cpu_share"] - expected
    figure("C/CPU, error", 100 * error, "nearer", unit="points", goal=0)


def unseen(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        for _ in range(100000):
            pass


def holder(seconds):
    unseen(seconds)


def test_sampled_excluded_code(figure):
    """Its time is its caller's, and known to be spent elsewhere."""
    ocular.start_tracing(**SETTINGS, overhead_budget=0.05, exclude=["unseen"])
    try:
        seen = enough(holder, looks=100)
    finally:
        ocular.stop_tracing()
    mine = row(seen, "holder")
    whole = sum(each["cpu_share"] or 0 for each in seen["functions"])
    figure("caller/all", mine["cpu_share"] / whole, "higher")
    figure("elsewhere/caller", seen["sampler"]["elsewhere"] / mine["cpu_share"], "higher")


def for_long(rounds):
    sum(range(rounds))


def is_woken(spent, rounds):
    """Often, each time for less than a look takes; then it works, for longer.
    CPU s of both."""
    began = time.thread_time()
    for _ in range(50):
        time.sleep(0.0001)
    woken = time.thread_time()
    for_long(rounds)
    took = woken - began, time.thread_time() - woken
    spent["is_woken"] += took[0]
    spent["for_long"] += took[1]
    return took


# --- Callers and instructions ------------------------------------------------


def test_shares_of_callers(run, figure):
    snapshot = run[0]["both"]
    names = {mine["id"]: mine["name"] for mine in snapshot["functions"]}
    mine = row(snapshot, "work")
    callers = {names.get(one["id"]): one["share"] for one in mine["callers"]}
    assert set(callers) == {"often", "seldom"}
    error = callers["often"] / sum(callers.values()) - 0.75
    figure("share, error", 100 * error, "nearer", unit="points", goal=0)


@pytest.mark.parametrize(
    "name, hot", [("computes", "BINARY_OP"), ("sorts", "CALL"), ("both", "CALL")]
)
def test_hot_offsets(run, figure, name, hot):
    """Most samples are at the slowest instruction: in the loop, at the call."""
    samples = Counter()
    for one in run[2][name]:
        samples[one["opcode"]] += one["samples"]
    figure(f"{hot}/all", samples[hot] / max(1, samples.total()), "higher")


# --- Calls a second ----------------------------------------------------------


def naps(n):
    time.sleep(0.004)


def works(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def repeat(function, argument, seconds=None, times=None):
    """(calls, seconds a call)"""
    calls, begin = 0, time.perf_counter()
    while calls < times if times else time.perf_counter() < begin + seconds:
        function(argument)
        calls += 1
    return calls, (time.perf_counter() - begin) / calls


def made_in(clock, function, argument, **many):
    """(calls, seconds a call, the same by that clock, when)"""
    began = clock()
    calls, call_s = repeat(function, argument, **many)
    return calls, call_s, (clock() - began) / calls, time.monotonic()


def lately(made, which):
    """One of them, in the window that Ocular looks through."""
    weights = [one[0] * math.exp((one[-1] - made[-1][-1]) / 5) for one in made]
    return sum(w * one[which] for w, one in zip(weights, made)) / sum(weights)


@pytest.mark.parametrize(
    "function, argument, clock",
    [(naps, 0, time.perf_counter), (works, 20000, time.thread_time)],
)
def test_calls_of_dark_code(figure, function, argument, clock):
    """An estimate says that a call takes as long as those that were timed; where the
    machine has become slower, that much is not its fault."""
    ocular.start_tracing(**{**SETTINGS, "deinstrument_threshold": 200})
    try:
        made = [made_in(clock, function, argument, times=200)]
        for seconds in range(1, 21):
            made.append(made_in(clock, function, argument, seconds=1))
            snapshot = ocular.snapshot()
            mine = row(snapshot, function.__name__)
            if mine["samples"] >= 60 and seconds >= 6:
                break
    finally:
        ocular.stop_tracing()
    total = sum(calls for calls, *_ in made)
    assert not mine["calls_exact"] and mine["calls"] < total
    timed = (mine["self_cycles"] + mine["waited_cycles"]) / mine["calls"]
    slower = lately(made, 2) * snapshot["tsc_hz"] / timed
    rate = mine["calls_per_s"] * lately(made, 1) / slower
    figure("rate, reported/true", rate, "nearer", goal=1)
    estimate = mine["calls_estimated"] / total
    figure("calls, estimated/made", estimate, "nearer", goal=1)


def test_calls_of_dark_bursts(figure):
    """A tenth of the time it works: the estimate is not wrong by that."""
    ocular.start_tracing(**SETTINGS, overhead_budget=0.02)
    try:
        total = 0
        for _ in range(20):
            calls, call_s = repeat(works, 20000, times=100)
            total += calls
            time.sleep(min(9 * calls * call_s, 4))
        mine = row(ocular.snapshot(), "works")
    finally:
        ocular.stop_tracing()
    assert not mine["calls_exact"] and mine["calls"] < total
    estimate = mine["calls_estimated"] / total
    figure("calls, estimated/made", estimate, "nearer", goal=1)
