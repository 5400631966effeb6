# SPDX-License-Identifier: MIT
"""Tests what samples say about callers, hot instructions and threads. Also tests which
pairs of caller and callee the hooks learn from samples. tests/figures/test_gil.py
measures how accurate the shares are."""

import json
import platform
import subprocess
import sys
import threading
import time
from collections import Counter

import ocular
import pytest
from e2e.counting import own_cycles, row
from e2e.program import SLOW, wait_until

TRACED = dict(serve=True, deinstrument_threshold=50, overhead_budget=0.05)


def until(done, function, *arguments):
    """Calls the function again and again until done(snapshot). Returns that snapshot."""

    def snapshot():
        end = time.process_time() + 0.1
        while time.process_time() < end:
            function(*arguments)
        seen = ocular.snapshot()
        return done(seen) and seen

    return wait_until(snapshot, SLOW, function.__name__)


def samples_of(function):
    """Returns {opcode: number of samples}."""
    counts = Counter()
    for one in ocular._ocular.detail(function.__code__) or ():
        counts[one["opcode"]] += one["samples"]
    return counts


# --- Programs of the tests ----------------------------------------------------

NUMBERS = [(i * 7919) % 10007 for i in range(10007)]


def sorts():
    """Takes about 30 ms in C without a system call, at which threads are often switched."""
    for _ in range(100):
        NUMBERS.copy().sort()


def work(rounds):
    total = 0
    for i in range(rounds):
        total += i * i
    return total


def often():
    return work(3000)


def seldom():
    return work(1000)


def both():
    often()
    seldom()


# --- Callers, offsets and threads ---------------------------------------------


