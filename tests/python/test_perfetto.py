# SPDX-License-Identifier: MIT
"""Tests that each call in a timeline's file has a beginning and an end, that loops and
names are right, and that there is a mark wherever events are missing."""

import re
import threading
import time

import ocular
import pytest
from e2e import trace
from e2e.counting import recorded
from ocular.demo import pure


@pytest.fixture
def record(tmp_path):
    """Returns a function record(function), which traces the function and returns the Trace
    and the final snapshot."""

    def record(function, *arguments, **settings):
        return recorded(tmp_path / "trace.json", function, *arguments, **settings)

    return record


@pytest.mark.parametrize("name", pure.CASES)
@pytest.mark.parametrize("threshold", [1, 7, 100])
def test_balanced_while_things_go_dark(record, name, threshold):
    timeline, final = record(pure.CASES[name], deinstrument_threshold=threshold)
    assert timeline.other["threshold"] == threshold
    if final["sites"]["dark"] and any(r["state"] == "dark" for r in final["functions"]):
        assert any(mark["name"].startswith("dark") for mark in timeline.marks)


def test_nesting_is_the_call_tree(record):
    def outer():
        for _ in range(3):
            middle()

    def middle():
        for _ in range(2):
            began = time.perf_counter()
            inner()
            around.append(1e6 * (time.perf_counter() - began))

    def inner():
        began = time.perf_counter()
        time.sleep(0.001)
        naps.append(1e6 * (time.perf_counter() - began))

    naps, around = [], []
    timeline, _ = record(outer)
    assert {call.parent.rpartition(".")[2] for call in timeline.of("inner")} == {"middle"}
    assert {call.parent.rpartition(".")[2] for call in timeline.of("middle")} == {"outer"}
    spans = sorted((call.begin, call.end) for call in timeline.of("inner"))
    for (begin, end), nap, most in zip(spans, naps, around, strict=True):
        assert end - begin >= 1000
        assert nap * 0.99 - 1 <= end - begin <= most * 1.01 + 1


def test_exceptions_end_calls_as_raised(record):
    def raises():
        raise KeyError

    def catches():
        try:
            raises()
        except KeyError:
            time.sleep(0.001)

    timeline, _ = record(catches)
    (fails,), (goes_on,) = timeline.of("raises"), timeline.of("catches")
    assert fails.end_args == {"raised": True} and goes_on.end_args == {}
    assert fails.end < goes_on.end - 900


def test_waits_are_marked(record):
    """If other threads run for long during a call, the timeline marks this waiting time."""

    def rests():
        time.sleep(0.05)

    def step():
        pass

    def works():
        while not done:
            step()
            sum(range(10_000))

    def both():
        thread = threading.Thread(target=works)
        thread.start()
        rests()
        done.append(True)
        thread.join()

    done = []
    timeline, _ = record(both)
    (call,) = timeline.of("rests")
    (wait,) = (mark for mark in timeline.marks if mark["name"] == f"waited: {call.name}")
    assert call.begin <= wait["ts"] <= call.end
    # The mark of the waiting time can also contain the time of the hook itself.
    assert wait["ts"] + wait["args"]["ns"] / 1000 <= call.end + 100
    assert wait["args"]["ns"] >= 49e6


def test_what_is_open_at_the_end_is_closed(record, tmp_path):
    def stops():
        ocular.export(tmp_path / "inside.json")

    record(stops)
    (mine,) = trace.read(tmp_path / "inside.json").of("stops")
    assert mine.end_args == {"open": True}


def test_loops(record):
    def count(n):
        while n:
            n -= 1

    timeline, final = record(count, 100)
    loops = [event for event in timeline.loops if "count" in event["name"]]
    assert len(loops) in (99, 100)
    sizes = [event["args"]["uOps"] for event in loops]
    assert len(set(sizes[1:])) == 1 and 4 <= sizes[1] <= 12
    # The program calls count() only once, and this call has all iterations of the loop.
    (call,) = timeline.of("count")
    cycles = sum(event["args"]["Hardware Cycles"] for event in loops)
    assert 0 < cycles < (call.end - call.begin) * 1e-6 * final["tsc_hz"] * 1.01 + 1e4


