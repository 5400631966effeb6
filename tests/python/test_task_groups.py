# SPDX-License-Identifier: MIT
"""Tests the numbers of asyncio's tasks in a snapshot, by programs with known numbers."""

import asyncio
import gc
import random
import runpy
import subprocess
import sys
import threading
import time
import weakref

import ocular
import pytest
from python.task_snapshots import QUIET, run_traced, whole


@pytest.fixture(params=["exact", "budget"])
def tracing(request):
    settings = (
        dict(deinstrument_threshold=0)
        if request.param == "exact"
        else dict(overhead_budget=0.01)
    )
    ocular.start_tracing(**QUIET, **settings)
    yield
    ocular.stop_tracing()


def line_of(text):
    lines = open(__file__).read().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.strip().startswith(text))


async def deep(levels, event):
    if levels:
        await deep(levels - 1, event)
    else:
        await event.wait()


async def in_a_generator(event):
    async def numbers():
        yield 1
        await event.wait()

    async for _ in numbers():
        pass


async def in_a_group(event):
    async with asyncio.TaskGroup() as group:
        group.create_task(in_the_group(event))


async def in_the_group(event):
    await event.wait()


async def gathers(event):
    await asyncio.gather(event.wait(), event.wait())


async def takes(lock):
    async with lock:
        pass


async def gets(queue):
    await queue.get()


async def sleeps():
    await asyncio.sleep(1000)


async def awaits(future):
    await future


async def eager(event):
    await event.wait()


class Awaitable:
    def __init__(self, event):
        self.event = event

    def __await__(self):
        return self.event.wait().__await__()


async def in_a_class(event):
    await Awaitable(event)


def waits_in_a_group():
    """Since 3.13.4 TaskGroup.__aexit__ awaits the method _aexit."""
    return (
        "TaskGroup._aexit"
        if hasattr(asyncio.TaskGroup, "_aexit")
        else "TaskGroup.__aexit__"
    )


def id_of(task):
    return int(task.get_name().split("-")[1])


def check_chains(groups, tasks):
    chain = groups["deep"]["chain"]
    assert groups["deep"]["task"] == min(tasks[:3], key=id_of).get_name()
    assert [place["name"] for place in chain] == ["deep"] * 51 + ["Event.wait"]
    lines = [line_of("await deep(")] * 50 + [line_of("await event.wait()")]
    assert [place["line"] for place in chain[:-1]] == lines
    assert {place["file"] for place in chain[:-1]} == {__file__}
    names = [place["name"] for place in groups["in_a_generator"]["chain"]]
    assert names == ["in_a_generator", "in_a_generator.<locals>.numbers", "Event.wait"]
    assert [place["name"] for place in groups["awaits"]["chain"]] == ["awaits"]
    names = [place["name"] for place in groups["gets"]["chain"]]
    assert names == ["gets", "Queue.get"]


