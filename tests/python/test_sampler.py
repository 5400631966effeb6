# SPDX-License-Identifier: MIT
"""What the sampler tells beyond shares: time in C, callers, hot offsets, whose
threads; and what it tells the hooks."""

import hashlib
import json
import logging
import math
import os
import platform
import subprocess
import sys
import threading
import time
import timeit
import zlib
from collections import Counter
from contextlib import contextmanager, suppress

import extensions
import ocular
import pytest
from e2e.counting import row
from e2e.measured import measured, measured_once
from e2e.program import wait_until
from e2e.steady import attempts

SETTINGS = dict(perfetto=False, quiet=True, serve=True, deinstrument_threshold=50)


# One test waits for the module's one run of all programs.
pytestmark = [pytest.mark.timeout(1200), measured]


def until(seconds):
    return time.thread_time() + seconds


# --- Programs ----------------------------------------------------------------

NUMBERS = [(i * 7919) % 10007 for i in range(10007)]
TREE = [{"name": "x" * 20, "values": list(range(30))} for _ in range(50)]
BLOCK = bytes(40_000)
BYTES = b"x" * 2000  # below 2048 hashlib keeps the interpreter's lock


def sorts(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        NUMBERS.copy().sort()


def dumps(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        json.dumps(TREE)


def hashes(seconds):
    end = until(seconds)
    update = hashlib.sha256().update
    while time.thread_time() < end:
        for _ in range(1000):
            update(BYTES)


def computes(seconds):
    """No call at all, but for the clock now and then."""
    end = until(seconds)
    while time.thread_time() < end:
        total = 0
        for i in range(200000):
            total = (total + i) & 0xFFFF


def leaf(a, b):
    return a + b


def calls_python(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        for i in range(100000):  # kernels switch at system calls, like the clock's
            leaf(i, i)


def tiny():
    return 1


def calls_tiny(seconds):
    """Little else than calls."""
    end = until(seconds)
    while time.thread_time() < end:
        for _ in range(100000):
            tiny()


def half_in_c(seconds, spent):
    """Turns about: a part in a sort, a part in a loop, by a clock that is
    no system call: at those a busy machine is seen to switch more often."""
    end = until(seconds)
    while time.thread_time() < end:
        a = time.perf_counter()
        for _ in range(20):
            NUMBERS.copy().sort()
        b = time.perf_counter()
        total = 0
        for i in range(300000):
            total = (total + i) & 0xFFFF
        c = time.perf_counter()
        spent["c"] += b - a
        spent["python"] += c - b


def work(rounds):
    total = 0
    for i in range(rounds):
        total += i * i
    return total


def often():
    return work(3000)


def seldom():
    return work(1000)


def both(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        for _ in range(20):  # kernels switch at system calls, like the clock's
            often()
            seldom()


# Each shares its time between two numbers; samples are chance. Five sigma: one
# comparison of two million is off by that, and no look is worth exactly one.
def near(value, expected, samples, sigma=5):
    return abs(value - expected) < max(
        0.03, sigma * (expected * (1 - expected) / max(samples, 1)) ** 0.5
    )


def worth(snapshot, mine):
    """Looks that count in its shares: an exponential window of 10 s is worth as many
    as twice its time has, be the sampler as slow as it may."""
    return min(mine["samples"], 10 * snapshot["sampler"]["hz"] * mine["cpu_share"])


def looks_at(function):
    rows = ocular._ocular.detail(function.__code__)
    return sum(one["samples"] for one in rows or ())


def enough(program, *arguments, least=None, looks=600):
    """The snapshot after it was seen running often enough, be the machine busy: one
    look after a pause of 0.1 s stands for forty."""
    goal = looks_at(least or program) + looks
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        program(0.3, *arguments)
        if looks_at(least or program) >= goal:
            return ocular.snapshot()
    seen = ocular.snapshot()
    raise AssertionError((program, looks, seen["sampler"], seen["overhead"]))


@contextmanager
def one_cpu():
    """For all threads that there are: whoever looks holds up who is looked at."""
    cpus = os.sched_getaffinity(0)

    def use(some):
        for task in os.listdir("/proc/self/task"):
            with suppress(OSError):  # it has ended
                os.sched_setaffinity(int(task), some)

    use({min(cpus)})
    try:
        yield
    finally:
        use(cpus)


@measured_once
def run():
    """One run of them all, one after the other; each one's newest snapshot."""
    ocular.start_tracing(**SETTINGS, overhead_budget=0.05)
    seen, spent = {}, Counter()
    try:
        with one_cpu():
            # A tenth of the looks show who is called there.
            before = enough(calls_tiny, looks=40)
            seen["calls_tiny"] = before, enough(calls_tiny, looks=800)
        for program in (sorts, dumps, hashes, computes, calls_python):
            least = json.JSONEncoder.iterencode if program is dumps else None
            seen[program.__name__] = enough(program, least=least)
        seen["half_in_c"] = enough(half_in_c, spent)
        seen["both"] = enough(both, least=work)
        details = {
            name: ocular._ocular.detail(globals()[name].__code__)
            for name in ("computes", "sorts", "both")
        }
    finally:
        ocular.stop_tracing()
    return seen, spent, details


@pytest.fixture
def own_place():
    """Not here: the module's one run spans the tests."""


# --- Time in C ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["sorts", "hashes"])
def test_time_in_c(run, name):
    mine = row(run[0][name], name)
    assert mine["samples"] >= 40
    # 97 in 100 and more are true; a look after a long pause stands for several.
    assert mine["c_share"] > 0.75 * mine["cpu_share"]
    assert mine["c_share"] <= mine["cpu_share"] + 1e-9


def unseen(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        for _ in range(100000):
            pass


def holder(seconds):
    unseen(seconds)


def test_excluded_time_is_its_callers():
    ocular.start_tracing(**SETTINGS, overhead_budget=0.05, exclude=["unseen"])
    try:
        limit = time.monotonic() + 60
        while True:
            holder(0.3)
            seen = ocular.snapshot()
            if row(seen, "holder")["samples"] >= 100:
                break
            assert time.monotonic() < limit, seen["sampler"]
    finally:
        ocular.stop_tracing()
    mine = row(seen, "holder")
    assert not [each for each in seen["functions"] if each["name"] == "unseen"]
    assert mine["cpu_share"] > 0.85 * sum(
        each["cpu_share"] for each in seen["functions"] if each["cpu_share"]
    )
    assert seen["sampler"]["elsewhere"] > 0.8 * mine["cpu_share"] > 0.1


def test_time_in_c_below_code_of_the_library(run):
    """json.dumps is the standard library's, and traced: the C encoder's time
    is in the function that calls it."""
    mine = row(run[0]["dumps"], "JSONEncoder.iterencode")
    assert mine["c_share"] > 0.85 * mine["cpu_share"] > 0.02


@pytest.mark.parametrize("name", ["computes", "calls_python"])
def test_no_time_in_c(run, name):
    mine = row(run[0][name], name)
    assert mine["samples"] >= 40
    assert mine["c_share"] < 0.15 * mine["cpu_share"]


# A tiny function is mostly its frame, pushed and thrown away while the caller's
# is still, or again, the thread's. That is its own time, as it is in its cycles:
# three quarters of this loop, measured untraced. A twelfth of the looks finds its
# frame on top; what a CPU finishes early is not seen at all. On one CPU: from
# another, with which it shares a cache, the loop may be seen to go on while it is
# looked at, and then it cannot be told who was on top. Where virtual CPUs are is
# the host's to choose, and to change (docs/accuracy.md, "What misses").
def test_a_tiny_functions_calls_are_its_own(run):
    before, after = run[0]["calls_tiny"]
    spent = {
        name: row(after, name)["run_share"] * after["uptime_s"]
        - row(before, name)["run_share"] * before["uptime_s"]
        for name in ("tiny", "calls_tiny")
    }
    # 0.37 to 0.4; on two CPUs 0.14 to 0.24 on 3.12, 0.28 to 0.41 on 3.13.
    assert spent["tiny"] > 0.15 * sum(spent.values())
    assert row(after, "tiny")["c_share"] < 0.1 * row(after, "tiny")["share"]


class Discards(logging.Handler):
    def emit(self, record):
        pass


def logs(seconds, log):
    end = until(seconds)
    while time.thread_time() < end:
        for _ in range(1000):
            log.warning("hello")


def parts_of(whole, *parts):
    """Of its time. All are timed in turn, each less what a call takes; by CPU time,
    and for no longer than others leave a CPU to who has just got it."""
    timed = [lambda: None, whole, *parts]
    least = [1.0] * len(timed)
    for _ in range(100):
        for i, function in enumerate(timed):
            least[i] = min(
                least[i], timeit.timeit(function, number=400, timer=time.thread_time)
            )
    return [(one - least[0]) / (least[1] - least[0]) for one in least[2:]]


def test_functions_of_half_a_microsecond():
    """Below one that C has called, between others: where the stack ends and what
    is there have to be read at one moment. A microsecond apart they were told a
    fiftieth of their time on 3.12, and half of it on 3.13."""
    log = logging.Logger("test")
    log.addHandler(Discards())
    logs(0.2, log)

    def check():
        splitext, basename = parts_of(
            lambda: log.warning("hello"),
            lambda: os.path.splitext("short.py"),
            lambda: os.path.basename("/x/short.py"),
        )
        ocular.start_tracing(**SETTINGS, overhead_budget=0.05)
        try:
            seen = enough(logs, log, least=os.path.splitext, looks=80)
        finally:
            ocular.stop_tracing()
        for name, share in (("splitext", splitext), ("basename", basename)):
            told = row(seen, name)["total_share"] / row(seen, "logs")["total_share"]
            assert 0.6 * share < told < 1.6 * share, (name, share, told)

    attempts(3, check)


def test_half_in_c(run):
    mine = row(run[0]["half_in_c"], "half_in_c")
    spent = run[1]
    expected = spent["c"] / (spent["c"] + spent["python"])
    assert 0.2 < expected < 0.8
    looks = worth(run[0]["half_in_c"], mine)
    assert near(mine["c_share"] / mine["cpu_share"], expected, looks)


def for_long(rounds):
    sum(range(rounds))


def is_woken(spent, rounds):
    """Often, each time for less than a look takes; then it works, for longer.
    CPU s of both."""
    began = time.thread_time()
    for _ in range(50):
        time.sleep(0.0001)
    woken = time.thread_time()
    for_long(rounds)
    took = woken - began, time.thread_time() - woken
    spent["is_woken"] += took[0]
    spent["for_long"] += took[1]
    return took


def keep_apart(cpus):
    """Our thread on one, the sampler's on another: where they share one it takes
    the CPU away from who has just been woken, and is told less of that."""
    os.sched_setaffinity(0, {min(cpus)})

    def move():
        moved = 0
        for task in os.listdir("/proc/self/task"):
            with suppress(OSError), open(f"/proc/self/task/{task}/comm") as name:
                if name.read() == "ocular-sampler\n":
                    os.sched_setaffinity(int(task), {max(cpus)})
                    moved += 1
        return moved == 1

    wait_until(move)  # it may not have its name yet


def test_who_runs_for_less_than_a_look_takes():
    cpus = os.sched_getaffinity(0)
    if len(cpus) < 2:
        pytest.skip("takes a CPU for each of two")

    last = []

    def check():
        last.clear()
        spent, looks, rounds = Counter(), 0, 30_000
        limit = time.monotonic() + 120
        ocular.start_tracing(**SETTINGS, overhead_budget=0.9)
        try:
            keep_apart(cpus)
            while looks < 1200 and time.monotonic() < limit:
                # What being woken takes is the machine's: a quarter of the whole.
                woken, worked = is_woken(spent, rounds)
                rounds = max(3000, int(rounds * 3 * woken / worked))
                looks = looks_at(is_woken) + looks_at(for_long)
            snapshot = ocular.snapshot()
        finally:
            ocular.stop_tracing()
            os.sched_setaffinity(0, cpus)
        told = {name: row(snapshot, name)["run_share"] for name in spent}
        share = told["is_woken"] / sum(told.values())
        expected = spent["is_woken"] / sum(spent.values())
        assert 0.15 < expected < 0.4
        last[:] = share, expected
        assert near(share, expected, looks, sigma=4), (share, expected)

    try:
        attempts(3, check, seconds=240)
    except AssertionError:
        # On some virtual machines one CPU hardly ever sees who has just been woken
        # on another, whoever looks: it is with the hypervisor then, and so may be
        # the one that looks. Ours is told no less than that, by as many looks.
        watch = extensions.load("python", "native_threads").watch
        truth, seen = watch(min(cpus), max(cpus), 20.0)
        if not last or seen > truth - 0.03 or not seen - 0.05 < last[0] < last[1]:
            raise
        pytest.skip(
            f"one CPU does not see what another does: {seen:.2f} of "
            f"{truth:.2f}, without Ocular"
        )


def without_the_lock(seconds):
    end = until(seconds)
    while time.thread_time() < end:
        for _ in range(100):
            zlib.crc32(BLOCK)  # 5 KiB and more are read without it


def test_c_that_gives_the_interpreter_away_runs():
    """On one CPU, too, where the sampler takes the thread's when it looks."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    ocular.start_tracing(**SETTINGS)
    try:
        looks, limit = 0, time.monotonic() + 120
        least = time.thread_time() + 4
        while (time.thread_time() < least or looks < 200) and time.monotonic() < limit:
            without_the_lock(0.1)
            computes(0.1)
            looks = looks_at(without_the_lock) + looks_at(computes)
        snapshot = ocular.snapshot()
    finally:
        ocular.stop_tracing()
        os.sched_setaffinity(0, allowed)
    ours = {name: row(snapshot, name) for name in ("without_the_lock", "computes")}
    shares = {name: mine["run_share"] for name, mine in ours.items()}
    # It was a thirtieth.
    assert 0.35 < shares["without_the_lock"] / sum(shares.values()) < 0.65, ours
    mine = ours["without_the_lock"]
    assert mine["c_share"] > 0.75 * mine["cpu_share"]


def below(depth, work, *arguments):
    return below(depth - 1, work, *arguments) if depth else work(*arguments)


def test_deep_stacks_are_cut_off_and_counted():
    ocular.start_tracing(**SETTINGS, overhead_budget=0.05)
    try:
        shallow = enough(computes, looks=30)["sampler"]
        deep = enough(
            lambda seconds: below(300, computes, seconds), least=computes, looks=60
        )["sampler"]
    finally:
        ocular.stop_tracing()
    assert shallow["truncated"] == 0
    assert 50 < deep["truncated"] <= deep["samples"] - shallow["samples"]


# --- Callers -----------------------------------------------------------------


def test_callers(run):
    snapshot = run[0]["both"]
    names = {mine["id"]: mine["name"] for mine in snapshot["functions"]}
    mine = row(snapshot, "work")
    callers = {names.get(one["id"]): one["share"] for one in mine["callers"]}
    assert set(callers) == {"often", "seldom"}
    looks = worth(snapshot, mine)
    assert near(callers["often"] / sum(callers.values()), 0.75, looks)
    assert sum(callers.values()) == pytest.approx(mine["total_share"], rel=0.02)
    shares = [one["share"] for one in mine["callers"]]
    assert shares == sorted(shares, reverse=True)
    for name in ("often", "seldom"):
        (one,) = row(snapshot, name)["callers"]
        assert names[one["id"]] == "both"


# --- Hot offsets -------------------------------------------------------------


def test_hot_offsets(run):
    """Where the samples are is where the time is: in the loop, at the call."""
    for name, hot in (("computes", "BINARY_OP"), ("sorts", "CALL")):
        rows = run[2][name]
        assert all(one["samples"] >= 0 for one in rows)
        samples = {}
        for one in rows:
            count = samples.get(one["opcode"], 0)
            samples[one["opcode"]] = count + one["samples"]
        looks = sum(samples.values())
        assert looks >= 40
        seen = row(run[0]["both"], name)["samples"]
        assert looks <= seen
        assert samples[hot] == max(samples.values()), samples
    assert samples["CALL"] > 0.8 * looks
    # A caller's are at its calls, where the time of what it calls is not.
    own = sum(one["samples"] for one in run[2]["both"])
    assert own < 0.2 * row(run[0]["both"], "work")["samples"]


def test_a_threads_functions(run):
    """Each thread's CPU time, by function."""
    snapshot = run[0]["both"]
    names = {mine["id"]: mine["name"] for mine in snapshot["functions"]}
    (thread,) = snapshot["threads"]
    shares = {names.get(one["id"]): one["share"] for one in thread["functions"]}
    # There is one thread: they are the same as of all threads, but for a look that
    # came between reading one and the other.
    looks = 3 / (5 * snapshot["sampler"]["hz"])
    most = max(mine["cpu_share"] for mine in snapshot["functions"])
    first = row(snapshot, max(shares, key=shares.get))
    assert first["cpu_share"] >= most - max(0.005, looks)
    for name in ("work", "half_in_c"):
        whole = row(snapshot, name)["cpu_share"]
        assert shares[name] == pytest.approx(whole, abs=max(0.005, looks))
    whole = sum(mine["cpu_share"] for mine in snapshot["functions"])
    assert sum(shares.values()) == pytest.approx(whole, abs=max(0.01, looks))


def brief(rounds):
    total = 0
    for i in range(rounds):
        total += i
    return total


def count_brief(stop, counts, number):
    while not stop.is_set():
        for _ in range(2000):
            brief(40)
        counts[number] += 2000


def estimate_of_threads():
    """Of four threads that want the interpreter: calls as estimated, and made."""
    stop, counts = threading.Event(), [0] * 4
    threads = [
        threading.Thread(target=count_brief, args=(stop, counts, number))
        for number in range(4)
    ]
    ocular.start_tracing(**SETTINGS, overhead_budget=0.05)
    try:
        for thread in threads:
            thread.start()
        time.sleep(3)
        stop.set()
        for thread in threads:
            thread.join()
        return row(ocular.snapshot(), "brief")["calls_estimated"] / sum(counts)
    finally:
        stop.set()
        ocular.stop_tracing()


# Three quarters of their time they wait, where CPython takes the interpreter away:
# no call takes that. With it there were three to four times as many.
def test_waiting_for_the_interpreter_is_no_call(tmp_path):
    tries = []
    while len(tries) < 3 and not (tries and 0.5 < tries[-1] < 2):
        tries.append(estimate_of_threads())
    assert 0.5 < tries[-1] < 2, tries


def busy_a(stop):
    while not stop.is_set():
        work(1000)


def busy_b(stop):
    while not stop.is_set():
        NUMBERS.copy().sort()


def test_each_thread_has_its_own():
    stop = threading.Event()
    programs = (busy_a, busy_b)
    threads = [
        threading.Thread(target=one, args=(stop,), name=one.__name__) for one in programs
    ]
    ocular.start_tracing(**SETTINGS)
    try:
        for thread in threads:
            thread.start()
        limit = time.monotonic() + 60
        snapshot = ocular.snapshot()
        while time.monotonic() < limit and snapshot["sampler"]["samples"] < 300:
            time.sleep(0.5)
            snapshot = ocular.snapshot()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        ocular.stop_tracing()
    names = {mine["id"]: mine["name"] for mine in snapshot["functions"]}
    lists = {
        thread["name"]: {names.get(one["id"]) for one in thread["functions"]}
        for thread in snapshot["threads"]
    }
    assert "work" in lists["busy_a"] and "work" not in lists["busy_b"]
    assert "busy_b" in lists["busy_b"] and "busy_b" not in lists["busy_a"]
    # Whoever waits for the interpreter waits, and does not run.
    for thread in snapshot["threads"]:
        if thread["name"] in lists and thread["name"].startswith("busy"):
            assert thread["cpu_share"] < 0.8 and thread["wait_share"] > 0.2
    mine = row(snapshot, "busy_b")
    assert mine["wait_share"] > 0.1


# --- Calls a second ----------------------------------------------------------


def naps(n):
    time.sleep(0.004)


def works(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def repeat(function, argument, seconds=None, times=None):
    """(calls, seconds a call)"""
    calls, begin = 0, time.perf_counter()
    while calls < times if times else time.perf_counter() < begin + seconds:
        function(argument)
        calls += 1
    return calls, (time.perf_counter() - begin) / calls


def made_in(clock, function, argument, **many):
    """(calls, seconds a call, the same by that clock, when)"""
    began = clock()
    calls, call_s = repeat(function, argument, **many)
    return calls, call_s, (clock() - began) / calls, time.monotonic()


def lately(made, which):
    """One of them, in the window that Ocular looks through."""
    weights = [one[0] * math.exp((one[-1] - made[-1][-1]) / 5) for one in made]
    return sum(w * one[which] for w, one in zip(weights, made)) / sum(weights)


# Looks at one that sleeps come as they are to come; who works beside others has
# few, and which is chance.
@pytest.mark.parametrize(
    "function, argument, clock, sigma",
    [(naps, 0, time.perf_counter, 3), (works, 20000, time.thread_time, 5)],
)
def test_calls_of_dark_code(function, argument, clock, sigma):
    """Within a fifth, or so many sigma, of the calls that there were. An estimate
    says that a call takes as long as those that were timed; where the machine has
    become slower, that much is not its fault. Others on its CPU change nothing."""
    ocular.start_tracing(**{**SETTINGS, "deinstrument_threshold": 200})
    try:
        made = [made_in(clock, function, argument, times=200)]
        for seconds in range(1, 21):
            made.append(made_in(clock, function, argument, seconds=1))
            snapshot = ocular.snapshot()
            mine = row(snapshot, function.__name__)
            if mine["samples"] >= 60 and seconds >= 6:
                break
    finally:
        ocular.stop_tracing()
    total = sum(calls for calls, *_ in made)
    call_s = lately(made, 1)
    timed = (mine["self_cycles"] + mine["waited_cycles"]) / mine["calls"]
    slower = lately(made, 2) * snapshot["tsc_hz"] / timed
    within = max(0.2, sigma * mine["samples"] ** -0.5)
    assert not mine["calls_exact"] and mine["calls"] < total
    rate = mine["calls_per_s"] * call_s
    assert min(abs(rate - 1), abs(rate / slower - 1)) < within, (rate, slower)
    if 0.9 < slower < 1.1:
        assert rate == pytest.approx(1, abs=within)
        assert mine["calls_estimated"] == pytest.approx(total, rel=within + 0.1)


def test_calls_of_dark_bursts(sockets):
    """A tenth of the time it works: what is known of the calls of so few looks is
    within three sigma, and not wrong by the part of the time that it works."""

    def check():
        ocular.start_tracing(**SETTINGS, overhead_budget=0.02)
        try:
            total = 0
            for _ in range(40):
                total += repeat(works, 20000, seconds=0.1)[0]
                time.sleep(0.9)
            mine = row(ocular.snapshot(), "works")
        finally:
            ocular.stop_tracing()
        assert not mine["calls_exact"] and mine["calls"] < total
        assert mine["samples"] > 8
        assert mine["calls_estimated"] == pytest.approx(
            total, rel=3 * mine["samples"] ** -0.5 + 0.1
        )

    attempts(2, check)


# --- Where reading is refused ------------------------------------------------

CAGE = """
import ctypes, json, ocular, sys, struct, time
calls = {"process_vm_readv": 310, "process_vm_writev": 311, "pread64": 17}  # x86-64

def forbid(*names):
    code = struct.pack("=HBBI", 0x20, 0, 0, 0)  # the call's number
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
        sys.exit(77)  # seccomp: a filter, for all threads that there are

def burn():
    return sum(i for i in range(1000))

when, *names = sys.argv[1:]
if when == "before":
    forbid(*names)
ocular.start_tracing(serve=True, quiet=False, perfetto=False)
if when == "after":
    time.sleep(0.1)
    forbid(*names)
for _ in range(3000):
    burn()

def calls(snapshot):
    return sum(row["calls"] for row in snapshot["functions"] if row["name"] == "burn")

def is_enough(snapshot):
    if "pread64" in names:  # then by what is armed again
        return snapshot["sampler"]["trouble"] and calls(snapshot) >= before + 16
    return sum(row["samples"] for row in snapshot["functions"]) >= 10

before = calls(ocular.snapshot())
limit = time.monotonic() + 30
while not is_enough(ocular.snapshot()) and time.monotonic() < limit:
    pause = time.monotonic() + 0.2
    while time.monotonic() < pause:
        burn()
print(json.dumps({"before": before, **ocular.stop_tracing()}))
"""


def caged(tmp_path, when, *names):
    script = tmp_path / "caged.py"
    script.write_text(CAGE)
    done = subprocess.run(
        [sys.executable, script, when, *names], capture_output=True, text=True, timeout=60
    )
    if done.returncode == 77:
        pytest.skip("no seccomp here")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of calls")
@pytest.mark.parametrize("when", ["before", "after"])  # the start
@pytest.mark.parametrize(
    "names", [["process_vm_writev"], ["process_vm_writev", "process_vm_readv"]]
)
def test_the_other_ways_of_reading(tmp_path, when, names):
    snapshot, words = caged(tmp_path, when, *names)
    assert snapshot["sampler"]["samples"] > 0
    assert snapshot["sampler"]["unknown"] < 5
    assert row(snapshot, "burn")["share"] is not None
    assert sum(mine["samples"] for mine in snapshot["functions"]) > 5
    assert snapshot["sampler"]["trouble"] is None
    assert "refused" not in words


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of calls")
def test_no_way_of_reading(tmp_path):
    """The hooks go on alone, and it is said."""
    snapshot, words = caged(
        tmp_path, "before", "process_vm_writev", "process_vm_readv", "pread64"
    )
    mine = row(snapshot, "burn")
    assert snapshot["before"] < 3000  # it went dark
    assert mine["calls"] >= max(500, snapshot["before"] + 16)  # and was armed again
    assert mine["share"] is None and mine["samples"] is None
    assert snapshot["sampler"]["samples"] is None
    assert "refused" in snapshot["sampler"]["trouble"]
    assert "refused" in words and "ocular: " in words


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of calls")
def test_no_way_of_reading_any_more(tmp_path):
    """What was known since the start stays, nothing is said of lately, and why."""
    snapshot, words = caged(
        tmp_path, "after", "process_vm_writev", "process_vm_readv", "pread64"
    )
    mine = row(snapshot, "burn")
    assert mine["calls"] >= max(500, snapshot["before"] + 16)
    assert snapshot["sampler"]["samples"] > 0 and mine["run_share"] is not None
    assert mine["share"] is None and mine["total_share"] is None
    assert snapshot["sampler"]["hz"] is None
    assert all(thread["cpu_share"] is None for thread in snapshot["threads"])
    assert "refused" in snapshot["sampler"]["trouble"]
    assert "refused" in words and "ocular: " in words


# --- What it tells the hooks -------------------------------------------------


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
def test_a_dark_callee_met_behind_c_is_seen_on_the_stack(caller):
    """It is dark before this caller calls it, and no call instruction says so:
    for a moment its time is taken for the caller's own."""
    thing = Thing()
    ocular.start_tracing(**SETTINGS, overhead_budget=0.05)
    try:
        for _ in range(60):
            burn(0), thing.value, thing + thing
        thing.rounds = 10**6  # a few ms
        ms, before = [], 0
        end = time.monotonic() + 30
        while len(ms) < 45 or (max(ms[-20:]) >= 1 and time.monotonic() < end):
            caller(thing)
            after = ocular.snapshot()
            mine = row(after, caller.__name__)
            spent = mine["self_cycles"] + mine["waited_cycles"]
            ms.append(1e3 * (spent - before) / after["tsc_hz"])
            before = spent
    finally:
        ocular.stop_tracing()
    assert row(after, caller.__name__)["calls"] == len(ms)
    assert max(ms[-20:]) < 1, (ms, after["sampler"], after["overhead"])
