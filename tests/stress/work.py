# SPDX-License-Identifier: MIT
"""Does the work that is traced. The work consists of code that is made and freed while
other threads run it, of generators, exceptions, recursion and short threads, and of other
tools."""

import asyncio
import cProfile
import gc
import operator
import sys
import threading
import time

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


class Ends:
    """An object in a reference cycle, with a finalizer that runs Python code and lets other
    threads run."""

    def __init__(self, sleeps):
        self.me = self
        self.sleeps = sleeps

    def __del__(self):
        meet_nobody(3)
        if self.sleeps:
            time.sleep(0.001)


def meet_nobody(depth):
    return meet_nobody(depth - 1) if depth else 0


def collect(party, dice):
    """Collects garbage that has finalizers, while gc.callbacks changes."""

    def watch(phase, info):
        meet_nobody(1)

    while party.going(0.005):
        for _ in range(dice.randrange(40)):
            Ends(dice.random() < 0.02)
        choice = dice.randrange(30)
        if choice == 0:
            gc.callbacks.clear()
        elif choice == 1:
            gc.callbacks.insert(0, watch)
        elif choice == 2 and len(gc.callbacks) < 5:
            gc.callbacks.append(watch)
        gc.collect(dice.randrange(3))
        party.count("collections")


def raise_kinds(party, dice):
    """Raises exceptions whose types and code are freed soon afterwards. Sometimes there are
    too many to be counted within a budget."""

    def catch(raise_one, times):
        for _ in range(times):
            try:
                raise_one()
            except Exception:
                pass

    while party.going(0.005):
        kind = type(f"Kind{dice.randrange(400)}", (Exception,), {})
        space = {"kind": kind}
        exec(f"def f{dice.randrange(9)}():\n    raise kind", space)
        catch(space.popitem()[1], dice.choice((1, 3, 20_000)))
        party.count("exceptions")


def depth_reached():
    """Returns the number of frames that Python pushes before it raises RecursionError."""
    deepest = 0

    def down(depth):
        nonlocal deepest
        deepest = depth
        down(depth + 1)

    try:
        down(1)
    except RecursionError:
        pass
    return deepest


def recurse(party, dice):
    """Recurses to Python's limit. Tracing must not use any of the limit's levels."""
    expected = None
    while party.going(0.05):
        reached = depth_reached()
        if expected is None:
            expected = reached
        if reached != expected:
            party.fail(f"recursion went {reached} deep, {expected} before")
        party.count("recursions")


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

    def hook(frame, event, argument):
        return hook

    def busy():
        for i in range(20):
            party.dice(i).random()

    monitoring = sys.monitoring
    tool = monitoring.DEBUGGER_ID
    while party.going(0.02):
        choice = dice.randrange(5)
        if choice == 0:
            sys.settrace(hook)
            busy()
            sys.settrace(None)
        elif choice == 1:
            sys.setprofile(hook)
            busy()
            sys.setprofile(None)
        elif choice == 2:
            with cProfile.Profile():
                busy()
        elif choice == 3:
            monitoring.use_tool_id(tool, "stress")
            events = monitoring.events
            # The callback is a C function. A Python function would need a frame of its own,
            # which counts for the recursion limit.
            monitoring.register_callback(tool, events.LINE, operator.is_)
            monitoring.set_events(tool, events.LINE)
            busy()
            monitoring.set_events(tool, 0)
            monitoring.register_callback(tool, events.LINE, None)
            monitoring.free_tool_id(tool)
        else:
            monitoring.restart_events()
        party.count("other tools")


PARTS = [(f"churn {i}", churn) for i in range(4)] + [
    ("recurse", recurse),
    ("gather", gather),
    ("collect", collect),
    ("raise", raise_kinds),
    ("other tools", other_tools),
]
