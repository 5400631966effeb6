# SPDX-License-Identifier: MIT
"""Tests code objects that are made and freed. The totals of freed code objects are reported
under the right names, and the memory of the code objects is freed."""

import ctypes
import pathlib
import random
import sys
import threading
import time
import types
from collections import Counter

import ocular
import pytest
from e2e.counting import entries, traced
from e2e.program import SLOW, run, script

HERE = pathlib.Path(__file__).parent


def sums(snapshot, file="<made>"):
    """Returns the calls of living and freed functions, by name."""
    counts = Counter()
    for rows in snapshot["functions"], snapshot["retired"]:
        for row in rows:
            if row["file"] == file:
                counts[row["name"]] += entries(row)
    return counts


def make(name, body="return a", kind=""):
    space = {}
    source = f"{kind}def {name}(a=1):\n    {body}"
    exec(compile(source, "<made>", "exec"), space)
    return space.pop(name)  # The caller gets the only reference to the function.


# --- Totals ------------------------------------------------------------------


def test_objects_of_one_name_are_one_row():
    def program():
        for n in range(300):
            made = make("again")
            for _ in range(n % 7):
                made()
        make("never_called")

    _, final = traced(program, include_only=["<made>"])
    rows = {r["name"]: r for r in final["retired"]}
    assert set(rows) == {"again", "<module>"}
    again = rows["again"]
    # Functions that were never called are not in the snapshot.
    assert again["objects"] == sum(n % 7 > 0 for n in range(300))
    assert again["calls"] == sum(n % 7 for n in range(300))
    assert again["calls_exact"] is True
    assert (again["file"], again["line"]) == ("<made>", 1)
    assert again["total_cycles"] >= again["self_cycles"] > 0
    assert again["run_share"] >= 0 and again["samples"] >= 0
    assert rows["<module>"]["calls"] == 301
    assert [r for r in final["functions"] if r["file"] == "<made>"] == []
    # Each call has an event for the call and one for the return.
    assert final["events"] == 2 * (again["calls"] + 301)


def test_more_names_than_rows():
    truth = Counter()

    def program():
        for n in range(1000):
            made = make(f"made_{n}")
            for _ in range(1 + n % 3):
                made()
                truth[made.__name__] += 1

    _, final = traced(program, include_only=["<made>"])
    assert len(final["retired"]) == 257
    others = final["retired"][-1]
    assert others["name"] == "(others)"
    assert others["file"] is None and others["line"] is None
    calls = sum(r["calls"] for r in final["retired"])
    assert calls == sum(truth.values()) + 1000  # modules have 1000 calls
    assert sum(r["objects"] for r in final["retired"]) == 2000
    assert others["calls_exact"] is True
    for name, count in sums(final).items():
        assert name == "<module>" or count == truth[name]


def test_dark_ones_are_a_floor():
    def program():
        made = make("often")
        for _ in range(1000):
            made()
        del made
        make("often")()

    _, final = traced(program, include_only=["<made>"], deinstrument_threshold=20)
    row = next(r for r in final["retired"] if r["name"] == "often")
    assert row["calls_exact"] is False
    assert 21 <= row["calls"] <= 25
    assert row["objects"] == 2


# --- Addresses of freed code objects ------------------------------------------

BODIES = [
    "return a",
    "return [a, a]",
    "b = a\n    return b",
    "for b in range(2):\n        a = b\n    return a",
]
SIZE = 12  # number of different names of functions


