# SPDX-License-Identifier: MIT
"""Tests the row of the garbage collector, and its collections and pauses by generation. The
true numbers come from the program's own function in gc.callbacks."""

import gc
import json
import os
import re
import time

import ocular
import pytest
from e2e import trace
from e2e.counting import COLLECTOR, own_cycles, row
from e2e.program import PYTHON, run, script, top, wait_until, write

pytestmark = pytest.mark.usefixtures("no_turns", "own_heap")
QUIET = dict(perfetto=False, quiet=True)


@pytest.fixture
def own_heap():
    """Frees earlier garbage, so that only the test's own objects are collected later."""
    before = list(gc.callbacks)
    gc.collect()
    gc.freeze()
    yield
    gc.enable()
    gc.unfreeze()
    gc.callbacks[:] = before


class Node:
    def __init__(self):
        self.me = self


def makes_cycles(count):
    for _ in range(count):
        Node()


def grows(count):
    return [[i] for i in range(count)]


def collects():
    return gc.collect()


class Pauses:
    """Times each collection by one callback before Ocular's callback and one after it. So
    the pause has a lower and an upper bound."""

    def __init__(self):
        self.collections = [0, 0, 0]
        self.inner = [[], [], []]
        self.outer = [[], [], []]
        gc.callbacks.insert(0, self.before)
        gc.callbacks.append(self.after)

    def before(self, phase, info):
        if phase == "start":
            self.began = time.perf_counter()
        else:
            self.ended = time.perf_counter()

    def after(self, phase, info):
        if phase == "start":
            self.within = time.perf_counter()
            return
        generation = info["generation"]
        self.collections[generation] += 1
        self.inner[generation].append(self.ended - self.within)
        self.outer[generation].append(time.perf_counter() - self.began)

    def close(self):
        gc.callbacks.remove(self.before)
        gc.callbacks.remove(self.after)


def generations():
    return ocular.snapshot()["gc"]["generations"]


def work():
    for _ in range(5):
        makes_cycles(3000)
        grows(20_000)
    for generation in (0, 1, 2):
        gc.collect(generation)


@pytest.mark.parametrize(
    "settings",
    [
        dict(deinstrument_threshold=0),
        dict(deinstrument_threshold=20),
        dict(deinstrument_threshold=0, mode="precise"),
        dict(overhead_budget=0.01),
    ],
)
def test_collections_and_pauses_are_those_of_python(tracing, settings):
    tracing(**settings)
    gc.disable()  # Otherwise a collection could begin between the next two statements.
    before = generations()
    pauses = Pauses()
    gc.enable()
    work()
    gc.disable()
    pauses.close()
    after = generations()
    gc.enable()
    assert sum(pauses.collections) > 20 and pauses.collections[2] > 0
    for i in range(3):
        count = after[i]["collections"] - before[i]["collections"]
        assert count == pauses.collections[i]
        total = after[i]["total_s"] - before[i]["total_s"]
        assert 0.99 * sum(pauses.inner[i]) <= total <= 1.01 * sum(pauses.outer[i])
        assert after[i]["longest_s"] >= 0.99 * max(pauses.inner[i])


def test_no_functions_own_time_has_a_pause(tracing):
    keep = grows(200_000)
    gc.disable()  # Only collects() shall start collections.
    tracing(deinstrument_threshold=0)
    for _ in range(5):
        collects()
    snapshot = ocular.snapshot()
    mine, pause = row(snapshot, "collects"), row(snapshot, COLLECTOR)
    # The call's total time contains the pause, and its self time does not.
    assert mine["total_cycles"] >= pause["total_cycles"] * 0.99
    assert own_cycles(mine) <= 1.01 * (mine["total_cycles"] - pause["total_cycles"])
    assert own_cycles(mine) < pause["total_cycles"] / 2
    assert len(keep) == 200_000


