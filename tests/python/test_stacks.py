# SPDX-License-Identifier: MIT
"""Tests Ocular's stacks by real programs with exceptions, generators, coroutines and
recursion to the limit, and by traces that start and stop at any moment. The tests compare
calls and callers with the interpreter's own frames (e2e/truth.py)."""

import asyncio
import contextlib
import functools
import gc
import signal
import sys
import threading
import time

import ocular
import pytest
from e2e.counting import EXACT, entries, functions, row, traced
from e2e.truth import check_figures, compared, record, seen

# CPython 3.13.0 to 3.13.11 fire no event at close() (gh-140373).
CLOSE_IS_SILENT = sys.version_info[:2] >= (3, 13) and sys.version_info < (3, 13, 12)


def leaf(n=0):
    return n


# --- Programs of the tests ----------------------------------------------------


def raises(depth):
    try:
        leaf()
        if depth == 0:
            raise KeyError(depth)
        return raises(depth - 1)
    finally:
        leaf(depth)


def reraises(depth):
    try:
        raises(depth)
    except KeyError as error:
        leaf()
        raise ValueError(depth) from error


def returns_in_finally(depth):
    try:
        return reraises(depth)
    except ValueError:
        leaf()
    finally:
        return leaf(depth)


class Guard:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        return leaf(self)

    def __exit__(self, *what):
        self.log.append(leaf(what))
        return what[0] is KeyError


def exceptions():
    log = []
    for depth in (0, 1, 150):
        returns_in_finally(depth)
        with Guard(log), Guard(log):
            raises(depth)
        try:
            sorted([3, 1, 2], key=lambda n: raises(n))
        except KeyError:
            leaf()
        with contextlib.suppress(KeyError):
            [raises(n) for n in range(3)]
    try:
        raise ExceptionGroup("both", [KeyError(), ValueError()])
    except* KeyError:
        leaf()
    except* ValueError:
        leaf()


def numbers(count, log):
    try:
        for n in range(count):
            try:
                leaf()
                yield n
            except ValueError as error:
                log.append(leaf(error))
                yield -n
    finally:
        log.append(leaf())


def delegates(depth, count, log):
    if depth:
        result = yield from delegates(depth - 1, count, log)
    else:
        result = yield from numbers(count, log)
    leaf()
    return result


def generators():
    log = []
    for make in (numbers, functools.partial(delegates, 0), functools.partial(delegates, 4)):
        assert sum(make(5, log)) == 10
        one = make(9, log)
        next(one)
        for _ in range(3):
            one.throw(ValueError)  # the generator handles this exception
            one.send(leaf())
        try:
            one.throw(KeyError)  # the generator does not handle this one
        except KeyError:
            leaf()
        unstarted = make(9, log)
        try:
            unstarted.throw(KeyError)
        except KeyError:
            leaf()
    left = [iter(numbers(4, log)) for _ in range(5)]
    for n, one in enumerate(left):
        for _ in range(n):
            leaf(next(one))
    # The two generators run alternately, and are called from different depths of recursion.
    pair = numbers(50, log), delegates(3, 50, log)
    for n in range(20):
        from_depth(n % 4, next, pair[n % 2])
    for one in pair:
        assert len(list(one)) == 40
    keep.extend(left)


keep = []


def from_depth(depth, function, *arguments):
    return from_depth(depth - 1, function, *arguments) if depth else function(*arguments)


def closes():
    log = []
    for depth in range(4):
        one = delegates(depth, 5, log)
        next(one)
        one.close()
        other = delegates(depth, 5, log)
        next(other)
        del other
        gc.collect(0)
    leaf()


class Awaitable:
    def __await__(self):
        leaf()
        yield from asyncio.sleep(0).__await__()
        return leaf(1)


async def child(depth):
    leaf()
    await asyncio.sleep(0)
    if depth:
        return await child(depth - 1) + await Awaitable()
    return leaf(1)


async def fails(depth):
    await asyncio.sleep(0)
    if depth:
        await fails(depth - 1)
    leaf()
    raise KeyError(depth)


