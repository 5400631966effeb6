# SPDX-License-Identifier: MIT
"""Runs ordinary programs, traced with a budget. Most of these programs are services that
sleep most of the time. Each program runs for half a minute, traced with a budget of 1 %.
Each program measures the true numbers about itself: the CPU time of each job by the
thread's own clock, and the number of times that each job ran. Prints a table that compares
the last snapshot with these true numbers. `make figures` stores the figures.

ordinary.py [--seconds 30] [--programs threads asyncio ...] [--ratio]

"prefork" is gunicorn with two workers, and one of the workers is judged. This program needs
the environment that `make figures` installs. $OCULAR_BENCHMARKS names this environment.

A job's share is compared with the fraction of the program's CPU time that the job used.
A job's share is the time of samples in the job or in its callees. Estimated calls are
compared for the whole run. A function is judged only if it has enough samples: three sigma
must be at most 25 %. With --ratio a program also runs untraced: for half of the time before
the traced run, and for half of the time after the traced run. The ratio is the CPU time of
the work when traced, divided by the CPU time of the same work when untraced. The traced
time includes Ocular's threads."""

import argparse
import asyncio
import collections
import hashlib
import http.client
import json
import os
import queue
import random
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from ordinary_judge import judge, ratio  # noqa: E402

truth = collections.Counter()  # CPU time in ns of each job
count = collections.Counter()
stop = 0.0  # time.monotonic() at which the programs stop


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


def dictionary():
    found = {}
    for number in range(1500):
        found[number % 97] = found.get(number % 97, 0) + number
    return found


def through_json():
    return json.loads(json.dumps(list(range(900))))


def hashing():
    """Runs C code that releases the GIL."""
    return hashlib.sha256(bytes(1 << 20)).digest()


JOBS = {integers: 0.3, sorting: 0.25, calls: 0.2, dictionary: 0.15, through_json: 0.1}


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
    for thread in threads:
        thread.join()


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


def work_for(name, seconds):
    """Lets the program work for `seconds` seconds. Returns the true numbers about the
    program."""
    global stop
    began, used = time.monotonic(), time.process_time()
    stop = began + seconds
    PROGRAMS[name]()
    return {
        "elapsed_s": time.monotonic() - began,
        "cpu_s": time.process_time() - used,
        "truth": truth,
        "count": count,
    }


def child(name, seconds):
    """Prints the true numbers and the last snapshot."""
    import ocular

    ocular.start_tracing(serve=True, quiet=True, perfetto=False, overhead_budget=0.01)
    last = []

    def look():
        time.sleep(max(seconds - 0.3, 0))
        last.append(ocular.snapshot())

    looker = threading.Thread(target=look)
    looker.start()
    result = work_for(name, seconds)
    looker.join()
    final = ocular.stop_tracing()
    print(json.dumps({**result, "snapshot": last[0], "final": final}))


# --- A prefork server ---------------------------------------------------------------------


began = None  # CPU time in seconds, and time.monotonic(), at which a worker began


def application(environ, start_response):
    """Handles a request to a gunicorn worker. Does a job, or returns everything that the
    worker has counted."""
    global began
    import ocular

    # The start of the worker is not a job, and only some of it is traced.
    began = began or (time.process_time(), time.monotonic())
    if environ["PATH_INFO"] != "/truth":
        do(some_job(random))
        body = b"done"
    else:
        snapshot = ocular.snapshot()
        result = {
            "pid": os.getpid(),
            "cpu_s": time.process_time() - began[0],
            "elapsed_s": time.monotonic() - began[1],
            "truth": truth,
            "count": count,
            "snapshot": snapshot,
            "final": snapshot,
        }
        body = json.dumps(result).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    body = connection.getresponse().read()
    connection.close()
    return body


def wait_for(port):
    limit = time.monotonic() + 30
    while True:
        try:
            return get(port, "/")
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.1)


def gunicorn(seconds):
    """Runs two workers, which are forked children. Each worker traces itself. Returns the
    counts of one of the workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    python = os.path.join(os.environ["OCULAR_BENCHMARKS"], "bin", "python")
    server = subprocess.Popen(
        [python, "-m", "ocular", "--serve", "--quiet", "--no-perfetto", "-m", "gunicorn",
         "--workers", "2", "--bind", f"127.0.0.1:{port}", "--chdir", HERE,
         "--log-level", "error", "ordinary:application"],
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(port)
        end, chance = time.monotonic() + seconds, random.Random(1)
        while time.monotonic() < end:
            get(port, "/")
            time.sleep(chance.expovariate(1 / 0.012))
        return json.loads(get(port, "/truth"))
    finally:
        server.terminate()
        server.wait()


# --- Output -------------------------------------------------------------------


def run(name, seconds, *more):
    if name == "prefork":
        return gunicorn(seconds)
    command = [sys.executable, __file__, "--child", name, "--seconds", str(seconds), *more]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def measure(name, seconds, with_ratio):
    """Returns the figures of ordinary_judge.py, and the ratio or None."""
    if not with_ratio or name == "prefork":
        return {**judge(run(name, seconds)), RATIO: None}
    before = run(name, seconds / 2, "--untraced")
    traced = run(name, seconds)
    after = run(name, seconds / 2, "--untraced")
    return {**judge(traced), RATIO: ratio(traced, [before, after])}


def cell(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30)
    names = [*PROGRAMS, *(["prefork"] if "OCULAR_BENCHMARKS" in os.environ else [])]
    parser.add_argument("--programs", nargs="+", choices=names, default=names)
    parser.add_argument("--child", choices=PROGRAMS, help=argparse.SUPPRESS)
    parser.add_argument("--ratio", action="store_true")
    parser.add_argument("--untraced", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child and options.untraced:
        print(json.dumps(work_for(options.child, options.seconds)))
        return 0
    if options.child:
        child(options.child, options.seconds)
        return 0
    from figures.record import figure

    names = [*judge_names(), RATIO]
    print("| program | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for name in options.programs:
        values = measure(name, options.seconds, options.ratio)
        cells = [cell(value, 2 if what == RATIO else 1) for what, value in values.items()]
        print(f"| {name} | " + " | ".join(cells) + " |")
        sys.stdout.flush()
        for what, better in FIGURES.items():
            if values[what] is None:
                continue
            figure(f"ordinary/{name}: {what}", values[what], better=better)
    return 0


RATIO = "CPU traced/untraced"
FIGURES = {
    "samples a CPU second": "higher",
    "worst share, points": "lower",
    "worst counted calls/s, %": "lower",
    "worst estimated calls, %": "lower",
    "armed of the jobs, %": "higher",
    "overhead reported, % of a core": "lower",
    RATIO: "lower",
}


def judge_names():
    sampler = {"samples": 0, "window_samples": 0}
    empty = {"functions": [], "sampler": sampler, "overhead": {"mean": 0}}
    nothing = {"cpu_s": 1, "elapsed_s": 1, "truth": {}, "count": {}}
    return list(judge({**nothing, "snapshot": empty, "final": empty}))


if __name__ == "__main__":
    sys.exit(main())
