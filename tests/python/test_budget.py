# SPDX-License-Identifier: MIT
"""Tests the overhead budget with real programs. Functions without hooks get them back and
are timed again, also recursive functions and functions with many callees. While the
overhead exceeds the budget, a library's new code gets no hooks, and samples come more
slowly. tests/tracer/test_control.c tests the control in virtual time."""

import itertools
import pathlib
import re
import threading
import time

import ocular
import pytest
from e2e import client
from e2e.counting import row
from e2e.program import SLOW, wait_until

TRACED = {"include_only": ["test_budget"]}


def spin(rounds=30):
    total = 0
    for number in range(rounds):
        total += number * 3 % 7
    return total


def work_until(done, *functions, seconds=90):
    """Calls all functions until done(snapshot) and returns that snapshot."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        pause = time.monotonic() + 0.3
        while time.monotonic() < pause:
            for function in functions:
                function()
        snapshot = ocular.snapshot()
        if done(snapshot):
            return snapshot
    raise AssertionError(f"not in {seconds} s: {snapshot['overhead']}")


def test_what_is_dark_is_armed_again(tracing):
    """Functions without hooks get them back. The machine's load decides how long functions
    keep them and how good the estimates are. So this test checks neither time nor quality.
    tests/figures/test_services.py measures the estimates. The budget is large, so that the
    slices follow each other in seconds."""
    tracing(deinstrument_threshold=50, overhead_budget=0.9)
    ages, calls = [], itertools.count()

    def counted():
        for _ in range(50):
            next(calls)
            spin()
        time.sleep(0.001)

    def rearmed(snapshot):
        mine = row(snapshot, "spin")
        ages.append(mine["age_s"])
        return (
            mine["calls"] > 150
            # On a busy machine there are only few samples.
            and mine["run_samples"] >= 30
            and any(after < 0.5 * before for before, after in zip(ages, ages[1:]))
        )

    # After a function has got its hooks again, its numbers are new, so their age is small.
    snapshot = work_until(rearmed, counted)
    mine = row(snapshot, "spin")
    assert not mine["calls_exact"]
    true = next(calls)
    assert mine["calls"] < true
    assert mine["calls_estimated"] >= mine["calls"]
    assert snapshot["overhead"]["rearm"] > 0


def test_a_moderate_rate_is_counted_in_each_slice(tracing):
    """Functions reach the threshold in the first slice, but need fewer hits than a slice
    allows. Their calls are counted in the next slice, as those of other functions."""
    rare = [
        eval(compile(f"lambda: {i}", "/usr/lib/python3/test_budget", "eval"))
        for i in range(9)
    ]
    tracing(deinstrument_threshold=50, overhead_budget=0.01, exclude=[])
    for function in rare * 60:
        function()

    def rows(snapshot):
        return [
            r for r in snapshot["functions"] if r["file"].startswith("/usr/lib/python3")
        ]

    def work():
        for function in rare * 10:
            function()
        time.sleep(0.02)

    found = work_until(lambda s: max(r["calls"] for r in rows(s)) > 130, work)
    assert [row["state"] for row in rows(found) if row["state"] == "dark"] == []


def test_none_leaves_it_dark(tracing):
    tracing(deinstrument_threshold=50)
    limit = time.monotonic() + 2.5
    while time.monotonic() < limit:
        spin()
        time.sleep(0.001)
    snapshot = ocular.snapshot()
    assert row(snapshot, "spin")["calls"] == 50
    assert row(snapshot, "spin")["age_s"] > 2
    assert snapshot["overhead"]["budget"] is None
    assert snapshot["overhead"]["measured"] >= 0


def thread_of_ours(name):
    return next(
        task
        for task in pathlib.Path("/proc/self/task").iterdir()
        if (task / "comm").read_text() == name + "\n"
    )


def collector_waits():
    status = (thread_of_ours("ocular-collect") / "status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.M)[1])


@pytest.mark.parametrize(("budget", "least", "most"), [(0.01, 3, 12), (None, 20, 60)])
def test_a_recording_is_written_as_often_as_is_paid_for(
    tracing, tmp_path, budget, least, most
):
    """Counts how often the collector writes the recording in three seconds of a program
    that uses little CPU."""
    output = tmp_path / "run.json"
    tracing(perfetto=True, output=output, overhead_budget=budget)
    limit = time.monotonic() + 4
    before = None
    while time.monotonic() < limit:
        if before is None and time.monotonic() > limit - 3:
            before = collector_waits()
        spin()
        time.sleep(0.005)
    assert least <= collector_waits() - before <= most


def test_the_governor_of_a_light_program_sleeps(tracing):
    """The governor of a program with little load sleeps two seconds at a time."""
    tracing(overhead_budget=0.001)
    time.sleep(0.5)
    times = thread_of_ours("ocular-governor") / "schedstat"
    before_ns = int(times.read_text().split()[0])
    time.sleep(2.5)
    assert int(times.read_text().split()[0]) - before_ns < 50e6


def test_a_caller_that_is_armed_on_request_is_timed_at_once(tracing):
    """Between slices, a caller whose callees have no hooks is not timed. If a viewer asks
    for such a caller, it is timed at once."""

    def caller():
        for _ in range(3):
            spin(2)

    def work():
        caller()
        call_new_functions(1, 100)
        time.sleep(0.002)

    def state(snapshot):
        return row(snapshot, caller.__qualname__)["state"]

    tracing(overhead_budget=0.002, serve=True)
    before = row(work_until(lambda s: state(s) == "partial", work), caller.__qualname__)
    with client.Client(ocular._ocular.socket_path()) as viewer:
        viewer.rearm(before["id"])
        work_until(lambda s: state(s) == "armed", work)
    # On a busy machine the hooks can be installed after the newest call, while the snapshot
    # is built. The first call after that is not timed.
    for _ in range(5):
        work()
    now = row(ocular.snapshot(), caller.__qualname__)
    assert now["self_cycles"] > before["self_cycles"]


def hangs(event):
    event.wait()


def test_a_call_that_hangs_is_seen_after_its_slice(tracing):
    """A call begins in a slice and hangs. After the slice, when the starts of calls have no
    hooks, Ocular still knows that the call is in flight, and sees its end."""
    others = [eval(f"lambda: {i}", {}) for i in range(40)]
    for other in others:
        other.__code__ = other.__code__.replace(co_filename=__file__)
    event, ended = threading.Event(), threading.Event()
    ended.set()
    threads = []

    def release():
        event.set()
        for thread in threads:
            thread.join()

    def work():
        # hangs() is called more often than the others, so it loses its hooks first.
        for _ in range(3):
            hangs(ended)
        for other in others:
            other()
        if len(threads) == 100:  # these calls began before the slice began
            release()
            threads.clear()
            event.clear()
        threads.append(threading.Thread(target=hangs, args=(event,), daemon=True))
        threads[-1].start()
        time.sleep(0.03)

    def seen(snapshot):
        mine = row(snapshot, "hangs")
        return mine["in_flight"] and mine["state"] == "partial" and mine["dark_sites"] > 0

    tracing(overhead_budget=0.002, deinstrument_threshold=100_000)
    try:
        found = row(work_until(seen, work), "hangs")
    finally:  # threads that hang would make later tests fail
        release()
    assert 0 < found["in_flight"] <= len(threads)
    assert found["oldest_s"] > 0
    del threads[:]

    def work_and_end():
        hangs(event)  # which is set

    now = row(
        work_until(lambda s: row(s, "hangs")["in_flight"] is None, work_and_end), "hangs"
    )
    assert now["wall_max_s"] >= found["oldest_s"]


numbers = itertools.count()


def call_new_functions(count=10, calls=500, folder="/usr/lib/python3"):
    """Makes functions and calls them one after the other. So at most one of them is running
    when Ocular removes hooks because of the budget. Returns the functions by name. The
    caller keeps the functions, because a function's row exists only as long as the
    function."""
    names = {}
    for _ in range(count):
        name = f"new_{next(numbers)}"
        made = {}
        exec(compile(f"def {name}(): pass", f"{folder}/test_budget", "exec"), made)
        names[name] = function = made[name]
        for _ in range(calls):
            function()
    return names


def states_of_new(folder):
    functions = call_new_functions(folder=folder)
    seen = ocular.snapshot()
    return {row(seen, name)["state"] for name in functions}


def test_in_debt_a_librarys_new_code_is_left_alone(tracing):
    """While the overhead exceeds the budget, a library's new code gets no hooks, but the
    program's own new code does. Each new function increases the overhead."""
    tracing(deinstrument_threshold=100_000, overhead_budget=0.0001)
    wait_until(lambda: states_of_new("/usr/lib/python3") == {"dark"}, SLOW)
    assert "dark" not in states_of_new("/srv")


def test_in_debt_the_sampler_slows_down(tracing):
    """The sampler begins with 100 Hz. While the overhead exceeds this small budget, the
    budget allows fewer than 10 samples a second."""
    tracing(deinstrument_threshold=100_000, overhead_budget=0.0001)
    work_until(
        lambda seen: seen["uptime_s"] > 3 and seen["sampler"]["hz"] < 30, call_new_functions
    )
