# SPDX-License-Identifier: MIT
"""One program of the live part of `make accuracy`, in a process of its own:
measures untraced what its functions cost, runs them traced and served while it
counts its rounds, measures again, and writes all of it as JSON.

    live_child.py PROGRAM SECONDS FILE [START_TRACING'S ARGUMENTS AS JSON]
"""

import asyncio
import json
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import live_programs  # noqa: E402
import ocular  # noqa: E402
from live_truth import TWIN, Truth, ticks_a_ms  # noqa: E402

SETTINGS = dict(
    serve=True, overhead_budget=0.01, perfetto=False, quiet=True, exclude=[TWIN]
)
EVERY, SOME = 0.25, 0.005  # s: while traced, so much of the time
LOGGED = 0.1  # s


# --- Rounds ------------------------------------------------------------------------------


class Rounds:
    """One kind of round of one track, compiled: `run` does one."""

    def __init__(self, program, kind, truth):
        self.kind = kind
        self.waited = [0.0 for part in kind.parts if part.waits]
        self.times = {part.name: self.times_of(part, truth) for part in kind.parts}
        lines = ["async def work():" if program.coroutines else "def work():"]
        waits = 0
        for part in kind.parts:
            loop = f" for _ in range({self.times[part.name]}): {part.call}"
            if part.waits:
                lines += [" begin = now()", loop, f" waited[{waits}] += now() - begin"]
                waits += 1
            else:
                lines.append(loop)
        names = {**vars(live_programs), "now": time.monotonic, "waited": self.waited}
        exec(compile("\n".join(lines), f"<rounds {kind.name}>", "exec"), names)
        self.run = names["work"]

    def times_of(self, part, truth):
        if part.times:
            return part.times
        ticks = part.share * self.kind.milliseconds * truth.ticks_a_ms
        return max(1, round(ticks / truth.whole(part)))

    def calls(self):
        """{function: calls a round}, callees and theirs included."""
        stubs = {part.name: part.stubs for part in self.kind.parts}
        found = {}

        def add(name, times):
            found[name] = found.get(name, 0) + times
            for callee, each in stubs.get(name, {}).items():
                add(callee, times * each)

        for part in self.kind.parts:
            add(part.name, self.times[part.name] * part.calls)
        return found


def delayed():
    """Seconds that this thread has waited for a CPU that others had."""
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


class Runner:
    """One track: does rounds, and logs now and then how many it has done."""

    def __init__(self, program, track, truth):
        self.program, self.track, self.truth = program, track, truth
        self.rounds = [Rounds(program, kind, truth) for kind in track.kinds]
        self.log = []
        self.measures = False

    def begin(self, seconds):
        self.counts = [0] * len(self.rounds)
        for rounds in self.rounds:
            rounds.waited[:] = [0.0] * len(rounds.waited)
        self.began, self.due, self.whole = time.monotonic(), 0.0, seconds
        self.measured, self.spent = 0.0, 0.0
        self.log = []

    def next_kind(self):
        """The number of the kind to run, or None: time is over."""
        now = time.monotonic() - self.began
        if self.measures and now >= self.measured:
            self.measured = now + EVERY
            self.measure()
        if now >= self.due:
            self.due = now + LOGGED
            self.note()
        return None if now >= self.whole else self.track.pick(now, self.whole)

    def measure(self):
        """CPU time that is none of the rounds'."""
        begin = time.thread_time()
        self.truth.take_some(SOME)
        self.spent += time.thread_time() - begin

    def note(self):
        self.log.append(
            [
                time.monotonic(),
                time.thread_time() - self.spent,
                delayed(),
                *self.counts,
                *(each for rounds in self.rounds for each in rounds.waited),
            ]
        )

    def run(self, seconds):
        self.begin(seconds)
        while (kind := self.next_kind()) is not None:
            self.rounds[kind].run()
            self.counts[kind] += 1
        self.note()

    async def run_coroutines(self, seconds):
        self.begin(seconds)
        while (kind := self.next_kind()) is not None:
            await self.rounds[kind].run()
            self.counts[kind] += 1
        self.note()


def run_all(runners, seconds):
    if runners[0].program.coroutines:
        asyncio.run(runners[0].run_coroutines(seconds))
        return
    others = [
        threading.Thread(target=runner.run, args=(seconds,)) for runner in runners[1:]
    ]
    for thread in others:
        thread.start()
    runners[0].run(seconds)
    for thread in others:
        thread.join()


# --- All of it ----------------------------------------------------------------------------


def describe(runner):
    return {
        "log": runner.log,
        "kinds": [
            {
                "name": rounds.kind.name,
                "calls": rounds.calls(),
                "waits": [part.name for part in rounds.kind.parts if part.waits],
            }
            for rounds in runner.rounds
        ],
    }


def main(name, seconds, file, settings="{}"):
    program = live_programs.PROGRAMS[name]()
    seconds = float(seconds)
    parts = {
        part.name: part
        for track in program.tracks
        for kind in track.kinds
        for part in kind.parts
    }
    truth = Truth(list(parts.values()), ticks_a_ms())
    before = truth.take()
    runners = [Runner(program, track, truth) for track in program.tracks]

    truth.forget()
    runners[0].measures = True
    ocular.start_tracing(**{**SETTINGS, **json.loads(settings)})
    cost = ocular._ocular.hook_cost()[:3]
    began = time.monotonic()
    print("tracing", json.dumps(list(before)), sep="\n", flush=True)
    run_all(runners, seconds)
    sys.stdin.readline()  # the viewer has its last snapshot
    final = ocular.stop_tracing()

    during = truth.costs()
    after = truth.take()
    with open(file, "w") as out:
        json.dump(
            {
                "program": name,
                "about": program.about,
                "began": began,
                "seconds": seconds,
                "hz": final["tsc_hz"],
                "hook_cost": cost,
                "phases": program.phases(seconds),
                "contends": program.contends,
                "costs": {
                    f: {"before": before[f], "during": during.get(f), "after": after[f]}
                    for f in before
                },
                "tracks": [describe(runner) for runner in runners],
            },
            out,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
