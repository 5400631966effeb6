# SPDX-License-Identifier: MIT
"""What the sampler tells beyond shares: time in C, callers, hot offsets, whose
threads; and what it tells the hooks."""

import hashlib
import json
import threading
import time

import ocular
import pytest
from e2e.counting import row

SETTINGS = dict(perfetto=False, quiet=True, serve=True, deinstrument_threshold=50)


def until(seconds):
    return time.thread_time() + seconds


# --- Programs ----------------------------------------------------------------

NUMBERS = [(i * 7919) % 10007 for i in range(10007)]
TREE = [{"name": "x" * 20, "values": list(range(30))} for _ in range(50)]
BYTES = b"x" * 1500  # below 2048 hashlib keeps the interpreter's lock


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
    while time.thread_time() < end:
        for _ in range(100):
            hashlib.sha256(BYTES)


def computes(seconds):
    """No call at all, but for the clock now and then."""
    end = until(seconds)
    while time.thread_time() < end:
        total = 0
        for i in range(20000):
            total = (total + i) & 0xFFFF


def leaf(a, b):
    return a + b


def calls_python(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        for i in range(5000):
            leaf(i, i)


def half_in_c(seconds):
    """Turns about: as long in a sort as in a loop, by the thread's clock."""
    end = until(seconds)
    spent = {"c": 0.0, "python": 0.0}
    while time.thread_time() < end:
        a = time.thread_time()
        NUMBERS.copy().sort()
        b = time.thread_time()
        total = 0
        for i in range(15000):
            total = (total + i) & 0xFFFF
        c = time.thread_time()
        spent["c"] += b - a
        spent["python"] += c - b
    return spent


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
        often()
        seldom()


# Each shares its time between two numbers; samples are chance: three sigma.
def near(value, expected, samples):
    return abs(value - expected) < max(
        0.03, 3 * (expected * (1 - expected) / max(samples, 1)) ** 0.5
    )


@pytest.fixture(scope="module")
def run():
    """One run of them all, one after the other; each one's newest snapshot."""
    ocular.start_tracing(**SETTINGS)
    seen = {}
    try:
        for program in (sorts, dumps, hashes, computes, calls_python):
            program(0.8)
            seen[program.__name__] = ocular.snapshot()
        spent = half_in_c(2.5)
        seen["half_in_c"] = ocular.snapshot()
        both(2)
        seen["both"] = ocular.snapshot()
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
def test_time_in_c(run, name):
    mine = row(run[0][name], name)
    assert mine["samples"] > 20
    assert mine["c_share"] > 0.85 * mine["cpu_share"]
    assert mine["c_share"] <= mine["cpu_share"] + 1e-9


def test_time_in_c_below_excluded_code(run):
    """json.dumps is the standard library's, and traced: the C encoder's time
    is in the function that calls it."""
    mine = row(run[0]["dumps"], "JSONEncoder.iterencode")
    assert mine["c_share"] > 0.85 * mine["cpu_share"] > 0.02


@pytest.mark.parametrize("name", ["computes", "calls_python"])
def test_no_time_in_c(run, name):
    mine = row(run[0][name], name)
    assert mine["samples"] > 20
    assert mine["c_share"] < 0.15 * mine["cpu_share"]


def test_half_in_c(run):
    mine = row(run[0]["half_in_c"], "half_in_c")
    spent = run[1]
    expected = spent["c"] / (spent["c"] + spent["python"])
    assert 0.2 < expected < 0.8
    assert near(mine["c_share"] / mine["cpu_share"], expected, mine["samples"])


# --- Callers -----------------------------------------------------------------


def test_callers(run):
    snapshot = run[0]["both"]
    names = {mine["id"]: mine["name"] for mine in snapshot["functions"]}
    mine = row(snapshot, "work")
    callers = {names.get(one["id"]): one["share"] for one in mine["callers"]}
    assert set(callers) == {"often", "seldom"}
    assert near(callers["often"] / sum(callers.values()), 0.75, mine["samples"])
    assert sum(callers.values()) == pytest.approx(mine["total_share"], rel=0.02)
    shares = [one["share"] for one in mine["callers"]]
    assert shares == sorted(shares, reverse=True)
    for name in ("often", "seldom"):
        (one,) = row(snapshot, name)["callers"]
        assert names[one["id"]] == "both"


# --- What it tells the hooks -------------------------------------------------


def burn(rounds):
    sum(range(rounds))


class Thing:
    rounds = 0

    @property
    def value(self):
        sum(range(self.rounds))

    def __add__(self, other):
        sum(range(self.rounds))


def reads_a_property(thing):
    thing.value


def adds(thing):
    thing + thing


def is_called_back(thing):
    list(map(burn, [thing.rounds]))


@pytest.mark.parametrize("caller", [reads_a_property, adds, is_called_back])
def test_a_dark_callee_met_behind_c_is_seen_on_the_stack(caller):
    """It is dark before this caller calls it, and no call instruction says so:
    for a moment its time is taken for the caller's own."""
    thing = Thing()
    ocular.start_tracing(**SETTINGS)
    try:
        for _ in range(60):
            burn(0), thing.value, thing + thing
        thing.rounds = 10**6  # a few ms
        ms = []
        for _ in range(45):
            before = row(ocular.snapshot(), caller.__name__)
            caller(thing)
            after = ocular.snapshot()
            mine = row(after, caller.__name__)
            spent = mine["self_cycles"] + mine["waited_cycles"]
            if before:
                spent -= before["self_cycles"] + before["waited_cycles"]
            ms.append(1e3 * spent / after["tsc_hz"])
    finally:
        ocular.stop_tracing()
    assert row(after, caller.__name__)["calls"] == 45
    assert max(ms[-20:]) < 1, ms
