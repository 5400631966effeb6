# SPDX-License-Identifier: MIT
"""As long as no function goes dark, Ocular counts the same calls as cProfile, also with
exceptions, generators and threads."""

import asyncio
import gc
import os
import sys
import threading

import ocular
import pytest
from e2e.counting import EXACT, by_cprofile, by_ocular, entries, row, traced
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


def test_two_threads_count_as_cprofile_counts_them_apart():
    left, right = pure.CASES["recursion"], pure.CASES["generators"]
    left(), right()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        counts = by_ocular(in_threads, left, right, left)
    finally:
        sys.setswitchinterval(before)
    one, other = by_cprofile(left), by_cprofile(right)
    for key in one.keys() | other.keys():
        if "demo" in key[0]:
            assert counts[key] == 2 * one.get(key, 0) + other.get(key, 0), key


# --- Exceptions ---------------------------------------------------------------


def sink(depth):
    if depth == 0:
        raise KeyError(depth)
    return sink(depth - 1)


def catches(times, depth):
    for _ in range(times):
        try:
            sink(depth)
        except KeyError:
            pass
    return leaf()


def leaf():
    return 1


def test_exceptions_through_many_frames():
    _, final = traced(catches, 7, 300)
    assert row(final, "sink")["calls"] == 7 * 301
    assert row(final, "leaf")["calls"] == 1
    # After the exceptions, time is added to the right frame again.
    assert row(final, "catches")["total_cycles"] >= row(final, "leaf")["total_cycles"]
    total = row(final, "catches")["total_cycles"]
    assert 0 < row(final, "sink")["self_cycles"] < total


def test_nothing_is_lost_on_one_cpu():
    """No event is lost if the program's threads and Ocular's own threads share one
    CPU."""

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


# --- Generators ---------------------------------------------------------------


def numbers(log):
    try:
        for number in range(100):
            try:
                log.append((yield number))
            except ValueError as error:
                log.append(error)
    finally:
        log.append("end")


def delegate(log):
    result = yield from numbers(log)
    return result


def throw_and_close(make, log):
    generator = make(log)
    next(generator)
    for _ in range(5):
        generator.throw(ValueError("again"))
        generator.send("sent")
    generator.close()
    return log


@pytest.mark.parametrize("make", [numbers, delegate])
def test_throw_send_and_close(make):
    untraced = [str(entry) for entry in throw_and_close(make, [])]
    (log, final) = traced(throw_and_close, make, [])
    assert [str(entry) for entry in log] == untraced
    counts = by_cprofile(throw_and_close, make, [])
    ours = {(row["file"], row["line"]): entries(row) for row in final["functions"]}
    for (file, line, name), calls in counts.items():
        if file == __file__ and name in ("numbers", "delegate"):
            assert ours[file, line] == calls


def test_asyncio():
    async def child(n):
        await asyncio.sleep(0)
        if n % 3 == 0:
            raise ValueError(n)
        return n

    async def main():
        tasks = [asyncio.create_task(child(n)) for n in range(30)]
        return await asyncio.gather(*tasks, return_exceptions=True)

    results, final = traced(asyncio.run, main())
    assert len(results) == 30
    # Each generator is started and resumed once.
    assert row(final, "child")["calls"] == row(final, "child")["resumptions"] == 30


def test_async_generators_and_contexts():
    async def produce():
        for n in range(5):
            yield n

    async def main():
        total = 0
        async for n in produce():
            total += n
        return total

    def body():
        return asyncio.run(main())

    body()
    ours, theirs = by_ocular(body), by_cprofile(body)
    mine = {key: calls for key, calls in ours.items() if key[0] == __file__}
    assert mine == {key: n for key, n in theirs.items() if key[0] == __file__}


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
    # If a call began before the trace, the hits of its frame count, but the call does not.
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


def test_the_first_call_of_all_is_counted():
    """The discovery hook counts the first call, because the tracer was not armed then."""
    namespace = {}
    exec("def fresh(): return 1", namespace)
    _, final = traced(namespace["fresh"])
    assert row(final, "fresh")["calls"] == 1
    assert row(final, "fresh")["total_cycles"] > 0


# --- Addresses of freed code objects ------------------------------------------


def test_code_that_is_freed_while_its_frame_is_on_the_stack():
    def body():
        for n in range(200):
            namespace = {"gc": gc}
            exec(
                "def outer(f):\n    f.__code__ = (lambda f: 1).__code__\n    return f(f)\n",
                namespace,
            )
            assert namespace["outer"](namespace["outer"]) == 1

    _, final = traced(body, perfetto=True)
    assert final["events"] > 400