class Churner:
    """Makes, calls, keeps and drops functions at random, and counts the calls."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.calls = Counter()
        self.objects = []  # Number of calls of each code object.
        # Maps an address to the names of the code objects that were at this address.
        self.names_at = {}
        self.kept = []
        self.suspended = []

    def note(self, function, count=1):
        name = function.__code__.co_qualname
        self.calls[name] += count
        self.names_at.setdefault(id(function.__code__), set()).add(name)

    def function(self):
        name = f"f{self.random.randrange(SIZE)}"
        return make(name, self.random.choice(BODIES))

    def call(self):
        made = self.function()
        for _ in range(self.random.randrange(1, 6)):
            made()
            self.note(made)
        if self.random.random() < 0.1:
            self.kept.append(made)

    def call_kept(self):
        for made in self.random.sample(self.kept, min(3, len(self.kept))):
            made()
            self.note(made)
        if len(self.kept) > 8:
            self.kept.pop(self.random.randrange(len(self.kept)))

    def suspend(self):
        made = make(
            f"g{self.random.randrange(SIZE)}",
            "try:\n        while True:\n            a = yield a\n"
            "    finally:\n        pass",
        )
        running = made()
        next(running)
        self.note(made)
        self.suspended.append((running, made.__code__.co_qualname))

    def resume(self):
        if not self.suspended:
            return
        at = self.random.randrange(len(self.suspended))
        running, name = self.suspended[at]
        running.send(1)
        self.calls[name] += 1
        if len(self.suspended) > 5:
            # Closing a generator throws an exception into it, which counts as one more
            # resumption.
            self.suspended.pop(at)[0].close()
            self.calls[name] += 1

    def replace(self):
        made = self.function()
        name = f"r{self.random.randrange(SIZE)}"
        other = types.FunctionType(
            made.__code__.replace(co_name=name, co_qualname=name), {}, name, (1,)
        )
        other()
        self.note(other)

    def swap_in_its_own_frame(self):
        """Replaces the function's code while the function runs."""
        made = make(f"s{self.random.randrange(SIZE)}", "a()\n    return a")
        other = self.function()
        self.note(made)

        def swap():
            made.__code__ = other.__code__

        made(swap)

    def raise_(self):
        made = make(f"x{self.random.randrange(SIZE)}", "raise ValueError")
        with pytest.raises(ValueError):
            made()
        self.note(made)

    def run(self, steps):
        ways = [self.call] * 4 + [self.call_kept, self.suspend, self.resume, self.replace]
        ways += [self.swap_in_its_own_frame, self.raise_]
        for _ in range(steps):
            self.random.choice(ways)()
        self.close()

    def close(self):
        for running, name in self.suspended:
            running.close()
            self.calls[name] += 1
        self.suspended.clear()


def churn(seed, steps, threads, threshold):
    churners = [Churner(seed + n) for n in range(threads)]

    def program():
        workers = [threading.Thread(target=c.run, args=(steps,)) for c in churners[1:]]
        for worker in workers:
            worker.start()
        churners[0].run(steps)
        for worker in workers:
            worker.join()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        _, final = traced(
            program, include_only=["<made>"], deinstrument_threshold=threshold
        )
    finally:
        sys.setswitchinterval(interval)
    truth = sum((c.calls for c in churners), Counter())
    # The test needs addresses that were used again under other names.
    assert sum(len(n) > 1 for c in churners for n in c.names_at.values()) > steps / 50
    counted = sums(final)
    counted.pop("<module>")
    return truth, counted


@pytest.mark.parametrize("threads", [1, 4])
def test_each_call_under_its_own_name(threads):
    for seed in range(3):
        truth, counted = churn(100 * seed, 400, threads, 0)
        assert counted == truth


@pytest.mark.parametrize("threads", [1, 4])
def test_no_call_under_another_name_in_the_dark(threads):
    for seed in range(3):
        truth, counted = churn(100 * seed, 400, threads, 2)
        assert set(counted) == set(truth)
        for name, count in counted.items():
            assert 0 < count <= truth[name]
        assert counted.total() < truth.total()


def samples_of(snapshot, name):
    rows = [r for r in snapshot["retired"] if r["name"] == name]
    return rows[0]["samples"] or 0 if rows else 0


def test_shares_under_their_own_names():
    """Two functions with different names are alternately made at one address and freed.
    Only the functions with the name "works" take time, so only they have shares."""
    addresses = {"works": set(), "idles": set()}
    chance = random.Random(1)

    def program():
        if ocular.snapshot()["sampler"]["hz"] is None:
            pytest.skip("this process may not read itself: no sampler")
        limit = time.monotonic() + SLOW
        while samples_of(ocular.snapshot(), "works") < 20:
            assert time.monotonic() < limit
            take_turns()

    def take_turns():
        for _ in range(100):
            name = chance.choice(["works", "idles"])
            made = make(name, "for b in range(a):\n        c = b")
            addresses[name].add(id(made.__code__))
            made(20000 if name == "works" else 0)
            del made

    _, final = traced(
        program, include_only=["<made>"], overhead_budget=0.5, deinstrument_threshold=500
    )
    rows = {r["name"]: r for r in final["retired"]}
    assert addresses["works"] & addresses["idles"]
    assert rows["works"]["run_share"] > 0
    # "idles" runs for a microsecond, so few samples can find this function.
    assert rows["idles"]["samples"] <= rows["works"]["samples"] / 10


# --- Memory ------------------------------------------------------------------

