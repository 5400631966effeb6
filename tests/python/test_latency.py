# SPDX-License-Identifier: MIT
"""Tests latencies of calls, and calls in flight, by programs whose latencies are known."""

import asyncio
import statistics
import threading
import time
import types

import ocular
import pytest
from e2e.counting import row
from e2e.program import wait_until

QUIET = dict(perfetto=False, quiet=True)


@pytest.fixture(params=[0, 500])
def tracing(request):
    ocular.start_tracing(**QUIET, deinstrument_threshold=request.param)
    yield
    ocular.stop_tracing()


def of(function):
    return row(ocular.snapshot(), function.__qualname__)


class Handler:
    """A request handler that measures its own latencies."""

    def __init__(self):
        self.took = []

    async def handle(self, seconds):
        await asyncio.sleep(seconds)

    async def timed(self, seconds):
        begin = time.perf_counter()
        await self.handle(seconds)
        self.took.append(time.perf_counter() - begin)

    async def run(self):
        # The program has 160 requests, twenty at a time. Four of them are slow.
        for i in range(8):
            slow = [0.2] * (i % 2)
            fast = [0.02] * (20 - len(slow))
            await asyncio.gather(*map(self.timed, slow + fast))


def test_a_handler_of_known_latencies(tracing):
    handler = Handler()
    asyncio.run(handler.run())
    found = of(handler.handle)
    cuts = statistics.quantiles(handler.took, n=100)
    assert found["calls"] == len(handler.took) == 160
    assert found["wall_p50_s"] == pytest.approx(cuts[49], rel=0.1)
    assert found["wall_p99_s"] == pytest.approx(cuts[98], rel=0.1)
    assert found["wall_max_s"] == pytest.approx(max(handler.took), rel=0.1)
    mean = statistics.mean(handler.took)
    assert 0.8 * mean < found["await_s"] < mean
    assert found["in_flight"] == 0 and found["oldest_s"] is None


def test_latencies_within_a_budget():
    """The calls in slices have the same latencies as all calls."""
    handler = Handler()

    def is_near():
        asyncio.run(handler.run())
        found, cuts = of(handler.handle), statistics.quantiles(handler.took, n=100)
        near = [pytest.approx(cuts[i], rel=0.1) for i in (49, 98)]
        known = [found["wall_p50_s"], found["wall_p99_s"]]
        return len(handler.took) > 400 and known == near and found

    with ocular.tracing(**QUIET, overhead_budget=0.01):
        assert wait_until(is_near)["wall_max_s"] < 1.1 * max(handler.took)


async def hangs(event):
    await event.wait()


async def ends(event):
    pass


def waits(event):
    event.wait()


def sleeps(seconds):
    time.sleep(seconds)


def test_calls_that_hang(tracing):
    async def main():
        event, blocked = asyncio.Event(), threading.Event()
        tasks = [asyncio.create_task(hangs(event)) for _ in range(100)]
        tasks += [asyncio.create_task(asyncio.to_thread(waits, blocked)) for _ in range(3)]
        await ends(event)
        await asyncio.sleep(0)
        before = time.perf_counter()
        wait_until(lambda: of(waits)["in_flight"] == 3)
        begun = time.perf_counter()
        assert begun - before < 2
        await asyncio.sleep(0.3)
        least = time.perf_counter() - begun
        for function, calls in (hangs, 100), (waits, 3):
            found = of(function)
            assert found["in_flight"] == calls
            assert least <= found["oldest_s"] < 30
            assert found["wall_p50_s"] is None
        for task in tasks[:30]:
            task.cancel()
        await asyncio.sleep(0.1)
        assert of(hangs)["in_flight"] == 70
        event.set(), blocked.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        for function in hangs, waits, ends:
            assert of(function)["in_flight"] == 0

    asyncio.run(main())
    assert of(hangs)["wall_p50_s"] >= 0.29


