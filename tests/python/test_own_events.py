# SPDX-License-Identifier: MIT
"""Tests counters, specialised instructions and samples in the timeline."""

import os
import threading
import time

import ocular
import pytest
from e2e import trace
from e2e.client import Client
from e2e.program import PYTHON, SLOW, run, wait_until, write
from ocular import _settings

pytestmark = pytest.mark.once


def burn(seconds):
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        add(1, 2)


def add(a, b):
    return a + b


def traced(path, program, **settings):
    ocular.start_tracing(output=path, quiet=True, **settings)
    try:
        program()
    finally:
        final = ocular.stop_tracing()
    return final


@pytest.mark.parametrize("name", ["t.json", "t.pftrace.gz"])
def test_samples(tmp_path, name):
    """A sample belongs to the thread that ran when it was taken. The sample has the
    thread's whole stack, also functions without hooks. Waiting threads have no samples."""
    path = tmp_path / name
    done = threading.Event()
    idle = threading.Thread(target=done.wait)
    worker = threading.Thread(target=burn, args=[0.4])

    def program():
        idle.start()
        worker.start()
        burn(0.4)
        worker.join()

    begin = time.monotonic_ns()
    try:
        final = traced(path, program, deinstrument_threshold=100)
    finally:
        done.set()
        idle.join()
    took = time.monotonic_ns() - begin
    found = trace.samples(path)
    assert 0.9 * final["sampler"]["samples"] <= len(found) + 5
    tids = {tid for _, tid, _ in found}
    assert tids <= {os.getpid(), worker.native_id} | {
        thread["tid"] for thread in final["threads"]
    } | {idle.native_id}
    # The waiting thread can have one sample from its beginning.
    assert [tid for _, tid, _ in found].count(idle.native_id) <= 1
    assert {os.getpid(), worker.native_id} <= tids
    mine = [names for _, tid, names in found if tid == worker.native_id]
    burning = [names for names in mine if any(n.startswith("burn (") for n in names)]
    assert len(burning) > 0.8 * len(mine)
    assert all("threading.py" in names[0] for names in burning)
    assert all(0 <= ns <= took for ns, _, _ in found)


SHORT = """import threading, time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
burn(0.1)
thread = threading.Thread(target=burn, args=[0.2], name="a worker")
thread.start()
thread.join()
time.sleep(0.05)
"""


@pytest.mark.parametrize("signal", ["", "none"])
def test_a_short_program(tmp_path, signal):
    """The timeline of a short program has counters, too. After a thread has ended, its
    counter shows no CPU time. The times of all samples lie within the run, even if Ocular
    takes samples without signals."""
    program = write(tmp_path, SHORT)
    for name in "t.json", "t.pftrace":
        done = run(
            [PYTHON, "-m", "ocular", "--quiet", "--output", name, program],
            cwd=tmp_path,
            env={"OCULAR_SIGNAL": signal} if signal else {},
        )
        assert (done.status, done.err) == (0, "")
        timeline = trace.read(tmp_path / name)
        (worker,) = [name for name in timeline.counters if "a worker" in name]
        assert timeline.counters[worker][-1][1] == 0
        assert any(value > 0 for _, value in timeline.counters[worker])
        assert {"Ocular's overhead", "hooks that are in"} <= set(timeline.counters)
        assert timeline.other["covered_to_us"] < 60e6
        samples = trace.samples(tmp_path / name)
        assert samples and all(0 <= ns < 60e9 for ns, _, _ in samples)


# --- Dark functions -----------------------------------------------------------


def call(function, times=200):
    """Calls the function so often that Ocular removes its hooks."""
    for _ in range(times):
        function(1, 2)


def stretches(path, name):
    """Returns the beginning, the end and the flags of each time in which the function was
    dark, and the times of the program's marks. All times are in microseconds."""
    timeline = trace.read(path)
    found = []
    for begin, end in timeline.slices["dark"]:
        if begin["name"] == name:
            flags = {**begin["args"], **end.get("args", {})}
            assert flags.pop("file") == __file__ and flags.pop("line") > 0
            found.append((begin["ts"], end["ts"], flags))
    marks = {mark["name"]: mark["ts"] for mark in timeline.marks}
    return found, marks, timeline.other


def arm_again(viewer, name):
    (mine,) = (r for r in ocular.snapshot()["functions"] if r["name"] == name)
    assert mine["state"] != "armed"
    viewer.rearm(mine["id"])

    def is_armed():
        rows = ocular.snapshot()["functions"]
        return any(r["name"] == name and r["state"] == "armed" for r in rows)

    wait_until(is_armed, SLOW)


@pytest.mark.parametrize("name", ["t.json", "t.pftrace.gz"])
def test_dark_stretches(tmp_path, sockets, name):
    """A function is dark while its hooks are removed, or until the trace ends."""
    settings = _settings.check(
        output=tmp_path / name, quiet=True, deinstrument_threshold=50, serve=True
    )
    # Without a budget, a function gets its hooks back only if a viewer asks for it.
    ocular._start(settings._replace(overhead_budget=None))
    try:
        with Client(ocular._ocular.socket_path()) as viewer:
            for turn in "abc":
                ocular.mark(f"{turn} is armed")
                call(add)
                ocular.mark(f"{turn} is dark")
                if turn != "c":
                    arm_again(viewer, "add")
                    ocular.mark(f"{turn} was dark")
    finally:
        ocular.stop_tracing()
    found, at, other = stretches(tmp_path / name, "add")
    assert [flags for *_, flags in found] == [{}, {}, {"open": True}]
    for (begin, end, _), turn in zip(found, "abc", strict=True):
        assert at[f"{turn} is armed"] <= begin <= at[f"{turn} is dark"] <= end
        if turn != "c":
            assert end <= at[f"{turn} was dark"]
    assert found[-1][1] == pytest.approx(other["covered_to_us"], abs=0.002)


def test_dark_from_before_the_oldest_event(tmp_path, no_collections):
    """A function can have lost its hooks before the oldest event that is kept. On a busy
    machine, an earlier wait of another thread can be the oldest event."""

    def program():
        call(add)
        for number in range(4000):
            space = {}
            exec("def f(a, b): pass", space)
            call(space["f"], 40)
            if number % 100 == 0:
                ocular.snapshot()  # empties the thread's ring before it is full

    settings = {"timeline_limit": 1 << 20, "timeline_spill": False}
    traced(tmp_path / "t.json", program, deinstrument_threshold=50, **settings)
    ((begin, end, flags),), _, other = stretches(tmp_path / "t.json", "add")
    assert other["forgotten_events"] > 0
    assert flags.pop("open") and flags in ({}, {"earlier": True})
    if flags:
        assert begin == pytest.approx(other["covered_from_us"], abs=0.002)
    else:
        assert other["covered_from_us"] < begin < other["all_threads_from_us"]
    assert end == pytest.approx(other["covered_to_us"], abs=0.002)


def test_dark_code_that_goes(tmp_path):
    """The dark time of a function ends when the function's code is freed."""

    def program():
        space = {}
        exec(compile("def gone(a, b): pass", __file__, "exec"), space)
        call(space["gone"])
        ocular.mark("is there")
        space.clear()
        ocular.mark("is gone")

    traced(tmp_path / "t.json", program, deinstrument_threshold=50)
    ((begin, end, flags),), at, _ = stretches(tmp_path / "t.json", "gone")
    assert flags == {}
    assert begin <= at["is there"] <= end <= at["is gone"]
