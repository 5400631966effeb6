# SPDX-License-Identifier: MIT
"""Tests the log of stalls and the numbers of loops by programs that measure their steps."""

import asyncio
import json
import os
import socket
import sys
import threading
import time

import ocular
import pytest
from e2e.program import PYTHON, run, top, wait_until

QUIET = dict(perfetto=False, quiet=True)
MODES = {"a budget": dict(overhead_budget=0.01), "all hits": dict(deinstrument_threshold=0)}
# A busy machine can stop a thread between the hook of an event and the moment at which the
# program reads the clock. So each length in the log must be between a time within the step
# and a time that contains the step. CLOCK is the largest difference between Ocular's clock
# and the program's clock, as a fraction.
CLOCK = 1e-3


@pytest.fixture(params=MODES)
def tracing(request):
    ocular.start_tracing(**QUIET, **MODES[request.param])
    yield
    ocular.stop_tracing()


def spins(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def sleeps(seconds):
    time.sleep(seconds)


def receives(seconds):
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(seconds)
        try:
            here.recv(1)
        except TimeoutError:
            pass


class Step:
    """The program's own times of a task's step (one run by the event loop). `inner` is a
    time within the step, and `outer` is a longer time, which contains the step."""

    def __init__(self, name):
        self.name = name
        self.inner = self.outer = None

    def run(self, stalls, seconds):
        begin = time.monotonic()
        stalls(seconds)
        self.inner = time.monotonic() - begin


async def stalls_once(step, stalls, seconds):
    step.run(stalls, seconds)


async def measured(stalls, seconds, name):
    """Runs a task with a single step, and returns the Step."""
    step = Step(name)
    await asyncio.sleep(0.001)
    begin = time.monotonic()
    await asyncio.create_task(stalls_once(step, stalls, seconds), name=name)
    step.outer = time.monotonic() - begin
    return step


def found(name):
    return [stall for stall in ocular.snapshot()["stalls"] if stall["task"] == name]


def check(step, function, thread="MainThread"):
    """Checks that the log contains the step once, with its length, its function and a line
    of the function. Returns False if Ocular found another function or none."""
    (stall,) = found(step.name)
    assert step.inner * (1 - CLOCK) < stall["seconds"] < step.outer * (1 + CLOCK)
    assert stall["thread"] == thread
    if stall["function"] is None:  # Ocular's thread ran too late.
        assert stall["stack"] is stall["line"] is None
        return False
    # On a busy machine the kernel can stop the thread before it calls the function.
    if stall["function"] != function.__qualname__:
        return False
    assert stall["file"] == __file__
    first = function.__code__.co_firstlineno
    assert first < stall["line"] < first + 10
    assert stall["stack"].endswith(f"stalls_once;Step.run;{function.__qualname__}")
    return True


@pytest.mark.parametrize("stalls", [spins, sleeps, receives])
def test_every_stall_is_found_once(tracing, stalls):
    async def main():
        return [await measured(stalls, s, f"{s}") for s in (0.055, 0.08, 0.2)]

    async def once_more():
        return check(await measured(stalls, 0.2, f"{time.monotonic()}"), stalls)

    before = ocular.snapshot()["uptime_s"]
    steps = asyncio.run(main())
    places = [check(step, stalls) for step in steps]
    # On a busy machine, Ocular perhaps observes none of these steps in time.
    assert any(places) or wait_until(lambda: asyncio.run(once_more()))
    at = [found(step.name)[0]["at_s"] for step in steps]
    assert before < at[0] < at[1] < at[2] < ocular.snapshot()["uptime_s"]


def test_a_stall_in_a_greenlet_is_found(tracing):
    greenlet = pytest.importorskip("greenlet")

    def switches(seconds):
        greenlet.greenlet(spins).switch(seconds)

    async def main():
        return [await measured(switches, 0.2, f"{i}") for i in range(3)]

    steps = asyncio.run(main())
    stalls = [found(step.name)[0] for step in steps]
    for step, stall in zip(steps, stalls, strict=True):
        assert step.inner * (1 - CLOCK) < stall["seconds"] < step.outer * (1 + CLOCK)
    assert "spins" in {stall["function"] for stall in stalls}


def test_short_steps_are_no_stall(tracing):
    """The log has neither 10 000 short steps of 100 tasks nor the idle time of a loop."""
    idle_s = 0.3
    turns = [time.monotonic()]

    async def short():
        for _ in range(100):
            await asyncio.sleep(0)
            turns.append(time.monotonic())

    async def main():
        turns.append(time.monotonic())
        await asyncio.sleep(idle_s)
        turns.append(time.monotonic())
        await asyncio.gather(*[short() for _ in range(100)])

    asyncio.run(main())
    turns.append(time.monotonic())
    # A step begins after the turn before it, and ends before the turn after it. Another
    # program can have the CPU twice during the step.
    steps = [b - a for a, b in zip(turns, turns[2:], strict=False)]
    longest = max(steps[0] - idle_s, steps[1] - idle_s, *steps[2:])
    snapshot = ocular.snapshot()
    assert all(stall["seconds"] < longest * (1 + CLOCK) for stall in snapshot["stalls"])
    (loop,) = snapshot["loops"]
    assert loop["thread"] == "MainThread"
    assert loop["steps_per_s"] > 100


def test_the_lag_is_that_of_timers(tracing):
    """If a timer is due while the loop stalls, its callback runs late."""
    late, least = [], []

    def note(due):
        late.append(time.monotonic() - due)

    async def main():
        loop = asyncio.get_running_loop()
        due = time.monotonic() + 0.02
        for _ in range(20):
            loop.call_at(due, note, due)
        await asyncio.sleep(0)
        time.sleep(0.12)
        least.append(time.monotonic() - due)
        while len(late) < 20:
            await asyncio.sleep(0)

    asyncio.run(main())
    (loop,) = ocular.snapshot()["loops"]
    assert least[0] * (1 - CLOCK) < loop["lag_s"] < max(late) * (1 + CLOCK)


def test_each_thread_has_its_loop(tracing):
    steps, ready, done = {}, threading.Barrier(3), threading.Event()

    def go(name):
        async def main():
            steps[name] = await measured(sleeps, 0.07, name)
            ready.wait(60)
            done.wait(60)

        asyncio.run(main())

    threads = [
        threading.Thread(target=go, args=(name,), name=name)
        for name in ("loop-a", "loop-b")
    ]
    for thread in threads:
        thread.start()
    ready.wait(60)
    rows = ocular.snapshot()["loops"]
    done.set()
    for thread in threads:
        thread.join()
    assert {row["thread"] for row in rows} >= {"loop-a", "loop-b"}
    for name, step in steps.items():
        check(step, sleeps, name)


def test_the_loop_of_an_ended_thread_is_gone(tracing):
    """A new thread reuses the record of a thread that has ended."""
    loop = threading.Thread(target=asyncio.run, args=(asyncio.sleep(0),), name="loop")
    loop.start()
    loop.join()
    other, done = threading.Thread(target=lambda: done.wait(60)), threading.Event()
    other.start()
    try:  # Ocular can notice the end of the thread a little later.
        wait_until(lambda: ocular.snapshot()["loops"] == [])
    finally:
        done.set()
        other.join()


def test_an_eager_task_runs_in_its_creators_step(tracing):
    steps = []

    async def eager():
        steps.append(Step("later"))
        spins(0.07)
        await asyncio.sleep(0.001)
        steps[0].run(sleeps, 0.08)

    async def main():
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        await asyncio.sleep(0)
        asyncio.current_task().set_name("first")
        task = asyncio.create_task(eager(), name="later")
        await task

    asyncio.run(main())
    (first,), (later,) = found("first"), found("later")
    assert first["seconds"] >= 0.07
    assert later["seconds"] >= steps[0].inner


def test_the_limit_is_a_setting():
    ocular.start_tracing(**QUIET, stall_ms=150)
    try:

        async def main():
            asyncio.get_running_loop().call_soon(spins, 0.16)  # a step without a task
            for seconds in (0.06, 0.2):
                await measured(sleeps, seconds, f"{seconds}")

        asyncio.run(main())
        assert found("0.2") and found(None)
        assert all(stall["seconds"] >= 0.15 for stall in ocular.snapshot()["stalls"])
        assert ocular.snapshot()["stall_limit_s"] == pytest.approx(0.15)
    finally:
        ocular.stop_tracing()


def test_too_many_steps_are_off_within_a_budget():
    """With a budget, Ocular stops observing steps if there are too many. Then the rates of
    steps are null. The next trace observes steps again."""

    async def main():
        await measured(sleeps, 0.06, "stall")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            for _ in range(30_000):
                await asyncio.sleep(0)
            snapshot = ocular.snapshot()
            (loop,) = snapshot["loops"]
            if loop["steps_per_s"] is None and snapshot["stalls_total"] is None:
                screen = top("--once", "-p", f"{os.getpid()}", "--keys", "L").out
                if ocular.snapshot()["stalls_total"] is None:
                    assert "not observed now" in screen
                return await measured(sleeps, 0.06, "off")

    for _ in range(2):
        ocular.start_tracing(**QUIET, overhead_budget=0.01, serve=True)
        assert asyncio.run(main())
        assert len(found("stall")) == 1
        assert not found("off")
        ocular.stop_tracing()


@pytest.mark.parametrize("budget, off", [(2e-4, True), (0.5, False)])
def test_the_budget_pays_for_steps(budget, off):
    """15 000 steps are too many for a small budget, but not for a large one."""

    async def main():
        for _ in range(15_000):
            await asyncio.sleep(0)
        return ocular.snapshot()

    ocular.start_tracing(**QUIET, overhead_budget=budget)
    snapshot = asyncio.run(main())
    ocular.stop_tracing()
    (loop,) = snapshot["loops"]
    assert (snapshot["stalls_total"] is None) == off
    assert (loop["steps_per_s"] is None) == off


# With an argument, the loop is one without asyncio's Handle._run: asyncio's own C tasks run
# on a loop that calls its callbacks without a Python function in between, as uvloop does.
EXCEPTIONS = """
import asyncio, sys, time, ocular

class Handle(asyncio.Handle):
    def _run(self):  # a function that is not asyncio's
        self._context.run(self._callback, *self._args)

async def step():
    await asyncio.sleep(0)
    time.sleep(.07)
    await asyncio.sleep(0)
    t = time.monotonic()
    while time.monotonic() - t < .08:
        pass
    raise ValueError

async def cancelled():
    try:
        await asyncio.sleep(60)
    finally:
        time.sleep(.09)

async def main():
    tasks = [asyncio.create_task(step(), name="inner"),
             asyncio.create_task(cancelled(), name="cancelled")]
    await asyncio.sleep(0)
    tasks[1].cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)

asyncio.events.Handle = Handle if sys.argv[1:] else asyncio.Handle

ocular.start_tracing(perfetto=False, quiet=True)
asyncio.run(main())
snapshot = ocular.stop_tracing()
stalls = [s for s in snapshot["stalls"] if s["task"] == "inner"]
assert len(stalls) == 2, snapshot["stalls"]
assert stalls[0]["seconds"] >= .07 and stalls[1]["seconds"] >= .08
(stall,) = [s for s in snapshot["stalls"] if s["task"] == "cancelled"]
assert stall["seconds"] >= .09
"""


@pytest.mark.parametrize("foreign", [[], ["foreign"]])
def test_steps_that_end_by_an_exception_end(foreign):
    """A task that is cancelled or that fails has steps like any other task."""
    done = run([PYTHON, "-c", EXCEPTIONS, *foreign])
    assert done.status == 0, done.err


OTHERS = """
import importlib, sys, time, ocular
kind = sys.argv[1]
loop = importlib.import_module(kind)
sleep = __import__("asyncio").sleep if kind == "uvloop" else loop.sleep
steps = []
others = [0]  # times that contain the other steps

def spins(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass

async def stalls(function, seconds):
    before = time.monotonic()
    await sleep(0)
    begin = time.monotonic()
    function(seconds)
    end = time.monotonic()
    await sleep(0)
    after = time.monotonic()
    others.extend([begin - before, after - end])
    steps.append((end - begin, after - before))

async def main():
    turns = [time.monotonic()]
    for _ in range(1000):
        await sleep(0)
        turns.append(time.monotonic())
    others.extend(b - a for a, b in zip(turns, turns[1:]))
    await stalls(time.sleep, .07)
    begin = time.monotonic()
    await sleep(0.3)  # an idle loop
    others.append(time.monotonic() - begin - .3)
    await stalls(spins, .2)

ocular.start_tracing(perfetto=False, quiet=True)
loop.run(main() if kind == "uvloop" else main)
snapshot = ocular.stop_tracing()
lengths = [s["seconds"] for s in snapshot["stalls"]]
assert len(lengths) >= 2, lengths
for inner, outer in steps:
    assert any(.999 * inner < s < 1.001 * outer for s in lengths), (lengths, steps)
# Another step is long only if the machine is busy.
assert sum(s > 1.001 * max(others) for s in lengths) <= 2, (lengths, max(others))
"""


# The curio of PyPI does not run with CPython 3.12 and newer.
CURIO = """
import time, types

class Task:
    def __init__(self, coroutine):
        self._send = coroutine.send

    def send(self, value):
        return self._send(value)

@types.coroutine
def sleep(seconds):
    yield seconds

def run(main):
    task = Task(main())
    try:
        while True:
            time.sleep(task.send(None))
    except StopIteration:
        pass
"""


@pytest.mark.parametrize("kind", ["uvloop", "trio", "curio"])
def test_other_loops(kind, tmp_path):
    if kind == "curio":
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "task.py").write_text(CURIO)
        (tmp_path / kind / "__init__.py").write_text("from curio.task import *")
    else:
        pytest.importorskip(kind)
    done = run([sys.executable, "-c", OTHERS, kind], cwd=tmp_path)
    assert done.status == 0, done.err


STALLS = """
import asyncio, sys, time
import ocular

async def stalls():
    time.sleep(.12)

async def main():
    await asyncio.sleep(.1)
    await asyncio.create_task(stalls(), name="long")
    await asyncio.sleep(.1)

ocular.start_tracing(quiet=True, output=sys.argv[1])
asyncio.run(main())
ocular.stop_tracing()
"""


def test_a_recording_has_the_stalls(tmp_path):
    recording = tmp_path / "run.ocular"
    assert run([PYTHON, "-c", STALLS, recording]).status == 0
    whole = json.loads(top("--once", "--json", recording).out)
    (stall,) = [stall for stall in whole["stalls"] if stall["task"] == "long"]
    assert stall["seconds"] >= 0.12
    assert whole["stalls_total"] >= 1
    at = stall["at_s"]
    keys = f"]{at / 2:.3f}<Enter>"
    part = json.loads(top("--once", "--json", recording, "--keys", keys).out)
    assert part["stalls_total"] is None
    assert not [stall for stall in part["stalls"] if stall["at_s"] > at / 2]
    assert "long" in top("--once", recording, "--keys", "L").out
