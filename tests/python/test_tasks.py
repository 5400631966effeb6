# SPDX-License-Identifier: MIT
"""Tests the steps of asyncio's tasks in the timeline. Each step has the name of its task.
To find the name, Ocular runs no code of the program.
tests/e2e/test_trace_processor.py tests the links between the steps."""

import asyncio
import gc
import sys
import threading
import weakref

import pytest
from e2e.counting import recorded

TASKS = [asyncio.tasks._PyTask, asyncio.tasks._CTask]


@pytest.fixture(params=["trace.json", "trace.pftrace"])
def record(request, tmp_path):
    """Returns record(function), which traces the function and maps each task's number to
    the names of its steps, sorted by time."""

    def record(function, **settings):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.{request.param}"
        found = {}
        for steps in recorded(path, function, **settings)[0].tasks.values():
            for step in sorted(steps, key=lambda step: step.begin):
                assert step.parent == "Handle._run"
                found.setdefault(step.begin_args["task"], []).append(step.name)
        return found

    return record


async def work(awaits=2):
    for _ in range(awaits):
        await asyncio.sleep(0)


def run(main):
    """Runs `main` in an event loop without other tasks."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(main(loop))
    finally:
        loop.close()


def named(found, name):
    return [names for names in found.values() if name in names]


@pytest.mark.parametrize("kind", TASKS)
def test_both_kinds_of_tasks(record, kind):
    async def main(loop):
        tasks = [kind(work(), loop=loop, name=name) for name in ("a", "b", "b")]
        await asyncio.gather(*tasks)  # The callback of a future wakes the main task.
        await kind(asyncio.sleep(0.001), loop=loop, name="sleeps")
        await kind(work(0), loop=loop)

    found = record(lambda: run(main))
    assert named(found, "a") == [["a"] * 3]
    assert named(found, "b") == [["b"] * 3] * 2
    assert named(found, "sleeps") == [["sleeps"] * 2]
    assert len(found) == 6


@pytest.mark.parametrize("kind", TASKS)
def test_derived_tasks(record, kind):
    """For a task of a derived class, the step has the name that asyncio stores, or just
    "task". Ocular runs no code of the derived class."""
    asked = []

    class Odd(kind):
        def __getattribute__(self, name):
            if name in ("get_name", "_name", "__self__", "__weakref__"):
                asked.append(name)
            return super().__getattribute__(name)

        def get_name(self):
            raise KeyError

        def __eq__(self, other):
            asked.append("__eq__")
            return True

        __hash__ = kind.__hash__

    async def main(loop):
        await asyncio.gather(*[Odd(work(), loop=loop, name="odd") for _ in range(3)])

    found = record(lambda: run(main))
    name = "odd" if kind is asyncio.tasks._CTask else "task"
    assert named(found, name) == [[name] * 3] * 3
    assert not set(asked) - {"__eq__"}  # asyncio's own sets call __eq__


ODD_NAME = 'odd "\\ \u00e4\U0001f468 \x01'
CUT_NAME = f"{'ä' * 30}..."


def test_tasks_of_many_kinds(record):
    """Ocular runs no code of a callback to find out whether it is the step of a task."""
    asked = []

    class Odd:
        @property
        def __self__(self):
            asked.append("__self__")
            return asyncio.current_task()

        def __call__(self):
            pass

    class OddHandle(asyncio.Handle):
        @property
        def _callback(self):
            asked.append("_callback")
            return Odd()

        @_callback.setter
        def _callback(self, callback):
            pass

    async def fails():
        await asyncio.sleep(0)
        raise ZeroDivisionError

    async def renamed():
        await asyncio.sleep(0)
        asyncio.current_task().set_name("after")
        await asyncio.sleep(0)

    async def main(loop):
        for _ in range(30):  # Some of these tasks have the address of an earlier one.
            await loop.create_task(work(), name="again")
        cancelled = loop.create_task(asyncio.sleep(60), name="cancelled")
        failing = loop.create_task(fails(), name="fails")
        await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.gather(cancelled, failing, return_exceptions=True)
        await loop.create_task(renamed(), name="before")
        for name in ODD_NAME, "ä" * 33:  # Ocular has no room for the whole second name.
            await loop.create_task(work(1), name=name)
        waiting = loop.create_task(work(), name="waits")
        odd = OddHandle(None, (), loop)
        for callback in Odd(), waiting.get_name, waiting.done, list, odd._run:
            loop.call_soon(callback)
        await waiting
        loop.set_task_factory(asyncio.eager_task_factory)
        await loop.create_task(work(3), name="eager")
        await loop.create_task(work(0), name="eager at once")

    found = record(lambda: run(main))
    assert named(found, "again") == [["again"] * 3] * 30
    assert named(found, "before") == [["before", "before", "after"]]
    for name, steps in (
        *(("cancelled", 2), ("fails", 2), (ODD_NAME, 2), (CUT_NAME, 2), ("waits", 3)),
        ("eager", 3),  # The first step belongs to the task that made this one.
    ):
        assert named(found, name) == [[name] * steps]
    assert named(found, "eager at once") == []
    assert asked == ["_callback"]  # Only asyncio's Handle._run reads the callback.


def test_tasks_of_threads(record):
    async def main(loop):
        name = threading.current_thread().name
        tasks = [loop.create_task(work(4), name=f"{name} {n}") for n in range(3)]
        await asyncio.gather(*tasks)

    def program():
        threads = [threading.Thread(target=run, args=[main], name=name) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    found = record(program)
    for name in (f"{thread} {n}" for thread in "ab" for n in range(3)):
        assert named(found, name) == [[name] * 5]


def test_where_the_loop_is_dark_there_are_none(record):
    (steps,) = record(
        lambda: run(lambda loop: work(300)), deinstrument_threshold=50
    ).values()
    assert 40 < len(steps) <= 51


@pytest.mark.parametrize("kind", TASKS)
def test_nothing_is_held(record, kind):
    """Tracing keeps no task, handle or name alive, and leaves no reference to them
    after the trace."""
    counts = {}

    def program():
        async def main(loop):
            tasks = [kind(work(), loop=loop, name="held" * 2) for _ in range(50)]
            await asyncio.gather(*tasks)
            kept.append(tasks.pop())
            alive = [weakref.ref(task) for task in tasks]
            del tasks
            await asyncio.sleep(0)
            return alive

        alive = run(main)
        gc.collect()
        assert not any(reference() for reference in alive)

    for name in "without", "with":
        kept = []
        program() if name == "without" else record(program)
        gc.collect()
        task = kept.pop()
        counts[name] = sys.getrefcount(task), weakref.getweakrefcount(task)
    assert counts["with"] == counts["without"]
    before = sum(1 for each in gc.get_objects() if type(each) is weakref.ref)
    record(program)
    after = sum(1 for each in gc.get_objects() if type(each) is weakref.ref)
    assert after < before + 20


def test_the_next_trace_has_other_numbers(record):
    """If a task still runs in the next trace, it has another number there."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work(6), name="goes on")

    def three():
        loop.run_until_complete(asyncio.wait([task], timeout=0))

    found = [record(three) for _ in range(2)]
    loop.run_until_complete(task)
    loop.close()
    both = [{n for n in each if "goes on" in each[n]} for each in found]
    assert len(both[0]) == len(both[1]) == 1
    assert not set(found[0]) & set(found[1])


@pytest.mark.parametrize(
    "settings",
    [
        {"exclude": ["asyncio"]},
        {"include_only": ["test_tasks"]},
        {"exclude": ["Handle._run"]},
    ],
)
def test_an_excluded_loop_has_none(record, settings):
    assert record(lambda: run(lambda loop: work()), **settings) == {}
