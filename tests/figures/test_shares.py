# SPDX-License-Identifier: MIT
"""The sampler's shares of functions and threads, against their known CPU times."""

import os
import threading
import time

import ocular
import pytest
from e2e.counting import row

SETTINGS = dict(perfetto=False, quiet=True, serve=True, deinstrument_threshold=50)


def burn(seconds):
    """CPU time of this thread in C, a little at a time."""
    limit = time.thread_time() + seconds
    while time.thread_time() < limit:
        sum(range(2000))


def seventy():
    burn(0.007)


def twenty():
    burn(0.002)


def ten():
    burn(0.001)


def turns(seconds):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        seventy()
        twenty()
        ten()


def sleeper(stop):
    stop.wait()


def half_asleep(stop):
    while not stop.is_set():
        time.sleep(0.005)


@pytest.fixture(scope="module")
def running():
    """The newest snapshot of turns() in the main thread beside two sleepers."""
    stop = threading.Event()
    threads = [
        threading.Thread(target=sleeper, args=(stop,), name="sleeping beauty"),
        threading.Thread(target=half_asleep, args=(stop,), name="näp"),
    ]
    for thread in threads:
        thread.start()
    ocular.start_tracing(**SETTINGS)
    try:
        turns(10)
        limit = time.monotonic() + 60
        while (
            row(running := ocular.snapshot(), "burn")["samples"] <= 100
            and time.monotonic() < limit
        ):
            turns(2)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        ocular.stop_tracing()
    return running


@pytest.fixture
def own_place():
    """Not here: the module's one run spans the tests."""


def test_known_shares(running, figure):
    """Of what the three have between them: other programs run here, too."""
    named = {name: row(running, name) for name in ("seventy", "twenty", "ten")}
    under = {name: mine["total_share"] for name, mine in named.items()}
    for name, expected in (("seventy", 0.7), ("twenty", 0.2), ("ten", 0.1)):
        error = under[name] / sum(under.values()) - expected
        figure(f"{name}, error", 100 * error, "nearer", unit="points", goal=0)


def test_the_loop_has_it_all(running, figure):
    loop, work = row(running, "turns"), row(running, "burn")
    (own,) = [one for one in running["threads"] if one["tid"] == os.getpid()]
    three = sum(row(running, name)["total_share"] for name in ("seventy", "twenty", "ten"))
    figure("loop/its callees", loop["total_share"] / three, "nearer", goal=1)
    figure("loop alone", loop["cpu_share"])
    figure("callee/thread", work["cpu_share"] / own["cpu_share"], "nearer", goal=1)


def test_a_sleeper_waits(running, figure):
    waits = row(running, "Condition.wait")
    figure("waiting", waits["wait_share"], "nearer", goal=1)
    figure("waiting, CPU", waits["cpu_share"])
    figure("napping", row(running, "half_asleep")["wait_share"], "nearer", goal=1)
    threads = {thread["name"]: thread for thread in running["threads"]}
    figure("thread", threads["sleeping beauty"]["wait_share"], "nearer", goal=1)


def test_all_shares(running, figure):
    whole = sum(mine["cpu_share"] for mine in running["functions"])
    figure("more than a core", max(0, whole - 1))
    sampler = running["sampler"]
    figure("unknown/samples", sampler["unknown"] / sampler["samples"])
    figure("elsewhere", sampler["elsewhere"])


def test_overhead_of_the_threads(running, figure):
    figure("", running["overhead"]["threads"])
