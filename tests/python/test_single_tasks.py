# SPDX-License-Identifier: MIT
"""Tests what a snapshot says about the single tasks of asyncio, by programs in which this
is known."""

import asyncio
import gc
import os
import random
import time

import ocular

QUIET = dict(perfetto=False, quiet=True)


def run_traced(main):
    ocular.start_tracing(**QUIET, overhead_budget=0.01)
    try:
        asyncio.run(main)
    finally:
        ocular.stop_tracing()


async def find(condition):
    """Takes snapshots until a snapshot meets the condition. Returns its task groups by
    coroutine."""
    due = time.monotonic() + 60
    while time.monotonic() < due:
        tasks = ocular.snapshot()["tasks"]
        groups = {group["coroutine"].split(".")[-1]: group for group in tasks["groups"]}
        if tasks["total"] is not None and condition(groups):
            return groups
        await asyncio.sleep(0.1)
    raise AssertionError(tasks)


def by_name(groups):
    return {task["name"]: task for group in groups.values() for task in group["tasks"]}


def waiting_of(groups):
    """Returns the number of tasks that wait. main() can also run or be ready."""
    groups = {name: group for name, group in groups.items() if name != "main"}
    return sum(task["state"] == "waits" for task in by_name(groups).values())


async def leaf(event):
    await event.wait()


async def awaits(task):
    await task


async def gathers(*coroutines):
    await asyncio.gather(*coroutines)


async def waits_for_first(*tasks):
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


async def shields(task):
    await asyncio.shield(task)


async def runs_a_group(event):
    async with asyncio.TaskGroup() as group:
        group.create_task(leaf(event), name="in the group")


def test_who_waits_for_whom():
    async def main():
        event = asyncio.Event()
        name = dict(zip("abcdef", map("leaf {}".format, "abcdef")))
        leaves = {key: asyncio.create_task(leaf(event), name=name[key]) for key in "abcdef"}
        waiting = {
            "awaits 1": awaits(leaves["a"]),
            "awaits 2": awaits(leaves["a"]),
            "gathers": gathers(leaves["b"], leaves["c"]),
            "waits": waits_for_first(leaves["d"]),
            "shields": shields(leaves["e"]),
            "group": runs_a_group(event),
        }
        tasks = [asyncio.create_task(coro, name=key) for key, coro in waiting.items()]
        await asyncio.sleep(0)
        found = by_name(await find(lambda groups: waiting_of(groups) == 13))
        by = {name: task["awaited_by"] for name, task in found.items()}
        assert by["leaf a"] in ("awaits 1 +1", "awaits 2 +1")
        assert by["leaf b"] == by["leaf c"] == "gathers"
        assert by["leaf d"] == "waits"
        assert by["leaf e"] == "shields"
        assert by["leaf f"] is by["gathers"] is None
        assert by["in the group"] == "group"
        waits_for = {name: task["waits_for"] for name, task in found.items()}
        assert waits_for["awaits 1"] == waits_for["awaits 2"] == "leaf a"
        assert waits_for["gathers"] == "_GatheringFuture"
        assert waits_for["leaf a"] == "Future"
        assert {found[name]["state"] for name in (*waiting, "leaf a")} == {"waits"}
        chain = [place["name"] for place in found["leaf a"]["chain"]]
        assert chain == ["leaf", "Event.wait"]
        event.set()
        await asyncio.gather(*tasks, *leaves.values())

    run_traced(main())