def test_what_tasks_wait_for(tracing):
    async def main():
        event, lock, queue = asyncio.Event(), asyncio.Lock(), asyncio.Queue()
        future = asyncio.get_running_loop().create_future()
        await lock.acquire()
        coroutines = [deep(50, event) for _ in range(3)]
        coroutines += in_a_generator(event), in_a_group(event), gathers(event), takes(lock)
        coroutines += gets(queue), sleeps(), awaits(future), in_a_class(event)
        tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
        tasks.append(
            asyncio.Task(eager(event), loop=asyncio.get_running_loop(), eager_start=True)
        )
        # While Ocular reads the tasks, it can miss a new task, and find a task that runs.
        expected = len(tasks) + 4

        def all_wait(groups):
            waits = {name: group["waits_in"] for name, group in groups.items()}
            waits.pop("main", None)
            found = sum(group["count"] for group in groups.values())
            if found != expected or None in waits.values():
                return False
            return groups["deep"]["wait_count"] == 3  # One of them may run.

        total, groups = await whole(all_wait)
        assert total == len(asyncio.all_tasks()) == expected
        waits = {name: group["waits_in"] for name, group in groups.items()}
        # main() sleeps between two checks.
        assert waits.pop("main") in ("sleep", None)
        assert waits == {
            "deep": "Event.wait",
            "in_a_generator": "Event.wait",
            "in_a_group": waits_in_a_group(),
            "in_the_group": "Event.wait",
            "gathers": "gathers",
            "wait": "Event.wait",  # gather() makes two tasks.
            "takes": "Lock.acquire",
            "gets": "Queue.get",
            "sleeps": "sleep",
            "awaits": "awaits",
            "in_a_class": "Event.wait",
            "eager": "Event.wait",
        }
        assert groups["deep"]["count"] == 3
        assert groups["wait"]["count"] == 2
        check_chains(groups, tasks)
        assert groups["awaits"]["wait_line"] == line_of("await future")
        assert groups["awaits"]["wait_file"] == groups["awaits"]["file"] == __file__
        assert groups["awaits"]["line"] == line_of("async def awaits")
        assert groups["deep"]["oldest_s"] >= 0
        future.set_result(None)
        event.set()
        lock.release()
        queue.put_nowait(1)
        tasks[8].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        _, groups = await whole(lambda groups: list(groups) == ["main"])

    asyncio.run(main())


def test_many_tasks_fill_in():
    async def main():
        event = asyncio.Event()
        tasks = [asyncio.create_task(event.wait()) for _ in range(100_000)]
        await asyncio.sleep(0)
        total, groups = await whole(lambda groups: True)
        assert total == 100_001
        assert groups["wait"]["count"] == groups["wait"]["wait_count"] == 100_000
        event.set()
        await asyncio.gather(*tasks)

    run_traced(main())


async def stays(event):
    await event.wait()


async def goes(future):
    await future