def test_callers(tracing):
    def are_there(snapshot):
        return all(
            len((row(snapshot, name) or {}).get("callers") or ()) == count
            for name, count in (("work", 2), ("often", 1), ("seldom", 1))
        )

    tracing()
    snapshot = until(are_there, both)
    names = {mine["id"]: mine["name"] for mine in snapshot["functions"]}
    mine = row(snapshot, "work")
    assert {names[one["id"]] for one in mine["callers"]} == {"often", "seldom"}
    shares = [one["share"] for one in mine["callers"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(mine["total_share"], rel=0.02)
    for name in ("often", "seldom"):
        (one,) = row(snapshot, name)["callers"]
        assert names[one["id"]] == "both"


@pytest.mark.parametrize(
    "function, argument, hot", [(work, 10_000, "BINARY_OP"), (sorts, None, "CALL")]
)
def test_hot_offsets(tracing, function, argument, hot):
    """Most samples are at the slowest instruction of the function."""
    arguments = [] if argument is None else [argument]
    tracing()
    until(lambda _: samples_of(function)[hot] >= 5, function, *arguments)
    counts = samples_of(function)
    assert counts.total() >= 5 and min(counts.values()) >= 0
    # An older snapshot may lack the samples that were just counted.
    mine = row(ocular.snapshot(), function.__name__)
    assert 0 <= mine["c_share"] <= mine["cpu_share"] + 1e-9
    if function is sorts:
        assert mine["c_share"] > 0
        assert counts[hot] == max(counts.values()), counts


def below(depth, function, *arguments):
    return below(depth - 1, function, *arguments) if depth else function(*arguments)


def test_deep_stacks_are_cut_off_and_counted(tracing):
    tracing()
    shallow = until(lambda s: row(s, "work")["samples"] >= 5, work, 1000)["sampler"]
    assert shallow["truncated"] == 0
    deep = until(lambda s: s["sampler"]["truncated"] >= 5, below, 300, work, 10**6)
    assert deep["sampler"]["truncated"] <= (deep["sampler"]["samples"] - shallow["samples"])


def brief():
    end = time.thread_time() + 0.003
    while time.thread_time() < end:
        work(100)


def test_threads_that_end_at_once(tracing):
    """Each thread ends long before the governor lists the threads. Thread._bootstrap is
    called more often than the threshold, and still keeps its hooks."""

    threads = []

    def start_and_join():
        thread = threading.Thread(target=brief)
        threads.append(thread)
        thread.start()
        thread.join()

    tracing()
    seen = until(lambda s: (row(s, "brief")["calls"] or 0) >= 60, start_and_join)
    before = row(seen, "work")["run_samples"]
    seen = until(lambda s: row(s, "work")["run_samples"] >= before + 5, start_and_join)
    assert row(seen, "work")["share"] > row(seen, "start_and_join")["share"]
    assert row(seen, "Thread._bootstrap")["calls"] == len(threads)


def busy_a(stop):
    while not stop.is_set():
        work(1000)


def busy_b(stop):
    while not stop.is_set():
        NUMBERS.copy().sort()


def test_each_thread_has_its_own(tracing):
    stop = threading.Event()
    programs = (busy_a, busy_b)
    threads = [
        threading.Thread(target=one, args=(stop,), name=one.__name__) for one in programs
    ]
    functions = {}

    def both_are_seen():
        snapshot = ocular.snapshot()
        names = {mine["id"]: mine["name"] for mine in snapshot["functions"]}
        for thread in snapshot["threads"]:
            # A function that is not traced has the name None.
            functions[thread["name"]] = {
                names.get(one["id"]) for one in thread["functions"]
            }
        wanted = {"busy_a": "work", "busy_b": "busy_b"}
        return all(name in functions.get(key, ()) for key, name in wanted.items())

    tracing()
    try:
        for thread in threads:
            thread.start()
        wait_until(both_are_seen, SLOW)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert "work" not in functions["busy_b"] and "busy_b" not in functions["busy_a"]


# --- Reading of stacks is refused ---------------------------------------------

CAGE = """
import ctypes, json, ocular, sys, struct, time
calls = {"process_vm_readv": 310, "pread64": 17}  # x86-64
def forbid(*names):
    code = struct.pack("=HBBI", 0x20, 0, 0, 0)  # loads the call's number
    for name in names:
        code += struct.pack("=HBBI", 0x15, 0, 1, calls[name])
        code += struct.pack("=HBBI", 0x06, 0, 0, 0x00050000 | 1)  # EPERM
    code += struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)  # the others
    data = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(data))
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(38, ctypes.c_ulong(1), zero, zero, zero):
        sys.exit(77)
    if libc.syscall(317, ctypes.c_ulong(1), ctypes.c_ulong(1), program):
        sys.exit(77)  # seccomp cannot filter all threads
def burn():
    return sum(i for i in range(1000))
when, *names = sys.argv[1:]
if when == "before":
    forbid(*names)
ocular.start_tracing(serve=True, quiet=False, perfetto=False, overhead_budget=0.2)
if when == "after":
    time.sleep(0.1)
    forbid(*names)
for _ in range(3000):
    burn()
def calls(snapshot):
    return sum(row["calls"] for row in snapshot["functions"] if row["name"] == "burn")
def is_enough(snapshot):
    if "pread64" in names:
        again = when == "before" or calls(snapshot) >= before + 16
        return snapshot["sampler"]["trouble"] and again
    return sum(row["samples"] for row in snapshot["functions"]) >= 10
before = calls(ocular.snapshot())
limit = time.monotonic() + 60
while not is_enough(ocular.snapshot()) and time.monotonic() < limit:
    pause = time.monotonic() + 0.2
    while time.monotonic() < pause:
        burn()
        time.sleep(0.001 * ("pread64" in names))
print(json.dumps({"before": before, **ocular.stop_tracing()}))
"""


def caged(tmp_path, when, *names):
    script = tmp_path / "caged.py"
    script.write_text(CAGE)
    done = subprocess.run(
        [sys.executable, script, when, *names], capture_output=True, text=True, timeout=90
    )
    if done.returncode == 77:
        pytest.skip("no seccomp here")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of calls")
# Reading is refused before or after the start of the trace.
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_other_way_of_reading(tmp_path, when):
    """If one way of reading stacks is refused, the sampler uses another way."""
    snapshot, words = caged(tmp_path, when, "process_vm_readv")
    assert snapshot["sampler"]["signal"] and snapshot["sampler"]["samples"] > 0
    assert row(snapshot, "burn")["share"] is not None
    assert sum(mine["samples"] for mine in snapshot["functions"]) >= 10
    assert snapshot["sampler"]["trouble"] is None
    assert "refused" not in words


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of calls")
def test_no_way_of_reading(tmp_path):
    """The hooks work without the sampler, and a message says that there is no sampler."""
    snapshot, words = caged(tmp_path, "before", "process_vm_readv", "pread64")
    mine = row(snapshot, "burn")
    # The function has lost its hooks, so not all calls were counted.
    assert 500 <= snapshot["before"] < 3000
    assert mine["share"] is None and mine["samples"] is None
    assert snapshot["sampler"]["samples"] is None
    assert "refused" in snapshot["sampler"]["trouble"]
    assert "refused" in words and "ocular: " in words


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of calls")
def test_no_way_of_reading_any_more(tmp_path):
    """If reading stacks is refused during the trace, shares since the start keep their
    values, shares of the window become null, and a message gives the reason."""
    snapshot, words = caged(tmp_path, "after", "process_vm_readv", "pread64")
    mine = row(snapshot, "burn")
    # The function has got its hooks back, so further calls were counted.
    assert mine["calls"] >= max(500, snapshot["before"] + 16)
    assert snapshot["sampler"]["samples"] > 0 and mine["run_share"] is not None
    assert mine["share"] is None and mine["total_share"] is None
    assert snapshot["sampler"]["hz"] is None
    assert all(thread["cpu_share"] is None for thread in snapshot["threads"])
    assert "refused" in snapshot["sampler"]["trouble"]
    assert "refused" in words and "ocular: " in words


# --- Call edges for the hooks -------------------------------------------------


def burn(rounds):
    sum(range(rounds))


class Thing:
    rounds = 0

    @property
    def value(self):
        sum(range(self.rounds))

    def __add__(self, other):
        sum(range(self.rounds))


def reads_a_property(thing):
    thing.value


def adds(thing):
    thing + thing


def is_called_back(thing):
    list(map(burn, [thing.rounds]))


@pytest.mark.parametrize("caller", [reads_a_property, adds, is_called_back])
def test_a_dark_callee_met_behind_c_is_seen_on_the_stack(tracing, caller):
    """The callee has lost its hooks before this caller calls it, so no hook reports the
    call. The callee's time counts as the caller's own time until a sample shows the call.
    Afterwards five calls in a row must have the right times. If tracing has exceeded the
    budget, as on a busy machine, the caller has no hooks either, and the test checks
    nothing."""
    thing = Thing()
    calls, seen, before, right = 0, 0, 0, 0

    def is_right():
        nonlocal calls, seen, before, right
        began = time.thread_time()
        caller(thing)
        took = time.thread_time() - began
        calls += 1
        after = ocular.snapshot()
        mine = row(after, caller.__name__)
        if not mine or mine["self_cycles"] is None or mine["calls"] == seen:
            return False
        spent = own_cycles(mine)
        own = (spent - before) / after["tsc_hz"]
        right = right + 1 if own < 0.3 * took else 0
        before, seen = spent, mine["calls"]
        return right >= 5

    tracing()
    for _ in range(60):
        burn(0), thing.value, thing + thing
    thing.rounds = 10**6  # This call takes about 10 ms.
    wait_until(is_right, SLOW)
    mine = row(ocular.snapshot(), caller.__name__)
    assert mine["calls"] == calls or (mine["calls"] < calls and not mine["calls_exact"])
