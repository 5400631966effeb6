# SPDX-License-Identifier: MIT
"""The sampler: how much of a core's time each function and thread has, running
and waiting, though everything is dark."""

import os
import threading
import time

import ocular
import pytest
from e2e.counting import row
from e2e.measured import measured, measured_once

pytestmark = measured

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


@measured_once
def snapshots():
    """One run for all tests: turns() in the main thread beside two sleepers."""
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
        final = ocular.stop_tracing()
    return running, final


@pytest.fixture
def running(snapshots):
    return snapshots[0]


@pytest.fixture
def own_place():
    """Not here: the module's one run spans the tests."""


def looks_of(snapshot):
    """That found it running. An exponential window is worth as many as twice its
    time has."""
    main = next(one for one in snapshot["threads"] if one["tid"] == os.getpid())
    return 10 * snapshot["sampler"]["hz"] * main["cpu_share"]


# Samples are chance: one comparison of two million is off by five sigma.
def within(expected, looks):
    return max(0.03, 5 * (expected * (1 - expected) / looks) ** 0.5)


def test_known_shares(running):
    """Of what the three have between them: other programs run here, too."""
    named = {name: row(running, name) for name in ("seventy", "twenty", "ten")}
    under = {name: mine["total_share"] for name, mine in named.items()}
    whole = sum(under.values())
    assert whole > 0.3
    looks = looks_of(running)
    for name, expected in (("seventy", 0.7), ("twenty", 0.2), ("ten", 0.1)):
        assert abs(under[name] / whole - expected) < within(expected, looks), under


def test_the_loop_has_it_all(running):
    loop, work = row(running, "turns"), row(running, "burn")
    assert loop["total_share"] > 0.9 * sum(
        row(running, name)["total_share"] for name in ("seventy", "twenty", "ten")
    )
    assert loop["cpu_share"] < 0.1
    # All that its thread gets of a core, be it busy.
    own = next(one for one in running["threads"] if one["tid"] == os.getpid())
    least = 0.9 * own["cpu_share"] - within(0.1, looks_of(running))
    assert work["cpu_share"] > least
    assert work["cpu_share"] + work["wait_share"] > 0.9 * loop["total_share"] - 0.1
    assert work["share"] == work["cpu_share"]
    assert work["samples"] > 100
    assert 0 <= work["run_share"] <= 1


def test_hot_functions_are_dark_meanwhile(running):
    assert row(running, "burn")["state"] != "armed"
    assert not row(running, "burn")["calls_exact"]
    assert not row(running, "ten")["calls_exact"]


def test_a_sleeper_waits(running):
    threading_wait = row(running, "Condition.wait") or row(running, "sleeper")
    assert threading_wait["wait_share"] > 0.9
    assert threading_wait["cpu_share"] < 0.02
    mine = row(running, "half_asleep")
    assert mine["wait_share"] > 0.9
    assert mine["cpu_share"] < 0.1


def test_threads_have_names_and_shares(running):
    threads = {thread["name"]: thread for thread in running["threads"]}
    main = threads["MainThread"]
    assert main["tid"] == threading.main_thread().native_id
    assert main["cpu_share"] > 0.3
    assert main["samples"] > 100
    for name in ("sleeping beauty", "näp"):
        assert threads[name]["cpu_share"] < 0.1
        assert threads[name]["wait_share"] > 0.9
    assert not [name for name in threads if name.startswith("ocular-")]
    assert len(running["threads"]) == 3


def test_shares_are_no_more_than_whole(running):
    # How many looks found a thread running that runs half of the time is chance.
    sigma = looks_of(running) ** -0.5
    for mine in running["functions"]:
        assert 0 <= mine["cpu_share"] <= 1.02 + 4 * sigma
        assert 0 <= mine["wait_share"] <= 3.02
    cpu = sum(mine["cpu_share"] for mine in running["functions"])
    assert cpu <= 1.05 + 4 * sigma


def test_the_sampler_tells_of_itself(running):
    sampler = running["sampler"]
    assert 1 < sampler["hz"] < 500  # as the budget and the machine allow
    assert sampler["samples"] > 100
    assert sampler["unknown"] < 0.02 * sampler["samples"] + 5
    assert 0 <= sampler["elsewhere"] < 0.2


def test_overhead_is_told(running):
    overhead = running["overhead"]
    assert overhead["budget"] == 0.01
    parts = overhead["hooks"] + overhead["rearm"] + overhead["threads"]
    assert overhead["measured"] == pytest.approx(parts)
    assert 0 < overhead["threads"] < 0.2
    assert 0 <= overhead["hooks"] < 0.05


def test_the_final_snapshot_has_shares_too(snapshots):
    final = snapshots[1]
    assert row(final, "burn")["run_share"] > 0.3
    assert row(final, "burn")["cpu_share"] > 0.3
    assert "MainThread" in {thread["name"] for thread in final["threads"]}
    assert final["sampler"]["hz"] is not None


# --- Without it ---------------------------------------------------------------


@pytest.mark.parametrize("budget", [None, 0.02])
def test_a_sampler_runs_where_somebody_may_look(budget, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with_budget = dict(serve=False, overhead_budget=budget)
    ocular.start_tracing(**{**SETTINGS, **with_budget})
    try:
        burn(0.2)
        snapshot = ocular.snapshot()
    finally:
        ocular.stop_tracing()
    mine = row(snapshot, "burn")
    shares = "share cpu_share wait_share total_share run_share samples".split()
    if budget:
        assert all(mine[key] is not None for key in shares)
        assert snapshot["overhead"]["budget"] == budget
        return
    assert all(mine[key] is None for key in shares)
    assert all(value is None for value in snapshot["sampler"].values())
    assert snapshot["overhead"]["budget"] is None
    for thread in snapshot["threads"]:
        assert thread["cpu_share"] is None and thread["samples"] is None
    assert snapshot["threads"]


def test_functions_come_hottest_first():
    ocular.start_tracing(**{**SETTINGS, "serve": False})
    try:
        turns(0.3)
        by_cycles = ocular.snapshot()["functions"]
    finally:
        ocular.stop_tracing()
    cycles = [mine["self_cycles"] or 0 for mine in by_cycles]
    assert cycles == sorted(cycles, reverse=True)


def test_they_come_by_share_where_there_is_one(running):
    shares = [mine["share"] for mine in running["functions"]]
    assert all(a >= b - 1e-5 for a, b in zip(shares, shares[1:]))
