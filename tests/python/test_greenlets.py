# SPDX-License-Identifier: MIT
"""Greenlets exchange the interpreter's stack of a thread, so Ocular keeps a shadow stack
for each greenlet. The tests compare calls and callers with the interpreter's frames, and
compare times with the program's own clocks."""

import gc
import os
import sys
import textwrap
import time
from collections import Counter

import greenlet
import ocular
import pytest
from e2e import trace
from e2e.counting import EXACT, entries, functions, memory_bytes, own_cycles, row, traced
from e2e.program import run
from e2e.truth import check_figures, compared, record, seen


def leaf(n=1):
    return n


def up(depth, function, *arguments):
    """Makes `depth` nested calls. The innermost one calls the function."""
    return up(depth - 1, function, *arguments) if depth else function(*arguments)


# --- Programs -----------------------------------------------------------------


def player(rounds, others, depth):
    for turn in range(rounds):
        leaf(turn)
        up(depth, others[0].switch)
        leaf()
    return rounds


def ping_pong(depth, other_depth, base=0, other_base=0, rounds=20):
    to_one, to_other = [], []

    def play_one():
        up(base, player, rounds, to_other, depth)

    def play_other():
        up(other_base, player, rounds, to_one, other_depth)

    one, other = greenlet.greenlet(play_one), greenlet.greenlet(play_other)
    to_one.append(one), to_other.append(other)
    one.switch()
    leaf()
    while not one.dead:
        one.switch()
    while not other.dead:
        other.switch()


def waits(log):
    try:
        leaf()
        up(3, greenlet.getcurrent().parent.switch)
        leaf()
    except ValueError:
        log.append(leaf())
        greenlet.getcurrent().parent.switch()
    finally:
        log.append(leaf())


def killed(how):
    log = []
    for depth in (0, 4, 2):
        child = up(depth, started, log)
        if how == "exit":
            child.throw()
        elif how == "error":
            child.throw(ValueError)
            leaf()
            child.switch()
        elif how == "collected":
            del child
            gc.collect()
        else:
            keep.append(child)
        leaf()
    if how != "kept":
        assert len(log) >= 3
    else:
        keep.clear()


keep = []


def started(log):
    child = greenlet.greenlet(waits)
    child.switch(log)
    return child


def fails(depth):
    leaf()
    if depth == 0:
        raise KeyError(depth)
    greenlet.getcurrent().parent.switch()
    return fails(depth - 1)


def exceptions():
    for n in range(5):
        child = greenlet.greenlet(fails)
        try:
            child.switch(n)
            while not child.dead:
                up(n, child.switch)
        except KeyError:
            leaf()


def numbers(count):
    for n in range(count):
        leaf()
        greenlet.getcurrent().parent.switch(n)
        yield n


def doubled(source):
    for n in source:
        yield 2 * n


def summed(count):
    return sum(doubled(numbers(count)))


def generators():
    children = [greenlet.greenlet(summed) for _ in range(3)]
    for n, child in enumerate(children):
        child.switch(5 + n)
    while children:
        for child in list(children):
            up(len(children), child.switch)
            if child.dead:
                children.remove(child)


def delegated():
    """A generator is started in one greenlet and continues in others."""
    source = doubled(range(9))

    def taker():
        for _ in range(3):
            leaf(next(source))
            greenlet.getcurrent().parent.switch()

    children = [greenlet.greenlet(taker) for _ in range(3)]
    while children := [child for child in children if not child.dead]:
        for child in children:
            child.switch()
    # The generator must be exhausted, so that close() does nothing (test_stacks.py).
    assert next(source, None) is None


def directly():
    """Runs a generator in greenlets without a Python function. The generator's frame is not
    on the interpreter's data stack, which CPython allocates later or never."""
    children = [greenlet.greenlet(list) for _ in range(3)]
    for n, child in enumerate(children):
        child.switch(numbers(3 + n))
        leaf()
    while children := [child for child in children if not child.dead]:
        for child in children:
            child.switch()


