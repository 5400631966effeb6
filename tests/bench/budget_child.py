# SPDX-License-Identifier: MIT
"""One benchmark for budget.py. It prints the answer to the first form, or forks into
two processes that do the same work in turns and are traced in turns. Each obeys a line:
"go", "start" or "stop". The answer is its CPU time since it began to work (s), and how
long its last turn took (s).

    budget_child.py {"script", "args", "seconds"}
    budget_child.py {"script", "args", "chunk", "settings"} FD FD

Without "chunk" it says how many loops take "seconds"; without "settings" nothing is
traced. The sockets are the processes'. Both processes come from one: two that were
started alike differ by some hundredths for all their life, since their memory lies
elsewhere. These still differ by one or two."""

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
    # Its names would go with the module that runpy makes: they are used on.
    pyperf.kept = runpy.run_path(script, run_name="__main__")
    return pyperf.benches


def run(benches, chunk):
    for bench, loops in zip(benches, chunk):
        bench(loops)


SMALL = range(16, 513, 16)  # bytes: the sizes that obmalloc.c keeps apart,
POOL = 16384  # in pools of that many


def scatter(held):
    """Keeps so many small objects, at random, that those of the work come to lie
    elsewhere than in the turn before. Takes half a hundredth of a turn, of both."""
    held.clear()
    for size in SMALL:
        some = range(random.randrange(POOL // size))
        if size == 16:
            held += [object() for _ in some]
        elif size == 32:  # floats have a list of their own, of what was freed
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
            loops = max(
                loops + 1, min(10 * loops, round(loops * seconds / max(took, 1e-9)))
            )
    return loops


def die_with_parent():
    """A process that stands still does not notice that nobody tells it to go on."""
    PR_SET_PDEATHSIG = 1  # prctl(2)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def take_turns(benches, chunk, line, settings):
    def tell(what):
        print(json.dumps(what), file=line, flush=True)

    def turn():
        scatter(held)
        run(benches, chunk)

    held = []
    orders = {
        "go": turn,
        "start": lambda: (
            settings
            and ocular.start_tracing(
                **{"perfetto": False, "quiet": True, "serve": True, **settings}
            )
        ),
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
        for other in others:  # or its end would not be seen
            os.close(other)
        # Text both ways: each waits for the other's line.
        with socket.socket(fileno=descriptor) as end, end.makefile("rw") as line:
            take_turns(benches, chunk, line, settings)
        os._exit(0)
    return pid


def main(job, descriptors):
    die_with_parent()
    benches = load(job["script"], job["args"])
    if "chunk" not in job:
        print(
            json.dumps(
                [loops_of(bench, job["seconds"] / len(benches)) for bench in benches]
            )
        )
        return
    for _ in range(3):  # is specialised, traced or not
        run(benches, job["chunk"])
    each = [
        fork(
            benches,
            job["chunk"],
            descriptor,
            [other for other in descriptors if other != descriptor],
            job["settings"],
        )
        for descriptor in descriptors
    ]
    for descriptor in descriptors:
        os.close(descriptor)
    for pid in each:  # neither has its pages to itself while this one lives
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), [int(number) for number in sys.argv[2:]])
