# SPDX-License-Identifier: MIT
"""Runs one benchmark for budget.py. In the first of the forms below, it prints a number of
loops. In the second form, it forks into two processes that do the same work alternately,
and are traced alternately. Each of these processes reads lines with the orders "go",
"start" and "stop". The answer to an order has the process's CPU time since it began to work
(s), and the length of its last turn (s).

    budget_child.py {"script", "args", "seconds"}
    budget_child.py {"script", "args", "chunk", "settings"} FD FD

In the first form (without "chunk") the program prints how many loops of the benchmark take
`seconds`. Without "settings" nothing is traced. FD and FD are the sockets for the orders to
the two processes. Both processes are forked from one process, for this reason: two
processes that were started in the same way differ by some per cent as long as they live,
because their memory has different addresses. Forked processes differ only by one or two per
cent."""

import ctypes
import json
import os
import random
import resource
import runpy
import signal
import socket
import sys
import time

import ocular

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "stand_in"))
import pyperf


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def load(script, args):
    sys.argv = [script, *args]
    sys.path.insert(0, os.path.dirname(script))
    # runpy returns the names of the benchmark's module. The benchmark still uses these
    # names, so they must not be freed.
    pyperf.kept = runpy.run_path(script, run_name="__main__")
    return pyperf.benches


def run(benches, chunk):
    for bench, loops in zip(benches, chunk):
        bench(loops)


# the sizes of objects in bytes for which obmalloc.c has separate pools
SMALL = range(16, 513, 16)
POOL = 16384  # bytes of a pool of obmalloc.c


def scatter(held):
    """Keeps a random number of small objects, so that the objects of the benchmark get
    other addresses than in the turn before. Making these small objects takes half a per
    cent of each turn, in both processes."""
    held.clear()
    for size in SMALL:
        some = range(random.randrange(POOL // size))
        if size == 16:
            held += [object() for _ in some]
        elif size == 32:  # CPython keeps freed floats in a separate list
            held += [1 << 40 | each for each in some], [float(each) for each in some]
        else:
            held += [bytes(size - sys.getsizeof(b"")) for _ in some]


def loops_of(bench, seconds):
    loops, took = 1, 0.0
    while took < seconds:
        begin = time.perf_counter()
        bench(loops)
        took = time.perf_counter() - begin
        if took < seconds:
            more = round(loops * seconds / max(took, 1e-9))
            loops = max(loops + 1, min(10 * loops, more))
    return loops


def die_with_parent():
    """Makes the kernel kill this process when its parent ends, because a process that is
    stopped does not notice the end."""
    PR_SET_PDEATHSIG = 1  # value for prctl(2)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def take_turns(benches, chunk, line, settings):
    def tell(what):
        print(json.dumps(what), file=line, flush=True)

    def turn():
        scatter(held)
        run(benches, chunk)

    held, how = [], {"perfetto": False, "quiet": True, "serve": True}
    orders = {
        "go": turn,
        "start": lambda: settings and ocular.start_tracing(**how, **settings),
        "stop": lambda: settings and ocular.stop_tracing(),
    }
    base = cpu()
    tell(os.getpid())
    while order := line.readline().strip():
        begin = time.monotonic()
        orders[order]()
        tell([cpu() - base, time.monotonic() - begin])


def fork(benches, chunk, descriptor, others, settings):
    pid = os.fork()
    if pid == 0:
        die_with_parent()
        # With these sockets open, nobody would notice the end of the other process.
        for other in others:
            os.close(other)
        # Text goes through the socket in both directions, and each side waits for a line of
        # the other side.
        with socket.socket(fileno=descriptor) as end, end.makefile("rw") as line:
            take_turns(benches, chunk, line, settings)
        os._exit(0)
    return pid


def main(job, descriptors):
    die_with_parent()
    benches = load(job["script"], job["args"])
    if "chunk" not in job:
        seconds = job["seconds"] / len(benches)
        return print(json.dumps([loops_of(bench, seconds) for bench in benches]))
    # CPython specialises the code in these loops, no matter whether the process will be
    # traced
    for _ in range(3):
        run(benches, job["chunk"])
    each = []
    for descriptor in descriptors:
        others = [other for other in descriptors if other != descriptor]
        each.append(fork(benches, job["chunk"], descriptor, others, job["settings"]))
    for descriptor in descriptors:
        os.close(descriptor)
    # this process stays, because the children share memory pages with it as long as it
    # lives
    for pid in each:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), [int(number) for number in sys.argv[2:]])
