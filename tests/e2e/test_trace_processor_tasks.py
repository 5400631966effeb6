# SPDX-License-Identifier: MIT
"""Reads the steps of asyncio's tasks by Perfetto's trace processor. Each step is a slice
with the task's name, and a flow links a step only to the next step of the same task."""

from collections import Counter, defaultdict

import pytest
from e2e import trace_processor
from e2e.program import script
from e2e.test_trace_processor import ARGUMENT, COMPLAINTS, unescape

if reason := trace_processor.missing():
    pytest.skip(reason, allow_module_level=True)

NAMES = ["x.json", "x.pftrace"]
# At each of its steps a task writes a mark with its own name and counts the step.
PRELUDE = """
import asyncio, json, os, sys, threading, time
from collections import Counter
import ocular

steps, hostile = Counter(), []

def step(name):
    steps[name] += 1
    ocular.mark(name)

async def work(name, awaits, sleep=0):
    step(name)
    for _ in range(awaits):
        await asyncio.sleep(sleep)
        step(name)

def start(name, awaits, sleep=0):
    return asyncio.create_task(work(name, awaits, sleep), name=name)

def say(**more):
    print(json.dumps({"steps": steps, "hostile": hostile, **more}), flush=True)
"""
PROGRAM = (
    PRELUDE
    + r"""
class Odd:
    "A callback, and what it is a method of."
    @property
    def __self__(self):
        hostile.append("__self__ of a callback")
        return asyncio.current_task()
    def __call__(self):
        step("none")

class OddHandle(asyncio.Handle):
    @property
    def _callback(self):
        steps["asked for a callback"] += 1
        return Odd()
    @_callback.setter
    def _callback(self, callback):
        pass

async def fails():
    step("fails")
    await asyncio.sleep(0)
    step("fails")
    raise ZeroDivisionError

async def is_cancelled():
    step("is cancelled")
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        step("is cancelled")

async def renamed():
    step("before")
    await asyncio.sleep(0)
    step("before")
    asyncio.current_task().set_name("after")
    await asyncio.sleep(0)
    step("after")

async def again():
    "Of tasks of one name, one after another, many lie where others lay."
    places = set()
    for _ in range(30):
        task = start("again", 2)
        places.add(id(task))
        await task
        del task
    assert len(places) < 30
    assert steps["again"] == 90

async def main():
    loop = asyncio.get_running_loop()
    asyncio.current_task().set_name("main")
    alternating = [start(name, 5) for name in "abcd"]
    sleeping = [start(f"sleeps {n}", 3, 0.001 * n) for n in range(1, 4)]
    await asyncio.gather(*alternating, *sleeping)
    await again()
    cancelled = asyncio.create_task(is_cancelled(), name="is cancelled")
    failing = asyncio.create_task(fails(), name="fails")
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, failing, return_exceptions=True)
    await asyncio.create_task(renamed(), name="before")
    await start('odd "\\ \u00e4\U0001f468 \x01', 1)
    await start("ä" * 33, 1)  # more than there is room for
    asyncio.current_task().set_name("main")
    await asyncio.tasks._PyTask(work("python", 2), loop=loop, name="python")
    odd = OddHandle(None, (), loop)
    waiting = start("waits", 2)
    for callback in Odd(), waiting.get_name, waiting.done, list, lambda: step("none"):
        loop.call_soon(callback)
    loop.call_soon(odd._run)
    await waiting
    loop.set_task_factory(asyncio.eager_task_factory)
    await start("eager", 3)
    await start("eager at once", 0)
    loop.set_task_factory(None)

def in_thread(name):
    async def both():
        asyncio.current_task().set_name(name)
        await asyncio.gather(*(start(f"{name} {n}", 4, 0.0001) for n in range(3)))
    asyncio.run(both())

if __name__ == "__main__":
    ocular.start_tracing(output=sys.argv[1], quiet=True, deinstrument_threshold=0)
    asyncio.run(main())
    threads = [threading.Thread(target=in_thread, args=[f"thread {n}"]) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ocular.stop_tracing()
    say()
"""
)
DARK = (
    PRELUDE
    + """
ocular.start_tracing(output=sys.argv[1], quiet=True, deinstrument_threshold=50)
asyncio.run(work("hot", 300))
ocular.stop_tracing()
say()
"""
)
SLICES = f"""
select slice.id, slice.parent_id, slice.name, ifnull(category, ''), ts, ts + dur, tid,
    {ARGUMENT.format("task")}
from slice join thread_track on track_id = thread_track.id join thread using (utid)
"""
FLOWS = "select slice_out, slice_in from flow"


