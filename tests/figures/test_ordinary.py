# SPDX-License-Identifier: MIT
"""Traces ordinary programs with a budget of 1 %. Most of these programs sleep most of the
time, as services do. A program measures the CPU time of each job by the thread's own clock,
and counts how often each job ran. test_services.py measures the rates of calls and the
overhead.

test_ordinary.py PROGRAM runs a program, and prints its own numbers and Ocular's."""

import asyncio
import collections
import hashlib
import json
import queue
import random
import subprocess
import sys
import threading
import time

import ocular
import pytest

SECONDS = 30
LEAST_SHARE = 0.04  # A job with a smaller part of the CPU time is not judged.
# With this many samples, an estimate has an error of 25 % (three sigma).
LEAST_SAMPLES = 144
truth = collections.Counter()  # CPU time in ns of each job
count = collections.Counter()
stop = 0.0  # time.monotonic() at which the program stops


# --- Jobs ---------------------------------------------------------------------


def integers():
    total = 0
    for number in range(3000):
        total += number * number
    return total


def leaf(number):
    return number + 1


def calls():
    for number in range(3000):
        leaf(number)
    count["leaf"] += 3000


def sorting():
    numbers = [number * 7919 % 1009 for number in range(2500)]
    numbers.sort()
    return numbers


def through_json():
    return json.loads(json.dumps(list(range(900))))


def hashing():
    """Runs C code that releases the GIL."""
    return hashlib.sha256(bytes(1 << 20)).digest()


JOBS = {integers: 0.4, sorting: 0.25, calls: 0.25, through_json: 0.1}


def do(job):
    began = time.thread_time_ns()
    job()
    truth[job.__name__] += time.thread_time_ns() - began
    count[job.__name__] += 1


def some_job(chance):
    return chance.choices(list(JOBS), JOBS.values())[0]


# --- Programs, each of which works until `stop` -------------------------------


def work(seed, pause):
    chance = random.Random(seed)
    while time.monotonic() < stop:
        do(some_job(chance))
        if pause:
            time.sleep(chance.expovariate(1 / pause))


def run_threads(how_many, pause, target=work):
    threads = [
        threading.Thread(target=target, args=(number, pause)) for number in range(how_many)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def asynchronous():
    async def handle(seed):
        chance = random.Random(seed)
        while time.monotonic() < stop:
            do(some_job(chance))
            await asyncio.sleep(chance.expovariate(1 / 0.02))

    async def main():
        await asyncio.gather(*(handle(number) for number in range(6)))

    asyncio.run(main())


def worker():
    """Runs the consumer of a queue, which waits in C code, and the producer of the
    queue."""
    jobs = queue.SimpleQueue()
    chance = random.Random(1)

    def consume():
        while (job := jobs.get()) is not None:
            do(job)

    thread = threading.Thread(target=consume)
    thread.start()
    while time.monotonic() < stop:
        jobs.put(some_job(chance))
        time.sleep(chance.expovariate(1 / 0.004))
    jobs.put(None)
    thread.join()


def idlers():
    done = threading.Event()
    threads = [threading.Thread(target=done.wait) for _ in range(50)]
    for thread in threads:
        thread.start()
    work(1, 0.005)
    done.set()


def requests():
    """Starts a thread for each request, as socketserver.ThreadingMixIn does."""
    chance = random.Random(1)
    while time.monotonic() < stop:
        thread = threading.Thread(target=do, args=(some_job(chance),))
        thread.start()
        time.sleep(chance.expovariate(1 / 0.006))
        thread.join()


def hash_on(seed, _):
    while time.monotonic() < stop:
        do(hashing)
        do(integers)


PROGRAMS = {
    "threads": lambda: run_threads(3, 0.015),
    "asyncio": asynchronous,
    "worker": worker,
    "requests": requests,
    "idlers": idlers,
    "nearly-idle": lambda: run_threads(1, 0.05),
    "busy": lambda: work(1, 0),
    "free-c": lambda: run_threads(4, 0, hash_on),
}


def main(name):
    global stop
    ocular.start_tracing(serve=True, quiet=True, perfetto=False, overhead_budget=0.01)
    began, used = time.monotonic(), time.process_time()
    stop = began + SECONDS
    PROGRAMS[name]()
    elapsed, used = time.monotonic() - began, time.process_time() - used
    final = ocular.stop_tracing()
    print(json.dumps([elapsed, used, truth, count, final["functions"]]))


# --- The comparison -----------------------------------------------------------

# Maps the name of a job to the functions that only this job calls.
BELOW = {
    "calls": ["leaf"],
    "through_json": [
        *("dumps", "loads", "JSONEncoder.encode", "JSONEncoder.iterencode"),
        *("JSONDecoder.decode", "JSONDecoder.raw_decode"),
    ],
}


def shares_off(rows, cpu_s, truth):
    """Returns the largest difference between Ocular's share and the true share of a job,
    including its callees."""
    everything = sum(row["run_share"] or 0 for row in rows)
    off = [0.0]
    for job, ns in truth.items():
        names = {job, *BELOW.get(job, ())}
        mine = sum(row["run_share"] or 0 for row in rows if row["name"] in names)
        if ns / 1e9 > LEAST_SHARE * cpu_s:
            off.append(abs(mine / everything - ns / 1e9 / cpu_s))
    return max(off)


def estimates_off(rows, count):
    """Returns the largest relative error of an estimated number of calls, or None if no
    function with an estimate has enough samples."""
    return max(
        (
            abs(row["calls_estimated"] / count[row["name"]] - 1)
            for row in rows
            if row["name"] in count
            and not row["calls_exact"]
            and row["calls_estimated"] is not None
            and (row["run_samples"] or 0) >= LEAST_SAMPLES
        ),
        default=None,
    )


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", PROGRAMS)
def test_ordinary(name, figure):
    done = subprocess.run(
        [sys.executable, __file__, name], stdout=subprocess.PIPE, check=True
    )
    elapsed, cpu_s, truth, count, rows = json.loads(done.stdout)
    figure("worst share", 100 * shares_off(rows, cpu_s, truth), unit="points")
    estimated = estimates_off(rows, count)
    if estimated is not None:
        figure("worst estimated calls", 100 * estimated, unit="%")
    seldom = {job for job, times in count.items() if times / elapsed < 1000}
    armed = {
        row["name"]
        for row in rows
        if row["calls_exact"] or row["state"] in ("armed", "partial")
    }
    if seldom:
        share = len(seldom & armed) / len(seldom)
        figure("armed of the jobs", 100 * share, "higher", "%")


if __name__ == "__main__":
    main(*sys.argv[1:])
