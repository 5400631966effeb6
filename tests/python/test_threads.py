# SPDX-License-Identifier: MIT
"""Tests threads of every kind that start and end at any moment. Ocular counts the calls of
these threads, keeps their rows, and does not disturb their work."""

import faulthandler
import sys
import tempfile
import threading
import time
from contextlib import suppress

import extensions
import ocular
import pytest
from e2e.counting import EXACT, row, threads_of
from e2e.program import SLOW, script, wait_until

SERVED = {"overhead_budget": 0.01, "quiet": True, "perfetto": False}
# With this budget the sampler is fast, and hooks stay installed. If tracing exceeded a
# smaller budget, new code would lose its hooks before the threshold.
MEANS = {**SERVED, "overhead_budget": 0.5, "deinstrument_threshold": 10**6}
ROOM = 100  # number of ended threads that the list keeps


def spin(seconds):
    """Uses `seconds` of this thread's CPU time."""
    limit = time.thread_time() + seconds
    while time.thread_time() < limit:
        pass


def brief():
    pass


def named(snapshot, name):
    return [t for t in snapshot["threads"] if t["name"] == name]


def run_threads(count, target, *arguments, name="worker"):
    threads = [
        threading.Thread(target=target, args=arguments, name=f"{name} {n}")
        for n in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture
def native():
    return extensions.load("python", "native_threads")


# --- The numbers of ended threads stay ----------------------------------------


@pytest.mark.parametrize("settings", [MEANS, EXACT], ids=["sampler", "hooks"])
def test_a_row_survives_its_thread(settings):
    used = []

    def works():
        sampled = False
        while not sampled or time.thread_time() < 0.05:
            spin(0.01)
            (mine,) = named(ocular.snapshot(), "worker")
            sampled = sampled or mine["samples"]
        used.append(time.thread_time())

    def has_ended():
        snapshot = ocular.snapshot()
        return all(t["ended"] for t in named(snapshot, "worker")) and snapshot

    began = time.process_time()
    ocular.start_tracing(**settings)
    worker = threading.Thread(target=works, name="worker")
    worker.start()
    during = ocular.snapshot()
    worker.join()
    after = wait_until(has_ended, SLOW)
    final = ocular.stop_tracing()
    most = time.process_time() - began
    (live,) = named(during, "worker")
    assert live["tid"] == worker.native_id and live["ended"] is False
    for snapshot in (after, final):
        (ended,) = named(snapshot, "worker")
        assert ended["tid"] == worker.native_id and ended["ended"] is True
        assert 0.99 * used[0] <= ended["cpu_s"] <= most
        (main,) = [t for t in threads_of(snapshot) if not t["ended"]]
        assert main["tid"] == threading.main_thread().native_id
        assert main["name"] == "MainThread"
        assert threads_of(snapshot)[0] == main
        assert snapshot["threads_dropped"] == 0
        assert ended["samples"] > 0 and ended["cpu_share"] >= 0


@pytest.mark.parametrize("settings", [MEANS, EXACT], ids=["sampler", "hooks"])
def test_thousands_of_short_threads(settings):
    """Hooks find these short threads, but samples do not. The list of threads is bounded,
    and the thread that has used the most CPU time stays in it."""
    ocular.start_tracing(**settings)
    run_threads(1, spin, 0.05, name="long")
    for _ in range(19):  # 19 calls a second, fewer than the threshold
        run_threads(100, brief, name="short")
    run_threads(1, spin, 0.05, name="late")
    time.sleep(0.05)
    final = ocular.stop_tracing()
    assert row(final, "spin")["calls"] == 2
    assert row(final, "brief")["calls_exact"]
    assert row(final, "brief")["calls"] == 1900
    ended = [t for t in final["threads"] if t["ended"]]
    assert ROOM <= len(ended) <= 2 * ROOM
    assert final["threads_dropped"] >= 1902 - len(ended)
    assert named(final, "long 0") and named(final, "late 0")
    names = {t["name"].split()[0] for t in ended if t["name"]}
    assert names == {"long", "short", "late"}
    again = ocular.start_tracing(**settings)  # must not have rows of the old threads
    again = ocular.stop_tracing()
    assert [t["name"] for t in threads_of(again)] == ["MainThread"]
    assert again["threads_dropped"] == 0


def test_the_main_thread_before_threading_is_imported(tmp_path):
    """The timeline asks for the name of a thread only during the thread's first events."""
    done = script(
        tmp_path,
        """
        import json, ocular, sys
        def call():
            pass
        ocular.start_tracing(output="trace.json", quiet=True, deinstrument_threshold=0)
        before = "threading" in sys.modules
        for _ in range(2000):
            call()
        import threading
        call()
        ocular.stop_tracing()
        events = json.load(open("trace.json"))["traceEvents"]
        names = [e["args"]["name"] for e in events if e["name"] == "thread_name"]
        print(json.dumps([before, names]))
        """,
    )
    before, names = done.answer
    assert "MainThread" in names
    assert not before


# --- Threads that C code starts -----------------------------------------------


def test_threads_that_c_has_made(native):
    """A C thread has a new thread state for each call of Python code, but only one row."""
    ocular.start_tracing(**SERVED)
    native.run(brief, 8, 100_000, True)
    snapshot = ocular.snapshot()
    final = ocular.stop_tracing()
    # The thread makes eight calls, and one more while it ends.
    assert row(final, "brief")["calls"] == 9
    for seen in (snapshot, final):
        others = [t for t in threads_of(seen) if t["name"] != "MainThread"]
        assert [t["ended"] for t in others] == [True], others


def test_what_a_subclass_makes_of_attributes_is_not_run():
    """The governor reads the names of threads while it holds the GIL, so it must not run
    code of a subclass of str."""

    class Nosy(threading.Thread):
        asked = []

        def __getattribute__(self, name):
            if name == "_name" and threading.current_thread() is not self:
                Nosy.asked.append(name)
            return super().__getattribute__(name)

    class Odd(threading.Thread):
        name = "odd"

    class Described(threading.Thread):
        asked = 0
        _name = property(
            lambda self: setattr(Described, "asked", 1), lambda self, value: None
        )
        name = "described"

    stop = threading.Event()
    nosy, odd, described = (Nosy(target=stop.wait, name="nosy"), Odd(), Described())
    odd.run = described.run = stop.wait
    odd.__dict__["_name"] = ""  # 3.14 gives a non-empty name to the kernel.
    never_started = threading.Thread(target=stop.wait, name="never")
    for thread in (nosy, odd, described):
        thread.start()
    odd.__dict__["_name"] = object()
    Nosy.asked.clear()
    Described.asked = 0
    ocular.start_tracing(**SERVED)

    def seen():
        names = {t["tid"]: t["name"] for t in ocular.snapshot()["threads"]}
        return names.get(nosy.native_id) == "nosy" and {
            odd.native_id,
            described.native_id,
        } <= set(names)

    # Meanwhile the governor reads the names again and again. The final snapshot shows
    # whether names are missing.
    time.sleep(0.6)
    with suppress(AssertionError):
        wait_until(seen)
    final = ocular.stop_tracing()
    asked = list(Nosy.asked), Described.asked
    stop.set()
    for thread in (nosy, odd, described):
        thread.join()
    assert asked == ([], 0)
    names = {t["tid"]: t["name"] for t in final["threads"]}
    assert names[nosy.native_id] == "nosy"
    assert never_started.ident is None and "never" not in names.values()
    assert {odd.native_id, described.native_id} <= set(names)


def dumped():
    """Returns the thread ids in the output of faulthandler."""
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        lines = file.read().decode().splitlines()
    return [
        int(line.split("hread 0x")[1].split()[0], 16)
        for line in lines
        if "hread 0x" in line
    ]


def test_our_threads_do_not_pass_for_the_programs():
    before = threading.active_count(), set(sys._current_frames())
    ocular.start_tracing(serve=True, quiet=True, perfetto=False)
    try:
        # The governor's thread state is made by another thread, and has that thread's id
        # until the governor begins.
        idents = wait_until(
            lambda: [seen for seen in [dumped()] if len(seen) == len(set(seen))]
        )[0]
        during = threading.active_count(), set(sys._current_frames())
    finally:
        ocular.stop_tracing()
    assert during[0] == before[0]
    assert threading.main_thread().ident in idents
    # As long as the governor has a thread state, faulthandler lists the governor.
    assert len(idents) <= len(before[1]) + 1 and before[1] <= during[1]
