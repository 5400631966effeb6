# SPDX-License-Identifier: MIT
"""Tests what samples say about functions and threads while no function has hooks.
tests/figures/test_gil.py measures how accurate the shares are."""

import threading
import time

import ocular
import pytest
from e2e.counting import row, threads_of
from e2e.program import SLOW, wait_until

SETTINGS = dict(perfetto=False, quiet=True, serve=True, deinstrument_threshold=50)
# With a larger budget, a cheap function would keep its hooks even if it is called often.
# Snapshots use a part of the same budget.
BUDGET = 0.02


def burn(seconds):
    """Uses `seconds` of this thread's CPU time in many short C calls."""
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
    """Returns the snapshot `running` and the final snapshot of the run that all tests use.
    The main thread runs turns(), and two threads sleep. The fixture waits for each
    condition separately, because all of them together are rarely true at once. `burn` gets
    its hooks back from time to time, but has none in the snapshot `running`."""
    stop = threading.Event()
    threads = [
        threading.Thread(target=sleeper, args=(stop,), name="sleeping beauty"),
        threading.Thread(target=half_asleep, args=(stop,), name="a nap"),
    ]
    for thread in threads:
        thread.start()
    threads[1].name = "näp"

    def when(is_there, what, calls=0):
        def look():
            for _ in range(calls):  # `calls` calls take about a tenth of a second
                burn(0)
            turns(0.02)
            snapshot = ocular.snapshot()
            return is_there(snapshot) and snapshot

        return wait_until(look, SLOW, what)

    def is_sampled(snapshot, name):
        mine = row(snapshot, name)
        return mine and (mine["samples"] or 0) >= 5

    ocular.start_tracing(**SETTINGS, overhead_budget=BUDGET)
    try:
        when(lambda now: is_sampled(now, "burn"), "samples of what runs")
        when(lambda now: is_sampled(now, "Condition.wait"), "looks at what waits")
        when(lambda now: not row(now, "burn")["calls_exact"], "calls in the dark", 100_000)
        running = when(
            lambda now: row(now, "burn")["state"] != "armed", "the dark", 100_000
        )
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
    """Replaces the usual fixture, because all tests of this module share one run."""


def test_who_waits_is_looked_at_and_not_sampled(snapshots):
    """A sleeping thread uses no CPU time, so it has observations but no samples."""
    final = snapshots[1]
    asleep = row(final, "Condition.wait")
    assert asleep["wait_share"] > 0 and asleep["samples"] >= 5
    assert asleep["run_samples"] < asleep["samples"]
    assert row(final, "burn")["run_samples"] >= 5
    assert row(final, "burn")["run_share"] > 0 and row(final, "burn")["cpu_share"] > 0
    assert "MainThread" in {thread["name"] for thread in final["threads"]}


def test_threads_have_names_and_shares(running):
    threads = {thread["name"]: thread for thread in threads_of(running)}
    main = threads["MainThread"]
    assert main["tid"] == threading.main_thread().native_id
    assert main["samples"] >= 5
    for thread in threads.values():
        assert thread["cpu_share"] >= 0 and thread["wait_share"] >= 0
    assert sorted(threads) == ["MainThread", "näp", "sleeping beauty"]


def test_samples_and_overhead_are_told(running):
    sampler, overhead = running["sampler"], running["overhead"]
    assert sampler["hz"] > 0 and sampler["samples"] >= 5
    assert sampler["unknown"] >= 0 and sampler["elsewhere"] >= 0
    assert overhead["budget"] == BUDGET
    parts = overhead["hooks"] + overhead["rearm"] + overhead["threads"]
    assert overhead["measured"] == pytest.approx(parts)
    assert overhead["threads"] > 0 and overhead["hooks"] >= 0


# --- Shares without a viewer --------------------------------------------------


@pytest.mark.parametrize("budget", [None, 0.02])
def test_a_sampler_runs_though_nobody_may_look(budget, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with_budget = dict(serve=False, overhead_budget=budget)
    ocular.start_tracing(**{**SETTINGS, **with_budget})
    try:
        burn(0.01)
        snapshot = ocular.snapshot()
        while not row(snapshot, "burn")["run_samples"]:
            burn(0.01)
            snapshot = ocular.snapshot()
    finally:
        ocular.stop_tracing()
    mine = row(snapshot, "burn")
    shares = "share cpu_share wait_share total_share run_share samples".split()
    assert all(mine[key] is not None for key in shares)
    assert snapshot["sampler"]["samples"] > 0
    assert snapshot["overhead"]["budget"] == budget
    assert all(thread["cpu_share"] is not None for thread in threads_of(snapshot))


def test_they_come_by_share_where_there_is_one(running):
    shares = [mine["share"] for mine in running["functions"]]
    # When Ocular sorts functions, a share of less than a quarter of one sample counts as 0
    # (tracer/session/builder.c).
    least = 0.25 * sum(mine["cpu_share"] for mine in running["functions"])
    least /= running["sampler"]["window_samples"]
    shares = [0 if share < least else share for share in shares]
    assert shares[0] > 0
    assert all(a >= b - 1e-5 for a, b in zip(shares, shares[1:]))
