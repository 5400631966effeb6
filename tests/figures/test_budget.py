# SPDX-License-Identifier: MIT
"""Tests the overhead budget on a real machine. Compares the overhead with the allowed
overhead in several cases: after many new functions, when all functions are re-armed, with a
viewer, and in idle programs."""

import os
import struct
import subprocess
import time

import ocular
import pytest
from e2e import client
from e2e.program import cpu_s, switches
from python.test_budget import work_until

HERE = ["test_budget", "<generated>"]

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def tracing(sockets):
    def start(**settings):
        ocular.start_tracing(
            **{"quiet": True, "perfetto": False, "include_only": HERE, **settings}
        )

    yield start
    ocular.stop_tracing()


def spin(rounds=30):
    total = 0
    for number in range(rounds):
        total += number * 3 % 7
    return total


def heavy():
    """A call of this function takes about 200 us. For each timed call, the caller's own
    time contains some additional time. 200 us are much longer than that, even if few calls
    of the caller are timed."""
    total = 0
    for number in range(6000):
        total += number * 3 % 7
    return total


def timed(mine):
    """Returns the approximate number of calls that could be timed. The mean covers only the
    newest calls."""
    return round((mine["self_cycles"] or 0) / (mine["avg_cycles"] or 1))


# --- The reported overhead ----------------------------------------------------


def hardly_work(seconds):
    """Returns [(s, CPU s of the program, CPU s of Ocular's threads)], each at the end of a
    turn of the loop."""
    seen = []
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        end = time.thread_time() + 0.001
        while time.thread_time() < end:
            spin()
        time.sleep(0.2)
        ours = sum(cpu_s().values())
        seen.append((time.monotonic(), time.process_time() - ours, ours))
    return seen


def test_a_thousandth_of_a_core_is_allowed(tracing, figure):
    """At least a thousandth of a core is allowed. A program that uses little CPU time could
    not pay for one snapshot a second with a hundredth of its time."""
    tracing(serve=True, overhead_budget=0.01)
    seen = hardly_work(15)
    snapshot = ocular.snapshot()
    before = next(each for each in seen if each[0] > seen[-1][0] - 10)
    wall, used, spent = (b - a for a, b in zip(before, seen[-1]))
    allowed = snapshot["overhead"]["allowed"]
    figure("allowed", allowed / max(0.01, 0.001 * wall / used), "nearer", "x", goal=1)
    figure("spent", 100 * spent / wall, unit="% of a core")
    figure("reported", snapshot["overhead"]["measured"] / allowed, unit="of allowed")


def test_a_viewer_is_paid_for_from_that(tracing, tmp_path, figure):
    """A viewer in a separate process takes one snapshot a second."""
    tracing(serve=True, overhead_budget=0.01)
    shown = tmp_path / "shown"
    with (
        open(shown, "wb") as file,
        subprocess.Popen(
            [os.environ["OCULAR_TOP"], "--json", "-d", "1", "-p", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=file,
        ) as viewer,
    ):
        seen = hardly_work(15)
        viewer.terminate()
    before = next(each for each in seen if each[0] > seen[-1][0] - 10)
    wall, _, spent = (b - a for a, b in zip(before, seen[-1]))
    figure("snapshots", shown.read_bytes().count(b"\n"), "higher", "in 15 s")
    figure("spent", 100 * spent / wall, unit="% of a core")


# --- Callers -------------------------------------------------------------------


def gives():
    yield heavy()


def takes():
    for _ in range(5):
        for _ in gives():
            pass


def descend(depth):
    if depth:
        return descend(depth - 1)
    return 0


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
    names.clear()  # the functions and their dicts of globals refer to each other
    return rows


def test_a_storm_is_cut_short(tracing, figure):
    # The function calls last long enough for the governor to notice them, even on a fast
    # machine.
    tracing(overhead_budget=0.002, deinstrument_threshold=10_000)
    rows = storm(1000, 10_500)
    assert len(rows) == 1000
    calls = sum(mine["calls"] for mine in rows)
    figure("counted", calls / (1000 * 10_000), unit="of the threshold")
    for mine in rows:  # the loss of calls is bounded and reported
        assert mine["calls"] >= 16
        assert not mine["calls_exact"]
    # The debt is paid back. The debt is at most the allowed overhead of ten seconds.
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
    names.clear()  # the function and its dict of globals refer to each other
    for _ in range(40_000):
        spin()


def test_a_viewer_changes_the_budget(tracing, figure):
    """The overhead follows the budget. The rate of samples follows the budget, too.
    While the budget is small, the sampler leaves more of it to the hooks."""
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


@pytest.mark.parametrize("perfetto", [False, True])
def test_who_idles_is_left_alone(tracing, perfetto, tmp_path, figure):
    """One wake-up takes about 30 us, so 30 wake-ups a second take a thousandth of a
    core."""
    tracing(serve=True, perfetto=perfetto, output=tmp_path / "trace.json")
    for _ in range(1000):
        spin()
    time.sleep(4)  # in this time, Ocular's threads notice that the program is idle
    before, began = switches(), time.monotonic()
    time.sleep(3)
    after, took = switches(), time.monotonic() - began
    assert set(after) == {
        "ocular-sampler",
        "ocular-governor",
        "ocular-collect",
        "ocular-server",
    }
    for name in after:
        figure(name, (after[name] - before[name]) / took, unit="wake-ups a second")
