# SPDX-License-Identifier: MIT
"""A hot function loses its hooks, so it goes dark, and Ocular reports it as dark. A dark
function costs nothing, does not distort other functions' figures, and is armed again on
request."""

import resource
import time

import ocular
import pytest
from e2e import client
from e2e.counting import entries, own_cycles, row
from e2e.program import SLOW, wait_until
from ocular import _settings

pytestmark = pytest.mark.usefixtures("no_turns")
QUIET = dict(perfetto=False, quiet=True)


def leaf(n):
    return n + 1


def branchy(n):
    if n % 2:
        return leaf(n)
    return leaf(-n)


def call_often(times):
    for n in range(times):
        branchy(n)


def loops(times):
    total = 0
    while times:
        times -= 1
        total += times
    return total


def test_the_threshold_makes_dark(tracing):
    tracing(deinstrument_threshold=50)
    call_often(20)
    before = ocular.snapshot()
    for name in ("leaf", "branchy"):
        mine = row(before, name)
        assert mine["calls"] == 20 and mine["calls_exact"]
        assert mine["state"] == "armed" and mine["dark_sites"] == 0
    call_often(2000)
    after = ocular.snapshot()
    for name in ("leaf", "branchy"):
        mine = row(after, name)
        assert 50 <= mine["calls"] <= 52 and not mine["calls_exact"]
        assert mine["state"] in ("dark", "partial")
        assert mine["dark_sites"] >= 1
    assert row(after, "leaf")["state"] == "dark"
    assert row(after, "leaf")["dark_sites"] == row(after, "leaf")["sites"]
    assert after["sites"]["dark"] > before["sites"]["dark"]


def take(items):
    total = 0
    for number in range(30):
        total += number
    return total


def test_freeing_arguments_takes_the_callers_time(tracing):
    """CPython frees the list after take()'s return event, so this time belongs to no timed
    call. If the samples of this time counted for take(), Ocular would estimate ten times as
    many calls of take()."""
    tracing(include_only=["test_dark"])
    calls, end = 0, time.process_time() + 1
    while time.process_time() < end:
        take([str(number) for number in range(1000)])
        calls += 1
    mine = row(ocular.snapshot(), "take")
    assert mine["state"] == "dark" and mine["calls"] < calls / 2
    assert mine["share"] < 0.1
    # A call takes so little time that a sample stands for more calls than were made.
    assert mine["calls_estimated"] < 4 * calls or mine["samples"] <= 3


def positive(numbers):
    """Ends its generator expression early, while the expression is suspended."""
    return any(n > 0 for n in numbers)


@pytest.mark.parametrize("end", ["any", "close", "throw"])
def test_dark_generators_are_not_counted_by_their_ends(tracing, end):
    """If a generator ends early, CPython 3.12 fires PY_THROW. 3.13 and 3.14 fire it only at
    throw(). A PY_THROW event must not count as a call."""

    def numbers():
        yield 1
        yield 2

    def pass_one():
        if end == "any":
            return positive((3, 4))
        generator = numbers()
        next(generator)
        if end == "close":
            return generator.close()
        with pytest.raises(KeyError):
            generator.throw(KeyError)

    tracing(deinstrument_threshold=50, include_only=["test_dark"])
    name = "positive.<locals>.<genexpr>" if end == "any" else "numbers"
    for _ in range(300):
        pass_one()
    before = row(ocular.snapshot(), name)
    assert 50 <= entries(before) <= 55 and not before["calls_exact"]
    time.sleep(0.05)
    for _ in range(1000):
        pass_one()
    after = row(ocular.snapshot(), name)
    for number in ("calls", "resumptions", "total_cycles", "self_cycles"):
        assert after[number] == before[number], number
    assert after["age_s"] >= 0.05


def test_loops_go_dark_on_their_own(tracing):
    tracing(deinstrument_threshold=100, include_only=["test_dark"])
    loops(5_000_000)
    # The loop makes events only until its hook is removed.
    assert ocular.snapshot()["events"] < 10_000
    mine = row(ocular.snapshot(), "loops")
    assert mine["calls"] == 1
    assert mine["state"] == "partial"
    assert mine["dark_sites"] >= 1
    before = ocular.snapshot()["events"]
    loops(100_000)
    assert ocular.snapshot()["events"] - before < 20
    assert row(ocular.snapshot(), "loops")["calls"] == 2


def test_estimates_without_a_sample_are_null(tracing, monkeypatch):
    monkeypatch.setenv("OCULAR_SIGNAL", "none")
    tracing(deinstrument_threshold=50)
    call_often(1000)
    mine = row(ocular.snapshot(), "leaf")
    assert mine["calls_estimated"] is None
    assert not mine["samples"] and not mine["share"]