def nested():
    def inner():
        leaf()
        greenlet.getcurrent().parent.switch()
        leaf()

    def outer():
        child = greenlet.greenlet(inner)
        child.switch()
        greenlet.getcurrent().parent.switch()
        child.switch()
        leaf()

    child = greenlet.greenlet(outer)
    child.switch()
    leaf()
    child.switch()


PROGRAMS = {
    "equal depths": lambda: ping_pong(2, 2),
    "different depths": lambda: ping_pong(0, 7, 3, 1),
    "deep": lambda: ping_pong(50, 3, 60, 0, rounds=4),
    "exit": lambda: killed("exit"),
    "error": lambda: killed("error"),
    "collected": lambda: killed("collected"),
    "never finished": lambda: killed("kept"),
    "exceptions": exceptions,
    "generators": generators,
    "delegated": delegated,
    "directly": directly,
    "nested": nested,
}


# With any threshold above 0, no hook sees a frame that ends by an exception.
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threshold", [0, 100_000])
def test_calls_and_callers_are_the_interpreters(name, threshold, tmp_path):
    timeline, _ = compared(PROGRAMS[name], __file__, tmp_path / "trace.json", threshold)
    ends = {word for call in timeline.of() for word in call.end_args}
    assert "lost" not in ends and "parked" in ends


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threshold", [1, 5, 500])
def test_balanced_while_things_go_dark(name, threshold, tmp_path):
    program = PROGRAMS[name]
    calls, _ = record(program, __file__)
    ours, _, _, final = seen(
        program, __file__, tmp_path / "trace.json", deinstrument_threshold=threshold
    )
    for function in functions(final):
        true = calls[function["name"]]
        if function["calls_exact"]:
            assert entries(function) == true, function["name"]
        else:
            assert entries(function) <= true
    check_figures(final)


# --- Times --------------------------------------------------------------------


SLEEP = 0.005


class Stopwatch:
    """Holds a lower and an upper bound of a function's time. The bounds are right even on a
    busy machine. `inside` has the seconds that each call took at least. `around` is the
    number of seconds that all calls together took at most."""

    def __init__(self):
        self.inside = []
        self.around = 0.0

    def call(self, function, *arguments):
        begin = time.perf_counter()
        function(*arguments)
        self.around += time.perf_counter() - begin

    def check(self, cycles, final):
        """Checks that Ocular's time of the calls, including waits, is within the bounds."""
        seconds = cycles / final["tsc_hz"]
        least, most = sum(self.inside), self.around
        assert least * 0.97 <= seconds <= most * 1.03 + 1e-4, (least, seconds, most)


def slow(watch):
    begin = time.thread_time()  # thread_time() does not include waiting for a CPU.
    sum(range(100_000))  # No hook is called in sum().
    watch.inside.append(time.thread_time() - begin)


def slower(watch):
    time.sleep(SLEEP)
    watch.inside.append(SLEEP)  # After its sleep, the thread can also wait for a CPU.


def works_slowly(watch, rounds):
    for _ in range(rounds):
        watch.call(slow, watch)
        up(2, greenlet.getcurrent().parent.switch)


def works_slower(watch, rounds):
    for _ in range(rounds):
        watch.call(slower, watch)
        greenlet.getcurrent().parent.switch()


def two_greenlets_in_turns():
    """Runs two greenlets alternately. Returns the bounds of the greenlets' times, and the
    final snapshot."""
    watches = Stopwatch(), Stopwatch()
    totals = []

    def run(work, watch):
        totals.append(Stopwatch())
        totals[-1].call(work, watch, 8)

    def main():
        children = [
            greenlet.greenlet(lambda: run(works_slowly, watches[0])),
            greenlet.greenlet(lambda: run(works_slower, watches[1])),
        ]
        while not all(child.dead for child in children):
            for child in children:
                child.switch()

    _, final = traced(main, include_only=[__file__])
    return watches, totals, final


