# SPDX-License-Identifier: MIT
"""As long as no function loses its hooks, Ocular counts the same calls as cProfile, also
with exceptions, generators and threads."""

import os
import threading

import ocular
import pytest
from e2e.counting import EXACT, by_cprofile, by_ocular, row, traced
from e2e.threads import in_threads
from ocular.demo import pure


@pytest.mark.parametrize("name", pure.CASES)
def test_counts_are_cprofiles(name):
    case = pure.CASES[name]
    case()  # This call fills caches and imports modules.
    assert by_ocular(case) == by_cprofile(case)


@pytest.mark.parametrize("name", pure.CASES)
@pytest.mark.parametrize("perfetto", [False, True])
def test_results_are_those_of_an_untraced_run(name, perfetto):
    case = pure.CASES[name]
    assert traced(case, perfetto=perfetto)[0] == case()
    dark, _ = traced(case, perfetto=perfetto, deinstrument_threshold=3)
    assert dark == case()


# --- Exceptions ---------------------------------------------------------------


def leaf():
    return 1


def test_nothing_is_lost_on_one_cpu():
    """No event is lost if the program's threads and Ocular's own threads share one CPU."""

    def calls_leaf():
        for _ in range(100_000):
            leaf()

    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    try:
        _, final = traced(in_threads, calls_leaf, calls_leaf, calls_leaf)
    finally:
        os.sched_setaffinity(0, cpus)
    assert row(final, "leaf")["calls"] == 300_000 and final["lost"] == 0


def test_code_that_is_freed_while_its_frame_is_on_the_stack():
    def body():
        for n in range(200):
            namespace = {}
            exec(
                "def outer(f):\n    f.__code__ = (lambda f: 1).__code__\n    return f(f)\n",
                namespace,
            )
            assert namespace["outer"](namespace["outer"]) == 1

    _, final = traced(body, perfetto=True)
    assert final["events"] > 400


# --- Start and stop in the middle of calls ------------------------------------


def test_started_in_the_middle_of_a_loop():
    def loop():
        total = 0
        for n in range(2000):
            if n == 1000:
                ocular.start_tracing(**EXACT)
            total += n
        return total

    assert loop() == sum(range(2000))
    final = ocular.stop_tracing()
    mine = row(final, "loop")
    # The call began before the trace, so only its events are counted.
    assert mine["calls"] == 0 and mine["age_s"] is not None
    assert final["events"] > 900


def test_a_loop_in_another_thread_is_seen_from_its_middle_on():
    stop = threading.Event()
    count = [0]

    def spin():
        while not stop.is_set():
            count[0] = leaf() + count[0]

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        while not count[0]:
            pass
        ocular.start_tracing(**EXACT)
        before = count[0]
        while count[0] < before + 1000:
            pass
        stop.set()
        thread.join()
    finally:
        stop.set()
        thread.join()
        final = ocular.stop_tracing()
    assert row(final, "leaf")["calls"] >= 990
    assert row(final, "spin")["calls"] == 0