async def sleeps(log):
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        log.append(leaf())
        raise
    finally:
        await asyncio.sleep(0)
        log.append(leaf())


async def produce(count):
    try:
        for n in range(count):
            await asyncio.sleep(0)
            yield leaf(n)
    finally:
        leaf()


@contextlib.asynccontextmanager
async def managed():
    leaf()
    yield
    await asyncio.sleep(0)
    leaf()


async def whole():
    log = []
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(child(n)) for n in range(5)]
    assert sum(task.result() for task in tasks) == 1 + 2 + 3 + 4 + 5
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(sleeps(log))
            group.create_task(fails(3))
    except* KeyError:
        leaf()
    total = 0
    async for n in produce(5):
        total += n
    total += sum([n async for n in produce(4)])
    one = produce(9)
    await anext(one)
    await one.aclose()
    async with managed():
        await asyncio.gather(child(2), fails(1), return_exceptions=True)
    assert len(log) == 2 and total == 16


def coroutines():
    asyncio.run(whole())


class Node:
    def __init__(self, depth):
        self.below = Node(depth - 1) if depth else None

    def __repr__(self):
        return f"Node({self.below!r})"

    def __del__(self):
        leaf()

    @functools.cached_property
    def deep(self):
        return self.below.deep + 1 if self.below else leaf(0)

    def __getattr__(self, name):
        leaf()
        raise AttributeError(name)


def objects():
    for depth in (0, 3, 40):
        node = Node(depth)
        assert len(repr(node)) == 6 * (depth + 1) + 4
        assert node.deep == depth
        assert getattr(node, "absent", None) is None and not hasattr(node, "none")
        del node
        gc.collect(0)


def misses():
    raise KeyError


def many_exceptions():
    """After 5 000 exceptions no hook sees how exceptions end frames."""
    for _ in range(7000):
        with contextlib.suppress(KeyError):
            misses()
    exceptions()


PROGRAMS = {
    "exceptions": exceptions,
    "many exceptions": many_exceptions,
    "generators": generators,
    "closes": closes,
    "coroutines": coroutines,
    "objects": objects,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threshold", [0, 100_000])
def test_calls_and_callers_are_the_interpreters(name, threshold, tmp_path):
    is_silent = name == "closes" and CLOSE_IS_SILENT
    path = tmp_path / "trace.json"
    timeline, final = compared(PROGRAMS[name], __file__, path, threshold, not is_silent)
    ends = [word for call in timeline.of() for word in call.end_args]
    assert not {"lost", "parked"} & set(ends)
    # From 3.15 on, PY_UNWIND is an event that can be set for a single code object.
    if name == "many exceptions" and threshold and sys.version_info < (3, 15):
        assert ends.count("unwound") > 500
    # With hooks for every event, Ocular sees the end of every frame.
    elif not is_silent:
        assert "unwound" not in ends
    for function in final["functions"]:
        if function["self_cycles"] is not None:
            assert function["self_cycles"] <= function["total_cycles"] * 1.001 + 1000, (
                function
            )
    seconds = (
        sum(function["self_cycles"] or 0 for function in final["functions"])
        / final["tsc_hz"]
    )
    assert seconds <= final["uptime_s"]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threshold", [1, 3, 20])
def test_while_things_go_dark(name, threshold, tmp_path):
    program = PROGRAMS[name]
    calls, _ = record(program, __file__)
    _, _, timeline, final = seen(
        program, __file__, tmp_path / "trace.json", deinstrument_threshold=threshold
    )
    for function in functions(final):
        true = calls[function["name"]]
        if sum(other["name"] == function["name"] for other in final["functions"]) > 1:
            continue
        if function["calls_exact"]:
            assert entries(function) == true, function["name"]
        else:
            assert threshold <= entries(function) <= true, function["name"]
    check_figures(final)


# --- Recursion to the limit ---------------------------------------------------


def dive(depth):
    try:
        return dive(depth + 1)
    except RecursionError:
        return depth


def dive_by_generators(depth):
    try:
        yield from dive_by_generators(depth + 1)
    except RecursionError:
        yield depth


class Nested:
    def __init__(self, deepest):
        self.deepest = deepest

    def __repr__(self):
        self.deepest[0] += 1
        return repr([Nested(self.deepest)])


def dive_by_both():
    deepest = [0]
    with pytest.raises(RecursionError):
        repr(Nested(deepest))
    return deepest[0]


DIVES = {
    "frames": lambda: dive(0),
    "generators": lambda: max(dive_by_generators(0)),
    "both": dive_by_both,
}


def start(mode, **settings):
    ocular.start_tracing(mode=mode, **{**EXACT, **settings})


def modes():
    try:
        start("precise")
        ocular.stop_tracing()
    except NotImplementedError:
        return ["adaptive"]
    return ["adaptive", "precise"]


MODES = modes()


def in_main(function):
    return function()


def in_thread(function):
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0]


