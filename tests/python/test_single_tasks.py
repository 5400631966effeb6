# SPDX-License-Identifier: MIT
"""Tests what a snapshot says about each of asyncio's tasks, by programs with known ones."""

import asyncio
import gc
import os
import random
import re
import subprocess
import sys
import time

import ocular
import pytest
from python.task_snapshots import QUIET, run_traced, whole


async def find(condition):
    """Returns the task groups of the first snapshot that meets the condition."""
    return (await whole(condition))[1]


def by_name(groups):
    return {task["name"]: task for group in groups.values() for task in group["tasks"]}


def waiting_of(groups):
    """Returns the number of tasks that wait, without the task of main()."""
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


async def grouped(event):
    async with asyncio.TaskGroup() as group:
        group.create_task(leaf(event), name="in the group")


async def deep(levels, event):
    await (deep(levels - 1, event) if levels else event.wait())


async def gets(queue):
    await queue.get()


async def sleeps():
    await asyncio.sleep(1000)


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
            "group": grouped(event),
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


def test_cpu_time_of_single_tasks():
    """Tasks of one coroutine function have their own CPU times. The time of an eager task
    does not count for the task that creates it."""
    used = {}

    async def works(name, ms, makes):
        while not used.get("end"):
            # A program with a fixed period can be in step with the samples.
            begin, took = time.thread_time(), ms / 1000 * random.uniform(0.5, 1.5)
            while time.thread_time() < begin + took:
                pass
            used[name] = used.get(name, 0) + time.thread_time() - begin
            if makes:
                loop = asyncio.get_running_loop()
                once = works_once(random.uniform(3, 9))
                await asyncio.Task(once, loop=loop, eager_start=True)
            await asyncio.sleep(random.uniform(0.01, 0.03))

    async def works_once(ms):
        begin = time.thread_time()
        while time.thread_time() < begin + ms / 1000:
            pass

    async def main():
        loop = asyncio.get_running_loop()
        tasks = [
            loop.create_task(works(name, ms, name == "makes"), name=name)
            for name, ms in {"much": 6, "makes": 2, "none": 0}.items()
        ]
        begin = time.monotonic()

        def are_right(groups):
            share = {task["name"]: task["cpu_share"] for task in groups["works"]["tasks"]}
            true = {name: used.get(name, 0) / (time.monotonic() - begin) for name in share}
            return (
                len(share) == 3
                and None not in share.values()
                and all(
                    abs(share[name] - true[name]) < max(0.25 * true[name], 0.01)
                    for name in share
                )
            )

        groups = await find(lambda groups: "works" in groups and are_right(groups))
        assert (groups["main"]["tasks"][0]["cpu_share"] or 0) < 0.05
        used["end"] = True
        await asyncio.gather(*tasks)

    run_traced(main())


def test_a_long_name_ends_in_dots():
    async def main():
        task = asyncio.create_task(sleeps(), name="leaf")
        names = [f"x{25 * 'ä'}{number}" for number in range(2)]
        waiting = [asyncio.create_task(awaits(task), name=name) for name in names]
        await asyncio.sleep(0)
        found = by_name(await find(lambda groups: waiting_of(groups) == 3))
        assert found["leaf"]["awaited_by"] == f"x{18 * 'ä'}... +1"
        task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

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
        # These tasks are ready now, but they run only in the loop's next turn.
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
    """Ocular reads the tasks in several slices. Between slices, tasks and the tasks that
    await them begin and end. A forked child does not disturb the reading."""

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


def test_tasks_of_classes_written_in_python():
    class Odd(asyncio.tasks._PyTask):
        """A class of tasks that replaces the attribute `_coro`."""

        @property
        def _coro(self):
            raise AssertionError

        @_coro.setter
        def _coro(self, coro):
            pass

        def __del__(self):
            pass

    class Own:
        def __init__(self, coro):
            self._coro, self._name = coro, 7

    async def main():
        event, loop = asyncio.Event(), asyncio.get_running_loop()
        ended = asyncio.tasks._PyTask(awaits(asyncio.sleep(0)), loop=loop)
        tasks = [asyncio.tasks._PyTask(leaf(event), loop=loop) for _ in range(3)]
        named = asyncio.tasks._PyTask(leaf(event), loop=loop, name="named")
        own = [Own(leaf(event)), Own(leaf(event)), Own(7), Own(None)]
        own[1].__dict__.pop("_name")
        del own[3]._coro
        odd = Odd.__new__(Odd)
        for task in (*own, odd):
            asyncio.tasks._py_register_task(task)
        await ended
        groups = await find(lambda groups: groups.get("leaf", {}).get("count") == 6)
        assert "awaits" not in groups
        found = by_name(groups)
        assert found["named"]["state"] is found["named"]["waits_for"] is None
        assert found["named"]["age_s"] is None
        chain = [place["name"] for place in found["named"]["chain"]]
        assert chain == ["leaf", "Event.wait"]
        # The two classes number their tasks separately, so these tasks have no known age.
        assert all(found[task.get_name()]["age_s"] is None for task in tasks)
        assert found["?"]["state"] == "new"
        assert sys.getrefcount(own[0]) == sys.getrefcount(own[3])
        event.set()
        for task in own[:2]:
            task._coro.close()
        await asyncio.gather(named, *tasks)

    run_traced(main())


