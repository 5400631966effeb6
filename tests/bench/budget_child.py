# SPDX-License-Identifier: MIT
"""One run of one benchmark for budget.py, in a process of its own: does the same
work each time it is told to, and says what CPU time it has taken so far.

    budget_child.py {"script", "args", "chunk", "settings"}

Without "chunk" it says how many loops take "seconds"."""

import json
import os
import resource
import runpy
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "stand_in"))
import pyperf  # noqa: E402


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


def loops_of(bench, seconds):
    loops, took = 1, 0.0
    while took < seconds:
        begin = time.perf_counter()
        bench(loops)
        took = time.perf_counter() - begin
        if took < seconds:
            loops = max(loops + 1, min(10 * loops, round(
                loops * seconds / max(took, 1e-9))))
    return loops


def tell(what):
    print(json.dumps(what), flush=True)


def main(job):
    benches = load(job["script"], job["args"])
    if "chunk" not in job:
        tell([loops_of(bench, job["seconds"] / len(benches))
              for bench in benches])
        return
    for _ in range(3):  # is specialised, traced or not
        run(benches, job["chunk"])
    ocular, begin = None, cpu()
    if job["settings"]:
        import ocular
        begin = cpu()
        ocular.start_tracing(perfetto=False, quiet=True, serve=True,
                             **job["settings"])
    tell(cpu() - begin)
    while sys.stdin.readline() == "go\n":
        begin = time.monotonic()
        run(benches, job["chunk"])
        tell([cpu(), time.monotonic() - begin])
    if ocular:
        ocular.stop_tracing()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
