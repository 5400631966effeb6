# SPDX-License-Identifier: MIT
"""Tests how long threads have the GIL and wait for it, in programs whose threads compete
for the GIL in a known way."""

import inspect
import json
import random
import threading
import time

import ocular
import pytest
from e2e.counting import row
from e2e.program import script, wait_until
from e2e.threads import Crew

QUIET = dict(perfetto=False, quiet=True)
NEAR = 0.05  # tolerance, as a fraction of the elapsed time


class Threads(Crew):
    """Runs functions in threads until the end of the block."""

    def __init__(self, *functions):
        self.threads = [
            threading.Thread(target=function, args=(self,), name=f"{function.__name__} {i}")
            for i, function in enumerate(functions)
        ]
        self.lock = threading.Lock()
        self.lock.acquire()

    def __exit__(self, *_):
        self.go_on = False
        self.lock.release()
        super().__exit__()

    def times(self):
        return list(super().times().values())


def fights(threads):
    while threads.go_on:
        for _ in range(1000):
            pass


def sleeps(threads):
    while threads.go_on:
        time.sleep(1)


def waits_for_lock(threads):
    threads.lock.acquire()


def row_of(snapshot, thread):
    """Returns the thread's row in the snapshot, or None if there is no such row yet."""
    rows = [one for one in snapshot["threads"] if one["tid"] == thread.native_id]
    return rows[0] if rows and rows[0]["gil_wait_s"] is not None else None


def sum_of(snapshot, name):
    return sum(one[name] or 0 for one in snapshot["threads"])


class Truth:
    """Compares Ocular's numbers of a thread with the kernel's. The comparison begins after
    a second, because the first wait of a thread can be missing (docs/metrics.md)."""

    def __init__(self, threads):
        self.threads = threads
        self.began, self.first = time.monotonic(), None

    def since(self, name, now, before):
        return (now[name] - before[name]) / self.elapsed

    def rows(self):
        """Returns a snapshot, and a tuple for each thread. The tuple has the thread's name
        and the shares of time with the GIL, waiting for the GIL, with a CPU, and asleep.
        Returns None if too little time has passed."""
        snapshot, after = ocular.snapshot(), self.threads.times()
        self.elapsed = time.monotonic() - self.began
        rows = [row_of(snapshot, thread) for thread in self.threads.threads]
        if not self.first and self.elapsed > 1 and all(rows):
            self.began, self.before = time.monotonic(), after
            self.first, self.first_rows = snapshot, rows
            return snapshot, None
        if not self.first or self.elapsed < 1 or not all(rows):
            return snapshot, None
        shares = [
            [(end - begin) / self.elapsed for begin, end in zip(*pair, strict=True)]
            for pair in zip(self.before, after, strict=True)
        ]
        return snapshot, [
            (
                now["name"].split()[0],
                self.since("gil_held_s", now, before),
                self.since("gil_wait_s", now, before),
                cpu,
                1 - cpu - ready,
            )
            for now, before, (cpu, ready) in zip(rows, self.first_rows, shares, strict=True)
        ]

    def blocked(self, snapshot, name):
        """Returns the share of time in which other threads waited for the GIL while the
        function `name` held it."""
        return self.since("gil_blocked_s", row(snapshot, name), row(self.first, name))


def adds_up(snapshot):
    """Returns true if the sums of the threads' times equal the times of the process, and if
    the function `fights` has all waits. The sums can differ slightly, because the sampler
    can add times while a snapshot is built."""
    gil, fighting = snapshot["gil"], row(snapshot, "fights")
    sums = sum_of(snapshot, "gil_held_s"), sum_of(snapshot, "gil_wait_s")
    return (
        sums == pytest.approx((gil["held_s"], gil["waited_s"]))
        and 0.7 * gil["waited_s"] < fighting["gil_blocked_s"] <= gil["waited_s"]
    )