class Answer:
    """Has Perfetto's answers about one file."""

    def __init__(self, ask, path):
        self.complaints = ask(path, COMPLAINTS)
        rows = ask(path, SLICES)
        if "json" in path.name:
            rows = [tuple(map(unescape, row)) for row in rows]
        self.slices = {row[0]: row[1:] for row in rows}
        self.links = ask(path, FLOWS)
        # maps a task's number to the task's steps, sorted by time
        self.tasks = defaultdict(list)
        for number, (_, _, category, begin, *_, task) in self.slices.items():
            if category == "task":
                self.tasks[task].append((begin, number))
        for steps in self.tasks.values():
            steps.sort()

    def name(self, number):
        return self.slices[number][1]

    def names(self):
        """Returns {task's number: names of its steps}."""
        return {n: [self.name(at) for _, at in steps] for n, steps in self.tasks.items()}

    def task_of(self, number):
        """Returns the name of the task in whose step the slice `number` is."""
        while number is not None and self.slices[number][2] != "task":
            number = self.slices[number][0]
        return number and self.name(number)

    def check(self):
        """Checks that flows link the steps of a task in the order of time, and that there
        are no other flows."""
        assert self.complaints == []
        expected = []
        for steps in self.tasks.values():
            ids = [number for _, number in steps]
            expected += zip(ids, ids[1:])
        assert sorted(self.links) == sorted(expected)
        assert expected
        for step, following in expected:
            assert self.slices[step][4] <= self.slices[following][3]
        for parent, _, category, begin, end, tid, _ in self.slices.values():
            if category == "task":  # a step has the same times as its call of Handle._run
                outer = self.slices[parent]
                assert outer[1] == "Handle._run" and outer[3:6] == (begin, end, tid)

    def check_marks(self, odd):
        """Checks that each mark is in a step with its task's name, except the marks in
        `odd`."""
        marks = [n for n, row in self.slices.items() if row[2] == "mark"]
        assert marks
        wrong = Counter()
        for mark in marks:
            if self.name(mark) != self.task_of(mark):
                wrong[self.name(mark), self.task_of(mark)] += 1
        assert wrong == odd


@pytest.fixture(scope="module")
def ask():
    with trace_processor.TraceProcessor() as processor:
        yield processor.query


@pytest.fixture(scope="module", params=NAMES)
def recorded(request, tmp_path_factory, ask):
    """Returns (Answer, output of the program)."""
    folder = tmp_path_factory.mktemp("tasks")
    done = script(folder, PROGRAM, request.param)
    return Answer(ask, folder / request.param), done.answer


def test_steps_are_linked_in_order(recorded):
    answer, _ = recorded
    answer.check()
    assert len(answer.tasks) > 50


def test_steps_have_their_task_s_name(recorded):
    """The steps have the names of the tasks, although Ocular runs no code of the program to
    read these names."""
    answer, said = recorded
    assert said["hostile"] == []
    # only Handle._run itself reads the callback
    assert said["steps"]["asked for a callback"] == 1
    cut = "ä" * 33, "ä" * 32
    # The first step of an eager task belongs to the task that has made it. The mark "none"
    # is in no task.
    answer.check_marks(
        {cut: 2, ("eager", "main"): 1, ("eager at once", "main"): 1, ("none", None): 3}
    )


def test_where_the_loop_is_dark_there_are_none(tmp_path, ask):
    """A task has steps in the timeline until Handle._run goes dark, and none after that."""
    script(tmp_path, DARK, "x.pftrace")
    answer = Answer(ask, tmp_path / "x.pftrace")
    answer.check()
    (names,) = (names for names in answer.names().values() if len(names) > 9)
    assert 40 < len(names) <= 51
