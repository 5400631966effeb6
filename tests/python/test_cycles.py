# SPDX-License-Identifier: MIT
"""The clock and the cycles: net of the hooks, right within what a busy machine
allows. Medians and least values; each comparison can fail."""

import gc
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter

import ocular
import pytest
from e2e.counting import EXACT, row, traced
from e2e.measured import measured
from e2e.program import wait_until
from e2e.steady import attempts

pytestmark = measured


def empty():
    pass


def in_c():
    """About 50 us in one C function."""
    sum(NUMBERS)


NUMBERS = list(range(8000))


def arithmetic(n):
    """About 50 us in Python, without a branch that is armed but the loop's."""
    while n:
        n -= 1
    return n


def parent():
    in_c()
    in_c()


def timed(function, *arguments, times=300):
    """ns a call, untraced: the least and the median."""
    clock = time.perf_counter_ns
    results = []
    for _ in range(times):
        start = clock()
        function(*arguments)
        results.append(clock() - start)
    return min(results), statistics.median(results)


def repeat(function, times, *arguments):
    for _ in range(times):
        function(*arguments)


def test_tsc_hz_is_the_clocks():
    def check():
        ocular.start_tracing(**EXACT)
        first, start = ocular.snapshot()["uptime_s"], time.perf_counter()
        time.sleep(0.5)
        second, end = ocular.snapshot()["uptime_s"], time.perf_counter()
        final = ocular.stop_tracing()
        assert second - first == pytest.approx(end - start, abs=0.02)
        assert 1e6 <= final["tsc_hz"] < 1e10
        assert final["uptime_s"] >= second

    attempts(3, check)


def test_sleep_in_cycles_is_sleep_in_seconds():
    around = []  # a busy machine oversleeps

    def nap():
        time.sleep(0.02)

    def naps():
        for _ in range(10):
            began = time.perf_counter()
            nap()
            around.append(time.perf_counter() - began)

    _, final = traced(naps)
    mine = row(final, "nap")
    hz = final["tsc_hz"]
    assert 0.02 <= mine["min_cycles"] / hz <= 1.01 * min(around)
    assert 0.2 <= mine["self_cycles"] / hz <= 1.01 * sum(around)
    assert mine["total_cycles"] == pytest.approx(mine["self_cycles"], rel=0.01)


def test_time_in_c_is_its_callers():
    def check():
        least, median = timed(in_c)
        _, final = traced(repeat, in_c, 300)
        mine, ns = row(final, "in_c"), 1e9 / final["tsc_hz"]
        assert mine["calls"] == 300
        assert mine["min_cycles"] * ns == pytest.approx(least, rel=0.12)
        assert mine["p50_cycles"] * ns == pytest.approx(median, rel=0.2)
        assert mine["avg_cycles"] * 300 == pytest.approx(mine["self_cycles"])
        assert mine["min_cycles"] <= mine["p50_cycles"] * 1.1
        assert mine["p50_cycles"] <= mine["p99_cycles"]

    attempts(4, check)


def test_cycles_of_a_loop_are_net_of_its_hooks():
    """Its hooks alone take longer than the loop."""

    def check():
        least, _ = timed(arithmetic, 2000)
        _, final = traced(repeat, arithmetic, 200, 2000)
        mine, ns = row(final, "arithmetic"), 1e9 / final["tsc_hz"]
        assert mine["min_cycles"] * ns == pytest.approx(least, rel=0.4)

    attempts(4, check)


def test_an_empty_function_is_nearly_free():
    def check():
        _, final = traced(repeat, empty, 2000)
        mine, ns = row(final, "empty"), 1e9 / final["tsc_hz"]
        assert mine["calls"] == 2000
        assert 0 <= mine["p50_cycles"] * ns < 100

    attempts(4, check)


def test_self_and_total():
    _, final = traced(repeat, parent, 100)
    top, child = row(final, "parent"), row(final, "in_c")
    assert child["calls"] == 200
    for mine in final["functions"]:
        assert mine["total_cycles"] >= mine["self_cycles"] * 0.999, mine
    assert top["self_cycles"] < 0.1 * child["self_cycles"]
    assert top["total_cycles"] == pytest.approx(
        top["self_cycles"] + child["total_cycles"], rel=0.02
    )
    loop = row(final, "repeat")
    assert loop["total_cycles"] >= top["total_cycles"]
    assert loop["calls"] == 1