async def end_some(going):
    while True:
        for _ in range(len(going) // 300):
            going.pop().set_result(None)
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("named", [False, True])
def test_tasks_end_during_the_walk(named):
    """While Ocular reads the tasks, it takes and releases the GIL. Meanwhile tasks end."""

    async def main():
        event, loop = asyncio.Event(), asyncio.get_running_loop()
        tasks, going = [], []
        for _ in range(2000):
            tasks.append(loop.create_task(stays(event), name="n" if named else None))
            going.append(loop.create_future())
            tasks.append(loop.create_task(goes(going[-1])))
        random.shuffle(going)
        ending = loop.create_task(end_some(going))
        found = set()

        def shrinks(groups):
            count = groups["goes"]["count"] if "goes" in groups else 0
            if 0 < count < 2000:
                found.add((count, groups["stays"]["count"]))
            return len(found) >= 3

        await whole(shrinks)
        # If tasks have no numbers, Ocular can miss the tasks behind a task that has ended,
        # or count them twice.
        few = 10 if named else 0
        assert all(abs(stay - 2000) <= few for _, stay in found), found
        event.set()
        for task in [ending, *tasks]:
            task.cancel()
        await asyncio.gather(ending, *tasks, return_exceptions=True)

    run_traced(main())


def test_tasks_of_threads():
    """Tasks of a thread that has ended still exist."""
    loops, tasks = [], []

    async def leave(event):
        tasks.extend(asyncio.create_task(stays(event)) for _ in range(3))
        await asyncio.sleep(0)

    def run():
        loops.append(asyncio.new_event_loop())
        loops[-1].run_until_complete(leave(asyncio.Event()))

    async def main():
        event = threading.Event()
        ends = [threading.Thread(target=run) for _ in range(2)]
        lives = threading.Thread(target=lambda: (run(), event.wait()))
        for thread in [*ends, lives]:
            thread.start()
        for thread in ends:
            thread.join()
        await whole(lambda groups: "stays" in groups and groups["stays"]["count"] == 9)
        event.set()
        lives.join()
        total, groups = await whole(lambda groups: groups["stays"]["count"] == 9)
        assert groups["stays"]["waits_in"] == "Event.wait"
        assert total == 10

    run_traced(main())
    for task in tasks:
        task.cancel()
    for loop in loops:
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def test_a_name_like_those_of_asyncio_spoils_no_age():
    async def main():
        named = asyncio.create_task(sleeps(), name="Task-1000000000")
        _, groups = await whole(lambda groups: "sleeps" in groups)
        assert groups["sleeps"]["oldest_s"] is None
        begun = time.monotonic()
        task = asyncio.create_task(awaits(asyncio.get_running_loop().create_future()))
        _, groups = await whole(lambda groups: "awaits" in groups)
        assert groups["awaits"]["oldest_s"] < time.monotonic() - begun
        assert groups["main"]["oldest_is_least"] is True
        assert groups["awaits"]["oldest_is_least"] is False
        named.cancel()
        task.cancel()

    run_traced(main())


def test_tasks_that_no_walk_may_disturb(tracing):
    """Ocular runs no code of the program's classes, and keeps no task alive."""

    class Odd(asyncio.Task):
        __slots__ = ("first",)

        def get_coro(self):
            raise AssertionError

        def get_name(self):
            raise AssertionError

        def __getattribute__(self, name):
            assert name not in ("_coro", "_fut_waiter", "_state")
            return super().__getattribute__(name)

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_task_factory(lambda loop, coro, **more: Odd(coro, loop=loop, **more))
        odd = asyncio.create_task(sleeps(), name="ä task")
        await asyncio.sleep(0)
        before = sys.getrefcount(odd)
        _, groups = await whole(lambda groups: "sleeps" in groups)
        assert groups["sleeps"]["waits_in"] == "sleep"
        # The program has given this task a name.
        assert groups["sleeps"]["oldest_s"] is None
        assert sys.getrefcount(odd) == before
        odd.cancel()

    asyncio.run(main())


def test_a_program_without_asyncio():
    """The program has not imported asyncio, so there are no tasks."""
    code = """if True:
        import sys, time, ocular
        ocular.start_tracing(perfetto=False, quiet=True)
        while ocular.snapshot()["tasks"]["total"] is None:
            time.sleep(0.05)
        print(ocular.snapshot()["tasks"], "asyncio" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lists = "'groups': [], 'awaits': [], 'places': []"
    assert done.stdout == f"{{'total': 0, {lists}}} False\n", done.stderr


WRAPPER = """
async def runs(coro):
    await coro
"""


def test_cpu_time_steps_and_places(tmp_path):
    """A task that a library's coroutine wraps counts for the program's coroutine. Ocular
    counts the task's steps and samples its CPU time. Only if Ocular was already observing
    tasks, it knows the line that created the task. No task is kept alive."""
    here = sys._getframe().f_code.co_filename
    library = tmp_path / "site-packages" / "wrapper.py"
    library.parent.mkdir()
    library.write_text(WRAPPER)
    runs = runpy.run_path(str(library))["runs"]

    async def leaf(event):
        await event.wait()

    async def hundred(event):
        for _ in range(100):
            await asyncio.sleep(0)
        await event.wait()

    async def busy(event):
        while not event.is_set():
            sum(range(20_000))
            await asyncio.sleep(0.005)

    async def main():
        event, loop = asyncio.Event(), asyncio.get_running_loop()
        ended = asyncio.Event()
        ended.set()
        old = asyncio.create_task(leaf(event))
        await whole(lambda groups: "leaf" in groups)
        both = asyncio.gather(old)  # Creates no task.
        # New tasks use the memory and the name of these tasks again.
        for _ in range(20):
            await asyncio.create_task(hundred(ended), name="hundred")
        steps = asyncio.create_task(hundred(event), name="hundred")
        line = steps_line = sys._getframe().f_lineno - 1
        works = loop.create_task(busy(event))
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(runs(leaf(event)))
            total, groups = await whole(
                lambda groups: (
                    groups.get("busy", {}).get("steps_per_s")
                    and groups["busy"]["cpu_share"]
                    and groups["leaf"]["count"] == 4
                )
            )
            # A wrapped task is in the group of the coroutine that it wraps.
            assert "runs" not in groups and total == 7
            assert groups["leaf"]["tasks"][1]["chain"][0]["name"] == "runs"
            assert groups["leaf"]["cpu_share"] < groups["busy"]["cpu_share"] <= 1.5
            assert 0 < groups["busy"]["steps_per_s"] <= 200
            assert groups["leaf"]["steps_per_s"] < groups["busy"]["steps_per_s"]
            assert groups["hundred"]["tasks"][0]["steps"] == 101
            places = ocular.snapshot()["tasks"]["places"]
            assert {place["file"] for place in places} == {here}
            assert {place["coroutine"].split(".")[-1] for place in places} == {"main"}
            found = {place["line"]: place["count"] for place in places}
            # `old` was created before Ocular observed tasks.
            assert found == {steps_line: 1, line + 2: 1, line + 5: 3}
            event.set()
        await asyncio.gather(both, steps, works)
        alive = [weakref.ref(task) for task in (old, steps, works)]
        del old, both, steps, works, groups, group
        await asyncio.sleep(0)  # the current step's handle refers to the tasks
        gc.collect()
        assert not any(task() for task in alive)

    run_traced(main())
    # The next owner of a tool id gets no event of asyncio's functions.
    for tool in range(6):
        sys.monitoring.use_tool_id(tool, "test")
        events = sys.monitoring.get_local_events(tool, asyncio.create_task.__code__)
        sys.monitoring.free_tool_id(tool)
        assert not events


class OtherHandle(asyncio.Handle):
    """With this class, the loop runs tasks without its own Handle._run, as uvloop does."""

    def _run(self):
        self._context.run(self._callback, *self._args)


@pytest.mark.parametrize("handle", [asyncio.Handle, OtherHandle])
@pytest.mark.parametrize("eager", [False, True])
def test_steps_of_wrapped_tasks(handle, eager, tmp_path, monkeypatch):
    """All steps count for the program's coroutine: those of tasks that a library's or
    asyncio's coroutine wraps, and those of a coroutine that another one has awaited before
    it became a task. The first step of an eager task counts, too."""
    library = tmp_path / "site-packages" / "wrapper.py"
    library.parent.mkdir()
    library.write_text(WRAPPER)
    runs = runpy.run_path(str(library))["runs"]
    monkeypatch.setattr(asyncio.events, "Handle", handle)
    steps = 0

    async def request(awaits=2):
        nonlocal steps
        steps += 1
        for _ in range(awaits):
            await asyncio.sleep(0.05)
            steps += 1

    async def creates(tasks):
        while True:
            wrapped = runs(request()), asyncio.wait_for(request(), 60)
            short = (request(0) for _ in range(6))
            for coroutine in (request(), *short, *wrapped):
                tasks.append(asyncio.create_task(coroutine))
            await asyncio.sleep(0.1)

    async def main():
        tasks, newest = [], []
        await request()
        creator = asyncio.create_task(creates(tasks))
        if eager:
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)

        def has_all(groups):
            newest.append((time.monotonic(), steps))
            past = next(one for one in newest if one[0] > newest[-1][0] - 1.2)
            rate = (steps - past[1]) / max(newest[-1][0] - past[0], 1)
            found = groups.get("request", {}).get("steps_per_s")
            return found and 0.88 < found / rate < 1.12

        await whole(has_all)
        creator.cancel()
        await asyncio.gather(*tasks)

    run_traced(main())


def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def run_again(loop, coroutine):
    """Runs the loop again within a task, as nest_asyncio does."""
    current = asyncio.current_task()
    asyncio.tasks._leave_task(loop, current)
    task = asyncio.ensure_future(coroutine, loop=loop)
    while not task.done():
        loop._run_once()
    asyncio.tasks._enter_task(loop, current)


def test_tasks_within_a_task():
    """CPU time counts for the task that runs, not for the task that has created this task:
    for an eager task, and for tasks of a loop that a task runs again. The latter have
    steps."""

    async def eager():
        burn(0.004)
        await asyncio.sleep(0.03)

    async def creates(tasks):
        while True:
            tasks.append(asyncio.create_task(eager()))
            await asyncio.sleep(0.02)

    async def cell():
        for _ in range(100):
            burn(0.004)
            await asyncio.sleep(0.01)

    async def nests():
        loop = asyncio.get_running_loop()
        loop.set_task_factory(asyncio.eager_task_factory)
        creator = asyncio.create_task(creates([]))
        due, shares, steps = time.monotonic() + 60, {}, 0
        while not (
            steps
            and min(shares["eager"], shares["cell"]) > 0.02
            and max(shares["creates"], shares["nests"]) < 0.01
        ):
            assert time.monotonic() < due, (shares, steps)
            loop.set_task_factory(None)
            task = asyncio.create_task(cell())
            loop.set_task_factory(asyncio.eager_task_factory)
            run_again(loop, asyncio.wait([task], timeout=0.5))
            found = ocular.snapshot()["tasks"]["groups"]
            groups = {group["coroutine"].split(".")[-1]: group for group in found}
            shares = {n: group["cpu_share"] or 0 for n, group in groups.items()}
            shares = {"eager": 0, "cell": 0, **shares}
            steps = groups.get("cell", {}).get("steps_per_s")
            task.cancel()
        creator.cancel()

    run_traced(nests())


def test_places_of_old_tasks_stay():
    """After many short tasks, Ocular still knows where older tasks were created."""

    async def short():
        pass

    async def main():
        event = asyncio.Event()
        await whole(lambda groups: "main" in groups)
        old = [asyncio.create_task(stays(event)) for _ in range(500)]
        line = sys._getframe().f_lineno - 1

        def count():
            places = ocular.snapshot()["tasks"]["places"]
            return [place["count"] for place in places if place["line"] == line]

        await whole(lambda groups: count() == [500])
        places = ocular.snapshot()["tasks"]["places"]
        assert not any(place["count_is_least"] for place in places)
        for _ in range(20):
            await asyncio.gather(*(short() for _ in range(5000)))
            await whole(lambda groups: groups["stays"]["count"] == 500)
        await whole(lambda groups: count())
        assert count() == [500]
        event.set()
        await asyncio.gather(*old)

    ocular.start_tracing(**QUIET)
    try:
        asyncio.run(main())
    finally:
        ocular.stop_tracing()


def test_the_count_of_a_place_may_be_a_lower_bound():
    """Ocular remembers fewer tasks than the program creates."""

    async def main():
        event = asyncio.Event()
        await whole(lambda groups: "main" in groups)
        tasks = [asyncio.create_task(stays(event)) for _ in range(20_000)]

        def is_least(groups):
            places = ocular.snapshot()["tasks"]["places"]
            return places and places[0]["count_is_least"] and places[0]["count"] < 20_000

        await whole(is_least)
        groups = ocular.snapshot()["tasks"]["groups"]
        assert not any(group["count_is_least"] for group in groups)
        event.set()
        await asyncio.gather(*tasks)

    run_traced(main())


def test_places_in_asyncio():
    """A task that asyncio creates in a callback counts for a line of asyncio."""

    async def handles(reader, writer):
        await reader.read()
        writer.close()

    async def main():
        server = await asyncio.start_server(handles, "127.0.0.1", 0)
        await whole(lambda groups: "main" in groups)
        address = server.sockets[0].getsockname()
        _, writer = await asyncio.open_connection(*address)
        await whole(lambda groups: "handles" in groups)
        names = {place["coroutine"] for place in ocular.snapshot()["tasks"]["places"]}
        assert names == {"StreamReaderProtocol.connection_made"}
        writer.close()
        server.close()

    run_traced(main())