# --- Dark callees -------------------------------------------------------------


slept = []  # seconds of each sleep, by the program's own clock


def slow_callee():
    begin = time.perf_counter()
    time.sleep(0.005)
    slept.append(time.perf_counter() - begin)


def fast_caller():
    return slow_callee()


@pytest.fixture(autouse=True)
def nobody_has_slept():
    slept.clear()


def test_a_dark_callees_time_is_not_its_callers_own(tracing):
    tracing(deinstrument_threshold=20)
    for _ in range(10):
        fast_caller()
    before = ocular.snapshot()
    armed = row(before, "fast_caller")
    assert armed["avg_cycles"] < 0.5 * sum(slept) / 10 * before["tsc_hz"]
    # Another function also calls the callee, so the callee loses its hooks earlier.
    for _ in range(15):
        slow_callee()
    for _ in range(8):
        fast_caller()
    after = ocular.snapshot()
    assert row(after, "slow_callee")["state"] == "dark"
    mine = row(after, "fast_caller")
    assert mine["calls"] == 18 and mine["calls_exact"]
    callers = (sum(slept[:10]) + sum(slept[-8:])) * after["tsc_hz"]
    assert mine["avg_cycles"] is None or mine["avg_cycles"] < 0.5 * callers / 18
    assert mine["self_cycles"] < 0.5 * callers
    # The function's total time still grows while the function has no hooks.
    assert mine["total_cycles"] > 0.95 * callers


class Made:
    def __new__(cls):
        slow_callee()
        return super().__new__(cls)


class Started:
    def __init__(self):
        slow_callee()


class Heir(Started):
    pass


class Asked:
    def method(self):
        slow_callee()

    @classmethod
    def of_class(cls):
        slow_callee()

    @staticmethod
    def of_nobody():
        slow_callee()

    def __call__(self):
        slow_callee()


class Wanted(type):
    def __call__(cls):
        slow_callee()


class Ordered(metaclass=Wanted):
    pass


ASKED = Asked()
CALLED = {
    "function": (slow_callee, "slow_callee"),
    "class": (Started, "Started.__init__"),
    "heir": (Heir, "Started.__init__"),
    "new": (Made, "Made.__new__"),
    "metaclass": (Ordered, "Wanted.__call__"),
    "instance": (ASKED, "Asked.__call__"),
    "method": (ASKED.method, "Asked.method"),
    "classmethod": (Asked.of_class, "Asked.of_class"),
    "staticmethod": (Asked.of_nobody, "Asked.of_nobody"),
}


@pytest.mark.parametrize("mode", ["adaptive", "precise"])
@pytest.mark.parametrize("what", CALLED)
def test_a_new_caller_of_dark_code_is_not_billed_for_it(tracing, mode, what):
    callee, name = CALLED[what]

    def newcomer():
        callee()

    tracing(deinstrument_threshold=5, mode=mode)
    for _ in range(8):
        callee()
    assert row(ocular.snapshot(), name)["calls"] == 5
    slept.clear()
    for _ in range(4):
        newcomer()
    after = ocular.snapshot()
    mine = row(after, "newcomer")
    callees = sum(slept) * after["tsc_hz"]
    assert mine["calls"] == 4
    assert mine["total_cycles"] > 0.95 * callees
    assert mine["self_cycles"] < 0.5 * callees
    # The caller is timed, because its callees got their hooks together with it.
    assert 0 < mine["avg_cycles"] < 0.5 * callees / 4
    assert row(after, name)["calls"] == 9


def test_a_method_of_an_attribute_is_a_callee_too(tracing):
    def newcomer():
        ASKED.method()
        Asked.of_class()

    tracing(deinstrument_threshold=5)
    for _ in range(8):
        ASKED.method()
        Asked.of_class()
    slept.clear()
    newcomer()
    after = ocular.snapshot()
    assert 0 < row(after, "newcomer")["self_cycles"] < 0.5 * sum(slept) * after["tsc_hz"]


def test_callees_are_armed_once_a_caller(tracing):
    def newcomer():
        leaf(1)

    def another():
        leaf(1)

    tracing(deinstrument_threshold=1000)
    for n in range(3000):
        leaf(n)
    assert row(ocular.snapshot(), "leaf")["calls"] == 1000
    for _ in range(500):
        newcomer()
    assert row(ocular.snapshot(), "leaf")["calls"] == 1064
    for _ in range(400):
        newcomer()
    assert row(ocular.snapshot(), "leaf")["calls"] == 1064
    another()
    assert row(ocular.snapshot(), "leaf")["calls"] == 1065


