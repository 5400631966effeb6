# SPDX-License-Identifier: MIT
"""What the sampler says of functions and threads, though everything is dark. How
right its shares are: tests/figures/test_shares.py."""

import threading
import time

import ocular
import pytest
from e2e.counting import row, threads_of
from e2e.program import SLOW, wait_until

SETTINGS = dict(perfetto=False, quiet=True, serve=True, deinstrument_threshold=50)
BUDGET = 0.2  # snapshots are paid for, too


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
def snapshots():
    """One run for all tests: turns() in the main thread beside two sleepers."""
    stop = threading.Event()
    threads = [
        threading.Thread(target=sleeper, args=(stop,), name="sleeping beauty"),
        threading.Thread(target=half_asleep, args=(stop,), name="näp"),
    ]
    for thread in threads:
        thread.start()
    ocular.start_tracing(**SETTINGS, overhead_budget=BUDGET)
    try:

        def is_seen():
            turns(0.2)
            running = ocular.snapshot()
            known = [row(running, name) for name in ("burn", "Condition.wait")]
            seen = all(one and one["samples"] >= 5 for one in known)
            dark = row(running, "burn")["state"] != "armed"  # and not at a re-arm
            return seen and dark and not row(running, "ten")["calls_exact"] and running

        running = wait_until(is_seen, SLOW)
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


def test_hot_functions_are_dark_meanwhile(running):
    assert row(running, "burn")["state"] != "armed"
    assert not row(running, "burn")["calls_exact"]
    assert not row(running, "ten")["calls_exact"]


def test_threads_have_names_and_shares(running):
    threads = {thread["name"]: thread for thread in threads_of(running)}
    main = threads["MainThread"]
    assert main["tid"] == threading.main_thread().native_id
    assert main["samples"] >= 5
    for thread in threads.values():
        assert thread["cpu_share"] >= 0 and thread["wait_share"] >= 0
    assert sorted(threads) == ["MainThread", "näp", "sleeping beauty"]


def test_the_sampler_says_how_often_it_looked(running):
    sampler = running["sampler"]
    assert sampler["hz"] > 0 and sampler["samples"] >= 5
    assert sampler["unknown"] >= 0 and sampler["elsewhere"] >= 0


def test_overhead_is_told(running):
    overhead = running["overhead"]
    assert overhead["budget"] == BUDGET
    parts = overhead["hooks"] + overhead["rearm"] + overhead["threads"]
    assert overhead["measured"] == pytest.approx(parts)
    assert overhead["threads"] > 0 and overhead["hooks"] >= 0


def test_the_final_snapshot_has_shares_too(snapshots):
    final = snapshots[1]
    assert row(final, "burn")["run_share"] > 0
    assert row(final, "burn")["cpu_share"] > 0
    assert "MainThread" in {thread["name"] for thread in final["threads"]}
    assert final["sampler"]["hz"] is not None


# --- Without it ---------------------------------------------------------------


@pytest.mark.parametrize("budget", [None, 0.02])
def test_a_sampler_runs_where_somebody_may_look(budget, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with_budget = dict(serve=False, overhead_budget=budget)
    ocular.start_tracing(**{**SETTINGS, **with_budget})
    try:
        burn(0.01)
        snapshot = ocular.snapshot()
        while budget and row(snapshot, "burn")["cpu_share"] is None:
            burn(0.01)
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