def test_samples_name_the_function_that_triggered_collections(tracing):
    keep = grows(100_000)
    tracing(deinstrument_threshold=20)

    def triggers():
        collects()
        snapshot = ocular.snapshot()
        mine, pause = row(snapshot, "collects"), row(snapshot, COLLECTOR)
        ids = [one["id"] for one in pause["callers"]]
        return pause["samples"] > 5 and mine["id"] in ids and (mine, pause)

    mine, pause = wait_until(triggers)
    # Hardly any sample finds the function itself, because it spends most time in pauses.
    assert pause["cpu_share"] > mine["cpu_share"]
    assert mine["total_share"] >= pause["cpu_share"] * 0.5
    assert mine["total_parts"]["gc"] >= pause["cpu_share"] * 0.5
    assert len(keep) == 100_000


def one_of_ours():
    (ours,) = [one for one in gc.callbacks if one.__name__.startswith("ocular")]
    return ours


def test_a_program_that_clears_the_list(tracing):
    tracing()
    ours = one_of_ours()
    ours("start", {})
    gc.callbacks.clear()
    wait_until(lambda: ours in gc.callbacks, what="the callback is back")
    before = generations()[2]["collections"]
    # This event belongs to a collection that Ocular has forgotten, and must not count.
    ours("stop", {"generation": 2})
    assert generations()[2]["collections"] == before
    gc.collect()
    assert generations()[2]["collections"] == before + 1

    def mine(phase, info):
        pass

    gc.callbacks.insert(0, mine)
    gc.callbacks.append(mine)
    ocular.stop_tracing()
    assert gc.callbacks == [mine, mine]


def test_a_program_that_binds_the_list_anew(tmp_path):
    result = script(
        tmp_path,
        """
import gc, json
real, gc.callbacks = gc.callbacks, []
import ocular
ocular.start_tracing(quiet=True, perfetto=False)
gc.collect()
counted = ocular.snapshot()["gc"]["generations"][2]["collections"]
ocular.stop_tracing()
print(json.dumps([counted > 0, real, gc.callbacks]))
""",
    ).answer
    assert result == [True, [], []]


def test_the_callback_survives_any_arguments(tracing):
    tracing(deinstrument_threshold=0)
    ours = one_of_ours()
    for arguments in (
        *((), ("start",), ("start", 3), (3, {}), ("stop", {}), ("stop", {1: 2})),
        *(("stop", {"generation": odd}) for odd in ("x", 10**30)),
        *(("start", {}), ("start", {}), ("stop", {"generation": -5})),
    ):
        assert ours(*arguments) is None
    before = generations()[2]["collections"]
    collects()
    assert generations()[2]["collections"] == before + 1
    assert row(ocular.snapshot(), "collects")["calls"] == 1


class Ends:
    """An object whose finalizer runs during a garbage collection."""

    def __init__(self):
        self.me = self

    def __del__(self):
        finishes(5)


def finishes(count):
    return sum(range(count))


def test_finalizers_run_within_the_collection(tracing, tmp_path):
    output = tmp_path / "trace.json"
    ocular.start_tracing(deinstrument_threshold=0, perfetto=True, output=output, quiet=True)
    gc.disable()
    for _ in range(50):
        Ends()
    collects()
    gc.enable()
    snapshot = ocular.snapshot()
    ocular.stop_tracing()
    assert row(snapshot, "Ends.__del__")["calls"] == 50
    assert row(snapshot, "finishes")["calls"] == 50
    pause, mine = row(snapshot, COLLECTOR), row(snapshot, "collects")
    assert pause["total_cycles"] > row(snapshot, "Ends.__del__")["total_cycles"]
    assert mine["total_cycles"] > pause["self_cycles"]
    parents = {}
    for call in trace.read(output).of():
        parents.setdefault(call.name, set()).add(call.parent)
    assert parents["Ends.__del__"] == {COLLECTOR}
    assert parents["finishes"] == {"Ends.__del__"}
    assert "collects" in parents[COLLECTOR]