@pytest.mark.parametrize("where", [in_main, in_thread])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", DIVES)
def test_the_limit_is_where_it_was(name, mode, where):
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(900)
    try:
        untraced = where(DIVES[name])
        start(mode)
        under = where(DIVES[name])
        final = ocular.stop_tracing()
        start(mode, deinstrument_threshold=7)
        dark = where(DIVES[name])
        ocular.stop_tracing()
    finally:
        ocular.stop_tracing()
        sys.setrecursionlimit(before)
    # A specialised call of __init__ pushes an extra frame, which counts for the limit. In
    # precise mode the generic opcodes push no extra frame, so the recursion can be one
    # frame deeper.
    deeper = [untraced + 1] if (name, mode) == ("both", "precise") else []
    assert under in [untraced, *deeper] and dark in [untraced, *deeper]
    if name == "frames":
        assert row(final, "dive")["calls"] in (untraced + 1, untraced + 2)
    check_figures(final)


def down(depth, bottom):
    return down(depth - 1, bottom) if depth else bottom()


@pytest.mark.parametrize("threshold", [0, 10])
def test_deeper_than_any_stack_of_ours(threshold):
    """Ocular's stack has room for 65536 frames. Deeper calls are only counted. Later calls
    at a smaller depth have the right numbers again."""
    deep = 90_000

    def after():
        return leaf(1)

    def body():
        down(deep, leaf)
        with contextlib.suppress(KeyError):
            down(deep, lambda: raises(0))
        return [after() for _ in range(3)]

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(deep + 1000)
    try:
        _, final = traced(body, deinstrument_threshold=threshold, include_only=[__file__])
    finally:
        sys.setrecursionlimit(before)
    if threshold == 0:
        assert row(final, "down")["calls"] == 2 * (deep + 1)
        assert row(final, "body")["calls"] == 1
    assert row(final, "after")["calls"] == 3
    total = row(final, "body")["total_cycles"]
    assert 0 < row(final, "after")["total_cycles"] < total
    assert (row(final, "down")["total_cycles"] or 0) <= total
    check_figures(final)


# --- Start and stop at any moment ---------------------------------------------


class Starts:
    def __init__(self, act):
        self.act = act

    def __del__(self):
        self.act()


def act_deep(act):
    down(500, act)


def act_in_finally(act):
    def inner():
        try:
            raise KeyError
        finally:
            act()

    with contextlib.suppress(KeyError):
        down(5, inner)


def act_in_del(act):
    one = Starts(act)
    down(3, leaf)
    del one


def act_in_signal(act):
    before = signal.signal(signal.SIGUSR1, lambda *_: act())
    try:
        down(7, lambda: signal.raise_signal(signal.SIGUSR1))
    finally:
        signal.signal(signal.SIGUSR1, before)


def act_in_generator(act):
    def source():
        yield leaf(1)
        act()
        yield leaf(2)

    def outer():
        yield from source()

    assert list(outer()) == [1, 2]


def act_in_task(act):
    async def task(n):
        await asyncio.sleep(0)
        if n == 3:
            act()
        await asyncio.sleep(0)
        return leaf(n)

    async def main():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(task(n)) for n in range(6)]
        return [one.result() for one in tasks]

    assert asyncio.run(main()) == list(range(6))