def test_recursion_is_not_counted_twice_in_total():
    def down(n):
        in_c()
        return down(n - 1) if n else 0

    start = time.perf_counter()
    _, final = traced(down, 100)
    seconds = time.perf_counter() - start
    mine = row(final, "down")
    assert mine["calls"] == 101
    assert mine["total_cycles"] / final["tsc_hz"] < seconds
    assert mine["total_cycles"] > row(final, "in_c")["total_cycles"]


def test_a_suspended_generators_time_is_not_its_own():
    def yields():
        for _ in range(5):
            yield

    def slow_consumer():
        for _ in yields():
            time.sleep(0.01)

    _, final = traced(slow_consumer)
    hz = final["tsc_hz"]
    assert row(final, "yields")["total_cycles"] / hz < 0.025  # of 0.05 and more
    assert row(final, "slow_consumer")["self_cycles"] / hz > 0.05


def test_what_leaves_by_exception_has_its_cycles():
    slept = Counter()  # a busy machine oversleeps

    def raises():
        begin = time.perf_counter()
        time.sleep(0.005)
        slept["raises"] += time.perf_counter() - begin
        raise KeyError

    def catches():
        try:
            raises()
        except KeyError:
            begin = time.perf_counter()
            time.sleep(0.005)
            slept["catches"] += time.perf_counter() - begin

    def check():
        slept.clear()
        _, final = traced(repeat, catches, 4)
        for name, seconds in slept.items():
            own = row(final, name)["self_cycles"] / final["tsc_hz"]
            assert 0.999 * seconds <= own < seconds + 0.015

    attempts(3, check)


def test_the_switch_interval_may_change_meanwhile():
    """A span longer than that had a turn of another thread in it."""
    before, stop = sys.getswitchinterval(), threading.Event()
    other = threading.Thread(target=stop.wait)
    waited, total = 0, 0

    def counts_as_waited():
        nonlocal waited, total
        old_waited, old_total = waited, total
        very_long_in_c()
        mine = row(ocular.snapshot(), "very_long_in_c")
        waited, total = mine["waited_cycles"], mine["total_cycles"]
        return waited - old_waited > 0.5 * (total - old_total)

    other.start()
    try:
        with ocular.tracing(**EXACT, serve=True):
            sys.setswitchinterval(0.005)
            wait_until(counts_as_waited)
            sys.setswitchinterval(0.5)
            wait_until(lambda: not counts_as_waited())
            before_w, before_t = waited, total
            for _ in range(3):
                counts_as_waited()
            assert waited - before_w < 0.5 * (total - before_t)
    finally:
        sys.setswitchinterval(before)
        stop.set()
        other.join()


def very_long_in_c():
    """About 20 ms, without another thread's turn."""
    sum(VERY_MANY)


VERY_MANY = range(2_000_000)


# A thread that is switched away does not pay for the others.
def test_waiting_for_other_threads_is_told_apart():
    stop, spun = threading.Event(), [0.0]

    def hog():
        while not stop.is_set():
            spun[0] = time.thread_time()

    def worker():
        """How often it has called, and the CPU s that the other has had."""
        first, calls, limit = spun[0], 0, time.monotonic() + 20
        while calls < 1000 or (
            spun[0] < first + 0.1 and time.monotonic() < limit
        ):  # 20 switches
            in_c()
            calls += 1
        return calls, spun[0] - first

    gc.collect()
    thread = threading.Thread(target=hog)
    thread.start()
    try:
        (calls, others), final = traced(worker)
    finally:
        stop.set()
        thread.join()
    mine, ns = row(final, "in_c"), 1e9 / final["tsc_hz"]
    least, _ = timed(in_c)
    assert mine["calls"] == calls
    assert others >= 0.1
    # A switch costs 5 ms: a hundred times a call.
    assert mine["p99_cycles"] is None or mine["p99_cycles"] * ns < 30 * least
    waited = mine["waited_cycles"] + row(final, "worker")["waited_cycles"]
    assert waited * ns > 0.5e9 * others, (waited * ns, others)


def test_the_hooks_cost_was_measured():
    ocular.start_tracing(**EXACT)
    cost = ocular._ocular.hook_cost()
    final = ocular.stop_tracing()
    enter, leave, jump, branch = [n / final["tsc_hz"] * 1e9 for n in cost]
    # Enter's part is what falls within the callee's span: little, or less.
    assert -100 < enter < 2000 and 2 < enter + leave < 4000, cost
    assert 1 < jump < 2000 and 1 < branch < 2000, cost