def test_times_are_the_greenlets_own():
    watches, totals, final = two_greenlets_in_turns()
    slow_ones, slower_ones = (watch.inside for watch in watches)
    for name, watch in zip(("slow", "slower"), watches, strict=True):
        own = row(final, name)
        watch.check(own_cycles(own), final)
    # The total time of a suspended call includes the time in which the other greenlet runs.
    # The first call of `slow` ends before the second greenlet begins.
    for work, total in zip(("works_slowly", "works_slower"), totals, strict=True):
        total.inside = [*slow_ones[1:], *slower_ones]
        total.check(row(final, work)["total_cycles"], final)
    # A call's self time does not include the time in which the other greenlet runs.
    busy = sum(slow_ones) + sum(slower_ones)
    wall = max(total.around for total in totals)
    for work in ("works_slowly", "works_slower", "up"):
        assert row(final, work)["self_cycles"] <= (wall - busy) * 1.1 * final["tsc_hz"]
    everything = sum(function["self_cycles"] or 0 for function in final["functions"])
    assert everything <= wall * 1.05 * final["tsc_hz"]


# --- Many greenlets -----------------------------------------------------------


def test_thousands_of_greenlets_at_once():
    """There are more greenlets than the number of stacks that Ocular keeps. Ocular drops
    the stacks that were suspended longest ago. Calls stay exact, and memory is bounded."""

    def child(depth):
        leaf()
        up(depth % 7, greenlet.getcurrent().parent.switch)
        leaf()

    children = []

    def body(count):
        for n in range(count):
            children.append(greenlet.greenlet(child))
            children[-1].switch(n)
        for one in children:
            one.switch()

    ocular.start_tracing(**EXACT)
    try:
        before = memory_bytes()
        body(6000)
        after = memory_bytes()
    finally:
        final = ocular.stop_tracing()
    assert row(final, "child")["calls"] == 6000
    assert row(final, "leaf")["calls"] == 2 * 6000
    check_figures(final)
    assert after < before + 8_000_000


def dies(depth):
    if depth:
        dies(depth - 1)
    leaf()
    greenlet.getcurrent().parent.switch()
    leaf()


def lives(depth):
    greenlet.getcurrent().parent.switch()
    if depth:
        lives(depth - 1)
    leaf()


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_a_stack_that_has_the_place_of_a_dead_one(depth, tmp_path):
    """A new stack can have the address of a freed stack. No hook sees the end of a killed
    greenlet's frames, and the next greenlets use the memory of these frames at once."""

    def body():
        for n in range(40):
            one = greenlet.greenlet(dies)
            one.switch(n % 4)
            one.throw()
            other = greenlet.greenlet(lives)
            up(n % 6, other.switch, depth)
            while not other.dead:
                up(n % 3, other.switch)

    _, edges = record(body, __file__)
    _, tree, timeline, final = seen(
        body, __file__, tmp_path / "trace.json", deinstrument_threshold=100_000
    )
    assert tree == edges
    # Only one greenlet is alive at a time, so all greenlets together last no longer
    # than the whole run.
    for function in final["functions"]:
        if function["name"] in ("dies", "lives"):
            assert (function["total_cycles"] or 0) / final["tsc_hz"] <= final["uptime_s"]


# --- Start and stop between greenlets -----------------------------------------


@pytest.mark.parametrize("threshold", [0, 3])
def test_start_and_stop_inside_greenlets(threshold):
    settings = {**EXACT, "deinstrument_threshold": threshold}
    finals = []

    def child(what):
        leaf()
        if what == "start":
            ocular.start_tracing(**settings)
        greenlet.getcurrent().parent.switch()
        leaf()
        greenlet.getcurrent().parent.switch()
        if what == "stop":
            finals.append(ocular.stop_tracing())
        leaf()

    children = [greenlet.greenlet(child) for _ in range(4)]
    try:
        for one, what in zip(children, ["", "start", "", "stop"], strict=True):
            one.switch(what)
        for _ in range(2):
            for one in children:
                one.switch()
    finally:
        ocular.stop_tracing()
    # The last two greenlets were started during tracing. `leaf` is called twice at the
    # beginning of the test, four times in the middle and three times at the end.
    assert row(finals[0], "child")["calls"] == 2
    if threshold == 0:
        assert row(finals[0], "leaf")["calls"] == 9
    check_figures(finals[0])