def act_beside_threads(act):
    """Calls `act` while three other threads recurse deeply and raise."""
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            with contextlib.suppress(KeyError):
                down(50, lambda: raises(20))
            sum(numbers(5, []))

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(0.01)
        in_thread(lambda: down(100, act))
        time.sleep(0.01)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


PLACES = [act_deep, act_in_finally, act_in_del, act_in_signal, act_in_generator]
PLACES += [act_in_task, act_beside_threads]


def probe():
    """Each test calls this function at its end. The count of its calls is right only if
    Ocular's stack of the thread is right."""
    return [leaf(n) for n in range(10)]


def check_session(final, began, probes):
    seconds = time.perf_counter() - began
    check_figures(final)
    mine = row(final, "probe")
    assert (mine["calls"] if mine else 0) == probes
    for function in final["functions"]:
        # Four threads can be in the same function at the same time.
        for cycles in function["total_cycles"], function["self_cycles"]:
            assert (cycles or 0) <= 4 * seconds * 1.05 * final["tsc_hz"], function


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("threshold", [0, 5])
@pytest.mark.parametrize("mode", MODES)
def test_start_anywhere(place, threshold, mode):
    began = []

    def act():
        began.append(time.perf_counter())
        start(mode, deinstrument_threshold=threshold, include_only=[__file__])

    try:
        place(act)
        assert ocular.is_tracing()
        probe()
    finally:
        final = ocular.stop_tracing()
    if began and final:
        check_session(final, began[0], 1)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("threshold", [0, 5])
@pytest.mark.parametrize("mode", MODES)
def test_stop_anywhere(place, threshold, mode):
    finals = []
    began = time.perf_counter()
    start(mode, deinstrument_threshold=threshold, include_only=[__file__])
    try:
        probe()
        place(lambda: finals.append(ocular.stop_tracing()))
        assert not ocular.is_tracing()
        probe()
    finally:
        ocular.stop_tracing()
    check_session(finals[0], began, 1)
    # The second trace begins at the top level, and has nothing of the first trace.
    _, final = traced(probe, include_only=[__file__])
    assert row(final, "probe")["calls"] == 1 and row(final, "leaf")["calls"] == 10
    assert {f["name"].rpartition(".")[2] for f in functions(final) if f["calls"]} == {
        "probe",
        "leaf",
    } | ({"<listcomp>"} if row(final, "<listcomp>") else set())


def test_what_was_suspended_before_the_start():
    log = []
    suspended = [delegates(n, 20, log) for n in range(4)]
    for one in suspended:
        next(one)
    ocular.start_tracing(**{**EXACT, "include_only": [__file__]})
    for one in suspended:
        next(one), next(one)
    final = ocular.stop_tracing()
    # For every generator of the chain, one resumption is counted.
    assert row(final, "numbers")["resumptions"] == 2 * 4
    assert row(final, "delegates")["resumptions"] == 2 * (1 + 2 + 3 + 4)
    assert row(final, "delegates")["calls"] == 0
    assert row(final, "leaf")["calls"] == 8


def test_what_an_older_session_has_seen_is_not_credited():
    log = []

    async def waits(event):
        leaf()
        await event.wait()
        return leaf(1)

    async def main():
        event = asyncio.Event()
        ocular.start_tracing(**{**EXACT, "include_only": [__file__]})
        task = asyncio.create_task(waits(event))
        one = delegates(3, 20, log)
        next(one)
        await asyncio.sleep(0)
        first = ocular.stop_tracing()
        next(one)
        time.sleep(0.05)
        began = time.perf_counter()
        ocular.start_tracing(**{**EXACT, "include_only": [__file__]})
        next(one)
        event.set()
        assert await task == 1
        second = ocular.stop_tracing()
        return first, second, time.perf_counter() - began

    first, second, seconds = asyncio.run(main())
    assert row(first, "waits")["calls"] == 1 and row(first, "numbers")["calls"] == 1
    assert entries(row(second, "waits")) == 1
    assert row(second, "delegates")["resumptions"] == 4
    assert row(second, "leaf")["calls"] == 2
    for function in second["functions"]:
        assert (function["total_cycles"] or 0) <= seconds * 1.05 * second["tsc_hz"]