def test_threads_that_fight():
    """A thread that only computes has the GIL while it uses a CPU, and waits for the GIL
    while it is asleep. Other sleeping threads, and threads that wait for a lock, do not
    wait for the GIL."""

    def near():
        time.sleep(0.5)
        snapshot, rows = truth.rows()
        errors = []
        for name, held, waited, cpu, asleep in rows or []:
            waits = asleep if name == "fights" else 0
            errors += [abs(held - cpu), abs(waited - waits)]
        return rows and max(errors) < NEAR and adds_up(snapshot) and snapshot

    with (
        Threads(fights, fights, fights, fights, sleeps, waits_for_lock) as threads,
        ocular.tracing(**QUIET),
    ):
        truth = Truth(threads)
        snapshot = wait_until(near)
    assert snapshot["gil"]["held"] <= 1.05 and snapshot["gil"]["waited"] > 0.5


NUMBERS = [random.random() for _ in range(400_000)]
CALLS = []  # seconds that the C calls took


def holds(threads):
    """Calls C code that keeps the GIL. Between two such calls, the thread sleeps."""
    while threads.go_on:
        before = time.monotonic()
        sorted(NUMBERS)
        CALLS.append(time.monotonic() - before)
        time.sleep(random.uniform(0.5, 3) * CALLS[-1])


def traced_calls(least, most):
    """Returns a snapshot and the times that the C calls took. In this snapshot, the GIL
    time of holds() fits the time for which the other thread slept. `least` and `most`
    compute the accepted bounds of this GIL time from the share of time asleep."""

    def near():
        time.sleep(0.5)
        snapshot, rows = truth.rows()
        if not rows or len(snapshot["stalls"]) < 5 or not snapshot["gil"]["longest"]:
            return None
        asleep, blocked = rows[0][-1], truth.blocked(snapshot, "holds")
        return least(asleep) < blocked < most(asleep) and snapshot

    CALLS.clear()
    with Threads(fights, holds, sleeps) as threads, ocular.tracing(**QUIET):
        truth = Truth(threads)
        return wait_until(near), list(CALLS)


def test_a_c_call_that_does_not_release_the_gil():
    """While the C call runs, the other thread sleeps. The time of the C call counts for the
    function that makes it. The C call has the longest time with the GIL, and is in the log
    of stalls. Other threads are not. tests/figures/test_gil.py compares the times."""
    for _ in range(10):
        snapshot, calls = traced_calls(lambda asleep: 0, lambda asleep: 1)
        # The other thread has the GIL longer if it loses the CPU meanwhile.
        if snapshot["gil"]["longest"][0]["name"] == "holds":
            break
    gil = snapshot["gil"]
    # The error of the longest time with the GIL is at most the time between two samples.
    assert 0.5 * min(calls) < gil["longest_s"] < max(calls) + 0.02
    lines, first = inspect.getsourcelines(holds)
    assert len(snapshot["stalls"]) <= len(calls) + 1
    for stall in snapshot["stalls"]:
        assert (stall["thread"], stall["task"], stall["has_gil"]) == ("holds 1", None, True)
        assert 0.05 <= stall["seconds"] < max(calls) + 0.02
    for line in [gil["longest"][0]["line"], *(one["line"] for one in snapshot["stalls"])]:
        assert "sorted(" in lines[line - first]
    assert [one["name"] for one in gil["longest"][1:]] == [
        "Thread.run",
        "Thread._bootstrap_inner",
        "Thread._bootstrap",
    ]


def test_a_thread_without_others(tmp_path):
    """A thread that runs alone never waits, and its time with the GIL is its CPU time."""
    done = script(
        tmp_path,
        """
        import json, ocular, time
        with ocular.tracing(perfetto=False, quiet=True):
            while time.process_time() < 1:
                sum(range(1000))
            time.sleep(0.6)
            print(json.dumps(ocular.snapshot()))
        """,
    )
    now = json.loads(done.out.splitlines()[-1])
    assert now["gil"]["waited"] == now["gil"]["waited_s"] == 0
    (thread,) = now["threads"]
    assert thread["gil_wait_s"] == 0 and not now["stalls"]
    assert thread["gil_held_s"] == pytest.approx(thread["cpu_s"], rel=0.2)
    assert thread["gil_held_s"] == pytest.approx(now["gil"]["held_s"])
    assert all(not one["gil_blocked_s"] for one in now["functions"])