def asyncio_says(command):
    """Returns what asyncio's own tool prints about this process, as lines, or None if the
    tool could not read the tasks at this moment."""
    arguments = [sys.executable, "-m", "asyncio", command, str(os.getpid())]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    if "insufficient permissions" in done.stdout:
        pytest.skip("asyncio's tool may not read this process")
    return done.stdout.splitlines() if done.returncode == 0 else None


def tasks_of_ps(lines):
    """Reads the table of the command `ps`. Returns for each task the functions on its
    stack, the outermost one first, and the set of tasks that wait for it."""
    titles = ("task name", "coroutine stack", "awaiter chain", "awaiter name", "awaiter id")
    at = [lines[0].index(title) for title in titles]
    found = {}
    for line in lines[2:]:
        name, chain, _, by = (line[one:end].strip() for one, end in zip(at, at[1:]))
        assert line[at[1] - 1] == line[at[2] - 1] == " "  # the texts fit into the columns
        functions = chain.split(" -> ")[::-1]
        found.setdefault(name, (functions, set()))[1].update([by] if by else [])
    return found


def tasks_of_pstree(lines):
    """Reads the tree of the command `pstree`. Returns the same as tasks_of_ps(), and the
    line in each function. A task's functions come before the tasks that it waits for."""
    found, above = {}, []
    for line in filter(None, lines):
        edge, is_task, text = re.fullmatch(r"(.*?── )(\(T\) | )(.*)", line).groups()
        if not is_task.strip():
            function, place = text.split(" ", 1)
            above[-1][2].append((function, *place.rsplit(":", 1)))
            continue
        while above and above[-1][0] >= len(edge):
            above.pop()
        by = {above[-1][1]} if above else set()
        above.append((len(edge), text, []))
        # A task that several tasks wait for is in the tree several times.
        found.setdefault(text, []).append((above[-1][2], by))
    assert all(chain == many[0][0] for many in found.values() for chain, _ in many)
    return {name: (m[0][0], set().union(*(by for _, by in m))) for name, m in found.items()}


def same_awaiter(task, names):
    """Checks that `awaited_by` names one waiting task and the number of the others."""
    if not names:
        return task["awaited_by"] is None
    more = f" +{len(names) - 1}" if len(names) > 1 else ""
    return task["awaited_by"] in {name + more for name in names}


def difference(tasks, ps, pstree):
    """Returns the first difference from the tasks that asyncio's tool shows, or None."""
    if not tasks.keys() == ps.keys() == pstree.keys():
        return sorted(tasks), sorted(ps), sorted(pstree)
    for name, task in tasks.items():
        lines = [(p["name"], p["file"], str(p["line"])) for p in task["chain"]]
        if ps[name][0] != [line[0] for line in lines] or pstree[name][0] != lines:
            return name, lines, ps[name], pstree[name]
        if not (same_awaiter(task, ps[name][1]) and same_awaiter(task, pstree[name][1])):
            return name, task["awaited_by"], ps[name], pstree[name]
    return None


def compare():
    """Compares until there is no difference. Tasks can change between two reads."""
    due, found = time.monotonic() + 60, "nothing was read"
    while found and time.monotonic() < due:
        groups = ocular.snapshot()["tasks"]
        ps, pstree = asyncio_says("ps"), asyncio_says("pstree")
        if groups["total"] is None or not ps or not pstree:
            continue
        tasks = by_name({group["coroutine"]: group for group in groups["groups"]})
        found = difference(tasks, tasks_of_ps(ps), tasks_of_pstree(pstree))
        assert found or len(tasks) == groups["total"] == 15
    assert not found, found


async def compares():
    """Runs tasks, and compares them. Their names are short enough for the columns."""
    event = asyncio.Event()
    leaves = [asyncio.create_task(leaf(event), name=f"leaf {key}") for key in "abcd"]
    waiting = [
        asyncio.create_task(awaits(leaves[0]), name="awaits 1"),
        asyncio.create_task(awaits(leaves[0])),
        asyncio.create_task(gathers(*leaves[1:3])),
        asyncio.create_task(waits_for_first(leaves[3]), name="waits"),
        asyncio.create_task(grouped(event), name="group"),
    ]
    others = [asyncio.create_task(gets(asyncio.Queue())), asyncio.create_task(sleeps())]
    others.append(asyncio.create_task(deep(2, event), name="a task"))
    await asyncio.create_task(asyncio.to_thread(compare), name="compares")
    event.set()
    for task in others:
        task.cancel()
    await asyncio.gather(*waiting, *leaves, *others, return_exceptions=True)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="asyncio has no such tool")
def test_the_tasks_are_those_that_asyncio_itself_shows():
    run_traced(compares())
