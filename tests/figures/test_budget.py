# SPDX-License-Identifier: MIT
"""Tests the overhead budget on a real machine, after many new functions and after a viewer
changes the budget."""

import struct
import time

import ocular
import pytest
from e2e import client
from python.test_budget import work_until

TRACED = {"include_only": ["test_budget", "<generated>"]}

pytestmark = pytest.mark.timeout(600)


def spin(rounds=30):
    total = 0
    for number in range(rounds):
        total += number * 3 % 7
    return total


# --- Warm-up ------------------------------------------------------------


GENERATED = """
def f{}(x):
    total = 0
    for _ in range(3):
        total += x
    return total
"""


def generated(count, more=""):
    names = {}
    exec(
        compile("".join(map(GENERATED.format, range(count))) + more, "<generated>", "exec"),
        names,
    )
    return names, [names[f"f{number}"] for number in range(count)]


def storm(count, calls=600):
    names, functions = generated(count)
    for _ in range(calls // 10):
        for function in functions:
            for _ in range(10):
                function(1)
    rows = [
        mine
        for mine in ocular.snapshot()["functions"]
        if mine["file"] == "<generated>" and mine["name"] != "<module>"
    ]
    names.clear()  # breaks the reference cycle between the functions and their globals
    return rows


def test_a_storm_is_cut_short(tracing, figure):
    # The function calls last long enough for the governor to notice them, even on a fast
    # machine.
    tracing(overhead_budget=0.002, deinstrument_threshold=10_000)
    rows = storm(1000, 10_500)
    assert len(rows) == 1000
    calls = sum(mine["calls"] for mine in rows)
    figure("counted", calls / (1000 * 10_000), unit="of the threshold")
    for mine in rows:  # calls were lost, but at least 16 were counted
        assert mine["calls"] >= 16
        assert not mine["calls_exact"]
    # Overhead above the budget is at most that of ten seconds, and is paid back.
    began = time.monotonic()
    work_until(lambda s: s["overhead"]["measured"] < 1.2 * s["overhead"]["allowed"], spin)
    figure("paid_back", time.monotonic() - began, unit="s")


# --- The sampler's share of the budget ----------------------------------------


def renews():
    """A new function runs for a thirtieth of the time of the test. The first hits of this
    function cost as much as the budget allows. So these hits take the same fraction of the
    time on any machine."""
    names, (new,) = generated(1)
    for _ in range(31_000):
        new(1)
    names.clear()  # breaks the reference cycle between the function and its globals
    for _ in range(40_000):
        spin()


def test_a_viewer_changes_the_budget(tracing, figure):
    """The overhead follows the budget. The rate of samples follows the budget, too.
    The sampler uses a smaller part of a small budget than of a large budget."""
    tracing(serve=True, overhead_budget=0.002, deinstrument_threshold=30_000)
    low = work_until(
        lambda s: s["overhead"]["measured"] < 1.5 * s["overhead"]["allowed"], renews
    )
    with client.Client(ocular._ocular.socket_path()) as viewer:
        viewer.ask(client.BUDGET, struct.pack("<d", 0.2))
        began = time.monotonic()
        high = work_until(
            lambda s: (
                s["sampler"]["hz"] > 2 * low["sampler"]["hz"]
                and s["overhead"]["measured"] > 3 * low["overhead"]["allowed"]
            ),
            renews,
        )
        assert high["overhead"]["budget"] == 0.2
        figure("up", time.monotonic() - began, unit="s")
        began = time.monotonic()
        viewer.ask(client.BUDGET, struct.pack("<d", 0.002))
    down = work_until(
        lambda s: (
            s["sampler"]["hz"] < high["sampler"]["hz"] / 2
            and s["overhead"]["measured"] < 1.5 * s["overhead"]["allowed"]
        ),
        renews,
    )
    assert down["overhead"]["budget"] == 0.002
    figure("down", time.monotonic() - began, unit="s")
