# SPDX-License-Identifier: MIT
"""Tests the waits in the flame graph, with threads that wait in a known way. The threads
themselves measure for how long they wait."""

import _thread
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import ocular
import pytest
from e2e import client
from e2e.program import top, wait_until
from e2e.threads import Crew

NEAR = 0.1  # tolerance, as a fraction of the thread's time


@pytest.fixture
def viewer(own_place):
    """Traces this process, and yields a viewer of it."""
    ocular.start_tracing(serve=True, quiet=True, perfetto=False)
    try:
        with client.Client(ocular._ocular.socket_path()) as viewer:
            yield viewer
    finally:
        ocular.stop_tracing()


class Mixed(Crew):
    """Sleeps 60 % of the time, waits for a lock for 20 %, and runs for 20 %, if the machine
    is not busy. `s` has the seconds of sleeping, waiting and running."""

    def __init__(self):
        self.s = dict.fromkeys(("sleep", "lock", "runs"), 0)
        self.lock = _thread.allocate_lock()
        self.lock.acquire()
        self.threads = [
            threading.Thread(target=target) for target in (self.mixed, self.spins)
        ]

    def add(self, kind, wait, most=float("inf")):
        """A wait ends after `most` seconds. The thread then waits for a CPU and for the
        GIL, which counts as running here."""
        began = time.monotonic()
        wait()
        took = time.monotonic() - began
        self.s[kind] += min(took, most)
        self.s["runs"] += max(took - most, 0)

    def runs(self):
        end = time.thread_time() + 0.05
        while time.thread_time() < end:
            pass

    def waits(self):
        self.lock.acquire(timeout=0.05)

    def mixed(self):
        while self.go_on:
            self.add("sleep", lambda: time.sleep(0.15), 0.15)
            self.add("lock", self.waits, 0.05)
            self.add("runs", self.runs)

    def spins(self):
        """Uses so much CPU time that Ocular observes it four times a second, not once."""
        while self.go_on:
            end = time.thread_time() + 0.005
            while time.thread_time() < end:
                pass
            time.sleep(0.005)


def paths_of(stacks):
    """Returns the path of each row, as names of functions."""
    names = {row["id"]: row["name"] for row in stacks["functions"]}
    paths = []
    for row in stacks["rows"]:
        above = paths[row["parent"]] if row["parent"] is not None else ()
        paths.append((*above, names.get(row["id"])))
    return paths


def parts(stacks, name):
    """Returns the ns of each kind of wait, and of "runs", in paths with this function."""
    paths, ns = paths_of(stacks), {}
    for path, row in zip(paths, stacks["rows"], strict=True):
        if name in path:
            ns["runs"] = ns.get("runs", 0) + row["cpu_ns"]
    for wait in stacks["waits"]:
        if name in paths[wait["parent"]]:
            ns[wait["kind"]] = ns.get(wait["kind"], 0) + wait["ns"]
    return ns


def find_kinds(viewer, is_right, least):
    """Waits until the viewer shows the right kinds of waits for the thread of Mixed, and no
    other kinds. is_right(shown, true) compares the shown share of a kind with the true
    share. The viewer must show at least the fraction `least` of the thread's time."""
    with Mixed() as truth:

        def check():
            time.sleep(0.5)
            stacks, s = viewer.ask(client.FLAME), dict(truth.s)
            found = parts(stacks, "Mixed.mixed")
            # For Mixed, waiting for a CPU or for the GIL counts as running.
            for kind in "gil", "cpu":
                found["runs"] = found.get("runs", 0) + found.pop(kind, 0)
            whole, elapsed = sum(found.values()), sum(s.values())
            return (
                elapsed > 3
                and whole > least * 1e9 * elapsed
                and all(
                    is_right(found.pop(kind, 0) / whole, s[kind] / elapsed) for kind in s
                )
                and sum(found.values()) < NEAR * whole
            )

        assert wait_until(check)
        shown = top(
            "-p", str(os.getpid()), "--once", "--json", "--keys", "<Frame>fm<Frame>"
        )
    stacks = json.loads(shown.out)
    assert parts(stacks, "Mixed.mixed")["sleep"] > 0


def test_a_worker_without_a_job_is_idle(viewer):
    """A worker's job that waits is not idle, although the job is below the worker's
    loop on the stack."""
    done = threading.Event()

    def job():
        done.wait()

    with ThreadPoolExecutor(2) as pool:
        pool.submit(job)
        try:

            def check():
                time.sleep(0.3)
                return (
                    parts(viewer.ask(client.FLAME), job.__qualname__).get("lock", 0) > 1e9
                )

            assert wait_until(check)
        finally:
            done.set()

        def check():
            time.sleep(0.3)
            stacks = viewer.ask(client.FLAME)
            paths = paths_of(stacks)
            return {
                wait["kind"]
                for wait in stacks["waits"]
                if paths[wait["parent"]][-1] == "_worker" and wait["ns"] > 1e9
            } == {"idle"}

        assert wait_until(check)