# --- gevent, in a separate process --------------------------------------------


def run_program(text, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(text), *arguments]
    done = run(command, env={"PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.status == 0, done.err
    return done.out


GEVENT = """
    import sys, time
    from gevent import monkey
    monkey.patch_all()
    import gevent, gevent.queue, gevent.pool, queue, threading
    from collections import Counter
    import ocular
    calls, edges, stacks = Counter(), Counter(), {}
    # The program itself counts the calls and callers in each greenlet.
    def counted(function):
        name = function.__name__
        def shell(*arguments):
            stack = stacks.setdefault(id(gevent.getcurrent()), [])
            calls[name] += 1
            edges[name, stack[-1] if stack else None] += 1
            stack.append(name)
            try:
                return function(*arguments)
            finally:
                stack.pop()
                if not stack:
                    del stacks[id(gevent.getcurrent())]
        return shell
    @counted
    def leaf(n): return n
    @counted
    def put(box, n):
        gevent.sleep(0.0005 * (n % 3))
        box.put(leaf(n))
    @counted
    def produce(box, count):
        for n in range(count): put(box, n)
    @counted
    def take(box):
        return leaf(box.get())
    @counted
    def consume(box, count):
        for _ in range(count): take(box)
    @counted
    def sleeper(n):
        time.sleep(0.001 * n)  # gevent's own sleep
        leaf(n)
        gevent.sleep(0)
        if n % 4 == 0: raise ValueError(n)
    @counted
    def thread():
        box = queue.Queue()
        gevent.joinall([gevent.spawn(produce, box, 5), gevent.spawn(consume, box, 5)])
    @counted
    def forever():
        while True:
            gevent.sleep(0.002)
            leaf(0)
    def main():
        box = gevent.queue.Queue(3)
        jobs = [gevent.spawn(produce, box, 20) for _ in range(10)]
        jobs += [gevent.spawn(consume, box, 20) for _ in range(10)]
        jobs += [gevent.spawn(sleeper, n % 9) for n in range(60)]
        threads = [threading.Thread(target=thread) for _ in range(4)]
        killed = [gevent.spawn(forever) for _ in range(5)]
        for one in threads: one.start()
        pool = gevent.pool.Pool(4)
        list(pool.imap_unordered(leaf, range(30)))
        gevent.joinall(jobs)
        for one in threads: one.join()
        gevent.killall(killed)
        # A thread of the hub runs this, outside of its greenlets.
        return gevent.get_hub().threadpool.apply(sum, ([1, 2],))
    gevent.get_hub().handle_error = lambda *_: None  # the ValueErrors
    threshold, path = int(sys.argv[1]), sys.argv[2]
    ocular.start_tracing(deinstrument_threshold=threshold, quiet=True, output=path,
                         include_only=["<string>"], exclude=["shell"])
    assert main() == 3
    final = ocular.stop_tracing()
    for row in final["functions"]:
        name = row["name"].rpartition(".")[2]
        if name in calls: print("calls", name, row["calls"], calls[name])
    for (name, caller), count in edges.items():
        print("edge", name, caller, count)
"""


@pytest.mark.parametrize("threshold", [0, 100_000])
def test_gevent(threshold, tmp_path):
    path = tmp_path / "trace.json"
    lines = [line.split() for line in run_program(GEVENT, threshold, path).splitlines()]
    counted = [line[1:] for line in lines if line[0] == "calls"]
    assert {name for name, *_ in counted} >= {"leaf", "put", "take", "sleeper", "forever"}
    for name, ours, true in counted:
        assert ours == true, name
    expected = Counter({(e[1], e[2]): int(e[3]) for e in lines if e[0] == "edge"})
    tree = Counter(
        (call.name, str(call.parent))
        for call in trace.read(path).of()
        if not call.begin_args.get("resumed")
    )
    names = {name for name, _ in expected}
    assert Counter({key: n for key, n in tree.items() if key[0] in names}) == expected
