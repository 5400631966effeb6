# SPDX-License-Identifier: MIT
"""Compares the births and deaths of objects with the counts of a C extension. CPython has
room for only one tracer of objects, so the tests also use other tracers beside Ocular.
"""

import subprocess
import sys
import time
import tracemalloc

import extensions
import ocular
import pytest
from e2e.program import keys_of, start, top, wait_until

NEW = sys.version_info >= (3, 13)
DEATHS = sys.version_info >= (3, 13, 3)
new = pytest.mark.skipif(not NEW, reason="CPython 3.12 does not report objects")
deaths = pytest.mark.skipif(not DEATHS, reason="most deaths are not reported (gh-130382)")
EXACT = dict(events="reference", perfetto=False, quiet=True, deinstrument_threshold=0)


class Kept:
    pass


class Temporary:
    def __del__(self):
        raise ValueError("an exception in __del__ is printed and forgotten")


def keep(kept, count):
    for _ in range(count):
        kept.append(Kept())


def keep_none(count):
    for _ in range(count):
        Kept()


def drop(count):
    for _ in range(count):
        Temporary()


def types(found):
    return {row["type"]: row for row in found["objects"]["types"] if not row["function"]}


def name(cls):
    return f"{__name__}.{cls.__name__}"


def until(condition, seconds=60):
    """Takes snapshots until the condition is true for a snapshot."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = ocular.snapshot()
        if condition(found):
            return found
        time.sleep(0.02)
    raise AssertionError(found["objects"])


@pytest.fixture
def counted():
    """Traces and counts all objects. Waits for Ocular's first window of counting."""
    ocular.start_tracing(**EXACT)
    try:
        yield until(lambda found: not NEW or (found["objects"]["part"] or 0) > 0)
    finally:
        ocular.stop_tracing()


@new
def test_all_births_and_deaths(counted, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda error: None)
    kept = []
    keep(kept, 3000)
    drop(2000)
    found = until(
        lambda found: (
            [types(found).get(name(cls), {}).get("born") for cls in (Kept, Temporary)]
            == [3000, 2000]
        )
    )
    rows = types(found)
    assert rows[name(Temporary)]["died"] == (2000 if DEATHS else None)
    assert rows[name(Kept)]["died"] == (0 if DEATHS else None)
    creators = [
        (row["function"], row["file"])
        for row in found["objects"]["types"]
        if row["type"] == name(Kept) and row["function"]
    ]
    assert creators == [("keep", __file__)]
    if DEATHS:
        assert found["objects"]["trouble"] is None
        del kept
        until(lambda found: types(found)[name(Kept)]["died"] == 3000)
    else:
        assert "do not report most deaths" in found["objects"]["trouble"]


@new
def test_rates_against_a_counter_in_c():
    """1 000 and 100 000 births a second."""
    births = extensions.load("python", "births")
    ocular.start_tracing(events="adaptive,reference", perfetto=False, quiet=True)
    begin, made = time.monotonic(), 0

    def is_right(found):
        nonlocal made
        seconds = time.monotonic() - begin
        step = int(1000 * seconds) - made
        made += step
        counts = {"Seldom": births.make(0, step), "Often": births.make(1, 100 * step)}
        return seconds > 8 and all(
            types(found)["births." + name][key] == pytest.approx(count / seconds, rel=0.1)
            for name, both in counts.items()
            for key, count in zip(["born_per_s", "died_per_s"][: 1 + DEATHS], both)
        )

    try:
        until(is_right)
    finally:
        ocular.stop_tracing()


@new
def test_functions_that_are_not_traced_share_a_row():
    makers = []
    for i in range(3):
        space = {"Kept": Kept}
        exec(compile(f"def make{i}(): return Kept()", "/other.py", "exec"), space)
        makers.append(space[f"make{i}"])
    ocular.start_tracing(**EXACT, include_only=[__file__])
    try:
        found = until(
            lambda found: (
                [make() for make in makers for _ in range(20)]
                and types(found).get(name(Kept), {}).get("born", 0) > 500
            )
        )
    finally:
        ocular.stop_tracing()
    rows = [row for row in found["objects"]["types"] if row["type"] == name(Kept)]
    assert [row["function"] for row in rows] == [None, "(not traced)"]
    assert rows[1]["born_per_s"] == pytest.approx(rows[0]["born_per_s"], rel=0.01)