PROGRAM = """
import json, sys, time
sys.path.insert(0, {folder!r})
import churning, ocular
reloaded = churning.Reloaded()
ways = churning.WAYS + [reloaded]
churning.rounds(20, 0, ways)
ocular.start_tracing(deinstrument_threshold=3, perfetto={timeline},
                     timeline_limit=1 << 20, quiet=True,
                     overhead_budget=0.5, output={output!r})
def gone(snapshot):
    return sum(row["objects"] for row in snapshot["retired"])
def look():
    # Freed functions are kept for some seconds, until their samples are collected.
    before = -1
    while before != gone(snapshot := ocular.snapshot()):
        before = gone(snapshot)
        time.sleep(2.5)
    return churning.rss(), snapshot["memory_bytes"], gone(snapshot)
churning.rounds({warm}, 0, ways)
before = look()
churning.rounds({rounds}, 0, ways)
after = look()
ocular.stop_tracing()
reloaded.close()
print(json.dumps([before, after]))
"""


@pytest.mark.once
@pytest.mark.timeout(400)
@pytest.mark.parametrize("timeline", [False, True])
def test_memory_is_bounded(timeline, tmp_path):
    # With a timeline, Ocular keeps at most 16384 names of freed functions.
    program = PROGRAM.format(
        folder=str(HERE),
        timeline=timeline,
        output=str(tmp_path / "trace.json"),
        warm=750 if timeline else 250,
        rounds=400,
    )
    before, after = script(tmp_path, program, timeout=300).answer
    made = after[2] - before[2]
    assert made > 400 * 20
    # If a function were not freed, it would take 1.4 kB or more. Functions that were freed
    # in the last two seconds are kept, because samples can still name them. The allocator
    # does not return the memory of these functions to the system.
    assert after[0] - before[0] < made * 400 + (6 << 20)
    # The tree of sampled stacks can double its size until it has 32768 paths. 32768 paths
    # take 1.4 MB.
    assert after[1] - before[1] < made * 100 + (2 << 20)


# --- Memory of many code objects ----------------------------------------------

# The function has about a hundred bytes of bytecode, like most functions.
TYPICAL = """b = [a, 1]
    for c in b:
        a += c * 2
    if a > 5:
        return str(a)
    return b"""


def copies(count):
    code = make("one", TYPICAL).__code__
    return [
        types.FunctionType(code.replace(co_firstlineno=n + 1), {"str": str}, "one", (1,))
        for n in range(count)
    ]


HEAP = """
import ctypes, sys
sys.path[:0] = {path!r}
import ocular, test_churn
class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
        "uordblks", "fordblks", "keepcost")]
libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Mallinfo2
def in_use():
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd
def run_all(made):
    for one in made:
        one()
        one()
ocular.start_tracing(perfetto=True, quiet=True, serve=True)  # allocates what is kept
run_all(test_churn.copies(10))
ocular.snapshot()
ocular.stop_tracing()
made = test_churn.copies({count})
before = in_use()
ocular.start_tracing(perfetto=True, quiet=True, serve=True)
run_all(made)
print(in_use() - before)
"""


def test_the_programs_heap_is_left_alone(tmp_path):
    """Ocular allocates nothing in the program's heap. If a small block of Ocular were
    behind a program's large blocks, each use of the large blocks would cost page faults.
    These page faults took 1.4 % of the time of pyperformance's json_dumps."""
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("mallinfo2() is glibc's, from 2.33 on")
    count = 2000
    program = HEAP.format(path=[str(HERE), str(HERE.parent)], count=count)
    # If Ocular's blocks were in the program's heap, they would take 2 kB for each function.
    # CPython's own tables about instrumented code are in pymalloc's memory.
    done = run([sys.executable, "-c", program], cwd=tmp_path)  # it imports pytest
    assert done.answer < 100 * count


MEASURED = """
import tracemalloc
import ocular
space = {}
exec("def long(a=1):\\n" + "    a = a + 1\\n" * 3_000, space)
long = space["long"]
long()  # CPython allocates its own memory here
kept = long.__code__.co_code if KEPT else None
size = len(long.__code__._co_code_adaptive)
ocular.start_tracing(quiet=True, perfetto=False)
tracemalloc.start()
long()
print(tracemalloc.get_traced_memory()[0] / size)
assert not kept or long.__code__.co_code is kept
ocular.stop_tracing()
"""


@pytest.mark.parametrize("kept", [False, True], ids=["as usual", "looked at before"])
def test_no_copy_of_the_bytecode_stays(kept, tmp_path):
    """CPython caches a copy of a function's bytecode when co_code is read. Ocular must not
    leave this copy in memory. For a function with hooks CPython also stores two bytes for
    each instruction. These two bytes say which tools instrument the instruction."""
    assert script(tmp_path, MEASURED.replace("KEPT", str(kept))).answer < 0.9