def test_exceptions_out_of_dark_code_keep_the_stack_right(tracing):
    def fails(n):
        raise ValueError(n)

    def middle(n):
        fails(n)

    def waits():
        # If other programs have the CPU until a sleep is over, the thread has not waited,
        # and the time is not its own.
        waited = False
        while not waited:
            before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
            begin = time.perf_counter()
            time.sleep(0.005)
            waited = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw > before
        slept.append(time.perf_counter() - begin)

    def outer():
        for n in range(200):
            try:
                middle(n)
            except ValueError:
                pass
            leaf(n)
        around.append(time.perf_counter())
        return waits()

    around = []
    tracing(deinstrument_threshold=30)
    outer()
    around.append(time.perf_counter())
    final = ocular.snapshot()
    assert row(final, "outer")["calls"] == 1
    assert row(final, "waits")["calls"] == 1
    assert row(final, "fails")["state"] in ("dark", "partial")
    hz = final["tsc_hz"]
    mine = row(final, "waits")
    # If other threads use the GIL, too, a long sleep counts as waiting time.
    own = (own_cycles(mine) + (mine["waited_cycles"] or 0)) / hz
    assert 0.99 * slept[-1] <= own <= 1.01 * (around[1] - around[0])
    assert row(final, "outer")["total_cycles"] / hz >= 0.99 * slept[-1]


# --- Re-arming ----------------------------------------------------------------


@pytest.fixture
def asked_only(sockets):
    """Starts a trace without a budget, so that functions get their hooks back only if a
    viewer asks for it. start_tracing() has no such setting."""
    settings = _settings.check(**QUIET, deinstrument_threshold=50, serve=True)
    ocular._start(settings._replace(overhead_budget=None))
    yield
    ocular.stop_tracing()


def test_rearm_one_function(asked_only):
    call_often(2000)
    with client.Client(ocular._ocular.socket_path()) as viewer:
        snapshot = viewer.snapshot()
        mine = row(snapshot, "leaf")
        assert mine["state"] == "dark"
        viewer.rearm(mine["id"])
        wait_until(lambda: row(ocular.snapshot(), "leaf")["state"] == "armed", SLOW)
        other = row(ocular.snapshot(), "branchy")
        assert other["state"] != "armed" and other["calls"] <= 52
        leaf(1), leaf(1)
        assert row(ocular.snapshot(), "leaf")["calls"] == mine["calls"] + 2
        call_often(2000)
    mine = row(ocular.snapshot(), "leaf")
    assert mine["state"] == "dark"
    assert 100 <= mine["calls"] <= 104
    assert not mine["calls_exact"]


def test_rearm_one_with_its_callees(tracing, sockets):
    """A viewer's request also installs hooks for the callees. If the callees had no hooks,
    the function's own time would stay old."""
    tracing(deinstrument_threshold=50, serve=True)
    call_often(2000)
    with client.Client(ocular._ocular.socket_path()) as viewer:
        before = viewer.snapshot()
        mine, callee = row(before, "branchy"), row(before, "leaf")
        assert mine["state"] == callee["state"] == "dark"
        viewer.rearm(mine["id"])
        wait_until(lambda: row(ocular.snapshot(), "branchy")["state"] == "armed", SLOW)
        call_often(40)
        now = ocular.snapshot()
    assert row(now, "branchy")["self_cycles"] > mine["self_cycles"]
    assert row(now, "leaf")["calls"] >= callee["calls"] + 4


def test_rearm_of_nobody_is_harmless(asked_only):
    call_often(2000)
    with client.Client(ocular._ocular.socket_path()) as viewer:
        for number in (4_000_000_000, 1 << 40, (1 << 64) - 1):
            with pytest.raises(client.Refused, match="no such function"):
                viewer.rearm(number)
        assert row(ocular.snapshot(), "leaf")["state"] == "dark"


def test_a_loop_that_runs_is_rearmed_in_its_middle(asked_only):
    def endless(viewer):
        n, again, limit = 0, 0, time.monotonic() + SLOW
        while n < 5000 or (again < 2 and time.monotonic() < limit):
            for _ in range(1000):
                n = leaf(n)
                if n == 5000:
                    viewer.rearm(row(ocular.snapshot(), "leaf")["id"])
            again += calls() >= 100

    def calls():
        return row(ocular.snapshot(), "leaf")["calls"]

    with client.Client(ocular._ocular.socket_path()) as viewer:
        endless(viewer)
    assert 100 <= calls() <= 104