def test_iterations_of_nested_loops(record):
    """The number of instructions in an iteration does not depend on earlier iterations."""

    def nested(n):
        total = 0
        for outer in range(n):
            if outer % 2:
                continue
            for inner in range(3):
                total += inner
        return total

    timeline, _ = record(nested, 40)
    skipped = {}
    for event in timeline.loops:
        if event["name"].endswith("nested"):
            offset = event["args"]["offset"]
            skipped.setdefault(offset, []).append(event["args"]["uOps"])
    assert len(skipped) >= 2
    for sizes in skipped.values():
        assert len(set(sizes[1:])) == 1, skipped


def test_head(record):
    timeline, final = record(pure.CASES["recursion"])
    other = timeline.other
    assert other["tool"] == "ocular" and other["version"] == ocular.__version__
    assert other["mode"] == "adaptive" and other["threshold"] == 0
    assert other["lost_events"] == other["forgotten_events"] == 0
    assert other["tsc_hz"] == pytest.approx(final["tsc_hz"], rel=0.01)
    assert 0 <= other["covered_from_us"] < other["covered_to_us"]
    # When the trace starts, the two clocks are read one after the other.
    assert other["covered_to_us"] <= final["uptime_s"] * 1e6 * 1.01 + 50_000
    assert abs(other["start_unix_ns"] / 1e9 - time.time()) < 60
    assert max(call.end for call in timeline.of()) <= other["covered_to_us"] + 1


def test_a_small_log_forgets_its_oldest_part(record, no_collections, monkeypatch):
    # A sample before the call would be the file's first event. A garbage collection in a
    # large heap takes so long that there would be such a sample.
    monkeypatch.setenv("OCULAR_SIGNAL", "none")

    def much():
        for _ in range(12):
            pure.CASES["loops"]()
        last_of_all()

    def last_of_all():
        pass

    timeline, final = record(much, timeline_limit=1 << 20, timeline_spill=False)
    other = timeline.other
    assert other["forgotten_events"] > 10_000
    assert other["all_threads_from_us"] > 0
    assert other["covered_from_us"] > 0
    assert timeline.of("last_of_all")
    # The timeline contains the call, although it has forgotten the event with which the
    # call began. The call has either a known time of its beginning or a mark.
    (mine,) = timeline.of("much")
    earlier = mine.begin_args.get("earlier") is True
    assert earlier or 0 < mine.begin < other["all_threads_from_us"], (mine, other)
    assert final["memory_bytes"] < 16 << 20


SERIALIZER = """
class JSONSerializerRegistry:
    class FieldDescriptor:
        def convert_to_representation(self, value):
            return self.validate_type_of_value(value)
        def validate_type_of_value(self, value):
            return value
"""


def test_a_file_stays_below_100_mb_by_default(tmp_path):
    """The timeline has only calls. The names and paths in these calls are as long as those
    of an installed package. The timeline is full, so the limit determines the file's
    size."""
    path = "/home/developer/projects/company-service/.venv/lib/python3.13/site-packages"
    path += "/company_framework/serialization/implementation/json_serializers.py"
    space = {}
    exec(compile(SERIALIZER, path, "exec"), space)
    convert = space["JSONSerializerRegistry"].FieldDescriptor().convert_to_representation
    file = tmp_path / "trace.json"
    ocular.start_tracing(
        deinstrument_threshold=0, timeline_spill=False, quiet=True, output=file
    )
    for _ in range(30):
        # The ring of a thread has room for more calls than these.
        list(map(convert, range(5_000)))
        ocular.snapshot()  # empties the ring
    ocular.stop_tracing()
    with file.open() as text:
        forgotten = re.search(r'"forgotten_events":(\d+)', text.read(4096))
    size = file.stat().st_size
    file.unlink()
    assert int(forgotten[1]) > 10_000
    assert 50e6 < size < 100e6


def test_code_that_is_gone_keeps_its_name(record):
    def body():
        for n in range(50):
            namespace = {}
            exec(f"def gone_{n}(): pass\ngone_{n}()", namespace)
            namespace.clear()

    timeline, _ = record(body)
    assert {f"gone_{n}" for n in range(50)} <= set(timeline.names())


def test_an_empty_timeline(record):
    timeline, _ = record(lambda: None, include_only=["nothing at all"])
    assert not timeline.calls and timeline.other["lost_events"] == 0
