# SPDX-License-Identifier: MIT
"""Does the work that is traced. The work consists of code that is made and freed while
other threads run it, of generators, exceptions and short threads, and of other tools."""

import asyncio
import cProfile
import gc
import operator
import sys
import threading

SOURCE = """
def function{n}(x, depth=3):
    total = 0
    for i in range(x):
        if i % 3:
            total += i
        else:
            total -= 1
    if depth and x % 2:
        return function{n}(x - 1, depth - 1)
    return total
def generator{n}(x):
    try:
        for i in range(x):
            if (yield i) == 7:
                raise ValueError(i)
    finally:
        total = 0
def outer{n}(x):
    yield from generator{n}(x)
class Class{n}:
    def __init__(self):
        self.a = 1
    def method(self):
        return [y for y in range(5) if y]
async def coroutine{n}(x):
    return sum([await inner{n}(i) for i in range(x)])
async def inner{n}(i):
    return i
def raising{n}(depth):
    try:
        if depth == 0:
            raise KeyError(depth)
        return raising{n}(depth - 1)
    finally:
        depth -= 1
"""


def churn(party, dice):
    """Compiles code, runs it, passes functions of it to other threads, and frees it."""
    while party.going():
        n = party.fresh("")
        names = {}
        exec(compile(SOURCE.format(n=n), f"/made/{n}.py", "exec"), names)
        for _ in range(dice.choice((1, 6, 30))):
            exercise(names, n, dice)
        if dice.random() < 0.05:
            meet(names[f"function{n}"], dice)
        if dice.random() < 0.02:
            gc.collect()
        party.count("code", 9)


def exercise(names, n, dice):
    x = dice.randrange(12)
    names[f"function{n}"](x)
    generator = names[dice.choice((f"generator{n}", f"outer{n}"))](5)
    try:
        next(generator)
        generator.send(1)
        choice = dice.randrange(5)
        if choice == 0:
            generator.send(7)
        elif choice == 1:
            generator.throw(RuntimeError)
        elif choice == 2:
            generator.close()
        elif choice == 3:
            list(generator)
    except (ValueError, RuntimeError):
        pass
    names[f"Class{n}"]().method()
    try:
        names[f"coroutine{n}"](3).send(None)
    except StopIteration as stop:
        assert stop.value == 3
    try:
        names[f"raising{n}"](dice.randrange(6))
    except KeyError:
        pass
    assert sorted([3, 1, 2], key=lambda value: -value) == [3, 2, 1]


def meet(function, dice):
    """Runs one function in several short threads. Then the function's code is freed."""
    threads = [
        threading.Thread(target=function, args=(dice.randrange(30),))
        for _ in range(dice.randrange(1, 5))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def gather(party, dice):
    """Uses asyncio: tasks, groups, cancellation and async generators."""

    async def ticks(count):
        for i in range(count):
            await asyncio.sleep(0)
            yield i

    async def task(count):
        total = 0
        async for i in ticks(count):
            total += i
            if i == 7:
                raise ValueError(i)
        return total

    async def group():
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(dice.randrange(1, 6)):
                    tasks.create_task(task(dice.randrange(10)))
        except* ValueError:
            pass
        late = asyncio.create_task(asyncio.sleep(60))
        await asyncio.sleep(0)
        late.cancel()
        await asyncio.wait([late])

    while party.going(0.01):
        asyncio.run(group())
        party.count("event loops")


def other_tools(party, dice):
    """Starts and stops trace functions, profilers and another tool of sys.monitoring, while
    the other parts of the stress test run."""

    def busy():
        for i in range(20):
            party.dice(i).random()

    def hook(frame, event, argument):
        return hook

    def with_hook(install):
        install(hook)
        busy()
        install(None)

    def with_events():
        monitoring.use_tool_id(tool, "stress")
        monitoring.register_callback(tool, line, operator.is_)
        monitoring.set_events(tool, line)
        busy()
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, line, None)
        monitoring.free_tool_id(tool)

    monitoring = sys.monitoring
    tool, line = monitoring.DEBUGGER_ID, monitoring.events.LINE
    ways = (
        lambda: with_hook(sys.settrace),
        lambda: with_hook(sys.setprofile),
        lambda: cProfile.Profile().runcall(busy),
        with_events,
        monitoring.restart_events,
    )
    while party.going(0.02):
        dice.choice(ways)()
        party.count("other tools")


PARTS = [(f"churn {i}", churn) for i in range(4)] + [
    ("gather", gather),
    ("other tools", other_tools),
]