async def polls(event):
    while not event.is_set():
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("budget", [None, 0.05])
def test_calls_that_hang_in_dark_functions(budget):
    async def becomes(function, in_flight):
        async with asyncio.timeout(30):
            while (of(function)["in_flight"] or 0) != in_flight:
                await asyncio.sleep(0.05)

    async def main():
        event = asyncio.Event()
        blocked = threading.Event()
        event.set(), blocked.set()
        for _ in range(40):
            waits(blocked)
            await asyncio.gather(hangs(event), polls(event))
        event.clear(), blocked.clear()
        assert all(of(f)["state"] != "armed" for f in (waits, hangs, polls))
        tasks = [asyncio.create_task(hangs(event)) for _ in range(5)]
        tasks.append(asyncio.create_task(polls(event)))
        threads = [threading.Thread(target=waits, args=(blocked,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        begin = time.monotonic()
        for function, in_flight in (hangs, 5), (polls, 1), (waits, 3):
            await becomes(function, in_flight)
        for function in hangs, polls, waits:
            async with asyncio.timeout(30):
                while not (of(function)["oldest_s"] or 0) > 1:
                    await asyncio.sleep(0.05)
            assert of(function)["oldest_s"] < time.monotonic() - begin + 0.1
        # If there is a budget, the functions get their hooks again.
        await asyncio.sleep(3 if budget else 0)
        for function, in_flight in (hangs, 5), (polls, 1), (waits, 3):
            found = of(function)
            assert found["in_flight"] == in_flight and found["in_flight_is_least"]
        for task in tasks[:2]:
            task.cancel()
        await becomes(hangs, 3)
        event.set(), blocked.set()
        for function in hangs, polls, waits:
            await becomes(function, 0)
        await asyncio.gather(*tasks, return_exceptions=True)
        for thread in threads:
            thread.join()

    with ocular.tracing(**QUIET, deinstrument_threshold=20, overhead_budget=budget):
        asyncio.run(main())


def computes(going):
    while going:
        pass
    return sum(range(100))


def test_a_hot_function_that_computes_for_ever():
    """A call that computes for long is not counted as many calls, but is in flight. The
    quick calls before it are counted."""

    def is_counted():
        found = of(computes)
        return not found["in_flight"] and 0.6 < found["calls_estimated"] / count < 1.6

    def is_seen():
        found, lasted = of(computes), time.monotonic() - begin
        return (found["oldest_s"] or 0) > max(5, lasted - 3) and (found, lasted)

    going, count, begin = [1], 0, time.monotonic()
    thread = threading.Thread(target=computes, args=(going,))
    with ocular.tracing(**QUIET, overhead_budget=0.01):
        while time.monotonic() - begin < 4 or of(computes)["samples"] < 100:
            for _ in range(10_000):
                computes(())
            count += 10_000
        begin = time.monotonic()
        thread.start()
        found, lasted = wait_until(is_seen)
        assert found["in_flight"] == 1 and found["oldest_s"] < lasted + 0.1
        going.clear()
        thread.join()
        wait_until(is_counted)


async def numbers(count):
    for i in range(count):
        await asyncio.sleep(0.01)
        yield i


def counts(count):
    yield from range(count)


async def throws():
    await asyncio.sleep(0.02)
    raise ValueError


async def calls_all():
    for i in range(20):
        sleeps(0.05 if i == 7 else 0.01)
    for _ in range(3):
        async for _ in numbers(5):
            pass
        with pytest.raises(ValueError):
            await throws()
    async for _ in numbers(5):
        break
    next(counts(3))


def test_functions_generators_and_exceptions(tracing):
    asyncio.run(calls_all())
    found = of(sleeps)
    assert 0.01 <= found["wall_p50_s"] < 0.05 <= found["wall_max_s"]
    assert found["await_s"] is None
    # CPython reports no event if a generator is freed before its end.
    assert of(numbers)["wall_max_s"] >= 0.05 and of(numbers)["in_flight"] is None
    assert of(counts)["wall_max_s"] is None and of(counts)["in_flight"] is None
    assert of(throws)["in_flight"] == 0 and of(throws)["wall_max_s"] >= 0.02


def test_what_is_not_known(tracing):
    """A call whose end was missed could have been the longest, so that is not known."""

    async def main():
        event = asyncio.Event()
        task = asyncio.create_task(hangs(event))
        await asyncio.sleep(0)
        ocular.stop_tracing()
        ocular.start_tracing(**QUIET)
        await asyncio.sleep(0)
        event.set()
        await task

    asyncio.run(main())
    assert row(ocular.snapshot(), "hangs")["wall_p50_s"] is None


def in_flight(name):
    rows = [row for row in ocular.snapshot()["functions"] if row["name"] == name]
    return [(row["in_flight"], row["in_flight_is_least"]) for row in rows]


def test_calls_that_began_before_the_trace():
    async def main():
        event, held = threading.Event(), asyncio.Event()
        arguments = dict(target=waits, args=(event,), daemon=True)
        threads = [threading.Thread(**arguments) for _ in range(3)]
        any(map(threading.Thread.start, threads))
        tasks = [asyncio.create_task(f(held)) for f in (hangs, hangs, polls, polls)]
        await asyncio.sleep(0)
        with ocular.tracing(**QUIET):
            tasks.append(asyncio.create_task(polls(held)))
            async with asyncio.timeout(30):
                for name, calls in ("waits", 3), ("hangs", 2), ("polls", 3):
                    while in_flight(name) != [(calls, True)]:
                        await asyncio.sleep(0.05)
        event.set(), held.set()
        await asyncio.gather(*tasks)
        any(map(threading.Thread.join, threads))

    asyncio.run(main())


def test_a_first_call_without_hooks():
    """If the budget is overdrawn, Ocular adopts a function only at its second call."""

    async def main():
        held, free = asyncio.Event(), asyncio.Event()
        free.set()
        async with asyncio.timeout(60):
            for name in map("late_{}".format, range(10_000)):
                late = types.FunctionType(hangs.__code__.replace(co_qualname=name), {})
                task = asyncio.create_task(late(held))
                await asyncio.sleep(0)
                if not in_flight(name):
                    break
                task.cancel()
            await late(free)
            while in_flight(name) != [(1, True)]:
                await asyncio.sleep(0.05)

    with ocular.tracing(**QUIET, overhead_budget=1e-6):
        asyncio.run(main())