def test_a_hook_that_was_not_seen_at_the_start_has_a_cost(monkeypatch):
    """As where another tool takes our id while the hooks are timed: what leaves
    far from its function's beginning had one of -2^63 ticks."""
    from ocular import _probes

    def blind(row):
        kind, run, hooked, *others = row
        if kind == "far loop":

            def hooked(probe, numbers):
                pass

        return (kind, run, hooked, *others)

    table = [blind(row) for row in _probes.table()]
    assert any(row[0] == "far loop" for row in table)
    monkeypatch.setattr(_probes, "table", lambda: table)
    names = {}
    exec(
        "def far(x):\n" + " x = 1\n" * 2000 + " return x\ndef near(x):\n return far(x)\n",
        names,
    )
    _, final = traced(repeat, names["near"], 51, 1)
    for name in ("near", "far"):
        mine = row(final, name)
        assert mine["calls"] == 51
        assert 0 < mine["self_cycles"] < 1e9 and 0 < mine["total_cycles"] < 1e9


def test_to_be_called_is_a_functions_own_cost():
    """What an empty function shows is what an empty call takes untraced, not
    nothing and not the half of two hooks."""

    def none(n):
        while n:
            n -= 1

    def calls(n):
        while n:
            n -= 1
            empty()

    def check():
        call = (timed(calls, 1000)[0] - timed(none, 1000)[0]) / 1000
        _, final = traced(repeat, calls, 20, 1000)
        mine = row(final, "empty")["p50_cycles"] / final["tsc_hz"] * 1e9
        assert call / 2 < mine < call * 2, (call, mine)

    attempts(4, check)


def test_a_resumption_is_less_than_a_call():
    """What a generator shows that does nothing is what that adds to a loop
    untraced, which is less than half of what an empty call takes."""
    names = {}
    exec("def idle(n):\n" + "    yield n\n" * 30, names)
    idle, few = names["idle"], (1,) * 30

    def none(n):
        for _ in range(n):
            for _ in few:
                pass

    def resumes(n):
        for _ in range(n):
            for _ in idle(1):
                pass

    def check():
        untraced = (timed(resumes, 100)[0] - timed(none, 100)[0]) / 3100
        _, final = traced(repeat, resumes, 10, 200)
        mine = row(final, "idle")["p50_cycles"] / final["tsc_hz"] * 1e9
        assert mine < 2 * untraced + 5, (untraced, mine)

    attempts(4, check)


def test_far_offsets_are_taken_off():
    """From offset 256 on CPython makes an integer for each event: a loop there
    shows what it takes nearer by."""
    names = {}
    filler = " if n is None: n" + ".a" * 70 + "\n"
    loop = " while n: n -= 1\n"
    exec("def near(n):\n" + loop + "def far(n):\n" + filler + loop, names)
    near, far = names["near"], names["far"]

    def check():
        _, final = traced(lambda: [(near(500), far(500)) for _ in range(100)])
        cycles = [row(final, name)["min_cycles"] for name in ("near", "far")]
        assert cycles[1] == pytest.approx(cycles[0], rel=0.5), cycles

    attempts(4, check)


def test_blocks_of_a_function_are_told_in_the_report(capsys):
    ocular.start_tracing(
        perfetto=False, deinstrument_threshold=0, include_only=["arithmetic"]
    )
    repeat(arithmetic, 50, 100)
    ocular.stop_tracing()
    out, err = capsys.readouterr()
    assert out == ""
    assert "arithmetic" in err and "cycles" in err
    assert "JUMP_BACKWARD" in err and "5000" in err.replace(",", "").replace(" ", "")


def long_in_c():
    """About 500 us in one C function."""
    sum(MANY)


MANY = range(50000)


def share_a_cpu(seconds):
    """(s on the wall, s of CPU time) of calls: a third of them alone on the CPU,
    then beside a program that spins."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    cpu = time.thread_time()
    while time.thread_time() < cpu + seconds / 3:
        repeat(long_in_c, 20)
    other = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
    try:
        wall = time.perf_counter() - (time.thread_time() - cpu)
        while time.thread_time() < cpu + seconds:
            repeat(long_in_c, 20)
        return time.perf_counter() - wall, time.thread_time() - cpu
    finally:
        other.kill()
        other.wait()
        os.sched_setaffinity(0, cpus)


def test_time_that_another_program_had_the_cpu_is_nobodys():
    """Two processes share one CPU, in turns of some milliseconds: a call of half a
    one has it all to itself, or takes as long as five."""

    def check():
        (wall, cpu), results = traced(share_a_cpu, 1)
        if wall < 1.2 * cpu:
            pytest.skip("nothing else ran on this CPU")
        self_s = row(results, "long_in_c")["self_cycles"] / results["tsc_hz"]
        assert self_s < 1.2 * cpu
        assert self_s > 0.75 * cpu  # which is not for having left calls out

    attempts(3, check)