def test_a_forked_child_is_not_counted(tmp_path):
    result = script(
        tmp_path,
        """
import gc, json, ocular, os, warnings
warnings.simplefilter("ignore")
ocular.start_tracing(quiet=True, perfetto=False)
pid = os.fork()
if not pid:
    gc.collect()
    idle = not ocular.is_tracing()
    os._exit(7 * (idle and gc.callbacks == []))
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
before = ocular.snapshot()["gc"]["generations"][2]["collections"]
gc.collect()
after = ocular.snapshot()["gc"]["generations"][2]["collections"]
ocular.stop_tracing()
print(json.dumps([status, after - before, gc.callbacks]))
""",
    ).answer
    assert result == [7, 1, []]


def test_a_program_that_ends_in_a_collection(tmp_path):
    """At the interpreter's last collections, Ocular's callback is still in
    gc.callbacks, or was removed."""
    done = script(
        tmp_path,
        """
import gc, ocular
class Node:
    def __init__(self):
        self.me = self
    def __del__(self):
        gc.callbacks.clear()
        ocular.stop_tracing()
ocular.start_tracing(quiet=True, perfetto=False)
for _ in range(10):
    Node()
gc.collect()
keep = [Node() for _ in range(10)]
print("end")
""",
    )
    assert (done.status, done.out, done.err) == (0, "end\n", "")


def test_the_report_has_the_collector_and_five_functions(tmp_path):
    path = write(
        tmp_path,
        """
def grows(count):
    return [[i] for i in range(count)]

def one(): grows(20_000)
def two(): one()
def three(): two()
def four(): three()
keep = grows(200_000)
for _ in range(20):
    four()
""",
    )
    command = [PYTHON, "-m", "ocular", "--output", "t.json", "--include-only"]
    done = run([*command, "program.py", path], cwd=tmp_path)
    ranks = re.findall(r"\n#(\d)  (\S+)(.*)", done.err)
    assert [int(rank) for rank, _, _ in ranks] == [1, 2, 3, 4, 5, 6], done.err
    part = re.search(r"\n#\d  <garbage collection>  +-\n.*?\n\n", done.err, re.S)[0]
    assert re.search(r"\n    .*% of a core", part)
    assert re.search(r"\n    [\d ]+ calls  ~.* a call  armed\n", part)
    assert "offset" not in part  # The garbage collector has no bytecode.


def test_the_viewer_shows_the_collector(sockets):
    keep = grows(100_000)
    ocular.start_tracing(**QUIET, serve=True, deinstrument_threshold=20)
    try:
        for _ in range(5):
            collects()

        def screen(keys, *more):
            done = top("-p", os.getpid(), "--once", "--size", "180x24", *more, keys)
            assert done.status == 0, done.err
            return done.out

        found = screen("/garbage c<Enter>", "--keys")
        assert re.search(r" gc [\d.]+%, longest [\d.]+[mµ]?s ", found)
        assert "▸" in found and COLLECTOR in found.split("▸")[1].split("\n")[0]
        listing = screen("/garbage c<Enter><Enter>", "--keys")
        assert COLLECTOR in listing
        for shown in found, listing:
            assert " :0" not in shown  # The garbage collector has no file and no line.
        sent = json.loads(top("-p", os.getpid(), "--once", "--json").out)
    finally:
        ocular.stop_tracing()
    assert sent["gc"]["generations"][2]["collections"] >= 5
    assert sent["gc"]["generations"][2]["longest_s"] > 0
    assert len(keep) == 100_000


def test_a_subinterpreter_is_not_counted(tmp_path):
    result = script(
        tmp_path,
        """
import gc, json, ocular
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
ocular.start_tracing(quiet=True, perfetto=False)
gc.disable()
before = ocular.snapshot()["gc"]["generations"]
code = "import gc; gc.collect(); assert gc.callbacks == []"
failed = interpreters.run_string(other, code)
after = ocular.snapshot()["gc"]["generations"]
ocular.stop_tracing()
interpreters.destroy(other)
print(json.dumps([failed and str(failed), before == after]))
""",
    ).answer
    assert result == [None, True]
