# SPDX-License-Identifier: MIT
"""The program that `make soak` traces. The program runs until its stdin is closed. The
program has threads that change their work, asyncio, code that is made and freed, idle
times, and forks from time to time. At the end the program stops the trace and prints its
counts on stdout."""

import asyncio
import json
import os
import random
import re
import sys
import threading
import time
import warnings

import ocular

BUDGET = 0.01
PHASE_S = 20
IDLE_S = 4  # seconds of each phase in which only beat() works
FORK_S = 7
RETIRED_S = 0.1

over = threading.Event()
counts = {"beats": 0, "rounds": 0, "forks": 0, "code objects": 0, "ticks": 0}


def beat():
    """This function runs all the time, about ten times a second."""
    total = 0
    for number in range(200):
        total += number * number
    return total


def beating():
    while not over.wait(0.1):
        counts["beats"] += 1
        beat()


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def moved(self, dx, dy):
        return Point(self.x + dx, self.y + dy)


def walk(dice):
    point = Point(0, 0)
    for _ in range(300):
        point = point.moved(dice.random(), 1)
    return point.x


def parse(dice):
    text = json.dumps(
        [{"name": str(number), "value": dice.random()} for number in range(60)]
    )
    return len(json.loads(text))


def sieve(dice):
    numbers = [True] * 3000
    for step in range(2, 55):
        if numbers[step]:
            for multiple in range(step * step, 3000, step):
                numbers[multiple] = False
    return sum(numbers)


def search(dice):
    words = " ".join(str(dice.randrange(10_000)) for _ in range(300))
    return len(re.findall(r"\b(\d)(\d)\2\1\b", words))


def climb(dice, depth=60):
    return depth and 1 + climb(dice, depth - 1)


KINDS = (walk, parse, sieve, search, climb)
WORKERS = 3


def kind_at(seconds, number):
    """Returns the kind of work that this worker does at a given time (s of the monotonic
    clock)."""
    return KINDS[(int(seconds // PHASE_S) + number) % len(KINDS)]


def run_throughout(begin, end):
    """Returns the names of functions that run at two given times and during all the time
    between them. A kind of work runs for as many phases as there are workers, and then does
    not run for two phases."""
    if end - begin < PHASE_S and begin % PHASE_S > PHASE_S - IDLE_S - 1:
        return {"beat"}  # the time begins in an idle time, or shortly before one
    return {"beat"} | set.intersection(
        *(
            {kind_at(at, number).__name__ for number in range(WORKERS)}
            for at in (begin, end)
        )
    )


def working(number):
    """Does another kind of work in each phase, and nothing at the end of a phase."""
    dice = random.Random(number)
    while not over.is_set():
        now = time.monotonic()
        if now % PHASE_S > PHASE_S - IDLE_S:
            over.wait(0.05)
            continue
        kind_at(now, number)(dice)
        counts["rounds"] += 1


def churning():
    """Makes new functions, calls them often, and then frees them."""
    source = "def made(n):\n    while n:\n        n -= 1\n    return {0}\n"
    while not over.wait(RETIRED_S):
        space = {}
        name = f"<made {counts['code objects'] % 400}>"
        exec(compile(source.format(counts["code objects"]), name, "exec"), space)
        for _ in range(3):
            space["made"](50)
        counts["code objects"] += 1


async def tick(queue):
    while not over.is_set():
        await queue.put(time.monotonic())
        await asyncio.sleep(0.01)


async def tock(queue):
    while not over.is_set():
        await queue.get()
        counts["ticks"] += 1


async def asynchronous():
    queue = asyncio.Queue()
    tasks = [asyncio.create_task(tick(queue)) for _ in range(4)]
    tasks.append(asyncio.create_task(tock(queue)))
    await asyncio.sleep(0)
    while not over.is_set():
        await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def fork():
    pid = os.fork()
    if not pid:
        beat()
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        raise RuntimeError("a child ended badly")
    counts["forks"] += 1


def main():
    # the program forks while it has several threads
    warnings.simplefilter("ignore", DeprecationWarning)
    ocular.start_tracing(
        serve=True, overhead_budget=BUDGET, quiet=True, timeline_limit=4 << 20
    )
    threads = [
        threading.Thread(target=working, args=(number,)) for number in range(WORKERS)
    ]
    threads += [
        threading.Thread(target=target)
        for target in (beating, churning, lambda: asyncio.run(asynchronous()))
    ]
    for thread in threads:
        thread.start()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    print(ocular._ocular.socket_path(), flush=True)
    while not over.wait(FORK_S):
        fork()
    for thread in threads:
        thread.join()
    final = ocular.stop_tracing()
    print(
        json.dumps(
            {
                "counts": counts,
                "lost": final["lost"],
                "events": final["events"],
                "threads": sorted(name for name in names() if name.startswith("ocular-")),
            }
        ),
        flush=True,
    )


def names():
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as file:
                yield file.read().strip()
        except OSError:
            pass


if __name__ == "__main__":
    main()