@deaths
def test_a_type_that_only_grows(counted):
    kept = []
    end = time.monotonic() + 60
    found = {}
    while not found.get(name(Kept), {}).get("grows") and time.monotonic() < end:
        keep(kept, 20)
        keep_none(500)
        [[] for _ in range(20000)]
        time.sleep(0.02)
        rows = ocular.snapshot()
        found = types(rows)
    assert next(iter(found)) == name(Kept)
    assert [row["type"] for row in found.values() if row["grows"]] == [name(Kept)]
    assert found[name(Kept)]["net_per_s"] > 0
    # keep_none creates more, but its objects die.
    rows = [row for row in rows["objects"]["types"] if row["type"] == name(Kept)]
    assert [row["function"] for row in rows] == [None, "keep", "keep_none"]


@new
def test_tracemalloc_has_the_place(counted):
    tracemalloc.start()
    try:
        found = until(lambda found: "tracemalloc" in (found["objects"]["trouble"] or ""))
        drop_free = [object() for _ in range(100)]
        assert tracemalloc.get_object_traceback(drop_free[0])
    finally:
        tracemalloc.stop()
    if not DEATHS:
        return  # this tracemalloc never gives up the place of the tracer
    kept = []
    before = types(found).get(name(Kept), {}).get("born") or 0
    until(
        lambda found: (
            keep(kept, 10) or (types(found).get(name(Kept), {}).get("born") or 0) > before
        )
    )


@pytest.mark.skipif(NEW, reason="CPython reports objects")
def test_an_old_cpython_is_named(counted):
    found = until(lambda found: found["objects"]["trouble"])
    assert found["objects"]["trouble"].startswith("CPython 3.12 does not report objects")
    assert found["objects"]["types"] == []


def test_objects_are_counted_only_if_asked_for():
    ocular.start_tracing(perfetto=False, quiet=True)
    found = ocular.snapshot()["objects"]
    ocular.stop_tracing()
    assert found == {"trouble": None, "part": None, "types": []}


PROGRAM = """
import gc, os, sys, threading, time
import ocular
class Thing:
    def __init__(self):
        self.me = self
def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(100):
            Thing()
        exec("class Made: pass\\nMade()")
ocular.start_tracing(events="reference", perfetto=False, quiet=True, **{settings!r})
threads = [threading.Thread(target=work, args=(1,)) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(5):
    child = os.fork()
    if not child:
        work(0.02)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
{interpreter}
for thread in threads:
    thread.join()
gc.collect()
threading.stack_size(64 << 10)
found = []
thread = threading.Thread(target=lambda: found.append(ocular.stop_tracing()["objects"]))
thread.start()
thread.join()
found = found[0]
assert any(row["type"] == "Thing" and row["born"] for row in found["types"]), found
print("whole")
"""
INTERPRETER = """
try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters as _interpreters
id = _interpreters.create()
_interpreters.run_string(id, "for _ in range(100000): object(); [1]")
_interpreters.destroy(id)
"""


@new
@pytest.mark.parametrize("settings", [{}, {"deinstrument_threshold": 0}])
def test_threads_forks_and_another_interpreter(settings):
    program = PROGRAM.format(settings=settings, interpreter=INTERPRETER)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "whole\n", done.stderr


def test_the_view_asks_for_objects(tmp_path):
    program = "import time\nwhile True:\n    [[] for _ in range(100)]; time.sleep(0.001)"
    command = [sys.executable, "-m", "ocular", "--serve", "--quiet", "-c", program]
    with start(command) as served:

        def found():
            keys = keys_of("Which objects leak?") + "<Frame>"
            done = top("--pid", served.pid, "--once", "--json", "--keys", keys)
            objects = done.answer["objects"] if done.status == 0 else {}
            return objects.get("types" if NEW else "trouble")

        try:
            wait_until(found)
        finally:
            served.kill()