def test_states_and_ages():
    async def main():
        event, loop = asyncio.Event(), asyncio.get_running_loop()
        old = asyncio.create_task(leaf(event))
        begun = time.monotonic()
        await find(lambda groups: "leaf" in groups)
        future = loop.create_future()
        tasks = [asyncio.create_task(awaits(future)) for _ in range(3)]
        young = time.monotonic()
        await find(lambda groups: "awaits" in groups)
        # Without a turn of the loop, these tasks do not go on.
        future.set_result(None)
        new = asyncio.create_task(leaf(event), name="new one")
        due = time.monotonic() + 60
        while True:
            shown = ocular.snapshot()["tasks"]["groups"]
            found = {task["name"]: task for group in shown for task in group["tasks"]}
            if "new one" in found and found[tasks[0].get_name()]["state"] == "ready":
                break
            assert time.monotonic() < due, found
            time.sleep(0.1)
        assert found["new one"]["state"] == "new"
        assert found["new one"]["age_s"] is None  # the program has named the task
        assert found[asyncio.current_task().get_name()]["state"] == "runs"
        assert {found[task.get_name()]["state"] for task in tasks} == {"ready"}
        age = found[old.get_name()]["age_s"]
        assert found[old.get_name()]["age_is_least"]
        assert age <= time.monotonic() - begun
        age = found[tasks[0].get_name()]["age_s"]
        assert not found[tasks[0].get_name()]["age_is_least"]
        assert age <= time.monotonic() - young
        event.set()
        await asyncio.gather(old, new, *tasks)

    run_traced(main())


def test_the_oldest_tasks_are_listed():
    async def main():
        event = asyncio.Event()
        tasks = [asyncio.create_task(leaf(event)) for _ in range(3000)]
        await asyncio.sleep(0)
        groups = await find(lambda groups: groups.get("leaf", {}).get("count") == 3000)
        names = [task["name"] for task in groups["leaf"]["tasks"]]
        assert names == [task.get_name() for task in tasks[:50]]
        assert groups["leaf"]["task"] == names[0]
        event.set()
        await asyncio.gather(*tasks)

    run_traced(main())


def read_in_a_child():
    """Traces a forked child, which has the tasks of its parent, and ends."""
    failed = 1
    try:
        ocular.start_tracing(**QUIET, overhead_budget=0.01)
        due = time.monotonic() + 60
        while failed and time.monotonic() < due:
            failed = ocular.snapshot()["tasks"]["total"] is None
            time.sleep(0.05)
    finally:
        os._exit(failed)


def test_tasks_that_end_while_they_are_read():
    """Tasks, and tasks that wait for them, begin and end between the slices of a walk. A
    forked child does not disturb the walk."""

    children = []

    async def waits(event):
        await asyncio.gather(leaf(event), awaits(asyncio.create_task(leaf(event))))

    async def main():
        dice, waiting, seen = random.Random(7), [], set()
        due = time.monotonic() + 60
        while len(seen) < 200 and time.monotonic() < due:
            while len(waiting) < 300:
                event = asyncio.Event()
                waiting.append((event, asyncio.create_task(waits(event))))
            dice.shuffle(waiting)
            for _ in range(100):
                event, task = waiting.pop()
                dice.choice([event.set, task.cancel])()
            await asyncio.sleep(0)
            await asyncio.sleep(dice.random() / 100)
            gc.collect()
            if seen and not children:
                children.append(os.fork())
                if not children[0]:
                    read_in_a_child()
            groups = ocular.snapshot()["tasks"]["groups"]
            for group in groups:
                for task in group["tasks"]:
                    assert task["state"] in ("new", "runs", "waits", "ready", None)
                    seen.add(task["name"])
        assert len(seen) >= 200
        for event, task in waiting:
            event.set()
        await asyncio.gather(*(task for _, task in waiting), return_exceptions=True)

    run_traced(main())
    assert os.waitpid(children[0], 0)[1] == 0


def test_a_subclass_and_an_eager_task():
    class Own(asyncio.Task):
        def get_coro(self):
            raise AssertionError

        @property
        def _fut_waiter(self):
            raise AssertionError

        def __getattribute__(self, name):
            assert name not in ("_fut_waiter", "_state", "_callbacks")
            return super().__getattribute__(name)

    async def main():
        event, loop = asyncio.Event(), asyncio.get_running_loop()
        own = Own(leaf(event), loop=loop, name="own")
        loop.set_task_factory(asyncio.eager_task_factory)
        eager = asyncio.create_task(leaf(event), name="eager")
        waiting = asyncio.create_task(awaits(own), name="waiting")
        found = by_name(await find(lambda groups: waiting_of(groups) == 3))
        assert found["own"]["state"] == found["eager"]["state"] == "waits"
        assert found["own"]["awaited_by"] == "waiting"
        assert found["waiting"]["waits_for"] == "own"
        event.set()
        await asyncio.gather(own, eager, waiting)

    run_traced(main())
